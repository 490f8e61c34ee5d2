"""A job declared in Python: checked by the models of the project file, located at the user's line.

Relative paths count from the working directory, as in Spark, so that a program which adopts
Holdfast keeps the places that it has. Nothing is substituted: a program has its own ways to a
secret.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from holdfast.errors import ProjectError
from holdfast.jobs import tree
from holdfast.jobs.callerline import CallerLine, caller_line
from holdfast.jobs.changingpath import accept_changing
from holdfast.jobs.project import checked_project
from holdfast.jobs.ready import ReadyJob
from holdfast.jobs.readying import Declared, readied
from holdfast.jobs.substitution import has_reference
from holdfast.storage.location import parse_location
from holdfast.storage.options import OptionValue, StorageSettings

Function = Callable[..., Any]
StorageOptions = Mapping[str, Mapping[str, OptionValue]]

_STAND_IN = "given:function"
"""Stands in a declaration for a function that is given as such."""


class Job:
    """A streaming job: sources, a transform, a sink, and the one place of its checkpoint.

    The keywords are the keys of a job in `holdfast.yaml`; `transform` and a custom sink's
    `function` may be functions. `storage` holds what stands under `storage:` there, and `accept`
    names what is fine about a checkpoint path that looks as if it changed (`dated-path`,
    `generated-path`, `temporary-path`). Raises ProjectError.
    """

    def __init__(
        self,
        name: str,
        *,
        checkpoint: str | Path,
        sink: Mapping[str, object],
        source: Mapping[str, object] | None = None,
        sources: Mapping[str, Mapping[str, object]] | None = None,
        transform: str | Function | None = None,
        sql: str | None = None,
        output_mode: str | None = None,
        trigger: Mapping[str, object] | None = None,
        conf: Mapping[str, object] | None = None,
        restart: Mapping[str, object] | None = None,
        on_failure: Mapping[str, object] | None = None,
        storage: StorageOptions | None = None,
        accept: Collection[str] = (),
    ) -> None:
        at = caller_line()
        given = {
            "checkpoint": _path_text(checkpoint, at),
            "source": source,
            "sources": sources,
            "transform": transform,
            "sql": sql,
            "sink": sink,
            "output_mode": output_mode,
            "trigger": trigger,
            "conf": conf,
            "restart": restart,
            "on_failure": on_failure,
        }
        declared = {key: value for key, value in given.items() if value is not None}
        self.name = name
        self._ready = _built(name, declared, StorageSettings(storage or {}), accept, at)

    def ready(self) -> ReadyJob:
        """Give the job as it is run."""
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
    storage: StorageOptions | None = None,
    accept: Collection[str] = (),
) -> ReadyJob:
    """Give a job whose rows come from a program's own DataFrame: it has no sources itself."""
    at = caller_line()
    given = {"output_mode": output_mode, "trigger": trigger}
    declared: dict[str, object] = {
        "checkpoint": _path_text(checkpoint, at),
        "source": {"format": "rate"},
        "sql": "the program's own",
        "sink": sink,
        **{key: value for key, value in given.items() if value is not None},
    }
    job = _built(name, declared, StorageSettings(storage or {}), accept, at)
    return replace(job, sources=(), sql=None)


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
    """Give what would stand in a project file: numbers as they are written, lists as tuples."""
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
        message = "checkpoint holds a reference, so it could move between two starts"
        raise ProjectError("HF1108", message, at=str(at))
    try:
        warning = accept_changing(checkpoint, accept, interactive=sys.stderr.isatty())
    except ProjectError as error:
        raise _located(error, at) from error
    if warning is not None:
        warnings.warn_explicit(f"checkpoint: {warning}", UserWarning, at.file, at.line)


def _located(error: ProjectError, at: CallerLine) -> ProjectError:
    """Give the same error at the user's line; what is said of a file does not fit here."""
    why = error.why.replace("nothing in the file was used", "nothing was started")
    why = why.replace("in this file", "in this job")
    steps = error.next_steps
    return ProjectError(error.code.number, error.message, at=str(at), why=why, next_steps=steps)
