"""What is said of the jobs that read an output which begins again empty."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.findings import Finding, Place, Severity
from holdfast.jobs.ready import DownstreamJob, ReadyJob
from holdfast.running.admission import affected_jobs
from tests.jobs.declaring import job_text, ready_jobs

GONE = Finding("HF3013", Severity.INFO, "the output is gone (accepted)", Place(""), accepted=True)


def upstream(folder: Path, written: str, *readers: DownstreamJob) -> ReadyJob:
    """Give a job whose output these read."""
    sink = f"{{format: {written}, path: ./out}}"
    (job,) = ready_jobs(folder, job_text("raw", sink=sink))
    return replace(job, downstream=lambda: readers)


def test_every_job_downstream_of_a_delta_table_is_named(tmp_path: Path) -> None:
    """Delta stops at a table that was created again, and who reads behind it waits."""
    clean, gold = DownstreamJob("clean", "delta"), DownstreamJob("gold", "delta", "clean")
    first, second = affected_jobs(upstream(tmp_path, "delta", clean, gold), [GONE])
    assert (first.code, first.severity) == ("HF3029", Severity.WARNING)
    assert first.message.startswith("job clean reads it as a Delta source and fails at its next")
    assert first.next_steps == ("holdfast doctor clean     (what its next start does)",)
    assert second.message == "job gold reads from job clean and gets no new rows while that one "\
        "fails"  # fmt: skip


def test_a_reader_of_files_goes_on_with_new_ones(tmp_path: Path) -> None:
    """So that nothing is said of the jobs behind it."""
    clean, gold = DownstreamJob("clean", "parquet"), DownstreamJob("gold", "delta", "clean")
    (only,) = affected_jobs(upstream(tmp_path, "parquet", clean, gold), [GONE])
    assert only.message.startswith("job clean reads only the files that are written from now on")


def test_another_source_is_named_without_a_claim(tmp_path: Path) -> None:
    reader = DownstreamJob("clean", "parquet")
    (only,) = affected_jobs(upstream(tmp_path, "delta", reader), [GONE])
    assert only.message.endswith("reads it with the source parquet, which may depend on what is "
                                 "gone")  # fmt: skip


@pytest.mark.parametrize("code", [None, "HF3006", "HF3023"])
def test_an_output_that_is_there_affects_nobody(tmp_path: Path, code: str | None) -> None:
    """Nobody is even looked for."""
    job = replace(upstream(tmp_path, "delta"), downstream=lambda: pytest.fail("was asked"))
    found = [] if code is None else [replace(GONE, code=code)]
    assert not list(affected_jobs(job, found))
