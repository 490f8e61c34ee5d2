"""What a project declares of a job, in the form that checks compare with a checkpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.diagnosis.subject import DeclaredJob
from holdfast.errors import StorageError
from holdfast.jobs.substitution import has_reference
from holdfast.storage.canonical import canonical
from holdfast.storage.location import Location, parse_location

if TYPE_CHECKING:
    from holdfast.jobs.project import Project

_FILES = frozenset({"json", "csv", "parquet", "orc", "text"})


def declared_job(project: Project, name: str) -> DeclaredJob:
    """Give a job of the project; values that hold secrets are left out."""
    job = project.jobs[name]
    settings = {**project.spark.conf, **job.conf}
    folders: dict[str, str] = {}
    for source, declared in job.named_sources.items():
        path = declared.path or declared.options.get("path")
        place = _place(project, path) if declared.format.lower() in _FILES else None
        if place is not None:
            folders[source] = place.url
    output = _place(project, job.sink.path)
    return DeclaredJob(
        name,
        job,
        {key: value for key, value in settings.items() if not has_reference(value)},
        folders,
        canonical(output) if output is not None else None,
    )


def _place(project: Project, path: str | None) -> Location | None:
    if path is None or has_reference(path):
        return None
    try:
        return parse_location(path, relative_to=project.folder)
    except StorageError:
        # Spark may reach what this machine can't read.
        return None
