"""Looks at many jobs side by side: batches, lease, last runs; quick, without Spark, read only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from holdfast.answers import Answer
from holdfast.checkpoint.glance import Glance, glance_at
from holdfast.diagnosis.checks.records import interrupted_act, unreadable_records
from holdfast.diagnosis.checks.runs import failed_run, killed_run
from holdfast.diagnosis.lastrun import RunState, last_run_state
from holdfast.diagnosis.recorded import NOTHING_RECORDED, Recall, Recorded, nothing
from holdfast.diagnosis.runshown import run_shown
from holdfast.diagnosis.sinkplace import SinkPlace
from holdfast.diagnosis.statusresult import JobState, JobStatus, LeaseShown, Status
from holdfast.errors import HoldfastError
from holdfast.findings import Finding, Place, Severity, rooted, worst_first
from holdfast.ledgers.lastcommitted import LastCommitted
from holdfast.records.leasesight import LeaseState
from holdfast.storage.reading import Reader
from holdfast.storage.sidebyside import side_by_side

SHOWN_RUNS = 3
SIDE_BY_SIDE = 16
"""How many jobs are looked at at once."""
_BY_RUN = {
    RunState.RUNNING: JobState.RUNNING,
    RunState.KILLED: JobState.KILLED,
    RunState.UNCLEAR: JobState.UNCLEAR,
}
_UNSEEN = Glance(False, None, None, None)


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


@dataclass(frozen=True)
class _Seen:
    """What one look gave."""

    place: JobPlace
    recorded: Recorded = NOTHING_RECORDED
    glance: Glance = _UNSEEN
    error: HoldfastError | None = None
    held: LastCommitted | None = None
    """What the sink answered."""


def status_of(project: str, places: Sequence[JobPlace]) -> Answer[Status]:
    """Tell how all these jobs stand; one that can't be looked at does not stop the others."""
    looks = side_by_side(lambda number: _look(places[number]), range(len(places)), SIDE_BY_SIDE)
    seen = list(looks.values())
    findings = worst_first(finding for one in seen for finding in _findings(one))
    result = Status(project, tuple(map(_job_status, seen)))
    return Answer("status", "", result, findings, _commands(findings))


def _commands(findings: tuple[Finding, ...]) -> tuple[str, ...]:
    steps = [step.partition("   ")[0] for finding in findings for step in finding.next_steps]
    return tuple(dict.fromkeys(step for step in steps if step.startswith("holdfast ")))[:3]


def _look(place: JobPlace) -> _Seen:
    recorded = place.recall()
    try:
        glance = glance_at(place.open_checkpoint())
    except HoldfastError as error:
        return _Seen(place, recorded, error=error)
    if place.ledger is None or glance.query_id is None:
        return _Seen(place, recorded, glance)
    held = place.ledger.ask().last_committed(glance.query_id)
    return _Seen(place, recorded, glance, held=held)


def _job_status(seen: _Seen) -> JobStatus:
    place, glance, error = seen.place, seen.glance, seen.error
    return JobStatus(
        job=place.job,
        state=_state(seen),
        location=place.location,
        exists=glance.exists,
        query_id=glance.query_id,
        last_planned=glance.last_planned,
        last_committed=glance.last_committed,
        pending=glance.pending,
        lease=_lease(seen.recorded.lease),
        runs=tuple(run_shown(run) for run in seen.recorded.runs[:SHOWN_RUNS]),
        sink=place.sink,
        sink_identity=place.sink_identity,
        trigger=place.trigger,
        problem=error.message if error is not None else None,
        sink_holds=seen.held.value if seen.held is not None else None,
        sink_basis=seen.held.basis if seen.held is not None else None,
    )


def _state(seen: _Seen) -> JobState:
    recorded = seen.recorded
    if recorded.act is not None:
        return JobState.RESTORING if recorded.act_at_work else JobState.INTERRUPTED
    if seen.error is not None:
        return JobState.UNREADABLE
    state = last_run_state(recorded)
    if state is None:
        return JobState.UNRECORDED if seen.glance.exists else JobState.NEW
    ended = recorded.runs[0].ended if recorded.runs else None
    return JobState(ended.value) if state is RunState.ENDED and ended else _BY_RUN[state]


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
    )


def _findings(seen: _Seen) -> Iterator[Finding]:
    recorded, place = seen.recorded, seen.place
    found = [
        *interrupted_act(recorded, place.job),
        *_problems(seen),
        *failed_run(recorded),
        *killed_run(recorded, place.job, Severity.WARNING),
        *unreadable_records(recorded),
    ]
    yield from (rooted(finding, place.location) for finding in found)


def _problems(seen: _Seen) -> Iterator[Finding]:
    error = seen.error or seen.glance.damage
    if error is None:
        return
    message = f"the checkpoint of {seen.place.job} can't be read: {error.message}"
    place = Place("", root=error.at) if error.at is not None else Place("")
    evidence = {"job": seen.place.job}
    number = error.code.number
    yield Finding(number, Severity.ERROR, message, place, evidence, error.why, error.next_steps)
