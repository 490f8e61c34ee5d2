"""The result of `run`: how each job's life went."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from holdfast.answers import OneLine
from holdfast.errors import HoldfastError
from holdfast.findings import Finding
from holdfast.records.run import Ended, Failure


def failure_record(error: HoldfastError, error_class: str | None = None) -> Failure:
    """Return what a run record keeps of its failure; `error_class` is Spark's, if it has one."""
    return Failure(
        error_class=error_class or type(error).__name__,
        code=error.code.number,
        message=error.message,
        at=error.at if error.code.number == "HF5301" else None,
        page=error.page,
    )


@dataclass(frozen=True, repr=False)
class JobReport(OneLine):
    """One job of a run."""

    SHOWN: ClassVar = ("job", "ended", "batches", "rows", "last_batch")

    job: str
    query_id: str | None
    run_id: str | None
    generation: int | None
    batches: int
    rows: int
    skipped_batches: int
    """Batches that were already in the sink: they were not written again."""
    ended: Ended
    seconds: float
    checkpoint: str
    first_batch: int | None = None
    last_batch: int | None = None
    promise: str | None = None
    """The delivery guarantee of the sink."""
    failure: Failure | None = None
    restarts: int = 0
    """How often `--keep-running` started it again; the counts are of all its lives together."""
    pending: int | None = None
    """The batch that was planned and not committed when the job stopped or failed: the next start
    runs it again."""


@dataclass(frozen=True, repr=False)
class RunReport(OneLine):
    """All jobs of a run, in the order in which they ran."""

    SHOWN: ClassVar = ("jobs", "spark")
    COMMAND: ClassVar = "run"

    jobs: tuple[JobReport, ...]
    spark: str | None
    """The release that ran them, null where none was needed."""
    metrics_url: str | None = None
    """Where the metrics were served while the jobs ran; null without `--metrics-port`."""


@dataclass(frozen=True)
class JobOutcome:
    """A job's report with what never leaves the program as it is."""

    report: JobReport
    error: HoldfastError | None = None
    """What ended it, where it was neither the end of its data nor a wish."""
    findings: tuple[Finding, ...] = ()
    """What was reported before it started."""
