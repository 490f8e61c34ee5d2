"""What a run tells: events while its jobs run, and the result in which each life ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from holdfast.answers import OneLine
from holdfast.errors import HoldfastError
from holdfast.findings import Finding
from holdfast.records.run import BatchNote, Ended, Failure, Measures


@dataclass(frozen=True)
class RunStep:
    """Something that concerns all jobs: Java libraries are fetched, Spark starts, a stop."""

    message: str
    job: None = None
    """Of no single job."""
    always: bool = False
    """Shown although nobody wants to see how the run goes: it is said nowhere else in time."""


@dataclass(frozen=True)
class JobStarting:
    """A job's turn has come."""

    job: str


@dataclass(frozen=True)
class JobWaiting:
    """The last holder of the checkpoint is on another machine: it is watched for signs of life."""

    job: str
    holder: str


@dataclass(frozen=True)
class JobWaitingForUpstream:
    """A job reads what other jobs of this run write, and there is no output of theirs yet."""

    job: str
    upstream: tuple[str, ...]
    """The jobs whose first commit, or whose end, is awaited."""


@dataclass(frozen=True)
class JobStarted:
    """Spark runs the query."""

    job: str
    query_id: str
    run_id: str
    generation: int
    next_batch: int | None
    """The batch that is run again, None where a new one is planned."""
    findings: tuple[Finding, ...]
    promise: str | None = None
    """What the sink promises of a batch that is delivered twice, and what it does not."""


@dataclass(frozen=True)
class BatchDone:
    """Spark committed a batch."""

    job: str
    batch: BatchNote
    total_batches: int
    total_rows: int
    rows_per_second: float
    behind: str | None
    """How much the sources have more than this batch reached; None if unknown."""
    measures: Measures | None = None
    """What Spark measured in this batch."""


@dataclass(frozen=True)
class RecordFailing:
    """The record of the run cannot be written; the job continues, and writing is retried."""

    job: str
    message: str
    at: str | None


@dataclass(frozen=True)
class JobStopping:
    """Somebody asked to stop a job that runs."""

    job: str
    batch: int | None
    """The batch whose delivery is finished first, None where none runs."""
    signal: int | None
    """The signal that asked, None where a program did."""


@dataclass(frozen=True)
class JobEnded:
    """A job is over."""

    job: str
    ended: Ended
    batches: int
    rows: int
    seconds: float
    message: str | None
    """Why, where it did not just finish."""
    trace: str | None = None
    """Spark's own words, all of them, where Spark failed."""


@dataclass(frozen=True)
class JobRestarting:
    """A job failed for a reason that passes, and is started again after a pause."""

    job: str
    restart: int
    """How many restarts in a row this makes, without a committed batch in between."""
    limit: int
    seconds: float
    """How long is waited first."""
    code: str
    message: str


@dataclass(frozen=True)
class JobsFailed:
    """A job failed for good while others go on."""

    job: str
    """The one that failed last."""
    failed: tuple[str, ...]
    """All that failed so far, each with its code: `orders (HF5301)`."""
    jobs: int
    """How many jobs the run has."""


Event = (
    RunStep
    | JobStarting
    | JobWaiting
    | JobWaitingForUpstream
    | JobStarted
    | BatchDone
    | RecordFailing
    | JobStopping
    | JobEnded
    | JobRestarting
    | JobsFailed
)
Watcher = Callable[[Event], None]


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
    """What ended it, where it was neither the end of its data nor a request to stop."""
    findings: tuple[Finding, ...] = ()
    """What was reported before it started."""
