"""A pending batch is not run again without a file that it had read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.spark.sinks.delta.sink import DeltaBatchSink
from tests.spark.running.projects import Made, expected, ingest, table

pytestmark = pytest.mark.spark


def test_a_batch_runs_again_only_with_every_file_that_it_had_read(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark would leave the file out, and commit the batch without its rows."""
    made = Made(tmp_path / "made", {"job": ingest()})
    numbers = made.arrive(3)
    holdfast.run(project=made.file)
    numbers += made.arrive(2)
    with monkeypatch.context() as broken:
        broken.setattr(DeltaBatchSink, "_commit", _fail)
        with pytest.raises(holdfast.HoldfastError):
            holdfast.run(project=made.file)
    assert (made.ids("job", "offsets")[-1], made.ids("job", "commits")[-1]) == (1, 0)
    (newest,) = made.folder.glob("in/*3.json")
    kept = newest.rename(made.folder / "kept")
    before = table(spark, made.folder / "lake/raw")

    told = holdfast.doctor("job", project=made.file)
    (lost,) = (one for one in told.findings if one.code == "HF3034")
    judged = holdfast.check("job", project=made.file)
    assert (lost.severity.value, judged.exit_status) == ("fatal", 30)
    assert [one.message for one in judged.findings if one.code == "HF3034"] == [lost.message]
    with pytest.raises(holdfast.HoldfastError) as refused:
        holdfast.run(project=made.file)

    assert (refused.value.code.number, refused.value.exit_status) == ("HF3034", 30)
    assert (refused.value.message, refused.value.next_steps) == (lost.message, lost.next_steps)
    assert newest.name in lost.message
    assert table(spark, made.folder / "lake/raw") == before
    kept.rename(newest)
    holdfast.run(project=made.file)
    assert table(spark, made.folder / "lake/raw") == expected(numbers)


def test_a_batch_that_the_sink_has_needs_no_file(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is skipped."""
    made = Made(tmp_path / "made", {"job": ingest()})
    numbers = made.arrive(3)
    holdfast.run(project=made.file)
    for log in (made.checkpoint("job") / "commits").glob("*0*"):
        log.unlink()
    (made.checkpoint("job") / "commits/.0.crc").unlink(missing_ok=True)
    for file in made.folder.glob("in/*.json"):
        file.unlink()
    (job,) = holdfast.run(project=made.file).result.jobs
    assert job.skipped_batches == 1
    assert table(spark, made.folder / "lake/raw") == expected(numbers)


def test_rows_may_be_missing_where_a_setting_says_so(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The batch is committed without them, and the next one goes on."""
    made = Made(tmp_path / "made", {"job": ingest()})
    kept = made.arrive(3)
    holdfast.run(project=made.file)
    made.arrive(2)
    with monkeypatch.context() as broken:
        broken.setattr(DeltaBatchSink, "_commit", _fail)
        with pytest.raises(holdfast.HoldfastError):
            holdfast.run(project=made.file)
    (newest,) = made.folder.glob("in/*3.json")
    newest.unlink()
    declared = made.file.read_text(encoding="utf-8")
    setting = "conf:\n    spark.sql.files.ignoreMissingFiles: 'true'\n"
    made.file.write_text(declared.replace("conf:\n", setting), encoding="utf-8")
    holdfast.run(project=made.file)
    made.file.write_text(declared, encoding="utf-8")
    kept += made.arrive(4)
    holdfast.run(project=made.file)
    assert table(spark, made.folder / "lake/raw") == expected(kept)


def _fail(*_: object) -> None:
    raise RuntimeError("the storage is away")
