"""Starts that fail while they are prepared: `status` and `evidence` show them as `run` did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.errors import HoldfastError
from tests.spark.running.projects import ROWS, Made, ingest

pytestmark = pytest.mark.spark


def statuses(made: Made, job: str) -> tuple[str, int, str | None]:
    """Return the state, the exit status, and the code of the newest attempt."""
    answer = holdfast.status(job, project=made.file)
    (one,) = answer.result.jobs
    attempt = one.last_attempt
    return one.state.value, answer.exit_status, None if attempt is None else attempt.code


def test_a_start_that_fails_while_it_is_prepared_is_seen_until_a_run_begins(
    spark: Any, tmp_path: Path
) -> None:
    """The transform, then the sink; the job's name is said once; the run that follows clears it."""
    made = Made(tmp_path, {"ingest": ingest(transform="pipeline:broken")})
    made.arrive(2)
    (finding,) = holdfast.run(project=made.file, raise_on_failure=False).findings
    assert finding.code == "HF5115" and finding.message.startswith("ingest: the transform failed")
    assert finding.message.count("ingest") == 1
    assert statuses(made, "ingest") == ("failed", 3, "HF5115")
    assert not made.checkpoint("ingest").exists()
    attempt = holdfast.status(project=made.file).result.jobs[0].last_attempt
    assert attempt is not None and attempt.spark == spark.version
    assert finding.message == f"ingest: {attempt.message}"
    assert attempt.next == finding.next_steps

    Made(tmp_path, {"ingest": ingest()})
    lake = tmp_path / "lake/raw"
    lake.mkdir(parents=True)
    (lake / "somebody.parquet").write_bytes(b"PAR1")
    refused = holdfast.run(project=made.file, raise_on_failure=False)
    code = refused.findings[0].code
    assert statuses(made, "ingest") == ("failed", 3, code)
    (lake / "somebody.parquet").unlink()
    assert holdfast.run(project=made.file).exit_status == 0
    assert statuses(made, "ingest") == ("finished", 0, None)
    history = holdfast.evidence("ingest", project=made.file).result.restart_history.value
    assert history is not None
    assert [one.code for one in history.attempts] == [code, "HF5115"]
    assert [run.generation for run in history.runs] == [3], "an attempt has no record of a run"


def test_a_start_that_spark_itself_refuses_is_one_run_that_failed(
    spark: Any, tmp_path: Path
) -> None:
    """It is recorded once, and `status` names the page that `run` named."""
    made = Made(tmp_path, {"ingest": ingest(output_mode="complete")})
    made.arrive(2)
    (finding,) = holdfast.run(project=made.file, raise_on_failure=False).findings
    named = [step for step in finding.next_steps if step.startswith("holdfast explain")]
    assert finding.code == "HF5302" and named
    answer = holdfast.status(project=made.file)
    assert [one.code for one in answer.findings] == ["HF2346"]
    assert answer.findings[0].next_steps == (named[-1],)
    assert answer.result.jobs[0].last_attempt is None


def test_a_program_leaves_the_same_trace(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`holdfast.start` raises, and the attempt is beside the checkpoint that it did not make."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    (tmp_path / "checkpoints").mkdir()
    frame = spark.readStream.schema(ROWS).json(str(tmp_path / "in"))
    sink = {"format": "parquet", "path": "out", "partition_by": ["nowhere"]}
    with pytest.raises(HoldfastError) as raised:
        holdfast.start(frame, job="orders", checkpoint="checkpoints/orders", sink=sink)
    (document,) = (tmp_path / "checkpoints/.holdfast/orders/attempts").iterdir()
    assert f'"code": "{raised.value.code.number}"' in document.read_text()
    assert not (tmp_path / "checkpoints/orders").exists()
