"""Records a query that another program runs, and the result that says what was recorded."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from typing import ClassVar

from holdfast import __version__
from holdfast.answers import OneLine
from holdfast.checkpoint.picture import Picture, passed_over
from holdfast.diagnosis.checks.picture import picture_of
from holdfast.findings import Finding, Place, Severity
from holdfast.records.facts import SourceFacts, fingerprint
from holdfast.records.folder import RecordsFolder, records_of
from holdfast.records.history import History
from holdfast.records.moments import moment_now
from holdfast.records.processes import user_here
from holdfast.records.recordings import KeptRecording, Origin, QueryPart, Recording, Recordings
from holdfast.records.run import PlanFacts, SinkFacts
from holdfast.storage.location import Location, canonical
from holdfast.storage.opening import open_reader
from holdfast.storage.options import StorageSettings


@dataclass(frozen=True)
class RecordedQuery:
    """One query, as it was recorded."""

    job: str | None
    """The job of the project file; null for a program."""
    program: str
    """The file of the program, the name of the job, or the name of the application."""
    location: str
    """The checkpoint."""
    query_id: str | None
    """The query that the checkpoint belongs to; null where it does not exist yet."""
    origin: Origin
    """Who recorded it, and from what."""
    recorded_at: str
    """When."""
    spark: str
    """The Spark that planned or ran the query."""
    output_mode: str | None
    """append, update or complete; null where it is not known."""
    sources: tuple[str, ...]
    """What is read, in Spark's order."""
    operators: tuple[str, ...] | None
    """The stateful operators; null where Spark would not plan the query."""
    functions: tuple[str, ...]
    """The Python functions whose code was recorded."""
    sink: str | None
    """Where the rows go; null where nobody said so."""
    passed: int | None
    """The newest batch that was done; null where none was."""
    counts: bool
    """Whether `check` compares with it now; else once the next batch is committed."""
    fingerprint: str | None
    """The digest of the query."""
    missing: tuple[str, ...]
    """What is not known of the query: `check` cannot compare it."""
    file: str
    """The record that holds it."""
    is_new: bool
    """False where the newest record said the same, so that nothing was written."""


@dataclass(frozen=True, repr=False)
class RecordReport(OneLine):
    """The queries that were recorded; Holdfast did not run them."""

    SHOWN: ClassVar = ("recorded",)
    COMMAND: ClassVar = "record"

    recorded: tuple[RecordedQuery, ...]
    """In the order in which they were named."""


@dataclass(frozen=True)
class Described:
    """What is known of a query before it is tied to its checkpoint."""

    origin: Origin
    program: str
    plan: PlanFacts
    spark: str
    output_mode: str
    job: str | None = None
    project: str | None = None
    sink: SinkFacts | None = None
    destination: str | None = None
    missing: tuple[QueryPart, ...] = ()
    notes: tuple[str, ...] = ()
    passed: int | None = None
    """The newest batch that it is known to have made, where that is not the checkpoint's."""


def record_query(
    described: Described,
    checkpoint: Location,
    settings: StorageSettings,
    picture: Picture | None = None,
) -> tuple[RecordedQuery, tuple[Finding, ...]]:
    """Keep a query next to its checkpoint, which is only read; raise HoldfastError.

    No lease is taken: a driver that runs there is not disturbed.
    """
    records = records_of(checkpoint, settings)
    if picture is None:
        picture = picture_of(open_reader(checkpoint, settings), may_be_missing=True)
    recordings = Recordings(records)
    kept = recordings.write(_recording(described, checkpoint, records, picture))
    findings = tuple(_unpruned(recordings))
    return _result(kept, recordings.location, picture), findings


def _recording(
    described: Described, checkpoint: Location, records: RecordsFolder, picture: Picture
) -> Recording:
    passed = passed_over(picture.newest_commit_id, picture.pending)
    return Recording(
        at=moment_now(),
        origin=described.origin,
        program=described.program,
        checkpoint=canonical(checkpoint),
        holdfast=__version__,
        spark=described.spark,
        host=socket.gethostname(),
        process=os.getpid(),
        user=user_here(),
        query_id=None if picture.query is None else picture.query.id,
        passed=passed if described.passed is None else described.passed,
        after=History(records).newest_generation(),
        plan=described.plan,
        output_mode=described.output_mode,
        # A program records what it is about to start, unless it knows a batch that it made.
        ran=described.origin is not Origin.PROGRAM or described.passed is not None,
        job=described.job,
        project=described.project,
        sink=described.sink,
        destination=described.destination,
        missing=tuple(one.value for one in described.missing),
        notes=described.notes,
    )


def _result(kept: KeptRecording, folder: str, picture: Picture) -> RecordedQuery:
    one = kept.recording
    query = one.plan.query
    return RecordedQuery(
        job=one.job,
        program=one.program,
        location=picture.location,
        query_id=one.query_id,
        origin=one.origin,
        recorded_at=one.at,
        spark=one.spark,
        output_mode=None if QueryPart.OUTPUT_MODE in one.parts_missing else one.output_mode,
        sources=() if query is None else tuple(map(_shown, query.sources)),
        operators=one.plan.operators,
        functions=() if query is None else tuple(known.name for known in query.functions),
        sink=one.destination if one.sink is None else _sink(one.sink),
        passed=one.passed,
        counts=one.has_made(passed_over(picture.newest_commit_id, picture.pending)),
        fingerprint=None if query is None else fingerprint(query),
        missing=(*one.missing, *one.notes, *(() if query is None else query.unknown)),
        file=f"{folder}/{kept.name}",
        is_new=kept.is_new,
    )


def _shown(source: SourceFacts) -> str:
    inside = ", ".join(source.identity.values())
    return f"{source.format} {inside}" if inside else source.format


def _sink(sink: SinkFacts) -> str:
    return f"{sink.kind} {sink.identity or ''}".strip()


def _unpruned(recordings: Recordings) -> tuple[Finding, ...]:
    error = recordings.failure
    if error is None:
        return ()
    message = f"older recordings could not be removed: {error.message}"
    place = Place("", root=error.at) if error.at is not None else Place("")
    return (Finding(error.code.number, Severity.INFO, message, place),)
