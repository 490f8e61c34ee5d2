"""What happens while jobs run, told to whoever watches: a face, a file, a test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from holdfast.findings import Finding
from holdfast.records.run import BatchNote, Ended


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
    """How much the sources have more than this batch reached; None where they don't tell."""


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


Event = JobStarting | JobWaiting | JobStarted | BatchDone | JobEnded
Watcher = Callable[[Event], None]
