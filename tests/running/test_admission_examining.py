"""What the doctor calls fatal forbids a start; what the start knows better does not."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast.diagnosis.inspection import sources
from holdfast.diagnosis.inspection.sourcefiles import IGNORE_MISSING, names_with
from holdfast.diagnosis.inspection.sources import BrokerSeen
from holdfast.findings import Finding, Severity
from holdfast.jobs.built import Job
from holdfast.jobs.ready import ReadyJob
from holdfast.records.facts import SourceFacts
from holdfast.records.folder import records_of
from holdfast.records.history import History
from holdfast.restart.verdict import Verdict
from holdfast.running.admission import (
    check_unplanned,
    fatal_before_program,
    fatal_before_start,
)
from holdfast.running.lostfiles import lost_before_program
from holdfast.storage.location import parse_location
from holdfast.storage.options import StorageSettings
from tests.checkpoint.pictures import Files, files_of, picture_of, replaced
from tests.corpus.loading import corpus
from tests.diagnosis.doctor.fieldscenarios import TABLE
from tests.diagnosis.doctor.recording import query_id_of
from tests.records.runs import some_run

SPARK = "4.2.1"
FOLDERS = {
    "first": "/tmp/holdfast-corpus/two-sources/in",
    "second": "/tmp/holdfast-corpus/two-sources/in-2",
}


def built(**declared: Any) -> ReadyJob:
    """Give a job as a start gets it."""
    given = {"sql": "select * from source", "sink": {"format": "memory"}, **declared}
    return Job("orders", checkpoint="checkpoints/orders", **given).ready()


def fatal(files: Files, job: ReadyJob, spark: str = SPARK) -> tuple[Finding, ...]:
    """Return what forbids a start on these files."""
    return fatal_before_start(job, picture_of(files), spark)


def union(*names: str) -> ReadyJob:
    """Give a job that reads the sources of the sample in an order."""
    sources = {name: {"format": "json", "path": path} for name, path in FOLDERS.items()}
    text = " union all ".join(f"select * from {name}" for name in names)
    return built(sources=sources, sql=text)


def test_swapped_sources_of_a_union_forbid_a_start() -> None:
    """HF2361; in the order of the checkpoint there is nothing."""
    (found,) = fatal(files_of("two-sources"), union("second", "first"))
    assert (found.code, found.severity) == ("HF2361", Severity.FATAL)
    assert "orders" not in found.place.file
    assert fatal(files_of("two-sources"), union("first", "second")) == ()


def test_files_that_the_source_log_lacks_forbid_a_start() -> None:
    """HF2217: Spark would read them again."""
    files, path = files_of("stateless-compacted"), "sources/0/8.compact"
    job = built(source={"format": "json", "path": "in"})
    codes = {one.code for one in fatal(files, job)}
    kept = [line for line in files[path].split(b"\n") if b'"batchId":4}' not in line]
    lacking = replaced(files, path, b"\n".join(kept))
    assert {one.code for one in fatal(lacking, job)} - codes == {"HF2217"}


def table(folder: Path, table_id: str, versions: int = 5) -> Path:
    """Write the log of a Delta table."""
    log = folder / "_delta_log"
    log.mkdir(parents=True)
    for version in range(versions):
        text = json.dumps({"metaData": {"id": table_id}})
        (log / f"{version:020}.json").write_text(f"{text}\n", encoding="utf-8")
    return folder


def test_a_delta_source_that_was_created_again_forbids_a_start(tmp_path: Path) -> None:
    """HF2366; the table that was read before does not, nor a table on another storage."""
    files = files_of("delta", "4.2.0")
    again = built(source={"format": "delta", "path": str(table(tmp_path / "new", "another"))})
    assert [one.code for one in fatal(files, again, "4.2.0")] == ["HF2366"]
    same = built(source={"format": "delta", "path": str(table(tmp_path / "old", TABLE))})
    assert fatal(files, same, "4.2.0") == ()
    remote: Mapping[str, Any] = {"format": "delta", "path": "s3://lake/orders"}
    assert fatal(files, built(source=remote), "4.2.0") == ()


def test_one_of_two_delta_sources_elsewhere_leaves_both_unknown(tmp_path: Path) -> None:
    """The stored table may be the one whose storage the checkpoint's settings do not reach."""
    sources = {
        "one": {"format": "delta", "path": str(table(tmp_path / "one", "another"))},
        "two": {"format": "delta", "path": "s3://lake/orders"},
    }
    text = "select * from one union all select * from two"
    assert "HF2366" not in {
        one.code for one in fatal(files_of("delta", "4.2.0"), built(sources=sources, sql=text))
    }


def test_versions_that_are_gone_forbid_a_start_unless_loss_is_accepted(tmp_path: Path) -> None:
    """HF2367; a source with failOnDataLoss=false passes over them today."""
    files = files_of("delta", "4.2.0")
    place = table(tmp_path / "cleaned", TABLE)
    for version in range(4):
        (place / "_delta_log" / f"{version:020}.json").unlink()
    declared: dict[str, Any] = {"format": "delta", "path": str(place)}
    assert [one.code for one in fatal(files, built(source=declared), "4.2.0")] == ["HF2367"]
    lossy = {**declared, "options": {"failOnDataLoss": "false"}}
    assert fatal(files, built(source=lossy), "4.2.0") == ()


def test_what_the_plan_tells_better_is_left_to_it() -> None:
    """A function may leave a declared source out, and its folder be another spelling."""
    sources = {name: {"format": "json", "path": f"elsewhere/{name}"} for name in ("a", "b")}
    job = built(sources=sources, sql=None, transform=lambda a, b: a)
    assert fatal(files_of("stateless"), job) == ()


def test_nothing_is_there_at_a_first_start() -> None:
    """No folder, and no fatal finding."""
    assert fatal({}, built(source={"format": "json", "path": "in"})) == ()


def whole() -> Iterator[tuple[str, str]]:
    """Name every sample that real Spark has left, with its release."""
    for one in corpus():
        refused = one.name == "repartition-refused"
        if one.spark in ("3.5.9", "4.2.1", "4.3.0") and not refused:
            yield one.name, one.spark


@pytest.mark.parametrize(("name", "spark"), [*whole()])
def test_no_whole_checkpoint_forbids_a_start(name: str, spark: str) -> None:
    """Of any shape, on the release that wrote it."""
    program = built(source={"format": "json", "path": "in"}, sql=None, transform=lambda one: one)
    assert [one.code for one in fatal(files_of(name, spark), program, spark)] == []


def test_without_spark_what_is_declared_is_compared(tmp_path: Path) -> None:
    """Unknown where nothing forbids it, unsafe where the declaration does, safe for a new job."""
    for path, data in files_of("two-sources").items():
        (tmp_path / "cp" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "cp" / path).write_bytes(data)
    place = parse_location(str(tmp_path / "cp"))
    why = "pyspark is not installed"
    same = check_unplanned(replace(union("first", "second"), checkpoint=place), None, why, ())
    assert (same.verdict, [one.rule for one in same.changes]) == (Verdict.UNKNOWN, ["HF3158"])
    other = check_unplanned(replace(union("second", "first"), checkpoint=place), None, why, ())
    assert (other.verdict, other.changes[0].rule) == (Verdict.UNSAFE, "HF2361")
    nothing = parse_location(str(tmp_path / "nothing"))
    fresh = check_unplanned(replace(union("first", "second"), checkpoint=nothing), None, why, ())
    assert (fresh.verdict, fresh.changes) == (Verdict.SAFE, ())


def test_without_spark_another_job_and_a_lost_file_are_seen_too(tmp_path: Path) -> None:
    """As by a start: HF1118 for the checkpoint of another job, HF3034 for a pending batch."""
    for path, data in files_of("pending").items():
        (tmp_path / "cp" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "cp" / path).write_bytes(data)
    location = parse_location(str(tmp_path / "cp"))
    read = {"format": "json", "path": "/tmp/holdfast-corpus/pending/in"}
    job = replace(built(source=read), checkpoint=location)

    def rules(**settings: str) -> list[str]:
        judged = check_unplanned(job, None, "pyspark is not installed", (), settings)
        return [one.rule for one in judged.changes if one.verdict is Verdict.UNSAFE]

    assert rules() == ["HF3034"]
    assert rules(**{"spark.sql.files.ignoreMissingFiles": "true"}) == []
    other = replace(some_run(), query_id=query_id_of("pending"), job="refunds")
    History(records_of(location, StorageSettings())).write(other)
    assert rules() == ["HF1118", "HF3034"]


def test_a_lost_file_is_seen_for_a_program_that_reads_its_own_storage_alone() -> None:
    """Folders of another storage, whose settings are Spark's, are unknown and not asked."""
    picture = picture_of(files_of("pending"))
    place = parse_location("/tmp/holdfast-corpus/pending/checkpoint")
    read = SourceFacts("json", "file", {"path": "/tmp/holdfast-corpus/pending/in"})
    given = (place, StorageSettings(), picture)
    found = lost_before_program((read,), *given, {})
    assert found is not None and found.code == "HF3034"
    missing = replace(read, options={"ignoreMissingFiles": "true"})
    assert lost_before_program((missing,), *given, {}) is None
    assert lost_before_program((read,), *given, {IGNORE_MISSING: "true"}) is None
    assert names_with(StorageSettings(), only=("file",))("s3a://lake/in") is None


def test_a_program_whose_delta_source_was_created_again_is_told_so(tmp_path: Path) -> None:
    """HF2366 for a query that is known by its plan alone, and nothing for a first start."""
    read = SourceFacts("delta", "delta", {"path": str(table(tmp_path / "new", "another"))})
    place, settings = parse_location(str(tmp_path / "checkpoint")), StorageSettings()
    picture = picture_of(files_of("delta", "4.2.0"))
    found = fatal_before_program((read,), place, settings, picture, "4.2.0")
    assert [one.code for one in found] == ["HF2366"]
    assert fatal_before_program((read,), place, settings, picture_of({}), "4.2.0") == ()


def test_kafka_is_asked_for_the_records_that_come_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """HF2369 where the topic is gone; not where the source is told to go on."""
    asked: list[Mapping[str, str]] = []

    def gone(options: Mapping[str, str], *_: object) -> BrokerSeen:
        asked.append(options)
        return BrokerSeen("broker:9092")

    monkeypatch.setattr(sources, "ask_broker", gone)
    options = {"kafka.bootstrap.servers": "broker:9092", "subscribe": "orders"}
    job = built(source={"format": "kafka", "options": options})
    files = files_of("kafka", "4.2.0")
    assert "HF2369" in {one.code for one in fatal(files, job, "4.2.0")}
    assert [one["subscribe"] for one in asked] == ["orders"]
    passing = built(source={"format": "kafka", "options": {**options, "failOnDataLoss": "false"}})
    assert "HF2369" not in {one.code for one in fatal(files, passing, "4.2.0")}
