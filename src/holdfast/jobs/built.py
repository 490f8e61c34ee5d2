"""A job declared in Python: checked by the models of the project file, located at the user's line.

Relative paths count from the working directory, as in Spark, so that a program which adopts
Holdfast keeps the places that it has. Nothing is substituted: a program has its own ways to a
secret.

Only signs that a fixed name hardly ever has count: a whole date, not a year (`orders-2024`), an id
as machines make it, not a number (`v2`, `run-7`). The bucket or host of a URL is left out, because
many are named with an id once.
"""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError, ProjectError
from holdfast.jobs.checkpointpath import accept_changing
from holdfast.jobs.projectfile import tree
from holdfast.jobs.projectfile.model import checked_project
from holdfast.jobs.projectfile.substitution import has_reference
from holdfast.jobs.ready import ReadyJob, place_or_text
from holdfast.jobs.readying import Declared, readied
from holdfast.jobs.sinks import Sink, written_sink
from holdfast.storage.location import parse_location
from holdfast.storage.options import (
    FamilyOptions,
    StorageOptions,
    StorageSettings,
    settings_among,
)

_OURS = ("holdfast", "holdfast.")


@dataclass(frozen=True)
class CallerLine:
    """A line of a program, or of something without a file (a notebook cell, a terminal)."""

    file: str
    line: int

    def __str__(self) -> str:
        """Spell it as terminals and editors understand it, short where it is near."""
        path = Path(self.file)
        near = path.is_absolute() and path.is_relative_to(Path.cwd())
        return f"{path.relative_to(Path.cwd()) if near else self.file}:{self.line}"

    @property
    def folder(self) -> Path:
        """Where the program's own modules are: next to it; here for a program without a file."""
        path = Path(self.file)
        return path.absolute().parent if path.is_file() else Path.cwd()


def caller_line() -> CallerLine:
    """Return the innermost line on the stack that is not Holdfast's own."""
    frame = sys._getframe()
    while _is_ours(frame.f_globals.get("__name__", "")) and frame.f_back is not None:
        frame = frame.f_back
    return CallerLine(frame.f_code.co_filename, frame.f_lineno)


@contextmanager
def at_caller(line: CallerLine) -> Iterator[None]:
    """Let an error that is raised inside without a place point at a line of the program."""
    try:
        yield
    except HoldfastError as error:
        if error.at is None:
            error.at = str(line)
        raise


def _is_ours(module: str) -> bool:
    return module == _OURS[0] or module.startswith(_OURS[1])


Function = Callable[..., Any]

_STAND_IN = "given:function"
"""Stands in a declaration for a function that is given as such."""


class Job:
    """A streaming job: sources, a transform, a sink, and the one place of its checkpoint.

    The keywords are the keys of a job in `holdfast.yaml`; `transform` and a custom sink's
    `function` may be functions. `sink` is a typed sink such as `DeltaSink`, a mapping with the keys
    of the project file, or a function of `(batch, batch_id)`. `storage_options` are settings of the
    storage; `storage` has the form of `storage:` in the project file. `accept` names what
    is fine about a checkpoint path that looks like it changes (`dated-path`, `generated-path`,
    `temporary-path`). Raises ProjectError.

    >>> import holdfast
    >>> job = holdfast.Job(
    ...     "orders",
    ...     checkpoint="checkpoints/orders",
    ...     source={"format": "json", "path": "data/orders", "schema": "order_id long"},
    ...     sql="select * from source where order_id is not null",
    ...     sink=holdfast.DeltaSink(path="lake/orders"),
    ... )
    >>> job.name
    'orders'
    """

    def __init__(
        self,
        name: str,
        *,
        checkpoint: str | Path,
        sink: Sink,
        source: Mapping[str, object] | None = None,
        sources: Mapping[str, Mapping[str, object]] | None = None,
        transform: str | Function | None = None,
        sql: str | None = None,
        output_mode: str | None = None,
        trigger: Mapping[str, object] | None = None,
        conf: Mapping[str, object] | None = None,
        restart: Mapping[str, object] | None = None,
        on_failure: Mapping[str, object] | None = None,
        backup: Mapping[str, object] | None = None,
        storage: FamilyOptions | None = None,
        storage_options: StorageOptions = (),
        accept: Collection[str] = (),
    ) -> None:
        at = caller_line()
        given = {
            "checkpoint": _path_text(checkpoint, at),
            "source": source,
            "sources": sources,
            "transform": transform,
            "sql": sql,
            "sink": written_sink(sink),
            "output_mode": output_mode,
            "trigger": trigger,
            "conf": conf,
            "restart": restart,
            "on_failure": on_failure,
            "backup": backup,
        }
        declared = {key: value for key, value in given.items() if value is not None}
        self.name = name
        settings = _settings(declared, storage, storage_options)
        self._ready = _built(name, declared, settings, accept, at)

    def ready(self) -> ReadyJob:
        """Return the job as it is run."""
        return self._ready

    def __repr__(self) -> str:
        """Name the job and the line where it is declared."""
        return f"<Job {self.name} at {self._ready.at}>"


def job_of_program(
    name: str,
    *,
    checkpoint: str | Path,
    sink: Mapping[str, object],
    output_mode: str | None = None,
    trigger: Mapping[str, object] | None = None,
    storage: FamilyOptions | None = None,
    storage_options: StorageOptions = (),
    accept: Collection[str] = (),
) -> ReadyJob:
    """Return a job whose rows come from a program's own DataFrame: it has no sources itself."""
    at = caller_line()
    given = {"output_mode": output_mode, "trigger": trigger}
    declared: dict[str, object] = {
        "checkpoint": _path_text(checkpoint, at),
        "source": {"format": "rate"},
        "sql": "the program's own",
        "sink": sink,
        **{key: value for key, value in given.items() if value is not None},
    }
    job = _built(name, declared, _settings(declared, storage, storage_options), accept, at)
    return replace(job, sources=(), sql=None, declaration=None)


def _settings(
    declared: Mapping[str, object], storage: FamilyOptions | None, given: StorageOptions
) -> StorageSettings:
    """Return the storage settings of a job; options by name count for its first remote place."""
    sink = declared["sink"]
    path = sink.get("path") if isinstance(sink, Mapping) else None
    texts = [str(one) for one in (declared["checkpoint"], path) if one is not None]
    places = [place_or_text(text, Path.cwd()) for text in texts]
    schemes = [place.scheme for place in places if not isinstance(place, str)]
    return StorageSettings(storage or {}).overridden_by(settings_among(schemes, given))


def _built(
    name: str,
    declared: Mapping[str, object],
    settings: StorageSettings,
    accept: Collection[str],
    at: CallerLine,
) -> ReadyJob:
    written: tree.Plain = {"project": "python", "jobs": {name: _plain(declared)}}
    try:
        job = checked_project(written, tree.node_of(written, tree.Mark(1, 1)), "").jobs[name]
    except ProjectError as error:
        raise _located(error, at) from error
    text = str(declared["checkpoint"])
    _accepted(text, [accept] if isinstance(accept, str) else accept, at)
    origin = Declared(None, Path.cwd(), at.folder, lambda *_: str(at), lambda _: settings)
    checkpoint = parse_location(text, relative_to=origin.folder)
    ready = readied(job, name, checkpoint, origin)
    sink = declared["sink"]
    function = sink.get("function") if isinstance(sink, Mapping) else None
    if callable(function):
        ready = replace(ready, sink=replace(ready.sink, function=function))
    transform = declared.get("transform")
    return replace(ready, transform=transform) if callable(transform) else ready


def _path_text(checkpoint: object, at: CallerLine) -> str:
    """Return the checkpoint's path; raise where a variable was not set, and None came of it."""
    if not isinstance(checkpoint, str | os.PathLike):
        message = f"checkpoint is {checkpoint!r}: a path is required"
        raise ProjectError("HF1104", message, at=str(at))
    return os.fspath(checkpoint)


def _plain(value: object) -> tree.Plain:
    """Return what would stand in a project file: numbers as they are written, lists as tuples."""
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return tuple(map(_plain, value))
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int | float | os.PathLike):
        return str(value)
    return _STAND_IN if callable(value) else (f"{type(value).__name__}",)


def _accepted(checkpoint: str, accept: Collection[str], at: CallerLine) -> None:
    """Warn of a path that looks changing where somebody may read it; raise where nobody does."""
    if has_reference(checkpoint):
        message = "checkpoint contains a reference, so it could change between two starts"
        raise ProjectError("HF1108", message, at=str(at))
    try:
        warning = accept_changing(checkpoint, accept, interactive=sys.stderr.isatty())
    except ProjectError as error:
        raise _located(error, at) from error
    if warning is not None:
        warnings.warn_explicit(f"checkpoint: {warning}", UserWarning, at.file, at.line)


_IN_FILE = re.compile(r"in this file: line [0-9, …]*")


def _located(error: ProjectError, at: CallerLine) -> ProjectError:
    """Return the same error at the user's line; what is said of a file does not fit here."""
    why = error.why.replace("nothing in the file was used", "nothing was started")
    why = _IN_FILE.sub("in this job", why)
    steps = error.next_steps
    return ProjectError(error.code.number, error.message, at=str(at), why=why, next_steps=steps)
