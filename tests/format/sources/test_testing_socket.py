"""Socket offsets, as Spark 4.3.0 wrote them: -1, 0, 1 … and in continuous mode [1,0], [4,3]."""

from __future__ import annotations

import pytest

from holdfast.errors import DecodeError
from holdfast.format.sources import Amount, SourceEvidence, amount_between, explain
from holdfast.format.sources import went_back as moved_back


def socket(text: str) -> SourceEvidence:
    """Spells an offset of a declared socket source."""
    return SourceEvidence(text, declared_format="socket")


def test_a_bare_number_could_be_of_a_socket_or_of_memory() -> None:
    explained = explain(SourceEvidence("12"))

    assert (explained.kind, explained.candidates) == ("unknown", ("socket", "memory"))
    assert (explained.decoded, explained.summary) == (12, "12")
    assert explained.note is not None


@pytest.mark.parametrize(
    ("text", "summary"),
    [("-1", "0 lines received"), ("0", "1 line received"), ("[4,3]", "7 lines received")],
)
def test_a_declared_format_settles_it(text: str, summary: str) -> None:
    explained = explain(socket(text))

    assert (explained.kind, explained.basis) == ("socket", "declared")
    assert explained.summary == summary


@pytest.mark.parametrize("text", ["-2", "[-1]", "[1.5]", "{}", '"1"', "9223372036854775808"])
def test_what_the_source_could_not_have_written_is_refused(text: str) -> None:
    with pytest.raises(DecodeError):
        amount_between("socket", None, socket(text))


def test_lines_are_counted() -> None:
    assert amount_between("socket", None, socket("1")) == Amount("rows", 2)
    assert amount_between("socket", socket("-1"), socket("1")) == Amount("rows", 2)
    assert amount_between("socket", socket("5"), socket("1")).total is None


def test_lines_are_counted_by_partition_in_continuous_mode() -> None:
    parts = amount_between("socket", socket("[1,0]"), socket("[4,3]"))

    assert parts == Amount("rows", 6, {"0": 3, "1": 3})
    assert amount_between("socket", None, socket("[4,3]")).total == 7
    assert amount_between("socket", socket("[9,0]"), socket("[4,3]")).total is None
    assert amount_between("socket", socket("3"), socket("[4,3]")).total is None


def test_fewer_lines_went_back() -> None:
    assert moved_back("socket", socket("8"), socket("3")) == (
        "the lines received went back from 9 to 4"
    )
    assert moved_back("socket", socket("3"), socket("8")) is None
