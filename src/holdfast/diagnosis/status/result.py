"""The result of `status`: all jobs of a project side by side."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from holdfast.answers import OneLine
from holdfast.diagnosis.inspection.runs.restarts import AttemptShown, BatchShown, RunShown
from holdfast.records.leases.state import Standing


class JobState(str, Enum):
    """A job in one word."""

    NEW = "new"
    """It has no checkpoint yet."""
    GONE = "gone"
    """It has no checkpoint any more: only backups of it are left."""
    UNRECORDED = "unrecorded"
    """It has a checkpoint, and no run of Holdfast is recorded."""
    RUNNING = "running"
    """A driver of this machine runs it now."""
    FINISHED = "finished"
    """Its last run delivered everything that was available."""
    STOPPED = "stopped"
    """Somebody asked its last run to stop."""
    FAILED = "failed"
    """Its last run, or the last attempt to start it, failed."""
    REFUSED = "refused"
    """Its last start was refused, for example because rows would be lost or duplicated."""
    LOST_LEASE = "lost-lease"
    """Its last run ended because another driver took over."""
    RESTARTING = "restarting"
    """It failed, and a driver of this machine waits to start it again: `next_restart` says when."""
    SKIPPED = "skipped"
    """It was not run, because a job that it reads from failed."""
    KILLED = "killed"
    """Its last run has no final record, and its driver is gone."""
    UNCLEAR = "unclear"
    """Its last run is on another machine: one look cannot show whether it is alive."""
    RESTORED = "restored"
    """A backup was restored since its last run; `next_start` says how it goes on."""
    REMEDIED = "remedied"
    """A plan was applied since its last run; `next_start` says how it goes on."""
    RETIRED = "retired"
    """It is over: a plan archived its checkpoint, and no start is accepted."""
    RESTORING = "restoring"
    """A restore is at work on its checkpoint."""
    INTERRUPTED = "interrupted"
    """A restore of its checkpoint was interrupted; do not start it."""
    UNREADABLE = "unreadable"
    """Its checkpoint could not be looked at; `problem` says why."""


@dataclass(frozen=True)
class LeaseShown:
    """Who may run on the checkpoint."""

    state: Standing
    """What can be said at one look."""
    generation: int
    """Grows with every holder."""
    job: str | None
    """The job that took it last."""
    holder: str | None
    """The holder: user, host and processes; null if the claim cannot be read."""
    since: str | None
    """When it was taken, by the holder's clock."""
    beat_age_seconds: float | None
    """Age of the last heartbeat, if both clocks agree; null if there is none."""
    act: str | None = None
    """What is done to the checkpoint, such as `restore`; null for a driver that runs the job."""


@dataclass(frozen=True)
class RemedyShown:
    """What was done to the checkpoint since the last run."""

    act: str
    """Its id in the journal."""
    kind: str
    """`restore`, or the remedy of the plan."""
    backup: str | None
    """The backup that was restored; null for a plan."""
    ended_at: str
    """When it was done."""


@dataclass(frozen=True)
class RestartShown:
    """A restart that a driver waits for."""

    due_at: str
    """When the job is started again, by the driver's clock."""
    restart: int
    """How many restarts in a row this makes, without a committed batch in between."""
    limit: int
    """How many there may be: `restart.limit`."""
    code: str
    """Why the job failed."""
    message: str
    """The same in words."""
    holder: str
    """Who waits: user, host and process."""


@dataclass(frozen=True, repr=False)
class JobStatus(OneLine):
    """One job."""

    SHOWN: ClassVar = ("job", "state", "last_committed", "pending")

    job: str
    """Its name."""
    state: JobState
    """How it stands."""
    location: str
    """Its checkpoint."""
    exists: bool
    """Whether there is a checkpoint."""
    query_id: str | None
    """The id in `metadata`."""
    last_planned: int | None
    """The newest batch with an offsets entry."""
    last_committed: int | None
    """The newest batch with a commit."""
    pending: int | None
    """Planned without a commit: the batch that runs now, or that the next start runs again."""
    lease: LeaseShown | None
    """Null where nobody ever held it."""
    runs: tuple[RunShown, ...]
    """The last runs, the newest first."""
    sink: str
    """The format of its sink."""
    sink_identity: str | None
    """The sink's path, table or function."""
    trigger: str
    """`available now`, or the time between batches."""
    problem: str | None
    """Why the checkpoint could not be looked at."""
    sink_holds: int | None = None
    """The newest batch that the sink itself holds of this query; null where it was not asked
    (only postgres and custom sinks are), or gave no answer."""
    sink_basis: str | None = None
    """How that is known, or why not; null where the sink was not asked."""
    last_attempt: AttemptShown | None = None
    """The newest start that failed before its run began; null once a later run has begun."""
    sink_native: bool = False
    """Whether the project declares Spark's own sink of this format."""
    newest_batch: BatchShown | None = None
    """The newest batch that a run of this query recorded; null if none did."""
    next_restart: RestartShown | None = None
    """The restart that `run --keep-running` waits for; null if none is due."""
    backup_every: str | None = None
    """The declared time between two backups that `run` makes; null where it makes none."""
    newest_backup: str | None = None
    """When the newest backup was made; null where there is none, or `run` makes none."""
    remedy: RemedyShown | None = None
    """The restore, repair, replay or reset since the last run; null once a later run has begun."""
    next_start: str | None = None
    """What the next start does after it, as far as the names in the logs say; else null."""


@dataclass(frozen=True, repr=False)
class Status(OneLine):
    """All jobs that were asked for."""

    SHOWN: ClassVar = ("project", "jobs")
    COMMAND: ClassVar = "status"

    project: str
    """The project's name."""
    jobs: tuple[JobStatus, ...]
    """In the order of the project file."""
    metrics_file: str | None = None
    """The file that the metrics were written to; null without `--metrics`."""
