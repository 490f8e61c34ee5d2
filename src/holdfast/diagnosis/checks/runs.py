"""What lease, newest run and kept copies tell: how it ended, and which entries are lost."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from enum import Enum

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.recovery.outcome import unhindered_start
from holdfast.checkpoint.recovery.state import state_failure
from holdfast.checkpoint.releases import start_releases
from holdfast.codes import code_of
from holdfast.diagnosis.checks.records import newest_delivered
from holdfast.diagnosis.inspection.runs.recorded import Recorded
from holdfast.diagnosis.inspection.subject import Subject
from holdfast.findings import Finding, Place, Severity
from holdfast.records.leases.state import Standing
from holdfast.records.run import Ended
from holdfast.records.starts import Attempt


class RunState(str, Enum):
    """What one look at the lease and the newest run's record tells."""

    RUNNING = "running"
    """A holder of this machine lives: its Python process, not just a JVM that it left."""
    ENDED = "ended"
    """It wrote down how it ended."""
    KILLED = "killed"
    """It left no word, and its holder is gone."""
    UNCLEAR = "unclear"
    """It left no word, and its holder is on another machine."""


_MAY_LIVE = (Standing.HELD, Standing.UNCLEAR)
_BY_LEASE = {
    Standing.HELD: RunState.RUNNING,
    Standing.UNCLEAR: RunState.UNCLEAR,
    Standing.ABANDONED: RunState.KILLED,
    Standing.FREE: RunState.KILLED,
}


def last_run_state(recorded: Recorded) -> RunState | None:
    """Return how the newest run ended; None where nothing ever ran.

    A driver that followed it, and has not written a record yet, is the newest run. An act, such as
    a restore, is no run: it only tells that the run before it is over.
    """
    run, lease = recorded.runs[0] if recorded.runs else None, recorded.lease
    is_act = lease is not None and lease.act is not None
    newer = lease is not None and (run is None or lease.generation > run.generation)
    ends = lease is not None and lease.ends
    if lease is not None and newer and not is_act and not ends and lease.state in _MAY_LIVE:
        return _BY_LEASE[lease.state]
    if run is None:
        return None
    if run.ended is not None:
        return RunState.ENDED
    if is_act or ends:
        return RunState.KILLED
    return RunState.UNCLEAR if lease is None else _BY_LEASE[lease.state]


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
    run, severity = recorded.runs[0], _weighed(severity, recorded)
    message = (
        f"run {run.generation} of job {run.job} did not end cleanly (no final record): its "
        f"process is gone; it began at {run.started_at}"
    )
    if recorded.lease is not None and recorded.lease.ends:
        message += "; its JVM is still ending, and a new start is refused until then"
    message += _since(recorded)
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
    message += _since(recorded)
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
    severity = _weighed(Severity.WARNING, recorded)
    yield Finding("HF2346", severity, message, Place(""), evidence, why, steps)


def _weighed(severity: Severity, recorded: Recorded) -> Severity:
    """Return how serious the end of the newest run still is: a remedy makes it the past."""
    return severity if recorded.settled is None else Severity.INFO


def _since(recorded: Recorded) -> str:
    return "" if recorded.settled is None else f"; since then {recorded.settled.words}"


def failed_attempt(recorded: Recorded) -> Attempt | None:
    """Return the newest start that failed since the newest run began, where the job is still down.

    One that was refused because the checkpoint was in use does not count, nor one that failed while
    a driver ran the job: that driver still runs it, or ended well later.
    """
    lease, run = recorded.lease, recorded.runs[0] if recorded.runs else None
    if lease is not None and lease.runs and not lease.ends:
        return None
    up = run.ended_at or "" if run is not None and run.ended in _GOOD_ENDS else ""
    if recorded.settled is not None:
        up = max(up, recorded.settled.ended_at)
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


_TEMPORARY = re.compile(r"\.(.+)\.[0-9a-fA-F-]{36}(?:\.TID[0-9]+)?\.tmp")
_STATE_VERSION = re.compile(r"([0-9]+)(?:_[0-9a-fA-F-]{36})?\.(?:delta|changelog|zip)")
_MOST_NAMED = 20


def check_begun_files(subject: Subject) -> Iterator[Finding]:
    """Report entries and state files of which only the temporary file is there."""
    picture = subject.picture
    begun = {
        target: path
        for path in picture.layout.temporary
        if (target := _target(path)) is not None and target not in picture.layout.items
    }
    if not begun:
        return
    lost = [target for target in begun if _was_committed(picture, target)]
    first = min(lost or begun)
    failure = state_failure(picture, unhindered_start(picture), start_releases(picture)[0])
    severity = Severity.ERROR if lost else Severity.INFO
    if failure is not None and failure.place in lost:
        first, severity = failure.place, Severity.FATAL
    yield Finding(
        "HF2303",
        severity,
        f"{first} was begun, but only its temporary file exists"
        + (", although its batch is committed" if lost else ""),
        Place(begun[first]),
        {"files": sorted(begun)[:_MOST_NAMED], "count": len(begun), "of_committed_batches": lost},
    )


def _target(path: str) -> str | None:
    folder, slash, name = path.rpartition("/")
    found = _TEMPORARY.fullmatch(name)
    return f"{folder}{slash}{found[1]}" if found is not None else None


def _was_committed(picture: Picture, target: str) -> bool:
    """A state file of version n belongs to batch n - 1; an entry to the batch of its name."""
    head, name = target.partition("/")[0], target.rpartition("/")[2]
    committed, kept = picture.layout.commits.files, picture.layout.offsets.ids
    if head == "offsets" and name.isdecimal():
        return int(name) in committed
    version = _STATE_VERSION.fullmatch(name) if head == "state" else None
    if version is None or not kept:
        return False
    batch_id = int(version[1]) - 1
    return batch_id in committed and not _has_version(picture, target, int(version[1]))


def _has_version(picture: Picture, target: str, version: int) -> bool:
    """Another attempt, or a snapshot, may hold the same version in that folder."""
    folder = target.rpartition("/")[0]
    start = f"{folder}/{version}"
    return any(path.startswith((f"{start}.", f"{start}_")) for path in picture.layout.items)


def check_offsets_as_kept(subject: Subject) -> Iterator[Finding]:
    """Report an entry that is readable and has other bytes than were kept of it."""
    kept = subject.kept
    for batch_id, present in kept.present.items():
        path = f"offsets/{batch_id}"
        readable = batch_id in subject.picture.offsets and not subject.picture.refused(path)
        if present != kept.copies[batch_id] and readable:
            message = (
                f"{path} differs from the copy that was kept when a run delivered batch {batch_id}"
            )
            evidence = {"batch_id": batch_id, "kept_copy": kept.path_of(batch_id)}
            yield Finding("HF2604", Severity.FATAL, message, Place(path), evidence)


def check_newest_offsets_kept(subject: Subject) -> Iterator[Finding]:
    """Report the entry after the newest one: a run kept it, and the checkpoint has lost it."""
    newest, kept = subject.picture.newest_offsets_id, subject.kept
    lost = 0 if newest is None else newest + 1
    delivered = newest_delivered(subject.recorded)
    if newest is None and delivered is not None and delivered > lost:
        # The checkpoint was emptied: its first entry alone would not bring it back.
        return
    if lost in kept.copies:
        message = (
            f"offsets/{lost} was planned and a copy was kept, but it is missing from the checkpoint"
        )
        evidence = {"batch_id": lost, "kept_copy": kept.path_of(lost), "last_planned": newest}
        yield Finding("HF2342", Severity.FATAL, message, Place(f"offsets/{lost}"), evidence)


def check_copies_readable(subject: Subject) -> Iterator[Finding]:
    """Report kept copies that could not be had."""
    for batch_id, error in list(subject.kept.failures.items())[:1]:
        place = Place("", root=error.at or subject.recorded.location)
        number, evidence = error.code.number, {"batch_id": batch_id}
        yield Finding(
            number, Severity.WARNING, error.message, place, evidence, error.why, error.next_steps
        )
