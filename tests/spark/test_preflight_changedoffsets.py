"""A start on changed offsets is refused, with a message that fits what is kept and what is held."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.diagnosis.checks.picture import inspect_checkpoint
from holdfast.errors import RefusedError
from holdfast.ledgers.identity import OffsetRange
from holdfast.ledgers.sinkstate import CommittedOffsets, LastCommitted, committed_with
from holdfast.spark.preflight import refuse_changed_offsets, refuse_other_offsets
from holdfast.storage.local import LocalReader
from tests.spark.query.test_gate import Around, Keeping


class Telling(Keeping):
    """A sink whose ledger has one batch."""

    def __init__(self, batch_id: int, answer: CommittedOffsets) -> None:
        super().__init__()
        self.batch_id, self.answer = batch_id, answer

    def offsets_of(self, query_id: str, batch_id: int) -> CommittedOffsets:
        """Tell what it was made with."""
        return self.answer if batch_id == self.batch_id else CommittedOffsets(False)


class Changed(Around):
    """A checkpoint whose two newest entries were kept by a run."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.query_id = str(inspect_checkpoint(LocalReader(str(self.checkpoint))).result.query_id)
        for back in (1, 0):
            self.copies.keep(self.query_id, self.batch_id - back, self.entry(back))
        self.whole = OffsetRange(self.batch_id, self.entry(1), self.entry())

    def change(self, *back: int) -> None:
        """Change entries."""
        for one in back:
            self.file(one).write_bytes(self.entry(one) + b" ")

    def copy(self, back: int = 0) -> Path:
        """Give where the copy of an entry is."""
        (found,) = (self.checkpoint.parent / ".holdfast").rglob(f"{self.batch_id - back}.*")
        return found

    def start(self, sink: Keeping | None = None) -> None:
        """Look at the offsets as a start does."""
        reader = LocalReader(str(self.checkpoint))
        inspection = inspect_checkpoint(reader).result
        refuse_changed_offsets(inspection, reader, self.records, sink or self.sink)

    def start_refused(self, sink: Keeping | None = None) -> RefusedError:
        """Give the error that forbids the start."""
        with pytest.raises(RefusedError) as told:
            self.start(sink)
        assert (told.value.code.number, told.value.exit_status) == ("HF2604", 30)
        return told.value


@pytest.fixture
def changed(tmp_path: Path) -> Changed:
    """Give a checkpoint with copies of its two newest entries."""
    return Changed(tmp_path)


def test_unchanged_offsets_forbid_nothing(changed: Changed) -> None:
    """Nor do those that no run kept: an adopted checkpoint."""
    changed.start()
    changed.change(2)
    changed.start()
    for back in (0, 1):
        changed.copy(back).unlink()
    changed.change(0, 1)
    changed.start()


@pytest.mark.parametrize("back", [(0,), (1,), (1, 0)], ids=["newest", "before", "both"])
def test_both_the_entry_and_its_copy_are_named(changed: Changed, back: tuple[int, ...]) -> None:
    changed.change(*back)
    told = changed.start_refused()
    for one in back:
        assert f"offsets/{changed.batch_id - one}" in told.message
        assert str(changed.copy(one)) in told.message
        put = f"{changed.copy(one)} back as offsets/{changed.batch_id - one}"
        assert told.next_steps[0].startswith("do not put") and put in told.next_steps[0]
    assert "is unknown" in told.next_steps[0], "this sink has no ledger to ask"


def test_the_copy_may_be_put_back_where_the_ledger_has_it(changed: Changed) -> None:
    changed.change(0)
    for digest in changed.whole.digests:
        told = changed.start_refused(Telling(changed.batch_id, committed_with(digest)))
        assert told.next_steps[0].startswith("a byte-identical copy is kept: put ")
    told = changed.start_refused(Telling(changed.batch_id, CommittedOffsets(False)))
    assert told.next_steps[0].startswith("a byte-identical copy is kept: put ")


def test_against_the_ledger_it_is_forbidden(changed: Changed) -> None:
    changed.change(0)
    told = changed.start_refused(Telling(changed.batch_id, committed_with("range1:other")))
    assert told.next_steps[0].startswith("do not put ")
    assert f"the sink has batch {changed.batch_id} with other offsets" in told.next_steps[0]
    assert not any(step.startswith("a byte-identical") for step in told.next_steps)


def test_a_damaged_or_doubled_copy_is_never_advised(changed: Changed) -> None:
    changed.change(0)
    changed.copy().write_bytes(b"")
    told = changed.start_refused(Telling(changed.batch_id, CommittedOffsets(False)))
    assert "is damaged" in told.message and str(changed.copy()) in told.message
    assert not any("put" in step and "back as" in step for step in told.next_steps)
    changed.copy().with_name(f"{changed.batch_id}.{'0' * 64}").write_bytes(b"")
    told = changed.start_refused(Telling(changed.batch_id, CommittedOffsets(False)))
    assert not any("put" in step and "back as" in step for step in told.next_steps)


def test_only_a_difference_asks_the_sink(changed: Changed) -> None:
    """An ordinary start costs a listing and two small reads."""

    class Silent(Keeping):
        def offsets_of(self, query_id: str, batch_id: int) -> CommittedOffsets:
            raise AssertionError

    changed.start(Silent())


def compare(changed: Changed, answer: CommittedOffsets, held: LastCommitted | None = None) -> None:
    """Compare the newest batch of the sink with the checkpoint, as a start does."""
    reader = LocalReader(str(changed.checkpoint))
    inspection = inspect_checkpoint(reader).result
    newest = LastCommitted.batch(changed.batch_id, "told") if held is None else held
    refuse_other_offsets(inspection, reader, Telling(changed.batch_id, answer), newest)


def test_the_newest_batch_of_the_sink_has_to_be_that_of_the_checkpoint(changed: Changed) -> None:
    """Also where no copy is kept and nothing runs again."""
    digests = changed.whole.digests
    for digest in digests:
        compare(changed, committed_with(digest))
    changed.change(0)
    for digest in digests:
        with pytest.raises(RefusedError) as told:
            compare(changed, committed_with(digest))
        assert (told.value.code.number, told.value.exit_status) == ("HF3027", 30)
        assert f"batch {changed.batch_id}" in told.value.message
        assert str(told.value.at).endswith(f"offsets/{changed.batch_id}")


def test_the_entry_before_takes_part_in_the_range_alone(changed: Changed) -> None:
    """A digest of the older kind is of the batch's own entry."""
    changed.change(1)
    of_range, of_entry = changed.whole.digests
    with pytest.raises(RefusedError):
        compare(changed, committed_with(of_range))
    compare(changed, committed_with(of_entry))


def test_what_is_unknown_is_not_refused_as_different(changed: Changed) -> None:
    of_range, _ = changed.whole.digests
    changed.change(0)
    for answer in (
        CommittedOffsets(None),
        CommittedOffsets(False),
        committed_with(None),
        committed_with("range9:a"),
    ):
        compare(changed, answer)
    compare(changed, committed_with(of_range), LastCommitted.nothing("told"))
    compare(changed, committed_with(of_range), LastCommitted.unknown("told"))
    compare(changed, committed_with(of_range), LastCommitted.batch(changed.batch_id + 9, "told"))
    changed.file(1).unlink()
    compare(changed, committed_with(of_range))
