"""A checkpoint against its own records: the same query, nothing lost, nothing unheard of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.checkpoint.picture import Picture
from holdfast.diagnosis.checks.state.versions import state_ahead
from holdfast.diagnosis.inspection.runs.recorded import Recorded
from holdfast.findings import Finding, Place, Severity
from holdfast.wording import counted

if TYPE_CHECKING:
    from holdfast.records.rewinds import Rewind
    from holdfast.records.run import Run

RecordsCheck = Callable[[Picture, Recorded], Iterator[Finding]]


def check_interrupted_act(_picture: Picture, recorded: Recorded) -> Iterator[Finding]:
    """Report a restore that was killed, and one that is at work."""
    yield from interrupted_act(recorded)


def check_same_query(picture: Picture, recorded: Recorded) -> Iterator[Finding]:
    """Report a query id that no record knows."""
    run = recorded.started
    if not recorded.contradicts(picture) or run is None or picture.query is None:
        return
    message = f"the query id is {picture.query.id}, the newest run recorded {run.query_id}"
    evidence = {"read": picture.query.id, "recorded": run.query_id, "generation": run.generation}
    yield Finding("HF2341", Severity.ERROR, message, Place("metadata"), evidence)


def check_nothing_lost(picture: Picture, recorded: Recorded) -> Iterator[Finding]:
    """Report batches that a run delivered and that the checkpoint does not know."""
    if (run := recorded.run_of(picture)) is not None:
        yield from lost_batches(recorded, run, picture.newest_offsets_id)


def lost_batches(recorded: Recorded, run: Run, planned: int | None) -> Iterator[Finding]:
    """Report that a checkpoint which ends with this batch knows less than its records."""
    delivered = newest_delivered(recorded)
    if delivered is None or (planned is not None and planned >= delivered):
        return
    ends = f"ends at batch {planned}" if planned is not None else "holds no batch"
    message = f"batch {delivered} was delivered, but the checkpoint {ends}"
    evidence = {"recorded": delivered, "last_planned": planned, "query_id": run.query_id}
    yield Finding("HF2342", Severity.FATAL, message, Place("offsets"), evidence)


def check_not_gone(picture: Picture, recorded: Recorded) -> Iterator[Finding]:
    """Report a checkpoint of which there are backups alone."""
    layout = picture.layout
    there = layout.has_file("metadata") or layout.offsets.files or layout.commits.files
    if not there and recorded.started is None:
        yield from gone(recorded)


def gone(recorded: Recorded) -> Iterator[Finding]:
    """Report that backups of a checkpoint are left, and nothing else of it."""
    if recorded.backups and recorded.act is None and not recorded.was_reset:
        left = counted(recorded.backups, "backup of it is", "backups of it are")
        message = f"the checkpoint is gone: {left} here, and nothing else"
        yield Finding("HF2342", Severity.FATAL, message, Place(""), {"backups": recorded.backups})


def check_readable(_picture: Picture, recorded: Recorded) -> Iterator[Finding]:
    """Report records that could not be read."""
    yield from unreadable_records(recorded)


def interrupted_act(recorded: Recorded) -> Iterator[Finding]:
    """Report an act that was begun and has no outcome."""
    if recorded.act is None:
        return
    if not recorded.act_at_work:
        from holdfast.records.journal import interrupted

        yield interrupted(recorded.act)
        return
    message = f"the {recorded.act.kind} {recorded.act.id} is running here now"
    yield Finding("HF4507", Severity.INFO, message, Place(""), {"act": recorded.act.id})


def unreadable_records(recorded: Recorded) -> Iterator[Finding]:
    """Report the records that could not be read."""
    if recorded.failures:
        message = f"records could not be read: {recorded.failures[0]}"
        evidence = {"failures": list(recorded.failures[:20]), "count": len(recorded.failures)}
        place = Place("", root=recorded.location or None)
        lost = Finding("HF2603", Severity.WARNING, message, place, evidence)
        denied = recorded.unseen
        # What is denied or unreachable is not lost: another user, or a later look, may see it.
        yield (
            lost if denied is None else replace(lost, why=denied.why, next_steps=denied.next_steps)
        )


def check_own_place(picture: Picture, recorded: Recorded) -> Iterator[Finding]:
    """Report records that were made at another place: both were copied or moved."""
    run, here = recorded.run_of(picture), recorded.checkpoint
    if run is None or here is None:
        return
    if _bare(run.checkpoint) in {_bare(one) for one in (here, *recorded.moved_from)}:
        return
    message = f"the newest run was recorded at {_bare(run.checkpoint)}"
    evidence = {"recorded": run.checkpoint, "here": here, "query_id": run.query_id}
    yield Finding("HF2347", Severity.WARNING, message, Place(""), evidence)


def check_no_foreign_batches(picture: Picture, recorded: Recorded) -> Iterator[Finding]:
    """Report committed batches that came after the last recorded run had ended."""
    run, committed = recorded.run_of(picture), picture.newest_commit_id
    if run is None or recorded.runs[0].ended is None or recorded.failures or committed is None:
        return
    delivered = newest_delivered(recorded)
    # One more may be there: its driver was stopped after the sink's commit, before its note.
    if delivered is None or committed <= delivered + 1:
        return
    message = f"batch {committed} is committed, the recorded runs end with batch {delivered}"
    evidence = {"recorded": delivered, "last_committed": committed, "ended_at": run.ended_at}
    yield Finding("HF2348", Severity.WARNING, message, Place(f"commits/{committed}"), evidence)


def check_retired(picture: Picture, recorded: Recorded) -> Iterator[Finding]:
    """Report that the job is over, and where its checkpoint is kept."""
    del picture
    retired = recorded.retirement
    if retired is not None:
        message = (
            f"the job was retired at {retired.at} by {retired.by}; backup {retired.backup} holds "
            "the checkpoint"
        )
        evidence = {"act": retired.act, "backup": retired.backup}
        yield Finding("HF3031", Severity.INFO, message, Place(""), evidence)


def late_state(picture: Picture, recorded: Recorded) -> list[str]:
    """Name the state files that were written after a plan had taken their batches back.

    A task of a killed driver may have gone on. Once a query has run since, its own files are among
    them.
    """
    is_of_here = any(_is_newest_of(picture, recorded, one) for one in recorded.rewinds[:1])
    return state_ahead(picture) if is_of_here else []


def _is_newest_of(picture: Picture, recorded: Recorded, rewind: Rewind) -> bool:
    """Whether no run has planned since a plan took batches of this query back."""
    query_id = None if picture.query is None else picture.query.id
    newest = recorded.runs[0].generation if recorded.runs else 0
    is_meant = rewind.every_query or rewind.query_id == query_id
    return is_meant and newest <= rewind.generation


def check_taken_back(picture: Picture, recorded: Recorded) -> Iterator[Finding]:
    """Report batches that a plan took back before any run planned them again, and late state."""
    for rewind in recorded.rewinds[:1]:
        if files := late_state(picture, recorded):
            message = f"{files[0]} is of a batch that {rewind.remedy} {rewind.act} took back"
            late = {"act": rewind.act, "at": rewind.at, "files": files[:20]}
            yield Finding("HF2352", Severity.FATAL, message, Place(files[0]), late)
        if rewind.every_query or not _is_newest_of(picture, recorded, rewind):
            continue
        left = "every batch" if rewind.through is None else f"every batch after {rewind.through}"
        message = f"{rewind.remedy} {rewind.act} took {left} back at {rewind.at}"
        evidence = {"act": rewind.act, "through": rewind.through, "at": rewind.at}
        yield Finding("HF2350", Severity.INFO, message, Place(""), evidence)


RECORDS_CHECKS: tuple[RecordsCheck, ...] = (
    check_interrupted_act,
    check_same_query,
    check_nothing_lost,
    check_not_gone,
    check_readable,
    check_own_place,
    check_no_foreign_batches,
    check_retired,
    check_taken_back,
)


def check_records(picture: Picture, recorded: Recorded) -> tuple[Finding, ...]:
    """Run every check of a checkpoint against its records."""
    return tuple(finding for check in RECORDS_CHECKS for finding in check(picture, recorded))


def with_records(
    found: Iterable[Finding], picture: Picture, recorded: Recorded
) -> tuple[Finding, ...]:
    """Return what was found with what the records add.

    The marker that stands in `metadata` for a retired job is no damage. What an act has left half
    done looks like damage, and a step for that would spoil it: then the records alone tell.
    """
    if recorded.act is not None:
        return check_records(picture, recorded)
    if recorded.retirement is not None:
        found = (one for one in found if one.place.file != "metadata")
    told = check_records(picture, recorded)
    if any(one.code == "HF2352" for one in told):
        found = (one for one in found if one.code != "HF2243")
    return (*found, *told)


def newest_delivered(recorded: Recorded) -> int | None:
    """Return the newest batch that recorded runs of the query delivered, None without any."""
    started = recorded.started
    query_id = started.query_id if started is not None else None
    same = (recorded.left_of(run) for run in recorded.runs if run.query_id == query_id)
    return max((batch for batch in same if batch is not None), default=None)


def _bare(place: str) -> str:
    return place.removeprefix("file://")
