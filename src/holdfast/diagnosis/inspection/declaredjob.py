"""What a project declares of a job, in the form that checks compare with a checkpoint."""

from __future__ import annotations

from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.diagnosis.inspection.subject import DeclaredJob
from holdfast.errors import StorageError
from holdfast.jobs.discovery import module_file
from holdfast.jobs.projectfile.substitution import has_reference
from holdfast.jobs.queryshape import UNCERTAIN, QueryShape, python_shape
from holdfast.jobs.ready import FunctionReference
from holdfast.jobs.sqltext import sql_shape
from holdfast.storage.location import Location, canonical, parse_location

if TYPE_CHECKING:
    from holdfast.jobs.projectfile.model import Project
    from holdfast.jobs.ready import ReadyJob


_FILES = frozenset({"json", "csv", "parquet", "orc", "text"})


def declared_job(project: Project, name: str) -> DeclaredJob:
    """Return a job of the project; values that hold secrets are left out."""
    job = project.shown_job(name)
    settings = {**project.spark.conf, **job.conf}
    formats = {source: one.format.lower() for source, one in job.named_sources.items()}
    paths = {
        source: place.url
        for source, one in job.named_sources.items()
        if formats[source] in (*_FILES, "delta")
        and (place := _place(project, one.path or one.options.get("path"))) is not None
    }
    output = _place(project, job.sink.path)
    return DeclaredJob(
        name,
        job,
        {key: value for key, value in settings.items() if not has_reference(value)},
        {source: path for source, path in paths.items() if formats[source] in _FILES},
        canonical(output) if output is not None else None,
        project=project.project,
        query=_query(project, name),
        spark=_installed_spark(),
        source_paths=paths,
        changed_tables=project.changed_tables_of(name),
        master=None if has_reference(project.spark.master) else project.spark.master,
        local_output=output.shown if output is not None and output.is_local else None,
        folder=str(project.folder),
        fed_sources=partial(project.fed_sources_of, name),
    )


def declared_at_start(job: ReadyJob, spark: str | None) -> DeclaredJob | None:
    """Give a job as it is about to start; None for the query of a program, which declares none."""
    if job.declaration is None:
        return None
    formats = {source.name: source.format.lower() for source in job.sources}
    paths = {
        source.name: path
        for source in job.sources
        if formats[source.name] in (*_FILES, "delta")
        and (path := source.path or source.options.get("path")) is not None
    }
    return DeclaredJob(
        job.name,
        job.declaration,
        job.conf,
        {source: path for source, path in paths.items() if formats[source] in _FILES},
        project=job.project,
        query=_query_at_start(job),
        spark=spark,
        source_paths=paths,
        changed_tables=job.changed_tables,
        folder=str(job.folder),
    )


def _query_at_start(job: ReadyJob) -> QueryShape:
    if job.sql is not None:
        return sql_shape(job.sql, [source.name for source in job.sources])
    if isinstance(job.transform, FunctionReference):
        return _python_query(job.transform.folder, job.transform.module, job.transform.name)
    return UNCERTAIN


def _query(project: Project, name: str) -> QueryShape:
    job = project.jobs[name]
    if job.sql is not None:
        return sql_shape(job.sql, job.named_sources)
    module, _, function = (job.transform or "").partition(":")
    return _python_query(project.folder, module, function)


def _python_query(folder: Path, module: str, function: str) -> QueryShape:
    file = module_file(folder, module) if module else None
    try:
        text = file.read_text(encoding="utf-8") if file is not None else ""
    except (OSError, ValueError):
        return UNCERTAIN
    return python_shape(text, function)


def _installed_spark() -> str | None:
    try:
        return version("pyspark")
    except PackageNotFoundError:
        return None


def _place(project: Project, path: str | None) -> Location | None:
    if path is None or has_reference(path):
        return None
    try:
        return parse_location(path, relative_to=project.folder)
    except StorageError:
        # Spark may reach what this machine can't read.
        return None
