"""Offsets entries changed between two starts: a start is refused before anything is written."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any, NoReturn

import pytest

import holdfast
from holdfast.ledgers.identity import OffsetRange, digest_of_offsets
from holdfast.spark.sinks.database.sink import DatabaseSink
from holdfast.spark.sinks.delta.sink import DeltaBatchSink
from holdfast.spark.sinks.files import FileBatchSink
from tests.drawing import draw
from tests.parts.postgres import rows_in
from tests.spark.running.projects import Made, expected, ingest, table

pytestmark = [pytest.mark.spark, draw("job")]

SINKS: dict[str, type[Any]] = {
    "parquet": FileBatchSink,
    "delta": DeltaBatchSink,
    "postgres": DatabaseSink,
}


class KilledError(Exception):
    """Stands for a kill of the driver."""


class Job:
    """A job with one file per batch, and ways to leave its newest batch pending."""

    def __init__(self, folder: Path, kind: str, spark: Any, uri: str | None = None) -> None:
        self.kind, self.uri, self._spark = kind, uri, spark
        sink = {"format": kind, "path": "./lake/raw"}
        if uri is not None:
            sink = {"format": kind, "url": uri, "table": "raw"}
        self.made = Made(folder, {"ingest": ingest() | {"sink": sink}})
        self.checkpoint = self.made.checkpoint("ingest")
        self.records = self.checkpoint.parent / ".holdfast/ingest"
        self.output = folder / "lake/raw"
        self.numbers: list[int] = []

    def arrive(self, *counts: int) -> None:
        """Let a file arrive for each of these counts."""
        for count in counts:
            self.numbers += self.made.arrive(count)

    def run(self) -> Any:
        """Run what is available."""
        return holdfast.run(project=self.made.file, raise_on_failure=False)

    def run_until(self, batch_id: int, monkeypatch: pytest.MonkeyPatch) -> None:
        """Run until this batch is planned, and die before it is written."""
        write = SINKS[self.kind].write

        def dying(sink: Any, batch: Any, identity: Any) -> Any:
            return write(sink, batch, identity) if identity.batch_id < batch_id else die()

        def die() -> NoReturn:
            raise KilledError

        with monkeypatch.context() as patched:
            patched.setattr(SINKS[self.kind], "write", dying)
            assert self.run().result.jobs[0].ended.value == "failed"
        assert self.made.ids("ingest", "offsets")[-1] == batch_id

    def uncommit(self, batch_id: int) -> None:
        """Leave what a kill between the sink's commit and Spark's leaves."""
        for name in (str(batch_id), f".{batch_id}.crc"):
            (self.checkpoint / "commits" / name).unlink()

    def entry(self, batch_id: int) -> Path:
        """Give where an offsets entry is."""
        return self.checkpoint / f"offsets/{batch_id}"

    def replace_entry(self, batch_id: int, content: bytes) -> None:
        """Put other bytes in place of an entry, without a sum of the old ones."""
        self.entry(batch_id).write_bytes(content)
        self.entry(batch_id).with_name(f".{batch_id}.crc").unlink(missing_ok=True)

    def forget_copies(self) -> None:
        """Lose the copies of offsets: the ledger alone knows what was delivered."""
        shutil.rmtree(self.records / "offsets")

    def rows(self) -> Counter[Any]:
        """Give the rows of the output, each with how often it is there."""
        if self.uri is not None:
            return Counter(rows_in(self.uri, "select n, k from raw"))
        if self.kind == "delta":
            return table(self._spark, self.output)
        found = self._spark.read.parquet(str(self.output)).collect()
        return Counter((row.n, row.k) for row in found)

    def store_older_kind(self, batch_id: int, entry: bytes | None = None) -> None:
        """Make the ledger's digest what an older release stored: that of the entry alone."""
        before = b"" if batch_id == 0 else self.entry(batch_id - 1).read_bytes()
        now = self.entry(batch_id).read_bytes()
        new = OffsetRange(batch_id, before, now).digest
        old = digest_of_offsets(now if entry is None else entry)
        if self.uri is not None:
            statement = f"update holdfast_ledger set offsets_digest = '{old}' "
            rows_in(self.uri, statement + f"where batch_id = {batch_id}")
            return
        folder = self.output / "_delta_log"
        if self.kind == "parquet":
            folder = self.output.parent / ".holdfast/raw/manifests"
        changed = 0
        for path in folder.rglob("*.json"):
            text = path.read_text(encoding="utf-8")
            if new in text:
                path.write_text(text.replace(new, old), encoding="utf-8")
                changed += 1
        assert changed == 1
        for path in folder.glob(".*.crc"):
            path.unlink()


@pytest.fixture(params=list(SINKS))
def job(request: pytest.FixtureRequest, spark: Any, tmp_path: Path) -> Job:
    """Declare a job into each kind of sink."""
    uri = request.getfixturevalue("database") if request.param == "postgres" else None
    return Job(tmp_path, request.param, spark, uri)


def refused(job: Job) -> Any:
    """Run, see that the start is refused before Spark gets to do anything, and give the finding."""
    offsets, rows = job.made.ids("ingest", "offsets"), job.rows()
    answer = job.run()
    assert (answer.result.jobs[0].ended.value, answer.exit_status) == ("refused", 30)
    assert job.made.ids("ingest", "offsets") == offsets and job.rows() == rows
    (finding,) = answer.findings
    return finding


def test_a_pending_batch_whose_beginning_was_replaced_is_not_delivered(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would deliver the rows of the batch before it once more; put back, each is there once."""
    job.arrive(4, 10)
    job.run()
    job.arrive(5)
    job.run_until(2, monkeypatch)
    kept = job.entry(1).read_bytes()
    job.replace_entry(1, job.entry(0).read_bytes())
    finding = refused(job)
    assert finding.code == "HF2604" and "offsets/1 is not what" in finding.message
    copy = next((job.records / "offsets").rglob("1.*"))
    assert str(copy) in finding.message and copy.read_bytes() == kept
    assert f"put {copy} back as offsets/1" in finding.next_steps[0]
    assert "do not put" not in finding.next_steps[0]
    doctor = {one.code: one for one in holdfast.doctor("ingest", project=job.made.file).findings}
    assert doctor["HF2604"].next_steps[0] == finding.next_steps[0]
    assert doctor["HF2604"].evidence["put_back"] == "allowed"
    job.replace_entry(1, copy.read_bytes())
    assert job.run().exit_status == 0
    assert job.rows() == expected(job.numbers)


def test_without_copies_the_ledger_knows_the_range(job: Job) -> None:
    """A batch that is in the sink would run again from another beginning: nothing is written."""
    job.arrive(4, 10, 5)
    job.run()
    job.uncommit(2)
    job.forget_copies()
    whole = job.entry(1).read_bytes()
    job.replace_entry(1, job.entry(0).read_bytes())
    assert refused(job).code == "HF3027"
    job.replace_entry(1, whole)
    again = job.run()
    assert (again.exit_status, again.result.jobs[0].skipped_batches) == (0, 1)
    assert job.rows() == expected(job.numbers)


def test_a_copy_is_not_to_be_put_back_against_the_sink(job: Job) -> None:
    """The sink has the batch as the file says: the copy is the stranger, and is set aside."""
    job.arrive(4, 10, 5)
    job.run()
    job.uncommit(2)
    (copy,) = (job.records / "offsets").rglob("2.*")
    other = copy.read_bytes() + b" "
    strange = copy.with_name(f"2.{digest_of_offsets(other)}")
    copy.rename(strange)
    strange.write_bytes(other)
    finding = refused(job)
    assert finding.code == "HF2604"
    assert f"do not put {strange} back as offsets/2" in finding.next_steps[0]
    assert f"move {strange} elsewhere" in finding.next_steps[1]
    doctor = {one.code: one for one in holdfast.doctor("ingest", project=job.made.file).findings}
    assert doctor["HF2604"].next_steps[:2] == finding.next_steps[:2]
    strange.unlink()
    assert job.run().result.jobs[0].skipped_batches == 1
    assert job.rows() == expected(job.numbers)


def test_a_batch_that_an_older_release_committed_is_skipped(job: Job) -> None:
    """Its digest is of the entry alone; with another entry the job stops."""
    job.arrive(4, 10, 5)
    job.run()
    job.store_older_kind(2)
    job.uncommit(2)
    answer = job.run()
    assert (answer.exit_status, answer.result.jobs[0].skipped_batches) == (0, 1)
    assert job.rows() == expected(job.numbers)


def test_another_entry_than_an_older_release_committed_is_refused(job: Job) -> None:
    job.arrive(4, 10, 5)
    job.run()
    job.store_older_kind(2, b"another plan")
    job.uncommit(2)
    job.forget_copies()
    assert refused(job).code == "HF3027"


def test_the_next_batch_is_not_planned_from_a_changed_entry(spark: Any, tmp_path: Path) -> None:
    """Nothing is pending: Spark would begin the next batch where the changed entry ends."""
    job = Job(tmp_path, "parquet", spark)
    job.arrive(4, 10)
    job.run()
    job.replace_entry(1, job.entry(0).read_bytes())
    job.arrive(5)
    finding = refused(job)
    assert finding.code == "HF2604" and "offsets/1 is not what" in finding.message


def test_offsets_that_the_sink_does_not_have_are_refused_and_put_back(
    spark: Any, tmp_path: Path
) -> None:
    """Nothing is pending and no copy is kept: the ledger alone knows what was delivered."""
    job = Job(tmp_path, "parquet", spark)
    job.arrive(4, 10, 5)
    job.run()
    holdfast.back_up("ingest", project=job.made.file)
    job.forget_copies()
    job.replace_entry(2, job.entry(1).read_bytes())
    job.arrive(6)
    finding = refused(job)
    assert finding.code == "HF3027" and "batch 2" in finding.message
    doctor = {one.code for one in holdfast.doctor("ingest", project=job.made.file).findings}
    assert "HF3027" in doctor

    new = Made(tmp_path, {"again": ingest() | {"sink": {"format": "parquet", "path": "./new"}}})
    assert holdfast.run(project=new.file).exit_status == 0
    rows = spark.read.parquet(str(tmp_path / "new")).collect()
    assert Counter((row.n, row.k) for row in rows) == expected(job.numbers)

    Made(tmp_path, {"ingest": ingest() | {"sink": {"format": "parquet", "path": "./lake/raw"}}})
    shutil.move(job.checkpoint, tmp_path / "evidence")
    answer = holdfast.restore("ingest@newest", project=job.made.file, confirm=lambda _: True)
    assert [one.code for one in answer.findings] == ["HF4517"]
    assert job.run().exit_status == 0
    assert job.rows() == expected(job.numbers)


def test_spark_keeps_the_entry_before_a_batch_however_little_it_retains(
    spark: Any, tmp_path: Path
) -> None:
    """What the gate relies on: only a damage can make it missing."""
    made = Made(tmp_path, {"ingest": ingest(conf={"spark.sql.streaming.minBatchesToRetain": 1})})
    numbers = [one for _ in range(5) for one in made.arrive(2)]
    assert holdfast.run(project=made.file).exit_status == 0
    assert made.ids("ingest", "offsets") == [3, 4]
    assert table(spark, tmp_path / "lake/raw") == expected(numbers)
    none = Made(tmp_path, {"ingest": ingest(conf={"spark.sql.streaming.minBatchesToRetain": 0})})
    told = holdfast.run(project=none.file, raise_on_failure=False)
    assert told.exit_status != 0 and "has to be positive" in json.dumps(
        [finding.message for finding in told.findings]
    )
