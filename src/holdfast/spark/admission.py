"""Keeps a job from starting for what is known without Spark: its place, its records, its lease."""

from __future__ import annotations

from holdfast.errors import CheckpointError
from holdfast.jobs.paths import check_place
from holdfast.jobs.ready import ReadyJob
from holdfast.jobs.registry import check_remembered
from holdfast.records.busy import is_busy
from holdfast.records.folder import RecordsFolder, records_of
from holdfast.records.journal import interrupted, unfinished_act
from holdfast.records.lease import refuse_held
from holdfast.storage.opening import open_reader


def admit(job: ReadyJob) -> None:
    """Raise HoldfastError where the job must not start; nothing is written."""
    if job.project is not None:
        check_remembered(job)
    check_place(job, open_reader(job.checkpoint, job.settings))
    records = records_of(job.checkpoint, job.settings)
    refuse_held(records)
    _refuse_half_restored(job, records)


def _refuse_half_restored(job: ReadyJob, records: RecordsFolder) -> None:
    """Raise where a restore of the checkpoint is under way, or was killed on it."""
    act = unfinished_act(records.place("journal"))
    if act is None:
        return
    if is_busy(records.place("backups")):
        message = f"the {act.kind} {act.id} is at work on the checkpoint"
        raise CheckpointError("HF4507", message, at=job.checkpoint.shown)
    told = interrupted(act, job.checkpoint.shown)
    raise CheckpointError(
        told.code, told.message, at=job.checkpoint.shown, next_steps=told.next_steps
    )
