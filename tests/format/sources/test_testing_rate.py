"""Rate offsets, as Spark 4.3.0 wrote them in both modes."""

from __future__ import annotations

import pytest

from holdfast.errors import DecodeError
from holdfast.format.sources import Amount, SourceEvidence, amount_between, explain
from holdfast.format.sources import went_back as moved_back

CREATED = b"v1\n1794793863639"
START = '{"0":{"value":-2,"runTimeMs":1794793887197},"1":{"value":-1,"runTimeMs":1794793887197}}'
FIRST = '{"1":{"value":3,"runTimeMs":1794793887997},"0":{"value":2,"runTimeMs":1794793887997}}'


def seconds(number: int) -> SourceEvidence:
    """Spells an offset with the file that Spark keeps beside it."""
    return SourceEvidence(str(number), initial=CREATED)


def test_the_time_of_creation_proves_the_source() -> None:
    explained = explain(seconds(83))

    assert (explained.kind, explained.basis) == ("rate", "initial offset file")
    assert (explained.decoded, explained.summary) == (83, "83 seconds after the first start")


def test_continuous_mode_is_known_by_its_shape() -> None:
    explained = explain(SourceEvidence(FIRST))

    assert (explained.kind, explained.basis) == ("rate", "shape")
    assert explained.summary == "2 partitions, last value 3"


@pytest.mark.parametrize("text", ["-1", '"3"', "[1]", '{"0":{"value":1}}'])
def test_what_the_source_could_not_have_written_is_refused(text: str) -> None:
    with pytest.raises(DecodeError):
        explain(SourceEvidence(text, initial=CREATED))


def test_seconds_are_counted_from_zero() -> None:
    assert amount_between("rate", None, seconds(3)) == Amount("seconds", 3)
    assert amount_between("rate", seconds(1), seconds(3)) == Amount("seconds", 2)
    assert amount_between("rate", seconds(3), seconds(1)).total is None


def test_each_of_n_partitions_gives_out_every_nth_number() -> None:
    """Between these two, each of two partitions gave out 0 and 2, or 1 and 3."""
    amount = amount_between("rate", SourceEvidence(START), SourceEvidence(FIRST))

    assert amount == Amount("rows", 4, {"0": 2, "1": 2})


@pytest.mark.parametrize(
    ("before", "after"), [(None, FIRST), ("3", FIRST), (FIRST, "3"), (FIRST, START)]
)
def test_what_can_not_be_told_is_not_counted(before: str | None, after: str) -> None:
    start = None if before is None else SourceEvidence(before)
    amount = amount_between("rate", start, SourceEvidence(after))

    assert amount.total is None
    assert amount.note is not None


def test_smaller_numbers_went_back() -> None:
    assert moved_back("rate", seconds(9), seconds(4)) == "the second went back from 9 to 4"
    assert moved_back("rate", seconds(4), seconds(9)) is None
    back = moved_back("rate", SourceEvidence(FIRST), SourceEvidence(START))
    assert back == "the value of partition 0 from 2 to -2, 1 from 3 to -1 went back"
    assert moved_back("rate", SourceEvidence(START), SourceEvidence(FIRST)) is None
    assert moved_back("rate", SourceEvidence(START), seconds(1)) is None
