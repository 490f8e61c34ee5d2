"""Examines a checkpoint before a start with the doctor's own checks; state files stay unopened."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.reading import SHOWN_BATCHES
from holdfast.checkpoint.releases import RELEASES
from holdfast.diagnosis.checks.picture import picture_of
from holdfast.diagnosis.doctor.findings import fatal_at_start
from holdfast.diagnosis.inspection.result import inspection_of
from holdfast.diagnosis.inspection.sources import NO_SOURCE_PLACES, SourcePlaces
from holdfast.diagnosis.inspection.subject import Subject, declared_at_start
from holdfast.errors import StorageError
from holdfast.findings import Finding, named
from holdfast.jobs.ready import ReadyJob
from holdfast.ledgers.delta.transactions import LOG_FOLDER
from holdfast.records.folder import records_of
from holdfast.records.run import PlanFacts
from holdfast.restart.result import CheckedJob, checked_start
from holdfast.restart.start import StartFacts, last_run
from holdfast.storage.location import Location, parse_location
from holdfast.storage.opening import open_reader
from holdfast.storage.reading import Reader

_ASKED_SECONDS = 5.0
"""How long one look at a source may take; a start does not wait for one that does not answer."""


def fatal_before_start(
    job: ReadyJob, picture: Picture, spark: str | None, *, planned: bool = True
) -> tuple[Finding, ...]:
    """Return what the doctor calls fatal about a checkpoint that Spark `spark` is to start on."""
    if picture.newest_offsets_id is None and not picture.layout.items:
        return ()
    release = ".".join((spark or "").split(".")[:2])
    seen = replace(picture, starting_spark=release if release in RELEASES else None)
    subject = Subject(
        seen,
        job.checkpoint.url,
        job.checkpoint.scheme,
        job=declared_at_start(job, spark),
        sources=_source_places(job).look(seen, None),
    )
    found = fatal_at_start(subject, planned=planned)
    target = job.name if job.project is not None else job.checkpoint.shown
    return tuple(named(finding, target, job.name) for finding in found)


def check_unplanned(
    job: ReadyJob, release: str | None, why: str, accepted: Collection[str]
) -> CheckedJob:
    """Judge a restart without Spark: what is declared against the checkpoint."""
    picture = picture_of(open_reader(job.checkpoint, job.settings), may_be_missing=True)
    formats = {source.name: source.format for source in job.sources}
    inspection = inspection_of(
        picture, formats=formats, shown=SHOWN_BATCHES, spark=release, verified=False
    )
    known = PlanFacts(
        tuple(one.kind for one in inspection.sources),
        tuple(one.name or "" for one in inspection.operators),
    )
    last = last_run(records_of(job.checkpoint, job.settings), picture)
    start = StartFacts.without_sink(inspection, known, last, spark=release, settings=job.conf)
    fatal = fatal_before_start(job, picture, release, planned=False)
    start = replace(start, fatal=fatal, unplanned=why)
    return checked_start(start, job=job.name, compared_with=None, accepted=accepted)


def _source_places(job: ReadyJob) -> SourcePlaces:
    """Give the Delta tables that are read, where the path of each is known and can be reached."""
    read = [source for source in job.sources if source.format.lower() == "delta"]
    paths = [source.path or source.options.get("path") for source in read]
    places = [_place(job, path) for path in paths]
    if not read or None in places:
        return NO_SOURCE_PLACES

    def open_table(path: str) -> tuple[str, Reader]:
        log = parse_location(f"{path.rstrip('/')}/{LOG_FOLDER}", relative_to=job.folder)
        reader = open_reader(log, job.settings, timeout=None if log.is_local else _ASKED_SECONDS)
        return parse_location(path, relative_to=job.folder).shown, reader

    return SourcePlaces(open_table, tuple(path for path in paths if path is not None))


def _place(job: ReadyJob, path: str | None) -> Location | None:
    """Understand a path; only the checkpoint's own storage is one whose settings are known."""
    try:
        place = None if path is None else parse_location(path, relative_to=job.folder)
    except StorageError:
        return None
    is_known = place is not None and (place.is_local or place.scheme == job.checkpoint.scheme)
    return place if is_known else None
