"""Jobs that are ready to run, for tests of what happens around a query."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from holdfast.jobs.ready import FunctionReference, ReadyJob, ReadySink, ReadySource
from holdfast.storage.location import parse_location
from holdfast.storage.options import StorageSettings

NO_OPTIONS: Mapping[str, str] = {}


def source(
    format_: str,
    path: Path | str | None = None,
    schema: str | None = None,
    *,
    name: str = "source",
    options: Mapping[str, str] = NO_OPTIONS,
) -> ReadySource:
    """Give a source that is declared in line 7 of a project file."""
    place = None if path is None else str(path)
    return ReadySource(name, format_, place, schema, options, "holdfast.yaml:7")


def job(
    folder: Path,
    *sources: ReadySource,
    transform: str | Callable[..., Any] | None = None,
    sql: str | None = None,
) -> ReadyJob:
    """Give a job whose modules and checkpoint are in the folder; a text names a function."""
    function: Any = transform
    if isinstance(transform, str):
        module, _, name = transform.partition(":")
        function = FunctionReference(module, name, folder, "holdfast.yaml:9")
    return ReadyJob(
        name="sensor-clean",
        project="sensors",
        folder=folder,
        sources=sources,
        transform=function,
        sql=sql,
        sink=ReadySink("memory", "append", "holdfast.yaml:11"),
        output_mode="append",
        processing_time=None,
        conf={},
        checkpoint=parse_location(str(folder / "checkpoint")),
        settings=StorageSettings(),
        adopted=False,
        at="holdfast.yaml:6",
    )
