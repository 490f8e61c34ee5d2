"""Inspects a checkpoint: reads it, checks it, and gives the answer of `inspect`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.answers import Answer
from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.progress import Formats
from holdfast.checkpoint.reading import SHOWN_BATCHES, read_picture
from holdfast.checkpoint.verification import Progress, verify
from holdfast.diagnosis.checks.picture import check_picture, without_unseen
from holdfast.diagnosis.checks.records import check_records
from holdfast.diagnosis.inspection.result import Inspection, Sink, inspection_of
from holdfast.diagnosis.inspection.runs.recorded import Recall, nothing
from holdfast.errors import NotFoundError
from holdfast.findings import Finding, worst_first
from holdfast.storage.memory import MemoryReader
from holdfast.storage.reading import Reader

if TYPE_CHECKING:
    from holdfast.diagnosis.inspection.sink.place import SinkPlace

VERIFIED_HISTORY = 1000
"""How many of the newest batches are compared with each other when everything is verified."""


def inspect_checkpoint(
    reader: Reader,
    *,
    formats: Formats | None = None,
    shown: int = SHOWN_BATCHES,
    spark: str | None = None,
    verified: bool = False,
    may_be_missing: bool = False,
    recall: Recall = nothing,
    sink: SinkPlace | None = None,
    progress: Progress | None = None,
) -> Answer[Inspection]:
    """Return what is in a checkpoint and what the next start does; nothing is written.

    `verified` reads every file and compares it with its checksums, not only what the next start
    needs. `may_be_missing` takes a place that is not there for a job that never ran. `sink` is
    asked what it holds.
    """
    history = max(shown, VERIFIED_HISTORY) if verified else shown
    recorded = recall()
    picture = picture_of(reader, history=history, may_be_missing=may_be_missing)
    picture = replace(picture, starting_spark=spark)
    foretold = picture
    if verified:
        picture = verify(reader, picture, progress)
        foretold, found = _with_snapshots(reader, picture)
    else:
        found = check_picture(picture)
    result = inspection_of(
        foretold,
        formats=formats or {},
        shown=shown,
        spark=spark,
        verified=verified,
        run=recorded.run_of(picture),
    )
    return Answer(
        command="inspect",
        location=picture.location,
        result=result if sink is None else replace(result, sink=_asked(result, sink)),
        findings=worst_first((*found, *check_records(picture, recorded))),
    )


def _with_snapshots(reader: Reader, picture: Picture) -> tuple[Picture, tuple[Finding, ...]]:
    """Look into every RocksDB snapshot; return the picture with those that can't be loaded, and
    what is found, judged by the tables that they name."""
    # Only who verifies waits for it.
    from holdfast.diagnosis.checks.state.rocksdb import (
        all_snapshots,
        check_snapshot_tables,
        judged_by_snapshots,
        snapshot_damages,
    )
    from holdfast.diagnosis.inspection.subject import Subject

    read = reader.read_many(all_snapshots(picture))
    snapshots = {path: data for path, data in read.items() if isinstance(data, bytes)}
    subject = Subject(picture, picture.location, snapshots=snapshots)
    found = [judged_by_snapshots(finding, subject) for finding in check_picture(picture)]
    found += without_unseen(check_snapshot_tables(subject), picture)
    return picture.with_damages(snapshot_damages(picture, snapshots)), tuple(found)


def _asked(found: Inspection, place: SinkPlace) -> Sink:
    """Ask the sink; where it gives no answer, what is known otherwise stays."""
    known = found.sink or Sink(place.kind, place.location, None, "declared")
    memory = place.ask()
    last = memory.last_committed(found.query_id)
    if memory.own is None:
        return replace(known, asked=last.basis)
    return replace(known, last_committed=last.value, basis="asked", asked=last.basis)


def picture_of(
    reader: Reader, *, history: int = SHOWN_BATCHES, may_be_missing: bool = False
) -> Picture:
    """Return the picture of a checkpoint, an empty one where it may be missing and is."""
    try:
        return read_picture(reader, history=history)
    except NotFoundError:
        if not may_be_missing:
            raise
    return read_picture(MemoryReader({}, location=reader.location), history=history)
