"""The public functions: what the commands do, for programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.answers import Answer
from holdfast.checkpoint.reading import SHOWN_BATCHES
from holdfast.checkpoint.verification import Progress
from holdfast.codes import CODES
from holdfast.diagnosis.inspecting import inspect_checkpoint
from holdfast.diagnosis.inspection import Inspection
from holdfast.errors import HoldfastError, NotFoundError, StorageError, UsageError
from holdfast.jobs.discovery import find_project, load_project
from holdfast.jobs.target import Target, resolve_place, resolve_target
from holdfast.storage.location import Location
from holdfast.storage.opening import open_reader
from holdfast.storage.options import StorageSettings
from holdfast.storage.reading import Reader

if TYPE_CHECKING:
    from holdfast.backup.results import BackupList, BackupReport, Restoration
    from holdfast.diagnosis.collecting import SinkPlace
    from holdfast.diagnosis.comparison import Comparison
    from holdfast.diagnosis.doctor import Examinee, Unopened
    from holdfast.diagnosis.evidence import Evidence
    from holdfast.diagnosis.examination import Examination
    from holdfast.jobs.declaredsink import DeclaredSink

COMPARED_BATCHES = 100
"""How many of the newest batches `diff` compares."""


def inspect(
    target: str | Path,
    *,
    batches: int = SHOWN_BATCHES,
    spark: str | None = None,
    verify: bool = False,
    project: str | Path | None = None,
    storage_options: Sequence[str] = (),
    timeout: float | None = None,
    progress: Progress | None = None,
) -> Answer[Inspection]:
    """Tell what is in a checkpoint and what the next start will do with it; nothing is written.

    `target` is a path, a URL or a job's name in the project. Raises HoldfastError.
    """
    found, reader = _open(target, project, storage_options, timeout)
    return inspect_checkpoint(
        reader,
        formats=found.source_formats,
        shown=batches,
        spark=spark,
        verified=verify,
        may_be_missing=found.job is not None,
        progress=progress,
    )


def diff(
    target: str | Path,
    other: str | Path,
    *,
    batches: int = COMPARED_BATCHES,
    project: str | Path | None = None,
    storage_options: Sequence[str] = (),
    timeout: float | None = None,
) -> Answer[Comparison]:
    """Tell what differs between the logs of two checkpoints; nothing is written."""
    # `inspect`, which must answer at once, does not wait for what only `diff` needs.
    from holdfast.diagnosis.comparison import compare_checkpoints

    found, left = _open(target, project, storage_options, timeout)
    _, right = _open(other, project, storage_options, timeout)
    return compare_checkpoints(left, right, formats=found.source_formats, most=batches)


def evidence(
    target: str | Path,
    *,
    sink: str | Path | None = None,
    bundle: str | Path | None = None,
    project: str | Path | None = None,
    storage_options: Sequence[str] = (),
    timeout: float | None = None,
) -> Answer[Evidence]:
    """Gather the nine facts to have before any advice, each with how it is known.

    `sink` is the output folder whose log is asked as well; for a job it is taken from the project
    file. `bundle` is an archive to write the logs and the evidence to, the only thing written.
    """
    from holdfast import __version__
    from holdfast.diagnosis.collecting import BundlePlace, collect_evidence
    from holdfast.jobs.declaredsink import declared_sink

    found, reader = _open(target, project, storage_options, timeout)
    declared = declared_sink(found.project, found.job) if found.project and found.job else None
    place, folder = _sink_place(found, sink, declared, storage_options, timeout)
    kept = tuple(one for one in (_local_folder(found.location), folder) if one is not None)
    return collect_evidence(
        reader,
        formats=found.source_formats,
        job=found.job,
        declared=declared,
        sink=place,
        bundle=None if bundle is None else BundlePlace(Path(bundle), kept, __version__),
    )


def doctor(
    *targets: str | Path,
    sink: str | Path | None = None,
    only: Sequence[str] = (),
    ignore: Sequence[str] = (),
    verify: bool = False,
    project: str | Path | None = None,
    storage_options: Sequence[str] = (),
    timeout: float | None = None,
    progress: Progress | None = None,
) -> Answer[Examination]:
    """Tell what is wrong with checkpoints, their sinks and their jobs; nothing is written.

    A target is a checkpoint, a base folder whose checkpoints are all examined, or a job; without
    any, all jobs of the project are. `only` and `ignore` are codes. Raises HoldfastError.
    """
    from holdfast.diagnosis.doctor import Choice, examine

    choice = Choice(frozenset(map(_known_code, only)), frozenset(map(_known_code, ignore)))
    texts = [str(one) for one in targets] or _jobs_of(project)
    examinees: list[Examinee | Unopened] = []
    for text in texts:
        examinees += _examinees(text, sink, project, storage_options, timeout)
    examinees = _each_once(examinees)
    if sink is not None and len(examinees) > 1:
        message = f"--sink belongs to one checkpoint, and {len(examinees)} are asked about"
        raise UsageError("HF1001", message, next_steps=("examine them one by one",))
    return examine(examinees, choice=choice, verified=verify, progress=progress)


def back_up(
    target: str | Path,
    *,
    verify: bool = False,
    sink_log: str | Path | None = None,
    keep_last: int | None = None,
    keep_within_days: float | None = None,
    project: str | Path | None = None,
    storage_options: Sequence[str] = (),
    progress: Progress | None = None,
) -> Answer[BackupReport]:
    """Copy a checkpoint into its store beside it and verify the copy; with `verify`, only verify.

    With `verify`, `target` may be `TARGET@ID` for one backup; otherwise all are read again.
    """
    from holdfast.backup.calling import Caller
    from holdfast.backup.retention import Retention

    caller = Caller(project, storage_options)
    if verify:
        return caller.verify(str(target), progress=progress)
    return caller.back_up(
        str(target),
        retention=Retention(keep_last, keep_within_days),
        sink_log=None if sink_log is None else str(sink_log),
        progress=progress,
    )


def list_backups(
    target: str | Path | None = None,
    *,
    project: str | Path | None = None,
    storage_options: Sequence[str] = (),
) -> Answer[BackupList]:
    """List the backups of a checkpoint, or of every job of the project; nothing is written."""
    from holdfast.backup.calling import Caller

    caller = Caller(project, storage_options)
    return caller.list_backups(None if target is None else str(target))


def restore(
    backup: str,
    *,
    to: str | Path | None = None,
    files: Sequence[str] = (),
    even_if_running: bool = False,
    confirm: Callable[[str], bool] = lambda _: True,
    project: str | Path | None = None,
    storage_options: Sequence[str] = (),
    progress: Progress | None = None,
) -> Answer[Restoration]:
    """Put a backup (`TARGET@ID` or `TARGET@newest`) back; what is there is backed up first.

    `confirm` is told what will be done, and nothing is written if it says no.
    """
    from holdfast.backup.calling import Caller

    return Caller(project, storage_options).restore(
        backup,
        to=None if to is None else str(to),
        files=files,
        even_if_running=even_if_running,
        confirm=confirm,
        progress=progress,
    )


def settle_restore(
    target: str | Path,
    *,
    finish: bool,
    project: str | Path | None = None,
    storage_options: Sequence[str] = (),
    progress: Progress | None = None,
) -> Answer[Restoration]:
    """Finish the restore that was interrupted on a checkpoint, or take it back."""
    from holdfast.backup.calling import Caller

    caller = Caller(project, storage_options)
    return caller.settle(str(target), finish=finish, progress=progress)


def _each_once(examinees: list[Examinee | Unopened]) -> list[Examinee | Unopened]:
    """Keep the first of those that are the same place: it is no copy of itself."""
    by_place = {getattr(one, "path", one.target): one for one in reversed(examinees)}
    return list(reversed(by_place.values()))


def _known_code(number: str) -> str:
    known = {code.number for code in CODES}
    if number.upper() in known:
        return number.upper()
    near = get_close_matches(number.upper(), known, n=1)
    hint = f"; the nearest is {near[0]}" if near else ""
    raise UsageError("HF1001", f"{number} is no code of Holdfast{hint}")


def _jobs_of(project: str | Path | None) -> list[str]:
    """Name every job of the project, in its order."""
    file = Path(project) if project is not None else find_project(_working_folder())
    if file is None:
        message = "no target is given, and there is no project here whose jobs could be examined"
        raise UsageError("HF1002", message)
    jobs = list(load_project(file, working_folder=_working_folder()).jobs)
    if not jobs:
        raise UsageError("HF1002", "no target is given, and the project declares no job")
    return jobs


def _examinees(
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
        found, reader = _open(text, project, storage_options, timeout)
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
    place, _ = _sink_place(target, sink, declared, storage_options, timeout)
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


def _sink_place(
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
    relative_to = project.folder if project is not None else _working_folder()

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
    return SinkPlace(location.shown, open_below, given is not None), _local_folder(location)


def _local_folder(location: Location) -> Path | None:
    return Path(location.url) if location.is_local else None


def _open(
    target: str | Path,
    project: str | Path | None,
    storage_options: Sequence[str],
    timeout: float | None,
) -> tuple[Target, Reader]:
    found = resolve_target(
        str(target),
        project=Path(project) if project is not None else None,
        storage_options=storage_options,
        working_folder=_working_folder(),
    )
    return found, open_reader(found.location, found.settings, timeout=timeout)


def _working_folder() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        message = "the working directory does not exist any more"
        raise NotFoundError("HF7001", message) from error
