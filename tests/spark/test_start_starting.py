"""What is looked at again under the lease, and what a start that breaks leaves behind."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from holdfast.errors import CheckpointError, ProjectError, RefusedError, RunError, StorageError
from holdfast.jobs.ready import ChangedTable, ReadyJob
from holdfast.ledgers.sinkstate import LastCommitted, SinkState
from holdfast.records.folder import RecordsFolder, records_of
from holdfast.records.history import History
from holdfast.records.journal import Act, Journal
from holdfast.records.leases.taking import Standing, lease_state, take_lease
from holdfast.records.processes import this_holder
from holdfast.records.run import PlanFacts, Run, Versions
from holdfast.running.admission import admit
from holdfast.running.options import RunContext, RunOptions
from holdfast.running.stopping import Stopping
from holdfast.spark import start
from holdfast.spark.preflight import read_checkpoint
from holdfast.spark.query.gate import Gate
from holdfast.spark.query.listening import ProgressListener
from holdfast.spark.session.jvm import Jvm
from holdfast.spark.start import start_job
from holdfast.storage.local import LocalReader
from holdfast.storage.localwriter import LocalWriter
from holdfast.storage.location import parse_location
from tests.records.runs import some_run
from tests.spark.query.test_gate import Keeping
from tests.spark.readyjobs import job as a_job


@pytest.fixture
def job(tmp_path: Path) -> ReadyJob:
    return a_job(tmp_path)


@pytest.fixture
def records(job: ReadyJob) -> RecordsFolder:
    return records_of(job.checkpoint, job.settings)


def run_context() -> RunContext:
    versions = Versions("0.1.0", "4.2.0", "17", "3.11")
    session = cast(Any, SimpleNamespace(sparkContext=SimpleNamespace(master="local")))
    jvm = Jvm(os.getpid())
    return RunContext(session, jvm, versions, RunOptions(), Stopping(), lambda _event: None)


def begin_a_restore(records: RecordsFolder) -> None:
    """Leave what a restore leaves that was killed after its first change."""
    place = f"{records.location.url}/journal"
    Journal(LocalReader(place), LocalWriter(place)).begin(
        Act("20270101T000000000Z-0001", "restore", {})
    )


def test_a_restore_between_admission_and_the_lease_is_noticed(
    job: ReadyJob, records: RecordsFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark starts in between, and every job of the run that comes before this one."""

    def too_far(*_: object) -> None:
        raise AssertionError("the start went on")

    monkeypatch.setattr(start, "read_checkpoint", too_far)
    admit(job)
    begin_a_restore(records)
    with pytest.raises(CheckpointError) as caught:
        start_job(job, run_context())
    assert (caught.value.code.number, caught.value.exit_status) == ("HF4506", 42)
    state = lease_state(records)
    assert state is not None and state.state is Standing.FREE
    with pytest.raises(CheckpointError):
        admit(job)


def test_a_job_that_took_the_checkpoint_while_the_lease_was_waited_for_is_noticed(
    job: ReadyJob, records: RecordsFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ran and ended in between: who holds the lease now is not its owner."""
    take = take_lease

    def after_another(*given: Any, **named: Any) -> Any:
        History(records).write(replace(some_run(1), job="another", project=job.project))
        return take(*given, **named)

    monkeypatch.setattr("holdfast.spark.start.take_lease", after_another)
    with pytest.raises(ProjectError) as caught:
        start_job(job, run_context())
    assert caught.value.code.number == "HF1118"
    state = lease_state(records)
    assert state is not None and state.state is Standing.FREE


@pytest.mark.parametrize("mode", ["upsert", "complete"])
def test_a_stream_of_a_table_that_another_job_changes_is_refused_before_spark(
    mode: str, job: ReadyJob
) -> None:
    """Unless it is accepted by name, or the source says what it does about changes."""
    table = ChangedTable("source", "totals", mode, None)
    with pytest.raises(RefusedError, match="that job totals") as caught:
        admit(replace(job, changed_tables=(table,)))
    assert (caught.value.code.number, caught.value.exit_status) == ("HF2372", 30)
    admit(replace(job, changed_tables=(table,)), ["changing-source"])
    admit(replace(job, changed_tables=(replace(table, option="skipChangeCommits"),)))


@pytest.mark.parametrize("master", ["spark://head:7077", "yarn", "k8s://https://head:443"])
def test_a_local_output_on_a_cluster_is_refused_before_spark(master: str, job: ReadyJob) -> None:
    """Unless all machines share the place, or it is accepted as a mount of all of them."""
    output = parse_location("/lake/orders")
    files = replace(job, sink=replace(job.sink, format="parquet", location=output))
    with pytest.raises(RefusedError, match="the output /lake/orders and the checkpoint") as caught:
        admit(files, master=master)
    assert (caught.value.code.number, caught.value.exit_status) == ("HF3028", 30)
    assert "--accept shared-mount" in caught.value.next_steps[-1]
    admit(files, ["shared-mount"], master)
    remote = parse_location("s3://lake/orders")
    admit(replace(job, sink=replace(job.sink, format="delta", location=remote)), master=master)
    for here in ("local[*]", "local[2]", "local-cluster[2,1,1024]"):
        admit(files, master=here)


def test_a_restart_still_knows_that_a_place_is_a_mount() -> None:
    options = RunOptions(accepted=frozenset({"shared-mount", "empty-sink"}))
    assert options.for_restart().accepted == {"shared-mount"}


@dataclass
class Query:
    """A query of Spark's that calls the gate for its first batch at once."""

    records: RecordsFolder
    gate: Gate
    id: str = "an-id"
    runId: str = "a-run"  # noqa: N815 - as Spark spells it
    held_at_stop: list[Standing] = field(default_factory=list)
    raised: list[BaseException] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.thread = threading.Thread(target=self._batch, daemon=True)
        self.thread.start()

    def _batch(self) -> None:
        try:
            self.gate(cast(Any, "rows"), 0)
        except BaseException as error:  # noqa: BLE001 - the test looks at it
            self.raised.append(error)

    def stop(self) -> None:
        """Stop, as Spark does: when the batch is out of the gate."""
        state = lease_state(self.records)
        assert state is not None
        self.held_at_stop.append(state.state)
        self.thread.join(20)
        assert not self.thread.is_alive()


def test_a_query_whose_start_cannot_be_recorded_is_stopped_before_the_lease_is_given_back(
    job: ReadyJob, records: RecordsFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink, queries, ended = Keeping(), list[Query](), list[object]()
    fresh = read_checkpoint(job)
    (Path(job.checkpoint.url) / "offsets").mkdir(parents=True)
    (Path(job.checkpoint.url) / "offsets/0").write_bytes(b"v1\n{}\n0")

    def call(_job: object, _frame: object, gate: Gate) -> Query:
        queries.append(Query(records, gate))
        return queries[0]

    write = History.write

    def failing(self: History, run: Run) -> None:
        if run.run_id is not None:
            raise StorageError("HF7015", "no space left")
        write(self, run)

    monkeypatch.setattr(start, "read_checkpoint", lambda _: fresh)
    monkeypatch.setattr(start, "checked_sink", lambda *_: sink)
    monkeypatch.setattr(start, "plan_facts", lambda *_: PlanFacts())
    monkeypatch.setattr(start, "_call_spark", call)
    monkeypatch.setattr(ProgressListener, "begin", lambda *_: None)
    monkeypatch.setattr(ProgressListener, "end", lambda *_: ended.append("listening"))
    monkeypatch.setattr(History, "write", failing)
    with pytest.raises(StorageError) as caught:
        start_job(job, run_context(), cast(Any, SimpleNamespace(sparkSession=None)))
    assert caught.value.message == "no space left"
    (query,) = queries
    assert query.held_at_stop == [Standing.HELD]
    assert sink.given == []
    assert [type(error) for error in query.raised] == [RunError]
    assert ended == ["listening"]
    state = lease_state(records)
    assert state is not None and state.state is Standing.FREE


@pytest.mark.parametrize(("known", "expected"), [(0, 1), (1, 2), (7, 8)])
def test_a_start_takes_a_generation_that_the_sink_accepts(
    job: ReadyJob, records: RecordsFolder, known: int, expected: int
) -> None:
    """Generations start again where records are lost; a sink remembers the newest."""
    lease = take_lease(records, job=job.name, holder=this_holder(None))
    sight = SinkState(LastCommitted.nothing("new"), generation=known)
    raised, findings = start._above_the_sink(lease, sight)
    raised.confirm()
    assert raised.generation == expected
    told = [(one.code, one.evidence) for one in findings]
    assert told == ([("HF2614", {"before": 1, "now": expected})] if known else [])
    raised.release()
    state = lease_state(records)
    assert state is not None and state.state is Standing.FREE
