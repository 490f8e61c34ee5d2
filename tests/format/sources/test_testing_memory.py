"""Memory offsets: two calls of addData gave 1 on Spark 4.2.0 and 4.3.0, a third one 2.

The form by partition is that of LowLatencyMemoryStreamOffset in apache/spark.
"""

from __future__ import annotations

import pytest

from holdfast.errors import DecodeError
from holdfast.format.sources import Amount, SourceEvidence, amount_between, explain
from holdfast.format.sources import went_back as moved_back


def memory(text: str) -> SourceEvidence:
    """Spells an offset of a declared memory source."""
    return SourceEvidence(text, declared_format="memory")


@pytest.mark.parametrize(
    ("text", "summary"),
    [("1", "2 additions"), ("-1", "0 additions"), ('{"0":2,"1":3}', "2 partitions, 5 rows")],
)
def test_a_declared_memory_stream_is_read(text: str, summary: str) -> None:
    explained = explain(memory(text))

    assert (explained.kind, explained.basis) == ("memory", "declared")
    assert explained.summary == summary


def test_rows_by_partition_are_not_taken_for_memory_by_shape_alone() -> None:
    explained = explain(SourceEvidence('{"0":2,"1":3}'))

    assert (explained.kind, explained.candidates) == ("unknown", ("memory",))


@pytest.mark.parametrize("text", ["-2", "1.5", '{"0":-1}', "[1]", '{"0":"1"}'])
def test_what_the_source_could_not_have_written_is_refused(text: str) -> None:
    with pytest.raises(DecodeError):
        amount_between("memory", None, memory(text))


def test_additions_are_counted_and_not_called_rows() -> None:
    amount = amount_between("memory", memory("1"), memory("2"))

    assert (amount.unit, amount.total) == ("steps", 1)
    assert amount.note is not None
    assert amount_between("memory", None, memory("1")).total == 2
    assert amount_between("memory", memory("2"), memory("1")).total is None


def test_rows_are_counted_by_partition() -> None:
    two, five = memory('{"0":2,"1":0}'), memory('{"1":1,"0":4}')

    assert amount_between("memory", two, five) == Amount("rows", 3, {"0": 2, "1": 1})
    assert amount_between("memory", None, five).total == 5
    assert amount_between("memory", five, two).total is None
    assert amount_between("memory", memory('{"0":2}'), five).total is None


def test_smaller_numbers_went_back() -> None:
    two, five = memory('{"0":2,"1":0}'), memory('{"1":1,"0":4}')

    assert moved_back("memory", memory("8"), memory("3")) == "the offset went back from 8 to 3"
    assert moved_back("memory", memory("3"), memory("8")) is None
    assert moved_back("memory", five, two) == (
        "the rows of partition 0 from 4 to 2, 1 from 1 to 0 went back"
    )
    assert moved_back("memory", two, five) is None
    assert moved_back("memory", two, memory("1")) is None
