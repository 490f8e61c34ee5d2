"""Leases and records on S3, through conditional writes, with the same promises as on disk."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from holdfast.errors import LeaseError, StorageError
from holdfast.records.folder import RecordsFolder, records_of
from holdfast.records.history import History
from holdfast.records.leases.taking import EXPIRY_SECONDS, take_lease
from holdfast.records.offsetcopies import OffsetCopies
from holdfast.records.processes import this_holder
from holdfast.records.statements import Statement, Statements
from holdfast.storage.location import parse_location
from tests.records.drivers import SPAWN, Clock, elsewhere, taken
from tests.records.runs import some_run
from tests.storage.s3server import S3Server

pytestmark = pytest.mark.s3


class AtomicServer(S3Server):
    """Answers one request after another: the emulation checks a condition before it writes."""

    def __post_init__(self) -> None:
        self._one = threading.Lock()
        super().__post_init__()

    def _answer(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        with self._one:
            return list(super()._answer(environ, start))


@pytest.fixture(scope="module")
def server() -> Iterator[S3Server]:
    running = AtomicServer()
    yield running
    running.stop()


@pytest.fixture
def folder(server: S3Server) -> RecordsFolder:
    bucket = f"bucket-{uuid.uuid4().hex}"
    server.fill(bucket, {})
    return records_of(parse_location(f"s3a://{bucket}/base/orders"), server.settings())


def _race(folder: RecordsFolder, rounds: int, gate: Any, results: Any) -> None:
    outcomes = []
    for _ in range(rounds):
        gate.wait()
        try:
            lease = taken(folder)
            outcomes.append(lease.generation)
        except LeaseError as error:
            assert error.code.number == "HF2601"
            lease = None
            outcomes.append(0)
        gate.wait()
        if lease is not None:
            lease.release()
    results.put(outcomes)
    gate.wait()


def test_of_two_processes_exactly_one_wins_each_race(folder: RecordsFolder) -> None:
    gate, results = SPAWN.Barrier(2), SPAWN.Queue()
    racers = [SPAWN.Process(target=_race, args=(folder, 20, gate, results)) for _ in range(2)]
    for racer in racers:
        racer.start()
    outcomes = [results.get(timeout=300) for _ in racers]
    for racer in racers:
        racer.join()
    assert [sorted(pair) for pair in zip(*outcomes, strict=True)] == [
        [0, number] for number in range(1, 21)
    ]


def test_beats_are_seen_and_silence_is_taken_over(folder: RecordsFolder) -> None:
    old = taken(folder, elsewhere())
    clock = Clock()
    clock.at(3, old.beat)
    with pytest.raises(LeaseError) as caught:
        taken(folder, clock=clock)
    assert (caught.value.code.number, clock.slept) == ("HF2601", 3)
    clock = Clock()
    new = taken(folder, clock=clock)
    assert (new.generation, clock.slept) == (2, EXPIRY_SECONDS)
    new.confirm()
    with pytest.raises(LeaseError) as caught:
        old.confirm()
    assert caught.value.code.number == "HF2602"
    new.release()
    assert taken(folder, elsewhere()).taken_over is None


def test_confirming_asks_two_questions(server: S3Server, folder: RecordsFolder) -> None:
    """The listing shows a newer generation, the claim whether this one was claimed again."""
    lease = taken(folder)
    server.requests.clear()
    lease.confirm()
    assert [method for method, _, _ in server.requests] == ["GET", "GET"]
    server.requests.clear()
    lease.beat()
    assert [method for method, _, _ in server.requests] == ["PUT", "GET", "GET"]


def test_history_copies_and_statements(server: S3Server, folder: RecordsFolder) -> None:
    history = History(folder)
    for number in (1, 2):
        history.write(some_run(number))
    assert [run.generation for run in history.runs()] == [2, 1]
    copies = OffsetCopies(folder)
    copies.keep("query", 5, b"v1\n")
    copies.keep("query", 5, b"v1\n")
    assert OffsetCopies(folder).copy_of("query", 5) == b"v1\n"
    said = Statement("query", 5, "ab", True, "2026-03-01T10:00:00.000Z", "zoe")
    for _ in range(2):
        Statements(folder).write(said)
    assert Statements(folder).statement_about("query", 5, "ab") == said


def test_a_storage_that_is_down_is_told(server: S3Server, folder: RecordsFolder) -> None:
    server.failing.extend(["403"] * 20)
    with pytest.raises(StorageError):
        take_lease(folder, job="orders", holder=this_holder(None))
    server.failing.clear()
    assert taken(folder).generation == 1
