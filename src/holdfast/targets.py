"""Opens what the public functions are asked about: checkpoints, base folders, jobs and sinks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.errors import HoldfastError, NotFoundError, StorageError, UsageError
from holdfast.jobs.discovery import find_project, load_project
from holdfast.jobs.target import Target, resolve_place, resolve_target
from holdfast.storage.location import Location
from holdfast.storage.opening import open_reader
from holdfast.storage.options import StorageSettings
from holdfast.storage.reading import Reader

if TYPE_CHECKING:
    from holdfast.diagnosis.collecting import SinkPlace
    from holdfast.diagnosis.doctor import Examinee, Unopened
    from holdfast.jobs.declaredsink import DeclaredSink


def each_once(examinees: list[Examinee | Unopened]) -> list[Examinee | Unopened]:
    """Keep the first of those that are the same place: it is no copy of itself."""
    by_place = {getattr(one, "path", one.target): one for one in reversed(examinees)}
    return list(reversed(by_place.values()))


def jobs_of(project: str | Path | None) -> list[str]:
    """Name every job of the project, in its order."""
    file = Path(project) if project is not None else find_project(working_folder())
    if file is None:
        message = "no target is given, and there is no project here whose jobs could be examined"
        raise UsageError("HF1002", message)
    jobs = list(load_project(file, working_folder=working_folder()).jobs)
    if not jobs:
        raise UsageError("HF1002", "no target is given, and the project declares no job")
    return jobs


def examinees_of(
    text: str,
    sink: str | Path | None,
    project: str | Path | None,
    storage_options: Sequence[str],
    timeout: float | None,
) -> Iterator[Examinee | Unopened]:
    """Open one target, or every checkpoint of a base folder; what can't be opened says why."""
    from holdfast.diagnosis.basefolder import checkpoints_below
    from holdfast.diagnosis.doctor import Unopened

    try:
        found, reader = open_target(text, project, storage_options, timeout)
        inside = [] if found.job is not None else checkpoints_below(reader)
        for name in inside:
            below = replace(found, location=_below(found.location, name))
            opened = open_reader(below.location, below.settings, timeout=timeout)
            yield _examinee(below, opened, below.location.shown, sink, storage_options, timeout)
        if not inside:
            yield _examinee(found, reader, text, sink, storage_options, timeout)
    except HoldfastError as error:
        yield Unopened(text, error)


def _examinee(
    target: Target,
    reader: Reader,
    text: str,
    sink: str | Path | None,
    storage_options: Sequence[str],
    timeout: float | None,
) -> Examinee:
    from holdfast.diagnosis.declaring import declared_job
    from holdfast.diagnosis.doctor import Examinee
    from holdfast.jobs.declaredsink import declared_sink

    project, job = target.project, target.job
    declared = declared_sink(project, job) if project and job else None
    place, _ = sink_place(target, sink, declared, storage_options, timeout)
    return Examinee(
        text,
        reader,
        target.location.url,
        target.location.scheme,
        _parent_opener(target, timeout),
        place.location if place is not None else None,
        place.open_below if place is not None else None,
        declared_job(project, job) if project and job else None,
    )


def _parent_opener(target: Target, timeout: float | None) -> Callable[[], Reader] | None:
    """Give what opens the folder around a target; None for one that lies in no folder."""
    parent = target.location.url.rpartition("/")[0]
    if not target.location.is_local and (parent.endswith("/") or "://" not in parent):
        return None
    around = replace(target.location, url=parent or "/")
    return partial(open_reader, around, target.settings, timeout=timeout)


def _below(location: Location, name: str) -> Location:
    text, url, shown = location.text, location.url, location.shown
    joined = [f"{one.rstrip('/')}/{name}" for one in (text, url, shown)]
    return replace(location, text=joined[0], url=joined[1], shown=joined[2])


def sink_place(
    target: Target,
    given: str | Path | None,
    declared: DeclaredSink | None,
    storage_options: Sequence[str],
    timeout: float | None,
) -> tuple[SinkPlace | None, Path | None]:
    """Give the output folder to ask, and where it is if it lies on this machine."""
    from holdfast.diagnosis.collecting import SinkPlace

    text = str(given) if given is not None else declared.path if declared is not None else None
    if text is None:
        return None, None
    project = target.project if given is None else None
    relative_to = project.folder if project is not None else working_folder()

    def resolve(place: str) -> tuple[Location, StorageSettings]:
        return resolve_place(
            place, target, storage_options=storage_options, relative_to=relative_to
        )

    def open_below(folder: str) -> Reader:
        location, settings = resolve(f"{text.rstrip('/')}/{folder}")
        return open_reader(location, settings, timeout=timeout)

    try:
        location, _ = resolve(text)
    except StorageError:
        if given is not None:
            raise
        # Spark may reach what this machine can't read; what is declared still counts.
        return None, None
    return SinkPlace(location.shown, open_below, given is not None), local_folder(location)


def local_folder(location: Location) -> Path | None:
    """Give the folder of a place on this machine, None elsewhere."""
    return Path(location.url) if location.is_local else None


def open_target(
    target: str | Path,
    project: str | Path | None,
    storage_options: Sequence[str],
    timeout: float | None,
) -> tuple[Target, Reader]:
    """Find out which checkpoint is meant, and open it for reading."""
    found = resolve_target(
        str(target),
        project=Path(project) if project is not None else None,
        storage_options=storage_options,
        working_folder=working_folder(),
    )
    return found, open_reader(found.location, found.settings, timeout=timeout)


def working_folder() -> Path:
    """Give the working directory; somebody may have removed it under us."""
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        message = "the working directory does not exist any more"
        raise NotFoundError("HF7001", message) from error
