"""Keeps a job from starting for what is known without Spark: its place, its records, its lease."""

from __future__ import annotations

from collections.abc import Collection

from holdfast.diagnosis.checks.declared.sources import changing_sources
from holdfast.diagnosis.checks.localplaces import WrittenPlaces, on_own_disks
from holdfast.errors import CheckpointError
from holdfast.jobs.paths import check_place
from holdfast.jobs.ready import ReadyJob
from holdfast.jobs.registry import check_remembered
from holdfast.records.busy import is_busy
from holdfast.records.folder import RecordsFolder, records_of
from holdfast.records.journal import interrupted, unfinished_act
from holdfast.records.lease import refuse_held
from holdfast.spark.guard import judged
from holdfast.spark.refusal import attempt_recorded
from holdfast.storage.opening import open_reader


def admit(job: ReadyJob, accepted: Collection[str] = (), master: str = "local") -> None:
    """Raise HoldfastError where the job must not start; the attempt is recorded, nothing else.

    `master` is where Spark will run; the default keeps questions about it for the start.
    """
    with attempt_recorded(job):
        if job.project is not None:
            check_remembered(job)
        check_place(job, open_reader(job.checkpoint, job.settings))
        records = records_of(job.checkpoint, job.settings)
        refuse_held(records)
        refuse_half_changed(job, records)
        # Known without Spark, so that nobody waits for it; the start asks again and records it.
        local = on_own_disks(master, written_places(job), has_state=False)
        judged([*changing_sources(job.changed_tables), *local], accepted, job.at)


def written_places(job: ReadyJob) -> WrittenPlaces:
    """Return where tasks of a job write on this machine."""
    output, checkpoint = job.sink.location, job.checkpoint
    return WrittenPlaces(
        output.shown if output is not None and output.is_local else None,
        checkpoint.shown if checkpoint.is_local else None,
    )


def refuse_half_changed(job: ReadyJob, records: RecordsFolder) -> None:
    """Raise where an act on the checkpoint is under way, or was interrupted.

    Asked before Spark starts, to fail early, and again under the lease, where the answer holds: a
    job's turn may come hours after it was admitted.
    """
    act = unfinished_act(records.place("journal"), records.reader("runs"))
    if act is None:
        return
    if is_busy(records.place("backups")):
        message = f"the {act.kind} {act.id} is at work on the checkpoint"
        raise CheckpointError("HF4507", message, at=job.checkpoint.shown)
    told = interrupted(act, job.checkpoint.shown)
    raise CheckpointError(
        told.code, told.message, at=job.checkpoint.shown, next_steps=told.next_steps
    )
