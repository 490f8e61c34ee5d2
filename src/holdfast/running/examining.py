"""Examines a checkpoint before a start with the doctor's own checks; state files stay unopened."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.reading import SHOWN_BATCHES
from holdfast.checkpoint.releases import RELEASES
from holdfast.diagnosis.checks.picture import picture_of
from holdfast.diagnosis.doctor.findings import fatal_at_start
from holdfast.diagnosis.inspection.result import inspection_of
from holdfast.diagnosis.inspection.sources import SourcePlaces
from holdfast.diagnosis.inspection.subject import Subject, declared_at_start
from holdfast.errors import StorageError
from holdfast.findings import Finding, named
from holdfast.jobs.ready import ReadyJob
from holdfast.ledgers.delta.transactions import LOG_FOLDER
from holdfast.records.facts import SourceFacts
from holdfast.records.folder import records_of
from holdfast.records.run import PlanFacts
from holdfast.restart.result import CheckedJob, checked_start
from holdfast.restart.start import StartFacts, last_run
from holdfast.storage.location import Location, parse_location
from holdfast.storage.opening import open_reader
from holdfast.storage.options import StorageSettings
from holdfast.storage.reading import Reader

_ASKED_SECONDS = 5.0
"""How long one look at a source may take; a start does not wait for one that does not answer."""


def fatal_before_start(
    job: ReadyJob, picture: Picture, spark: str | None, *, planned: bool = True
) -> tuple[Finding, ...]:
    """Return what the doctor calls fatal about a checkpoint that Spark `spark` is to start on."""
    if _is_new(picture):
        return ()
    read = [_Reads(one.format, {**one.options, **_path(one.path)}) for one in job.sources]
    seen = _starting(picture, spark)
    subject = Subject(
        seen,
        job.checkpoint.url,
        job.checkpoint.scheme,
        job=declared_at_start(job, spark),
        sources=_places(read, job.folder, job.checkpoint, job.settings).look(seen, None),
    )
    found = fatal_at_start(subject, planned=planned, passes_loss=_passes_loss(read))
    target = job.name if job.project is not None else job.checkpoint.shown
    return tuple(named(finding, target, job.name) for finding in found)


def fatal_before_program(
    sources: Collection[SourceFacts],
    checkpoint: Location,
    settings: StorageSettings,
    picture: Picture,
    spark: str | None,
) -> tuple[Finding, ...]:
    """Return what the doctor calls fatal about the checkpoint of a program's query."""
    if _is_new(picture):
        return ()
    read = [_Reads(one.kind, {**one.identity, **one.options}) for one in sources]
    seen = _starting(picture, spark)
    places = _places(read, Path.cwd(), checkpoint, settings)
    subject = Subject(seen, checkpoint.url, checkpoint.scheme, sources=places.look(seen, None))
    found = fatal_at_start(subject, passes_loss=_passes_loss(read))
    return tuple(named(finding, checkpoint.shown, None) for finding in found)


def _is_new(picture: Picture) -> bool:
    return picture.newest_offsets_id is None and not picture.layout.items


def _starting(picture: Picture, spark: str | None) -> Picture:
    release = ".".join((spark or "").split(".")[:2])
    return replace(picture, starting_spark=release if release in RELEASES else None)


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


@dataclass(frozen=True)
class _Reads:
    """A source as it is read: its format, and its options with what names it."""

    format: str
    options: Mapping[str, str]

    @property
    def path(self) -> str | None:
        return self.options.get("path")


def _path(path: str | None) -> dict[str, str]:
    return {} if path is None else {"path": path}


def _passes_loss(read: Collection[_Reads]) -> bool:
    """Tell whether a source is told to go on where data is lost."""
    given = [(name.lower(), value.lower()) for one in read for name, value in one.options.items()]
    return ("failondataloss", "false") in given


def _places(
    read: Collection[_Reads], folder: Path, checkpoint: Location, settings: StorageSettings
) -> SourcePlaces:
    """Give what can be asked: Kafka's brokers, and the Delta tables that are read, where the path
    of each is known and can be reached."""
    topics = tuple(one.options for one in read if one.format.lower() == "kafka")
    kafka = (lambda: topics) if topics else None
    paths = [one.path for one in read if one.format.lower() == "delta"]
    if None in [_place(folder, checkpoint, path) for path in paths]:
        return SourcePlaces(kafka=kafka)

    def open_table(path: str) -> tuple[str, Reader]:
        log = parse_location(f"{path.rstrip('/')}/{LOG_FOLDER}", relative_to=folder)
        reader = open_reader(log, settings, timeout=None if log.is_local else _ASKED_SECONDS)
        return parse_location(path, relative_to=folder).shown, reader

    known = tuple(path for path in paths if path is not None)
    return SourcePlaces(open_table if known else None, known, kafka)


def _place(folder: Path, checkpoint: Location, path: str | None) -> Location | None:
    """Understand a path; only the checkpoint's own storage is one whose settings are known."""
    try:
        place = None if path is None else parse_location(path, relative_to=folder)
    except StorageError:
        return None
    is_known = place is not None and (place.is_local or place.scheme == checkpoint.scheme)
    return place if is_known else None
