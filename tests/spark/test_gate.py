"""A batch passes in one order only: not stopped, lease ours, offsets kept, then the sink."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import LeaseError, NotFoundError, RefusedError, RunError
from holdfast.ledgers.identity import BatchIdentity, digest_of_offsets
from holdfast.ledgers.lastcommitted import LastCommitted
from holdfast.records.folder import RecordsFolder, records_of
from holdfast.records.holder import this_holder
from holdfast.records.lease import Lease, take_lease
from holdfast.records.offsetcopies import OffsetCopies
from holdfast.spark.gate import Gate, StoppedBeforeSinkError
from holdfast.spark.sinks.sink import Delivery
from holdfast.spark.stopping import Stopping
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
        return LastCommitted(None, "never asked")

    def queries(self) -> frozenset[str]:
        """Tell nothing."""
        return frozenset()

    def rewind(self, query_id: str, batch_id: int) -> None:
        """Keep everything."""

    def clear(self) -> None:
        """Keep everything."""


class Around:
    """A gate with everything that is around it, on a real checkpoint."""

    def __init__(self, folder: Path) -> None:
        self.checkpoint = folder / "orders"
        for path, content in sample("pending", "4.2.1").files().items():
            (self.checkpoint / path).parent.mkdir(parents=True, exist_ok=True)
            (self.checkpoint / path).write_bytes(content)
        self.location = parse_location(str(self.checkpoint))
        self.records: RecordsFolder = records_of(self.location, StorageSettings())
        self.lease: Lease = take_lease(self.records, job="orders", holder=this_holder(None))
        self.stopping, self.sink = Stopping(), Keeping()
        self.copies = OffsetCopies(self.records)
        self.gate = Gate(
            self.sink,
            lease=self.lease,
            stopping=self.stopping,
            checkpoint=LocalReader(str(self.checkpoint)),
            copies=self.copies,
        )
        self.batch_id = max(int(one.name) for one in (self.checkpoint / "offsets").glob("[0-9]*"))

    def entry(self) -> bytes:
        """Give the bytes of the newest offsets entry."""
        return (self.checkpoint / "offsets" / str(self.batch_id)).read_bytes()


@pytest.fixture
def around(tmp_path: Path) -> Around:
    """Open a gate for a query."""
    made = Around(tmp_path)
    made.gate.open_for(QUERY)
    return made


def test_a_batch_comes_with_its_identity_and_its_offsets_are_kept(around: Around) -> None:
    """The digest is that of the bytes on disk."""
    around.gate(None, around.batch_id)  # type: ignore[arg-type]
    digest = digest_of_offsets(around.entry())
    identity = BatchIdentity(QUERY, around.batch_id, around.lease.generation, digest)
    assert around.sink.given == [identity]
    assert around.copies.copy_of(QUERY, around.batch_id) == around.entry()
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


def test_a_lost_lease_stops_before_the_sink(around: Around) -> None:
    """Another generation is enough."""
    around.lease.release()
    take_lease(around.records, job="orders", holder=this_holder(None))
    with pytest.raises(LeaseError, match="took over"):
        around.gate(None, around.batch_id)  # type: ignore[arg-type]
    assert around.sink.given == []


def test_a_batch_planned_anew_is_refused(around: Around) -> None:
    """The same id with other offsets never reaches the sink."""
    around.gate(None, around.batch_id)  # type: ignore[arg-type]
    (around.checkpoint / "offsets" / str(around.batch_id)).write_bytes(around.entry() + b" ")
    with pytest.raises(RefusedError) as told:
        around.gate(None, around.batch_id)  # type: ignore[arg-type]
    assert told.value.code.number == "HF2604"
    assert len(around.sink.given) == 1


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
    monkeypatch.setattr("holdfast.spark.gate._START_SECONDS", 0.01)
    made = Around(tmp_path)
    with pytest.raises(RunError) as told:
        made.gate(None, made.batch_id)  # type: ignore[arg-type]
    assert told.value.code.number == "HF5310"
    assert made.sink.given == [] and made.gate.in_sink is None
