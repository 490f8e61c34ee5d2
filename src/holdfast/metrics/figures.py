"""The figures of one job at one moment, whoever collected them."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.records.run import Measures


@dataclass(frozen=True)
class Counted:
    """What one process counted since it started."""

    batches: int = 0
    rows: int = 0
    skipped_batches: int = 0
    restarts: int = 0


@dataclass(frozen=True)
class LastRun:
    """The newest recorded run as a whole."""

    batches: int
    rows: int
    skipped_batches: int
    seconds: float


@dataclass(frozen=True)
class JobFigures:
    """Everything that metrics show of one job; None is unknown, and is not shown."""

    project: str
    job: str
    state: str
    up: bool | None
    ended: bool | None
    failed: bool | None
    batch_id: int | None = None
    """The newest committed batch."""
    batch_rows: int | None = None
    pending: int | None = None
    """A batch that is planned and not committed."""
    committed: float | None = None
    """When the newest commit was made, in seconds since 1970."""
    measures: Measures | None = None
    """What Spark measured in the newest batch."""
    lease_held: bool | None = None
    generation: int | None = None
    counted: Counted | None = None
    last_run: LastRun | None = None
    looked_at: float | None = None
    """When `status` looked at it, in seconds since 1970."""
