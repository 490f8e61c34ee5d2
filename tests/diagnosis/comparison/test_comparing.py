"""The answer of `diff` where not everything can be compared."""

from __future__ import annotations

import pytest

from holdfast.diagnosis.comparison import comparing
from holdfast.diagnosis.comparison.comparing import (
    DiffOptions,
    compare_batches,
    compare_checkpoints,
)
from holdfast.errors import UsageError
from holdfast.findings import Severity
from holdfast.storage.memory import MemoryReader
from tests.checkpoint.pictures import files_of, without

TOTALS = "aggregation-hdfs-snapshots"


def reader(files: dict[str, bytes], name: str = "here") -> MemoryReader:
    """Give a place in memory."""
    return MemoryReader(files, location=name)


def test_without_the_libraries_logs_are_compared_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And it is said that the states were not; who asks for states in particular is refused."""

    def refuse() -> None:
        raise UsageError("HF2770", "reading state requires numpy, which is not installed")

    monkeypatch.setattr(comparing, "require_state_extra", refuse)
    one, other = reader(files_of(TOTALS)), reader(files_of(TOTALS), "there")
    answer = compare_checkpoints(one, other, DiffOptions(rows=20), most=10)
    assert answer.result.offsets.compared
    assert answer.result.stores == ()
    (finding,) = answer.findings
    assert (finding.code, finding.severity) == ("HF2770", Severity.INFO)
    assert "were not compared" in finding.message
    with pytest.raises(UsageError):
        compare_checkpoints(one, other, DiffOptions(from_batch=3), most=10)
    with pytest.raises(UsageError):
        compare_batches(one, DiffOptions())


def test_a_damaged_snapshot_that_is_passed_over_is_told_of_its_side() -> None:
    """The rows are compared all the same."""
    files = files_of(TOTALS)
    cut = {**without(files, "state/0/0/8.snapshot"), "state/0/0/8.snapshot": b"LZ4Block"}
    answer = compare_checkpoints(reader(files), reader(cut, "there"), DiffOptions(rows=5), most=10)
    assert answer.result.stores[0].identical
    assert [one.place.within("here") for one in answer.findings] == ["there/state/0/0/8.snapshot"]
    assert answer.exit_status == 3


def test_a_damaged_entry_is_not_called_identical() -> None:
    """On whichever side it is: nobody knows what it said."""
    files = files_of(TOTALS)
    cut = {**without(files, "offsets/3"), "offsets/3": b"v1"}
    for one, other in ((files, cut), (cut, files), (cut, cut)):
        found = compare_checkpoints(reader(one), reader(other), DiffOptions(), most=10).result
        assert found.offsets.damaged == (3,)
        assert not found.identical


def test_an_entry_that_is_gone_leaves_the_state_to_compare() -> None:
    """The plan of an old batch may have been purged before its state."""
    answer = compare_batches(reader(without(files_of(TOTALS), "offsets/3")), DiffOptions(3, 8))
    assert answer.result.entries == ()
    assert answer.result.sources == ()
    assert answer.result.stores[0].changed == 4


def test_an_old_entry_that_the_picture_does_not_hold_is_read() -> None:
    """However long ago it was planned."""
    files = files_of("aggregation-hdfs-snapshots")
    answer = compare_batches(reader(files), DiffOptions(0, 8))
    assert {one.field for one in answer.result.entries} >= {"timestamp_ms", "source 0"}
    amount = answer.result.sources[0].amount
    assert amount is not None
    assert amount.total == 8


def test_backwards_is_a_direction_too() -> None:
    """What came is what goes."""
    files = files_of("aggregation-hdfs-lz4")
    forth = compare_batches(reader(files), DiffOptions(2, 4)).result.stores[0]
    back = compare_batches(reader(files), DiffOptions(4, 2)).result.stores[0]
    assert (forth.added, forth.changed, forth.removed) == (4, 4, 4)
    assert (back.added, back.changed, back.removed) == (4, 4, 4)
    assert (forth.left_rows, forth.right_rows) == (back.right_rows, back.left_rows)
