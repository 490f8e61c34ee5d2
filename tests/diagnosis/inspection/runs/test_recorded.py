"""What real records add to inspect, evidence and doctor: runs, the lease, acts, kept offsets."""

from __future__ import annotations

import io
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from holdfast import library
from holdfast.answers import Answer
from holdfast.backup.access import Records, alone, open_records
from holdfast.checkpoint.recovery.outcome import Action
from holdfast.cli.drawing.evidence import draw_evidence
from holdfast.diagnosis.evidence.report import markdown_report
from holdfast.diagnosis.inspection.evidence import Basis, Evidence
from holdfast.diagnosis.inspection.runs.recorded import recall
from holdfast.errors import NotFoundError
from holdfast.findings import Finding, Severity
from holdfast.ledgers.files.format import Manifest, encode_manifest
from holdfast.ledgers.files.manifests import manifest_path
from holdfast.ledgers.identity import OffsetRange
from holdfast.records.journal import Act
from holdfast.records.leases.state import Standing
from holdfast.records.offsetcopies import OffsetCopies
from holdfast.records.run import Ended, Failure, PlanFacts, SinkFacts, Versions
from holdfast.records.starts import Attempts
from holdfast.storage.location import parse_location
from holdfast.storage.options import StorageSettings
from holdfast.storage.testing import RecordingReader
from tests.corpus.loading import sample
from tests.diagnosis.doctor.fieldscenarios import COUNTED
from tests.diagnosis.doctor.recording import (
    a_run,
    dead_holder,
    records_beside,
    run_on,
    stateful_run_on,
    write_runs,
)
from tests.fuzz.children import in_child
from tests.records.drivers import taken
from tests.records.test_starts_attempts import some_attempt

STATELESS = "stateless"
ACT = Act("20260301T100000000Z", "restore", {"whole": True})


def checkpoint(folder: Path, name: str = STATELESS, spark: str = "4.3.0") -> Path:
    """Unpack a sample."""
    return sample(name, spark).extract(folder)


def records(root: Path) -> Records:
    """Open a checkpoint as backups do."""
    return open_records(parse_location(str(root)), StorageSettings())


def told(answer: Answer[Any]) -> dict[str, Finding]:
    """Give the findings by their codes."""
    return {finding.code: finding for finding in answer.findings}


def facts(root: Path) -> Evidence:
    """Gather the evidence."""
    return library.evidence(root).result


def test_a_checkpoint_without_records_costs_one_listing(tmp_path: Path) -> None:
    folder = records_beside(checkpoint(tmp_path))
    opened: list[RecordingReader] = []

    def open_recording(*place: Any) -> RecordingReader:
        opened.append(RecordingReader(folder.open_reader(*place)))
        return opened[-1]

    recalled = recall(replace(folder, open_reader=open_recording), runs=10, lease=True)
    assert (recalled.runs, recalled.lease, recalled.act, recalled.failures) == ((), None, None, ())
    assert [[one.act for one in reader.operations] for reader in opened] == [["names"]]


def test_the_newest_run_costs_two_more(tmp_path: Path) -> None:
    root = checkpoint(tmp_path)
    write_runs(root, run_on(STATELESS, generation=1), run_on(STATELESS, generation=2))
    folder = records_beside(root)
    opened: list[RecordingReader] = []

    def open_recording(*place: Any) -> RecordingReader:
        opened.append(RecordingReader(folder.open_reader(*place)))
        return opened[-1]

    recalled = recall(replace(folder, open_reader=open_recording))
    assert [run.generation for run in recalled.runs] == [2]
    assert [one.act for reader in opened for one in reader.operations] == ["names", "names", "read"]


def test_inspect_knows_spark_and_sink_from_the_record(tmp_path: Path) -> None:
    root = checkpoint(tmp_path)
    assert library.inspect(root).result.sink is None
    write_runs(root, run_on(STATELESS, versions=Versions("0.1.0", "4.3.0", "17", "3.11")))
    found = library.inspect(root).result
    version = found.spark_version
    assert (version.value, version.low, version.high) == ("4.3.0", "4.3", "4.3")
    assert version.basis == "recorded"
    assert found.next_start.assumes_spark == "4.3"
    assert found.sink is not None
    assert (found.sink.kind, found.sink.identity) == ("delta", "file:///lake/orders")
    assert (found.sink.last_committed, found.sink.basis) == (3, "recorded")


def test_a_release_that_the_files_cannot_be_of_is_not_believed(tmp_path: Path) -> None:
    root = checkpoint(tmp_path)
    before = library.inspect(root).result.spark_version
    write_runs(root, run_on(STATELESS, versions=Versions("0.1.0", "4.0.1", "17", "3.11")))
    assert library.inspect(root).result.spark_version == before
    assert facts(root).spark_version.basis is Basis.INFERRED


def test_a_run_that_reached_nothing_lets_an_older_one_speak(tmp_path: Path) -> None:
    root = checkpoint(tmp_path)
    refused = a_run(2, query_id=None, last_batch=None, sink=None, ended=Ended.REFUSED)
    write_runs(root, run_on(STATELESS, generation=1), refused)
    found = library.inspect(root).result
    assert found.sink is not None and found.sink.kind == "delta"


def test_evidence_is_ready_with_a_record(tmp_path: Path) -> None:
    root = checkpoint(tmp_path)
    assert not facts(root).ready
    write_runs(
        root,
        run_on(STATELESS, generation=1, ended=Ended.STOPPED, last_batch=1),
        run_on(STATELESS, generation=2, versions=Versions("0.1.0", "4.3.0", "17", "3.11")),
    )
    found = facts(root)
    assert found.ready
    assert found.query_id.basis is Basis.READ
    for name in ("sink", "output_mode", "stateful_operators", "state_store_provider",
                 "spark_version", "restart_history"):  # fmt: skip
        assert found.fact(name).basis is Basis.RECORDED, name
    assert found.sink.value is not None and found.sink.value.kind == "delta"
    assert "batch 3 was delivered" in found.sink.value.last_committed_basis
    assert found.output_mode.value == "append"
    assert found.stateful_operators.value == ()
    assert found.spark_version.value is not None and found.spark_version.value.value == "4.3.0"
    history = found.restart_history.value
    assert history is not None
    assert [(one.generation, one.ended) for one in history.runs] == [
        (2, Ended.FINISHED),
        (1, Ended.STOPPED),
    ]
    assert "run 2 of job orders" in found.sink.source


def test_evidence_of_a_checkpoint_that_is_gone_says_what_its_records_know(tmp_path: Path) -> None:
    """With the page that `run` refuses with; the target is named in the steps."""
    root = checkpoint(tmp_path)
    run = run_on(STATELESS)
    write_runs(root, run)
    shutil.rmtree(root)
    answer = library.evidence(root, sink=tmp_path / "output")
    finding = told(answer)["HF3025"]
    assert finding.severity is Severity.FATAL
    assert "the checkpoint is missing" in finding.message
    assert f"run {run.generation} of job {run.job}" in finding.message
    assert f"batches up to {run.last_batch} were delivered" in finding.message
    assert "the sink has batches up to" in finding.message
    assert finding.next_steps[0].startswith(f"holdfast backups {root} ")
    assert "HF2342" not in told(answer)
    assert answer.result.query_id.value == run.query_id
    assert "HF3025" in told(library.evidence(root)), "without the sink as well"


def test_a_delta_sink_is_asked_by_the_recorded_query_where_the_checkpoint_is_gone(
    tmp_path: Path,
) -> None:
    """`evidence` and `doctor` do not call a table empty that has the query's batches."""
    root = sample("delta", "4.2.0").extract(tmp_path)
    write_runs(root, run := run_on("delta", "4.2.0"))
    entry = (root / "offsets" / "0").read_bytes()
    OffsetCopies(records_beside(root)).keep(run.query_id or "", 0, entry)
    shutil.rmtree(root)
    sink = library.evidence(root, sink=tmp_path / "output").result.sink.value
    assert sink is not None and sink.last_committed == 2
    (root.parent / "checkpoint").mkdir()
    answer = library.doctor(root, sink=tmp_path / "output")
    (examined,) = answer.result.targets
    assert examined.sink is not None and examined.sink.last_committed == 2
    (lost,) = (one for one in answer.findings if one.code == "HF2342")
    assert lost.message == "batch 2 was delivered, but the checkpoint holds no batch"


def test_evidence_of_a_checkpoint_that_only_the_sink_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The declared sink is asked; a place that nobody knows is still not found."""
    sample("delta", "4.2.0").extract(tmp_path)
    (tmp_path / "holdfast.yaml").write_text(
        "project: shop\ncheckpoints: ./checkpoints\njobs:\n  orders:\n"
        "    source: {format: json, path: ./in, schema: n int}\n    sql: select * from source\n"
        "    sink: {format: delta, path: ./output}\n",
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    found = told(library.evidence("orders"))
    assert found["HF2351"].severity is Severity.WARNING
    assert any(one.severity is Severity.FATAL for one in found.values())
    shutil.rmtree(tmp_path / "output")
    with pytest.raises(NotFoundError):
        library.evidence("orders")


def test_starts_that_failed_early_are_listed_with_their_page(tmp_path: Path) -> None:
    """Those before the newest run as well; the doctor reports the newest one after it."""
    root = checkpoint(tmp_path)
    attempts = Attempts(records_beside(root))
    attempts.write(some_attempt(at="2026-02-01T10:00:00.000Z", page="delta-table-gone"))
    alone_found = library.evidence(root).result.restart_history
    assert alone_found.value is not None and alone_found.basis is not Basis.RECORDED
    assert [one.code for one in alone_found.value.attempts] == ["HF3013"]
    write_runs(root, run_on(STATELESS, ended=Ended.FAILED, failure=Failure(
        "DIVIDE", "HF5302", "a division", page="division-by-zero")))  # fmt: skip
    attempts.write(some_attempt(at="2026-04-01T10:00:00.000Z"))
    answer = library.evidence(root)
    history = answer.result.restart_history.value
    assert history is not None
    assert [one.at[:7] for one in history.attempts] == ["2026-04", "2026-02"]
    drawn = io.StringIO()
    draw_evidence(answer, Console(file=drawn, width=400))
    for text in (drawn.getvalue(), markdown_report(answer).replace("\\", "")):
        assert "HF3013 the table is gone; holdfast explain delta-table-gone" in text
        assert "holdfast explain division-by-zero" in text
        assert "2 failed starts" in text
    finding = told(library.doctor(root))["HF2615"]
    assert "2026-04-01" in finding.message and finding.severity is Severity.WARNING


def test_what_the_checkpoint_tells_stays_read(tmp_path: Path) -> None:
    root = checkpoint(tmp_path, "aggregation-hdfs-lz4")
    run = run_on("aggregation-hdfs-lz4", output_mode="complete", state_store_provider="rocksdb",
                 plan=PlanFacts(("rate",), ("other",), "Aggregate"))  # fmt: skip
    write_runs(root, run)
    found = facts(root)
    assert found.stateful_operators.basis is Basis.READ
    assert found.state_store_provider.value == "hdfs"
    assert found.state_store_provider.basis is Basis.READ


def test_operators_of_spark_3_5_get_the_recorded_names(tmp_path: Path) -> None:
    root = checkpoint(tmp_path, "aggregation-hdfs-lz4", "3.5.9")
    run = run_on("aggregation-hdfs-lz4", "3.5.9", versions=Versions("0.1.0", "3.5.9", "17", "3.11"),
                 plan=PlanFacts(("rate",), ("stateStoreSave",), "Aggregate"))  # fmt: skip
    before = facts(root).stateful_operators
    assert before.value is not None and [one.name for one in before.value] == [None]
    write_runs(root, run)
    after = facts(root).stateful_operators
    assert after.value is not None and [one.name for one in after.value] == ["stateStoreSave"]
    assert after.basis is Basis.RECORDED


def test_a_lost_query_id_is_remembered(tmp_path: Path) -> None:
    root = checkpoint(tmp_path)
    write_runs(root, run := run_on(STATELESS))
    (root / "metadata").unlink()
    assert facts(root).query_id.value == run.query_id
    assert facts(root).query_id.basis is Basis.RECORDED


def test_a_mode_that_is_declared_otherwise_is_told(tmp_path: Path) -> None:
    root = checkpoint(tmp_path / "checkpoints" / "x")
    root.rename(tmp_path / "checkpoints" / "orders")
    root = tmp_path / "checkpoints" / "orders"
    (tmp_path / "holdfast.yaml").write_text(
        "project: shop\njobs:\n  orders: {source: {format: rate}, sql: select 1, "
        "sink: {format: console}, output_mode: update}\n"
    )
    write_runs(root, run_on(STATELESS, output_mode="append"))
    answer = library.evidence("orders", project=tmp_path / "holdfast.yaml")
    assert "append mode, but update is declared" in told(answer)["HF2505"].message


def test_records_of_another_query_are_told_and_not_relied_on(tmp_path: Path) -> None:
    root = checkpoint(tmp_path)
    write_runs(root, run_on("aggregation-hdfs-lz4"))
    answer = library.inspect(root)
    assert told(answer)["HF2341"].severity is Severity.ERROR
    assert answer.result.sink is None
    assert answer.result.spark_version.basis != "recorded"
    evidence = library.evidence(root)
    assert "HF2341" in told(evidence)
    assert evidence.result.restart_history.basis is not Basis.RECORDED
    assert not evidence.result.ready


def test_records_that_cannot_be_read_are_a_finding_and_no_failure(tmp_path: Path) -> None:
    root = checkpoint(tmp_path)
    write_runs(root, run_on(STATELESS, generation=1), run_on(STATELESS, generation=2))
    (tmp_path / ".holdfast" / "checkpoint" / "runs" / "0000000002.json").write_text("{")
    answer = library.inspect(root)
    assert told(answer)["HF2603"].severity is Severity.WARNING
    assert ".holdfast/checkpoint" in told(answer)["HF2603"].message
    assert answer.result.sink is not None


def test_an_interrupted_restore_is_told_by_inspect_evidence_and_doctor(tmp_path: Path) -> None:
    root = checkpoint(tmp_path)
    records(root).journal.begin(ACT)
    for look in (library.inspect, library.evidence, library.doctor):
        finding = told(look(str(root)))["HF4506"]
        assert finding.severity is Severity.FATAL
        assert f"holdfast restore --finish {root}" in " ".join(finding.next_steps)
    records(root).journal.end(ACT, "finished")
    assert "HF4506" not in told(library.inspect(root))


def test_a_restore_at_work_is_not_called_interrupted(tmp_path: Path) -> None:
    root = checkpoint(tmp_path)
    place = records(root)
    with alone(place.store, "restore"):
        place.journal.begin(ACT)
        answer = library.inspect(root)
    assert "HF4506" not in told(answer)
    assert told(answer)["HF4507"].severity is Severity.INFO
    assert "HF4506" in told(library.inspect(root))


def test_doctor_tells_a_driver_that_runs_and_one_that_was_killed(tmp_path: Path) -> None:
    root = checkpoint(tmp_path)
    write_runs(root, run_on(STATELESS, ended=None, ended_at=None))
    held = taken(records_beside(root))
    finding = told(library.doctor(root))["HF2344"]
    assert "job orders" in finding.message and finding.severity is Severity.INFO
    held.release()
    taken(records_beside(root), dead_holder())
    answer = library.doctor(root)
    assert "HF2344" not in told(answer)
    assert told(answer)["HF2345"].severity is Severity.INFO


@pytest.mark.parametrize("damage", [b"", None], ids=["torn", "lost"])
def test_a_kept_copy_is_named_where_the_newest_offsets_are_gone(
    tmp_path: Path, damage: bytes | None
) -> None:
    root = checkpoint(tmp_path)
    write_runs(root, run := run_on(STATELESS))
    entry = root / "offsets" / "3"
    content = entry.read_bytes()
    OffsetCopies(records_beside(root)).keep(run.query_id or "", 3, content)
    assert not {"HF2604", "HF2342"} & told(library.doctor(root)).keys()
    entry.unlink()
    if damage is not None:
        entry.write_bytes(damage)
    answer = library.doctor(root)
    kept = [one for one in answer.findings if "kept_copy" in one.evidence]
    assert kept and kept[0].severity is Severity.FATAL
    copy = Path(str(kept[0].evidence["kept_copy"]))
    assert copy.read_bytes() == content
    assert kept[0].evidence["put_back"] == "unknown"
    assert f"do not put {copy} back as offsets/3 yet" in kept[0].next_steps[0]
    assert "HF2604" not in told(answer)


def test_inspect_says_that_a_start_fails_whose_state_is_gone(tmp_path: Path) -> None:
    """As the doctor does: the files alone look like those of a query without state."""
    root = checkpoint(tmp_path, COUNTED)
    write_runs(root, stateful_run_on(COUNTED, "stateStoreSave"))
    assert library.inspect(root).result.next_start.action is Action.PLAN
    shutil.rmtree(root / "state")
    answer = library.inspect(root)
    start = answer.result.next_start
    assert (start.action, start.sink_touched) == (Action.FAIL, False)
    assert "operator 0 (stateStoreSave)" in start.reason
    assert told(answer)["HF2221"].severity is Severity.FATAL
    assert told(answer)["HF2221"].message == told(library.doctor(root))["HF2221"].message


def test_records_that_may_not_be_read_are_not_called_lost(tmp_path: Path) -> None:
    """They may be whole: the next step is about access, not about the file."""
    root = checkpoint(tmp_path)
    write_runs(root, run_on(STATELESS))
    (tmp_path / ".holdfast").chmod(0)

    def said() -> str:
        finding = told(library.doctor(root))["HF2603"]
        return "\n".join((finding.why, *finding.next_steps))

    try:
        denied = in_child(said, without_capabilities=True)
    finally:
        (tmp_path / ".holdfast").chmod(0o755)
    assert "lost" not in denied
    assert denied.endswith("run as the user that runs the job, or give this user read access")


def test_no_copy_replaces_an_entry_that_may_not_be_read(tmp_path: Path) -> None:
    """It is there, and may be right; the finding about the access is all there is to say."""
    root = checkpoint(tmp_path)
    write_runs(root, run := run_on(STATELESS))
    entry = root / "offsets" / "3"
    OffsetCopies(records_beside(root)).keep(run.query_id or "", 3, entry.read_bytes())
    entry.chmod(0)

    def steps() -> str:
        return "\n".join(told(library.doctor(root))["HF7002"].next_steps)

    said = in_child(steps, without_capabilities=True)
    assert said == "run as the user that runs the job, or give this user read access"


@pytest.mark.parametrize("damage", [b"", None, b"other"], ids=["torn", "lost", "other"])
@pytest.mark.parametrize(
    ("stored", "put_back", "step"),
    [
        (None, "allowed", "a byte-identical copy is kept: put {} back as offsets/3"),
        (0, "allowed", "a byte-identical copy is kept: put {} back as offsets/3"),
        (1, "allowed", "a byte-identical copy is kept: put {} back as offsets/3"),
        ("range1:00", "forbidden", "do not put {} back as offsets/3: the sink has batch 3"),
    ],
    ids=["not delivered", "as kept", "as kept by an older release", "otherwise"],
)
def test_a_copy_is_to_be_put_back_only_as_the_sink_has_it(
    tmp_path: Path, damage: bytes | None, stored: int | str | None, put_back: str, step: str
) -> None:
    root = checkpoint(tmp_path)
    write_runs(root, run := run_on(STATELESS))
    query_id, entry = run.query_id or "", root / "offsets" / "3"
    content = entry.read_bytes()
    OffsetCopies(records_beside(root)).keep(query_id, 3, content)
    before = (root / "offsets" / "2").read_bytes()
    digests = OffsetRange(3, before, content).digests
    output = tmp_path / "gold"
    output.mkdir()
    for batch in range(3 if stored is None else 4):
        digest = digests[stored] if isinstance(stored, int) else str(stored)
        delivered(output, query_id, batch, digest if batch == 3 else f"d{batch}")
    entry.unlink()
    if damage is not None:
        entry.write_bytes(content + b" " if damage else damage)
    answer = library.doctor(root, sink=output)
    kept = [one for one in answer.findings if "kept_copy" in one.evidence]
    assert kept and {one.evidence["put_back"] for one in kept} == {put_back}
    (copy,) = (tmp_path / ".holdfast" / "checkpoint" / "offsets").rglob("3.*")
    by_hand = [one for one in kept[0].next_steps if not one.startswith("holdfast plan ")]
    assert by_hand[0].startswith(step.format(copy))


def delivered(output: Path, query_id: str, batch_id: int, digest: str) -> None:
    """Write the manifest of a batch without rows."""
    path = output.parent / ".holdfast/gold/manifests" / manifest_path(query_id, batch_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    manifest = Manifest(
        query_id, batch_id, 1, digest, "csv", "append", (), {"fields": []}, 0,
        "2026-11-16T06:00:00.000Z", f"{batch_id:010d}-1", (),
    )  # fmt: skip
    path.write_bytes(encode_manifest(manifest))


def test_a_planned_batch_of_which_only_the_copy_is_left_is_fatal(tmp_path: Path) -> None:
    """Its run was killed before the commit; without the copy nothing would tell."""
    root = checkpoint(tmp_path)
    write_runs(root, run := run_on(STATELESS, last_batch=2, ended=None, ended_at=None))
    content = (root / "offsets" / "3").read_bytes()
    OffsetCopies(records_beside(root)).keep(run.query_id or "", 3, content)
    for path in ("offsets/3", "commits/3", "offsets/.3.crc", "commits/.3.crc"):
        (root / path).unlink(missing_ok=True)
    finding = told(library.doctor(root))["HF2342"]
    assert finding.severity is Severity.FATAL
    assert finding.place.file == "offsets/3"
    assert "back as offsets/3 yet" in finding.next_steps[0]


def test_an_entry_that_is_not_what_was_kept_of_it_is_fatal(tmp_path: Path) -> None:
    root = checkpoint(tmp_path)
    write_runs(root, run := run_on(STATELESS))
    entry = root / "offsets" / "3"
    OffsetCopies(records_beside(root)).keep(run.query_id or "", 3, entry.read_bytes() + b" ")
    finding = told(library.doctor(root))["HF2604"]
    assert finding.severity is Severity.FATAL
    assert finding.place.file == "offsets/3"


def test_a_kept_copy_that_is_damaged_is_told(tmp_path: Path) -> None:
    root = checkpoint(tmp_path)
    write_runs(root, run := run_on(STATELESS))
    OffsetCopies(records_beside(root)).keep(run.query_id or "", 3, b"as it was")
    (copy,) = (tmp_path / ".holdfast" / "checkpoint" / "offsets").rglob("3.*")
    copy.write_bytes(b"other")
    assert told(library.doctor(root))["HF2603"].severity is Severity.WARNING


def test_what_the_sink_promised_is_told(tmp_path: Path) -> None:
    """Of the sink that was recorded, also where it was asked; not of another one."""
    root = checkpoint(tmp_path, "delta", "4.2.0")
    promised = SinkFacts("delta", "gold", "append", "once, under conditions")
    write_runs(root, run_on("delta", "4.2.0", sink=promised))
    for sink in (None, tmp_path / "output"):
        answer = library.evidence(root, sink=sink)
        value = answer.result.sink.value
        assert value is not None and value.promise == "once, under conditions"
        assert "once, under conditions" in markdown_report(answer)
    console = Console(file=io.StringIO(), width=200)
    draw_evidence(answer, console)
    assert "delivery: once, under conditions" in console.file.getvalue()  # type: ignore[attr-defined]
    write_runs(root, run_on("delta", "4.2.0", sink=replace(promised, kind="postgres")))
    other = library.evidence(root, sink=tmp_path / "output").result.sink.value
    assert other is not None and other.promise is None


def test_the_sink_of_a_record_gives_way_to_what_was_read(tmp_path: Path) -> None:
    root = sample("delta", "4.2.0").extract(tmp_path)
    sink = SinkFacts("postgres", "gold", "append", "exactly-once")
    write_runs(root, run_on("delta", "4.2.0", sink=sink))
    found = library.evidence(root, sink=tmp_path / "output").result
    assert found.sink.value is not None
    assert (found.sink.value.kind, found.sink.basis) == ("delta", Basis.READ)


def test_a_lease_is_seen_as_it_stands(tmp_path: Path) -> None:
    root = checkpoint(tmp_path)
    lease = taken(records_beside(root))
    seen = recall(records_beside(root), lease=True).lease
    assert seen is not None and seen.state is Standing.HELD
    lease.release()
    assert recall(records_beside(root)).lease is None
