"""Looks at many jobs side by side: batches, lease, last runs; quick, without Spark, read only."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from holdfast.answers import Answer
from holdfast.checkpoint.reading import Overview, read_overview
from holdfast.diagnosis.checks.log.names import (
    commit_without_offsets,
    offsets_gaps,
    uncommitted_batches,
)
from holdfast.diagnosis.checks.records import (
    gone,
    interrupted_act,
    lost_batches,
    unreadable_records,
)
from holdfast.diagnosis.checks.runs import (
    RunState,
    failed_attempt,
    failed_attempts,
    failed_run,
    killed_run,
    last_run_state,
)
from holdfast.diagnosis.checks.sink.sparkfiles import output_of_spark
from holdfast.diagnosis.inspection.runs.recorded import NOTHING_RECORDED, Recall, Recorded, nothing
from holdfast.diagnosis.inspection.runs.restarts import attempt_shown, newest_batch_shown, run_shown
from holdfast.diagnosis.status.result import (
    JobState,
    JobStatus,
    LeaseShown,
    RemedyShown,
    RestartShown,
    Status,
)
from holdfast.errors import HoldfastError, StorageError
from holdfast.findings import Finding, Place, Severity, named, rooted, worst_first
from holdfast.ledgers.reading import SinkPlace
from holdfast.ledgers.sinkstate import LastCommitted
from holdfast.records.leases.state import LeaseState, Standing
from holdfast.records.run import Run
from holdfast.records.settled import SettledAct
from holdfast.records.starts import Attempt, NextRestart
from holdfast.storage.parallel import side_by_side
from holdfast.storage.reading import Reader

SHOWN_RUNS = 3
SIDE_BY_SIDE = 16
"""How many jobs are looked at at once."""
_BY_RUN = {
    RunState.RUNNING: JobState.RUNNING,
    RunState.KILLED: JobState.KILLED,
    RunState.UNCLEAR: JobState.UNCLEAR,
}
_UNSEEN = Overview(False, None, None, None)


@dataclass(frozen=True)
class JobPlace:
    """One job to look at."""

    job: str
    location: str
    """Its checkpoint, as shown to people."""
    sink: str
    sink_identity: str | None
    trigger: str
    open_checkpoint: Callable[[], Reader]
    recall: Recall = nothing
    ledger: SinkPlace | None = None
    """The sink, where it is one that answers to one question."""
    output: SinkPlace | None = None
    """The output folder, where Holdfast's own file sink writes it."""
    native: bool = False
    """Spark's own sink writes."""
    folder: Path | None = None
    """The checkpoint's directory, None if it is not on this machine."""
    backup_every: str | None = None
    """The declared time between two backups that `run` makes; None where it makes none."""
    newest_backup: Callable[[], str | None] = lambda: None
    """Finds out when the newest backup was made; asked where `run` makes them."""


@dataclass(frozen=True)
class _Seen:
    """What one look gave."""

    place: JobPlace
    recorded: Recorded = NOTHING_RECORDED
    overview: Overview = _UNSEEN
    error: HoldfastError | None = None
    held: LastCommitted | None = None
    """What the sink answered."""
    refusals: tuple[Finding, ...] = ()
    """Why the next start would be refused because of its sink."""
    newest_backup: str | None = None


def status_of(project: str, places: Sequence[JobPlace]) -> Answer[Status]:
    """Return the status of all these jobs; one that cannot be read does not stop the others."""
    looks = side_by_side(lambda number: _look(places[number]), range(len(places)), SIDE_BY_SIDE)
    seen = list(looks.values())
    findings = worst_first(finding for one in seen for finding in _findings(one))
    result = Status(project, tuple(map(_job_status, seen)))
    return Answer("status", "", result, findings, _commands(findings))


def _commands(findings: tuple[Finding, ...]) -> tuple[str, ...]:
    steps = [step.partition("   ")[0] for finding in findings for step in finding.next_steps]
    return tuple(dict.fromkeys(step for step in steps if step.startswith("holdfast ")))[:3]


def _look(place: JobPlace) -> _Seen:
    return replace(_looked(place), newest_backup=_newest_backup(place))


def _newest_backup(place: JobPlace) -> str | None:
    try:
        return None if place.backup_every is None else place.newest_backup()
    except HoldfastError:
        return None  # the records are reported as unreadable where they are looked at


def _looked(place: JobPlace) -> _Seen:
    recorded = place.recall()
    try:
        overview = read_overview(place.open_checkpoint())
    except HoldfastError as error:
        return _Seen(place, recorded, error=error)
    refusals = tuple(_refusals(place))
    if place.ledger is None or overview.query_id is None:
        return _Seen(place, recorded, overview, refusals=refusals)
    held = place.ledger.ask().last_committed(overview.query_id)
    return _Seen(place, recorded, overview, held=held, refusals=refusals)


def _refusals(place: JobPlace) -> Iterator[Finding]:
    try:
        if place.output is not None and place.output.belongs_to_spark():
            yield output_of_spark(place.output.location)
    except StorageError:
        # A machine that watches jobs need not reach their outputs: `run` and `doctor` report that.
        return


def _job_status(seen: _Seen) -> JobStatus:
    place, overview, error = seen.place, seen.overview, seen.error
    return JobStatus(
        job=place.job,
        state=_state(seen),
        location=place.location,
        exists=overview.exists,
        query_id=overview.query_id,
        last_planned=overview.last_planned,
        last_committed=overview.last_committed,
        pending=overview.pending,
        lease=_lease(seen.recorded.lease),
        runs=tuple(run_shown(run) for run in seen.recorded.runs[:SHOWN_RUNS]),
        sink=place.sink,
        sink_identity=place.sink_identity,
        trigger=place.trigger,
        problem=error.message if error is not None else None,
        sink_holds=seen.held.value if seen.held is not None else None,
        sink_basis=seen.held.basis if seen.held is not None else None,
        last_attempt=next(map(attempt_shown, seen.recorded.attempts_since_run), None),
        sink_native=place.native,
        newest_batch=newest_batch_shown(_runs_of_query(seen)),
        next_restart=_next_restart(seen.recorded.next_restart),
        backup_every=place.backup_every,
        newest_backup=seen.newest_backup,
        remedy=_remedy(seen.recorded.settled),
        next_start=_next_start(seen),
    )


def _remedy(settled: SettledAct | None) -> RemedyShown | None:
    if settled is None:
        return None
    return RemedyShown(settled.id, settled.kind, settled.backup, settled.ended_at)


def _next_start(seen: _Seen) -> str | None:
    """Return what the next start does, where a remedy waits for it and nothing speaks against."""
    overview = seen.overview
    if _state(seen) not in (JobState.RESTORED, JobState.REMEDIED):
        return None
    if any(one.severity.rank >= Severity.ERROR.rank for one in _findings(seen)):
        return None
    if overview.pending is not None:
        return f"runs batch {overview.pending} again"
    newest = overview.last_planned
    return "begins with batch 0" if newest is None else f"continues with batch {newest + 1}"


def _runs_of_query(seen: _Seen) -> list[Run]:
    """Return the recorded runs of the query whose checkpoint this is, newest first."""
    return [run for run in seen.recorded.runs if run.query_id == seen.overview.query_id]


def _state(seen: _Seen) -> JobState:
    recorded, lease = seen.recorded, seen.recorded.lease
    if recorded.act is not None:
        return JobState.RESTORING if recorded.act_at_work else JobState.INTERRUPTED
    if lease is not None and lease.act is not None and lease.state is Standing.HELD:
        return JobState.RESTORING
    if recorded.retirement is not None:
        return JobState.RETIRED
    if seen.error is not None:
        return JobState.UNREADABLE
    return _state_of_runs(seen)


def _state_of_runs(seen: _Seen) -> JobState:
    """Return how the job stands after its runs, attempts and remedies."""
    recorded = seen.recorded
    state, failed = last_run_state(recorded), failed_attempt(recorded)
    if recorded.next_restart is not None and state not in (RunState.RUNNING, RunState.UNCLEAR):
        return JobState.UNCLEAR if recorded.restarting is None else JobState.RESTARTING
    if _awaits_start(seen, state, failed):
        is_restore = recorded.settled is not None and recorded.settled.backup is not None
        return JobState.RESTORED if is_restore else JobState.REMEDIED
    if failed is not None and state not in (RunState.RUNNING, RunState.UNCLEAR):
        return JobState(failed.ended.value)
    if recorded.was_reset and not seen.overview.exists:
        return JobState.NEW
    if state in (None, RunState.ENDED) and recorded.backups and not seen.overview.exists:
        return JobState.GONE
    if state is None:
        return JobState.UNRECORDED if seen.overview.exists else JobState.NEW
    ended = recorded.runs[0].ended if recorded.runs else None
    return JobState(ended.value) if state is RunState.ENDED and ended else _BY_RUN[state]


def _awaits_start(seen: _Seen, state: RunState | None, failed: Attempt | None) -> bool:
    """Whether a remedy was done since the last run, and no start was tried since."""
    if seen.recorded.settled is None or not seen.overview.exists or failed is not None:
        return False
    return state not in (RunState.RUNNING, RunState.UNCLEAR)


def _next_restart(note: NextRestart | None) -> RestartShown | None:
    if note is None:
        return None
    return RestartShown(
        note.due_at, note.restart, note.limit, note.code, note.message, note.holder.words
    )


def _lease(lease: LeaseState | None) -> LeaseShown | None:
    if lease is None:
        return None
    return LeaseShown(
        state=lease.state,
        generation=lease.generation,
        job=lease.job,
        holder=lease.holder.words if lease.holder is not None else None,
        since=lease.since,
        beat_age_seconds=lease.beat_age_seconds,
        act=lease.act,
    )


def _findings(seen: _Seen) -> Iterator[Finding]:
    recorded, place = seen.recorded, seen.place
    found = [
        *interrupted_act(recorded),
        *_problems(seen),
        *_log_gaps(seen),
        *_lost(seen),
        *seen.refusals,
        *failed_run(recorded),
        *failed_attempts(recorded),
        *killed_run(recorded, place.job, Severity.WARNING),
        *unreadable_records(recorded),
    ]
    for finding in found:
        yield named(rooted(finding, place.location), place.job, place.job)


def _lost(seen: _Seen) -> Iterator[Finding]:
    """Report a checkpoint that was deleted, emptied or rolled back since its last run."""
    run, overview = seen.recorded.started, seen.overview
    if run is None and seen.error is None and not overview.exists:
        for finding in gone(seen.recorded):
            yield replace(finding, message=f"{seen.place.job}: {finding.message}")
    if run is not None and seen.error is None and overview.query_id in (None, run.query_id):
        for finding in lost_batches(seen.recorded, run, overview.last_planned):
            yield replace(finding, message=f"{seen.place.job}: {finding.message}")


def _log_gaps(seen: _Seen) -> Iterator[Finding]:
    """Report ids that the names in both logs show to be missing; the doctor knows what it means."""
    overview = seen.overview
    found = (
        *commit_without_offsets(overview.last_planned, overview.last_committed),
        *offsets_gaps(overview.offset_ids, overview.commit_ids),
        *uncommitted_batches(overview.offset_ids, overview.commit_ids),
    )
    doctor = f"holdfast doctor {shlex.quote(seen.place.job)}"
    for finding in found:
        if finding.severity is not Severity.INFO:
            message = f"{seen.place.job}: {finding.message}"
            yield replace(finding, message=message, next_steps=(doctor,))


def _problems(seen: _Seen) -> Iterator[Finding]:
    error = seen.error or seen.overview.damage
    # A marker in `metadata` says that the job is over, or that an act is at work.
    if error is None or seen.recorded.retirement is not None or seen.recorded.act is not None:
        return
    message = f"the checkpoint of {seen.place.job} cannot be read: {error.message}"
    place = Place("", root=error.at) if error.at is not None else Place("")
    evidence = {"job": seen.place.job}
    number = error.code.number
    yield Finding(number, Severity.ERROR, message, place, evidence, error.why, error.next_steps)
