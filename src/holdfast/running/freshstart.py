"""Begins a new query as a reset decided: with other starting options, and only to its output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from holdfast.diagnosis.inspection.result import Inspection
from holdfast.errors import RefusedError
from holdfast.jobs.ready import ReadyJob, ReadySource
from holdfast.records.folder import RecordsFolder
from holdfast.records.freshstarts import FreshStart, FreshStarts
from holdfast.records.history import History


def coming_start(records: RecordsFolder) -> FreshStart | None:
    """Return what a reset decided about the next start; None once a batch was delivered since."""
    start = FreshStarts(records).newest()
    if start is None:
        return None
    run = History(records).newest_delivering(None)
    return None if run is not None and run.generation > start.generation else start


def begun_as_reset(
    job: ReadyJob, records: RecordsFolder, inspection: Inspection, *, is_declared: bool
) -> ReadyJob:
    """Return the job with the starting options of a reset, where its query has no batch yet.

    Raise RefusedError (HF3033) for the query of a program, whose sources nothing declares.
    """
    if inspection.batches.last_planned is not None:
        return job
    start = coming_start(records)
    if start is None or not start.starting:
        return job
    if not is_declared:
        message = f"the reset {start.act} set starting offsets, which a program sets itself"
        raise RefusedError("HF3033", message, at=job.at)
    return replace(job, sources=tuple(_laid_over(one, start.starting) for one in job.sources))


def _laid_over(
    source: ReadySource, starting: Mapping[str, Mapping[str, str | None]]
) -> ReadySource:
    given = starting.get(source.name, {})
    lowered = {key.lower() for key in given}
    kept = {key: value for key, value in source.options.items() if key.lower() not in lowered}
    added = {key: value for key, value in given.items() if value is not None}
    return replace(source, options=kept | added)
