"""What the newest run and the lease tell: whose it is, whether it runs, was killed, or failed."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from holdfast.codes import code_of
from holdfast.diagnosis.inspection.runs.laststate import RunState, last_run_state
from holdfast.diagnosis.inspection.runs.recorded import Recorded
from holdfast.diagnosis.inspection.subject import Subject
from holdfast.findings import Finding, Place, Severity
from holdfast.records.leases.state import Standing
from holdfast.records.run import Ended
from holdfast.records.starts import Attempt

_BAD_ENDS = (Ended.FAILED, Ended.REFUSED)
_GOOD_ENDS = (Ended.FINISHED, Ended.STOPPED)
_JVM_DEATHS = ("HF5304", "HF5305", "HF5306")
_IN_USE = 22
"""The exit status of a start that was refused because somebody else uses the checkpoint."""


def check_own_job(subject: Subject) -> Iterator[Finding]:
    """Report records that belong to another job than the declared one."""
    runs, job = subject.recorded.runs, subject.job
    if not runs or job is None:
        return
    run = runs[0]
    # A job that moves from a program into a project file keeps its checkpoint.
    two_projects = None not in (run.project, job.project) and run.project != job.project
    if run.job != job.name or two_projects:
        recorded, declared = run.job, job.name
        if two_projects:
            recorded = f"{recorded} of project {run.project}"
            declared = f"{declared} of project {job.project}"
        message = f"the newest run was of job {recorded}; the declared job is {declared}"
        evidence = {"recorded": run.job, "declared": job.name, "project": run.project}
        yield Finding("HF2343", Severity.ERROR, message, Place(""), evidence)


def check_driver_now(subject: Subject) -> Iterator[Finding]:
    """Report a driver that holds the lease now."""
    lease = subject.recorded.lease
    if lease is not None and lease.state is Standing.HELD:
        message = f"a driver is running on it: {lease.words}"
        if lease.act is not None:
            message = f"it is being changed: {lease.words}"
        elif lease.ends:
            message = f"the JVM of a driver that was killed is still ending: {lease.words}"
        evidence = {"generation": lease.generation, "since": lease.since}
        yield Finding("HF2344", Severity.INFO, message, Place(""), evidence)


def check_killed_run(subject: Subject) -> Iterator[Finding]:
    """Report a last run that was killed."""
    yield from killed_run(subject.recorded, subject.named, Severity.INFO)


def check_failed_run(subject: Subject) -> Iterator[Finding]:
    """Report a last run that failed."""
    yield from failed_run(subject.recorded)


def check_failed_attempts(subject: Subject) -> Iterator[Finding]:
    """Report starts that failed before a run began."""
    yield from failed_attempts(subject.recorded)


def killed_run(recorded: Recorded, target: str, severity: Severity) -> Iterator[Finding]:
    """Report a last run that was killed; the target makes the next step complete."""
    if last_run_state(recorded) is not RunState.KILLED:
        return
    run = recorded.runs[0]
    message = (
        f"run {run.generation} of job {run.job} did not end cleanly (no final record): its "
        f"process is gone; it began at {run.started_at}"
    )
    if recorded.lease is not None and recorded.lease.ends:
        message += "; its JVM is still ending, and a new start is refused until then"
    evidence = {"generation": run.generation, "last_batch": run.last_batch}
    named = shlex.quote(target)
    steps = tuple(step.replace("TARGET", named) for step in code_of("HF2345").next_steps)
    yield Finding("HF2345", severity, message, Place(""), evidence, "", steps)


def failed_run(recorded: Recorded) -> Iterator[Finding]:
    """Report a last run that failed or was refused."""
    run = recorded.runs[0] if recorded.runs else None
    if run is None or run.ended not in _BAD_ENDS:
        return
    failure = run.failure
    reason = f": {failure.message}" if failure is not None else ""
    message = f"run {run.generation} of job {run.job} {run.ended.value}{reason}{_again(recorded)}"
    evidence: dict[str, object] = {"generation": run.generation, "ended_at": run.ended_at}
    steps: tuple[str, ...] = ()
    why = ""
    if failure is not None:
        evidence |= {"code": failure.code, "error_class": failure.error_class, "at": failure.at}
        steps = (f"holdfast explain {failure.page or failure.code}",)
        if failure.code in _JVM_DEATHS:
            # As `run` reported it: such an end need not come again.
            why = code_of(failure.code).why
            steps = (*code_of(failure.code).next_steps, *steps)
    yield Finding("HF2346", Severity.WARNING, message, Place(""), evidence, why, steps)


def failed_attempt(recorded: Recorded) -> Attempt | None:
    """Return the newest start that failed since the newest run began, where the job is still down.

    One that was refused because the checkpoint was in use does not count, nor one that failed while
    a driver ran the job: that driver still runs it, or ended well later.
    """
    lease, run = recorded.lease, recorded.runs[0] if recorded.runs else None
    if lease is not None and lease.runs and not lease.ends:
        return None
    up = run.ended_at or "" if run is not None and run.ended in _GOOD_ENDS else ""
    since = recorded.attempts_since_run
    return next((one for one in since if one.exit_status != _IN_USE and one.at > up), None)


def failed_attempts(recorded: Recorded) -> Iterator[Finding]:
    """Report starts since the newest run that failed before a run of their own began."""
    since, failed = recorded.attempts_since_run, failed_attempt(recorded)
    if failed is not None:
        explain = f"holdfast explain {failed.page}"
        message = f"the start of job {failed.job} {_ended_words(failed)} at {failed.at}: "
        message += f"{failed.code} {failed.message}"
        message += _again(recorded)
        evidence = _evidence(failed)
        place = Place("") if failed.place is None else Place("", root=failed.place)
        steps = tuple(dict.fromkeys((*failed.next, explain)))
        yield Finding("HF2615", Severity.WARNING, message, place, evidence, failed.why, steps)
    if since and since[0].exit_status == _IN_USE:
        message = f"a start was refused at {since[0].at}: {since[0].code} {since[0].message}"
        yield Finding("HF2617", Severity.INFO, message, Place(""), _evidence(since[0]))


def _ended_words(attempt: Attempt) -> str:
    return "was refused" if attempt.ended is Ended.REFUSED else attempt.ended.value


def _again(recorded: Recorded) -> str:
    """Say that a driver waits to start the job again."""
    note = recorded.next_restart
    if note is None:
        return ""
    return (
        f"; {note.holder.words} restarts it at {note.due_at} "
        f"(restart {note.restart} of at most {note.limit})"
    )


def _evidence(attempt: Attempt) -> dict[str, object]:
    return {
        "job": attempt.job,
        "code": attempt.code,
        "exit_status": attempt.exit_status,
        "at": attempt.at,
        "host": attempt.host,
        "process": attempt.process,
    }
