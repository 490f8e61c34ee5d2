"""Recorded runs, and starts that never became one, as results show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from holdfast.records.moments import moment_after
from holdfast.records.run import Ended, Failure, Measures, OperatorState, Run, SourceLag
from holdfast.records.starts import Attempt


@dataclass(frozen=True)
class RunShown:
    """One life of a job."""

    generation: int
    """Which holder of the lease it was; it grows with every run."""
    job: str
    """The job's name at that time."""
    started_at: str
    """When it began, in UTC."""
    ended_at: str | None
    """When it ended; null for one that runs, or was killed."""
    ended: Ended | None
    """How it ended; null for one that runs, or was killed: the lease tells which."""
    first_batch: int | None
    """The first batch that it delivered."""
    last_batch: int | None
    """The last batch that it delivered, as far as it got to note it."""
    batches: int
    """How many batches it delivered."""
    rows: int
    """How many rows these had."""
    skipped_batches: int
    """How many of them were in the sink already."""
    seconds: float
    """How long it ran."""
    spark: str
    """The Spark that it ran on."""
    failure: Failure | None
    """Why it failed; null where it did not."""


@dataclass(frozen=True)
class BatchShown:
    """The newest batch that a run recorded."""

    batch_id: int
    """Its id."""
    rows: int
    """How many rows the sources gave."""
    started_at: str
    """When it began, in UTC."""
    committed_at: str | None
    """When it was over, in UTC; null if the record has no readable start."""
    seconds: float
    """How long it took."""
    skipped: bool
    """Whether it was already in the sink."""
    phase_seconds: Mapping[str, float]
    """How long each phase took, by Spark's name of it; empty in records of older releases."""
    state: tuple[OperatorState, ...]
    """The stateful operators after it."""
    lag: tuple[SourceLag, ...]
    """What its sources had left to read, for sources that report it."""


@dataclass(frozen=True)
class AttemptShown:
    """A start that failed before its run began."""

    at: str
    """When it failed, in UTC."""
    job: str
    """The job's name at that time."""
    ended: Ended
    """`refused` or `failed`."""
    code: str
    """The code of the error."""
    message: str
    """What was wrong."""
    place: str | None
    """Where the error is, such as a line of the project file; null where it has no place."""
    next: tuple[str, ...]
    """The next steps that were given with the error."""
    page: str
    """What `holdfast explain` shows the page of."""
    exit_status: int
    """The exit status of the error; 22 means that the checkpoint was in use."""
    holder: str
    """Who tried: user, host and process."""
    spark: str | None
    """The Spark that was to run it; null where Spark was not started yet."""


def attempt_shown(attempt: Attempt) -> AttemptShown:
    """Show an attempt."""
    return AttemptShown(
        at=attempt.at,
        job=attempt.job,
        ended=attempt.ended,
        code=attempt.code,
        message=attempt.message,
        place=attempt.place,
        next=attempt.next,
        page=attempt.page,
        exit_status=attempt.exit_status,
        holder=f"{attempt.user} on {attempt.host} (process {attempt.process})",
        spark=attempt.spark,
    )


def newest_batch_shown(runs: Sequence[Run]) -> BatchShown | None:
    """Show the newest batch that these runs recorded; the newest run is the first."""
    run = next((one for one in runs if one.recent), None)
    if run is None:
        return None
    note, measures = run.recent[-1], run.measures
    if measures is None or measures.batch_id != note.batch_id:
        measures = Measures(note.batch_id, {})
    return BatchShown(
        batch_id=note.batch_id,
        rows=note.rows,
        started_at=note.started_at,
        committed_at=moment_after(note.started_at, note.seconds),
        seconds=note.seconds,
        skipped=note.skipped,
        phase_seconds=measures.phase_seconds,
        state=measures.state,
        lag=measures.lag,
    )


def run_shown(run: Run) -> RunShown:
    """Show a run."""
    return RunShown(
        generation=run.generation,
        job=run.job,
        started_at=run.started_at,
        ended_at=run.ended_at,
        ended=run.ended,
        first_batch=run.first_batch,
        last_batch=run.last_batch,
        batches=run.batches,
        rows=run.rows,
        skipped_batches=run.skipped_batches,
        seconds=run.seconds,
        spark=run.versions.spark,
        failure=run.failure,
    )
