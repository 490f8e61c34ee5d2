"""A batch passes in one order only: not stopped, lease ours, offsets kept, then the sink."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import LeaseError, NotFoundError, RefusedError, RunError, StorageError
from holdfast.ledgers.identity import BatchIdentity, OffsetRange, digest_of_offsets
from holdfast.ledgers.sinkstate import LastCommitted, SinkState
from holdfast.records.folder import RecordsFolder, records_of
from holdfast.records.leases.taking import Lease, take_lease
from holdfast.records.offsetcopies import OffsetCopies
from holdfast.records.processes import this_holder
from holdfast.records.statements import Statement
from holdfast.running.stopping import Stopping
from holdfast.spark.query.gate import Gate, StoppedBeforeSinkError
from holdfast.spark.sinks.sink import Delivery
from holdfast.storage.local import LocalReader
from holdfast.storage.location import parse_location
from holdfast.storage.options import StorageSettings
from tests.corpus.loading import sample

QUERY = "11111111-2222-3333-4444-555555555555"


class Keeping:
    """A sink that only remembers what it was given."""

    kind = "keeping"
    identity: str | None = None
    promise = "none"

    def __init__(self) -> None:
        self.given: list[BatchIdentity] = []
        self.entered, self.leave = threading.Event(), threading.Event()
        self.leave.set()

    def prepare(self, schema: Any, *, begun: bool) -> None:
        """Take any rows."""

    def write(self, batch: Any, identity: BatchIdentity) -> Delivery:
        """Remember, and wait for as long as the test wants."""
        self.entered.set()
        assert self.leave.wait(20)
        self.given.append(identity)
        return Delivery(skipped=batch == "held")

    def last_committed(self, query_id: str) -> LastCommitted:
        """Tell nothing."""
        return LastCommitted.unknown("never asked")

    def sight(self, query_id: str | None) -> SinkState:
        """See nothing."""
        return SinkState(self.last_committed(query_id or ""))

    def queries(self) -> frozenset[str]:
        """Tell nothing."""
        return frozenset()

    def rewind(self, query_id: str, batch_id: int, *, generation: int) -> None:
        """Keep everything."""

    def clear(self, *, generation: int, queries: Collection[str] | None = None) -> None:
        """Keep everything."""


class Around:
    """A gate with everything that is around it, on a real checkpoint."""

    def __init__(self, folder: Path, most_batches: int | None = None) -> None:
        self.most_batches = most_batches
        self.checkpoint = folder / "orders"
        for path, content in sample("pending", "4.2.1").files().items():
            (self.checkpoint / path).parent.mkdir(parents=True, exist_ok=True)
            (self.checkpoint / path).write_bytes(content)
        self.location = parse_location(str(self.checkpoint))
        self.records: RecordsFolder = records_of(self.location, StorageSettings())
        self.lease: Lease = take_lease(self.records, job="orders", holder=this_holder(None))
        self.stopping, self.sink = Stopping(), Keeping()
        self.restart()
        self.batch_id = max(int(one.name) for one in (self.checkpoint / "offsets").glob("[0-9]*"))

    def restart(self, statement: Statement | None = None) -> None:
        """Make the gate of the next run; one that was open stays open."""
        is_open = hasattr(self, "gate")
        self.copies = OffsetCopies(self.records)
        self.gate = Gate(
            self.sink,
            lease=self.lease,
            stopping=self.stopping,
            checkpoint=LocalReader(str(self.checkpoint)),
            copies=self.copies,
            statement=statement,
            most_batches=self.most_batches,
        )
        if is_open:
            self.gate.open_for(QUERY)

    def entry(self, back: int = 0) -> bytes:
        """Give the bytes of the newest offsets entry, or of one some batches before it."""
        return self.file(back).read_bytes()

    def file(self, back: int = 0) -> Path:
        """Give where that entry is."""
        return self.checkpoint / "offsets" / str(self.batch_id - back)

    def refused(self) -> str:
        """Give the code that keeps the newest batch from the sink."""
        before = len(self.sink.given)
        with pytest.raises(RefusedError) as told:
            self.gate(None, self.batch_id)  # type: ignore[arg-type]
        assert len(self.sink.given) == before
        assert told.value.exit_status == 30
        return told.value.code.number


@pytest.fixture
def around(tmp_path: Path) -> Around:
    """Open a gate for a query."""
    made = Around(tmp_path)
    made.gate.open_for(QUERY)
    return made


def test_a_batch_comes_with_its_identity_and_its_offsets_are_kept(around: Around) -> None:
    """The digest is that of the bytes on disk, of both entries; the older kind comes along."""
    around.gate(None, around.batch_id)  # type: ignore[arg-type]
    offsets = OffsetRange(around.batch_id, around.entry(1), around.entry())
    assert around.sink.given == [offsets.identity(QUERY, around.lease.generation)]
    assert around.sink.given[0].entry_digest == digest_of_offsets(around.entry())
    for back in (0, 1):
        kept = around.copies.copy_of(QUERY, around.batch_id - back)
        assert kept == around.entry(back)
    assert (around.gate.delivered, around.gate.in_sink) == (around.batch_id, None)


def test_what_the_sink_held_is_counted(around: Around) -> None:
    """By batch id."""
    around.gate("held", around.batch_id)  # type: ignore[arg-type]
    assert around.gate.skipped == {around.batch_id}


def test_asked_to_stop_no_sink_call_begins(around: Around) -> None:
    """The batch stays pending."""
    around.stopping.ask()
    with pytest.raises(StoppedBeforeSinkError):
        around.gate(None, around.batch_id)  # type: ignore[arg-type]
    assert around.sink.given == []
    assert isinstance(around.gate.raised, StoppedBeforeSinkError)


def test_one_batch_more_than_was_asked_for_stays_pending(tmp_path: Path) -> None:
    """A rehearsal runs as many as it was told to."""
    around = Around(tmp_path, most_batches=1)
    around.gate.open_for(QUERY)
    around.gate(None, around.batch_id)  # type: ignore[arg-type]
    with pytest.raises(StoppedBeforeSinkError, match="exceeds"):
        around.gate(None, around.batch_id)  # type: ignore[arg-type]
    assert len(around.sink.given) == 1


def test_a_lost_lease_stops_before_the_sink(around: Around) -> None:
    """Another generation is enough."""
    around.lease.release()
    take_lease(around.records, job="orders", holder=this_holder(None))
    with pytest.raises(LeaseError, match="took over"):
        around.gate(None, around.batch_id)  # type: ignore[arg-type]
    assert around.sink.given == []


def test_a_batch_planned_anew_is_refused(around: Around) -> None:
    """The same id with different offsets never reaches the sink."""
    around.gate(None, around.batch_id)  # type: ignore[arg-type]
    around.file().write_bytes(around.entry() + b" ")
    assert around.refused() == "HF2604"


@pytest.mark.parametrize("restarted", [True, False])
def test_a_batch_whose_beginning_was_changed_is_refused(around: Around, restarted: bool) -> None:
    """In the run that read it and in the next one: nothing of an earlier batch is remembered."""
    around.gate(None, around.batch_id)  # type: ignore[arg-type]
    if restarted:
        around.restart()
    around.file(1).write_bytes(around.entry(2))
    assert around.refused() == "HF2604"


def test_a_beginning_that_was_never_kept_counts_as_it_is_on_disk(around: Around) -> None:
    """An adopted checkpoint: the sink is given the range that Spark ran, and it is kept."""
    around.file(1).write_bytes(around.entry(2))
    around.gate(None, around.batch_id)  # type: ignore[arg-type]
    offsets = OffsetRange(around.batch_id, around.entry(2), around.entry())
    assert around.sink.given[0].offsets_digest == offsets.digest


def test_the_first_batch_begins_with_nothing(around: Around) -> None:
    around.batch_id = 0
    around.gate(None, 0)  # type: ignore[arg-type]
    assert around.sink.given[0].offsets_digest == OffsetRange(0, b"", around.entry()).digest


def test_a_lost_beginning_is_taken_from_its_copy(around: Around) -> None:
    """It is what this very run planned the batch from."""
    around.gate(None, around.batch_id)  # type: ignore[arg-type]
    around.file(1).unlink()
    around.gate(None, around.batch_id)  # type: ignore[arg-type]
    first, second = around.sink.given
    assert first == second


def test_a_lost_beginning_of_which_nothing_is_kept_is_refused(around: Around) -> None:
    """HF2606: never as if the batch were the first one."""
    around.file(1).unlink()
    assert around.refused() == "HF2606"


def test_a_beginning_that_can_not_be_read_is_an_error(around: Around) -> None:
    """Not there is another answer than not readable."""
    around.gate(None, around.batch_id)  # type: ignore[arg-type]
    around.file(1).unlink()
    around.file(1).mkdir()
    with pytest.raises(StorageError) as told:
        around.gate(None, around.batch_id)  # type: ignore[arg-type]
    assert not isinstance(told.value, NotFoundError)
    assert len(around.sink.given) == 1


@pytest.mark.parametrize("kind", [0, 1], ids=["range", "entry alone"])
def test_a_batch_stated_as_delivered_is_skipped_by_either_kind(
    around: Around, kind: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A statement of an older release names the digest of the entry alone."""
    monkeypatch.setattr("holdfast.spark.query.gate.skip", lambda _: Delivery(skipped=True))
    digests = OffsetRange(around.batch_id, around.entry(1), around.entry()).digests
    said = Statement(QUERY, around.batch_id, digests[kind], True, "2026-03-01T10:00:00Z", "zoë")
    around.restart(said)
    around.gate(None, around.batch_id)  # type: ignore[arg-type]
    assert around.sink.given == [] and around.gate.skipped == {around.batch_id}
    around.restart(replace(said, offsets_digest=digests[kind][:-1] + "x"))
    around.gate(None, around.batch_id)  # type: ignore[arg-type]
    assert len(around.sink.given) == 1, "stated of other offsets"


def test_a_batch_waits_for_the_id_of_its_query(tmp_path: Path) -> None:
    """Spark may call before it told which query runs."""
    made = Around(tmp_path)
    thread = threading.Thread(target=made.gate, args=(None, made.batch_id))
    thread.start()
    assert made.sink.given == []
    made.gate.open_for(QUERY)
    thread.join(20)
    assert [one.query_id for one in made.sink.given] == [QUERY]


def test_a_running_delivery_is_let_finish(around: Around) -> None:
    """Unless somebody insists."""
    around.sink.leave.clear()
    thread = threading.Thread(target=around.gate, args=(None, around.batch_id))
    thread.start()
    assert around.sink.entered.wait(20)
    around.stopping.ask()
    assert not around.gate.wait_until_left(lambda _: True, 60)
    assert around.gate.in_sink == around.batch_id
    around.sink.leave.set()
    assert around.gate.wait_until_left(around.stopping.wait_at_once, 60)
    thread.join(20)
    assert around.gate.delivered == around.batch_id


def test_a_removed_checkpoint_is_an_error_and_not_a_delivery(around: Around) -> None:
    """Without the entry on disk nobody knows what the batch is."""
    shutil.rmtree(around.checkpoint / "offsets")
    with pytest.raises(NotFoundError):
        around.gate(None, around.batch_id)  # type: ignore[arg-type]
    assert around.sink.given == []


def test_a_batch_of_a_query_that_is_never_told_stays_pending(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HF5310: without the id the sink could not know the batch again."""
    monkeypatch.setattr("holdfast.spark.query.gate._START_SECONDS", 0.01)
    made = Around(tmp_path)
    with pytest.raises(RunError) as told:
        made.gate(None, made.batch_id)  # type: ignore[arg-type]
    assert told.value.code.number == "HF5310"
    assert made.sink.given == [] and made.gate.in_sink is None
