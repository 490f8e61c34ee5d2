"""Says what happens to the jobs that read an output which begins again empty."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from holdfast.findings import Finding, Place, Severity
from holdfast.ledgers.sparkfilesink import FORMATS

if TYPE_CHECKING:
    from holdfast.jobs.ready import DownstreamJob, ReadyJob

_BEGINS_AGAIN = frozenset({"HF3013", "HF3019"})
"""The output of earlier batches is gone, and the job starts despite it."""
_NEW_TABLE = (
    "reads it as a Delta source and fails at its next start if it has read the former table: Delta "
    "stops at a table that was created again (HF2366)"
)
_NEW_FILES = (
    "reads only the files that are written from now on; rows that it took from the former files "
    "stay in its output, and a pending batch that names them fails"
)


def affected_jobs(job: ReadyJob, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield a warning for each job of the project that reads an output which is gone."""
    if not any(one.code in _BEGINS_AGAIN for one in findings):
        return
    for reader in job.downstream():
        effect = _effect(job.sink.format, reader)
        if effect is None:
            continue
        message = f"job {reader.job} {effect}"
        evidence = {"job": reader.job, "upstream": reader.through or job.name}
        step = f"holdfast doctor {reader.job}     (what its next start does)"
        yield Finding("HF3029", Severity.WARNING, message, Place(""), evidence, next_steps=(step,))


def _effect(written: str, reader: DownstreamJob) -> str | None:
    """Return what happens to a job; None for one behind a job that goes on."""
    if reader.through is not None:
        told = f"reads from job {reader.through} and gets no new rows while that one fails"
        return told if written == "delta" else None
    if written == reader.format == "delta":
        return _NEW_TABLE
    if written in FORMATS and (reader.format in FORMATS or reader.format == "text"):
        return _NEW_FILES
    return f"reads it with the source {reader.format}, which may depend on what is gone"
