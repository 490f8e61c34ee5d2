"""Decides which checkpoint a TARGET means, and with which storage settings it is read.

A text without a separator is a job's name first: where the project has such a job and a folder
of that name exists too, the job wins (write `./name` for the folder). Everything else is a path
or URL. A local path needs nothing from a project file, so one that happens to lie above is not
even opened; for a URL it has to load, because the endpoint and the credentials may stand in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.errors import ProjectError, UsageError
from holdfast.jobs.discovery import ProjectChoice
from holdfast.storage.location import Location, is_there, parse_location
from holdfast.storage.options import (
    FAMILIES,
    StorageOptions,
    StorageSettings,
    named_options,
    names_families,
    settings_from_spark,
    settings_given,
)
from holdfast.wording import nearest

if TYPE_CHECKING:
    from holdfast.jobs.projectfile.model import Project


ANY_PROJECT = ProjectChoice()
"""The nearest project file as it is."""


@dataclass(frozen=True)
class Target:
    """A checkpoint that a command is asked about."""

    location: Location
    settings: StorageSettings
    job: str | None = None
    source_formats: Mapping[str, str] = field(default_factory=dict)
    """The declared sources' names and formats, in their order; empty where no job is known."""
    project: Project | None = field(default=None, repr=False)
    """The project file that was loaded on the way, if any."""


def resolve_target(
    text: str,
    *,
    project: ProjectChoice = ANY_PROJECT,
    storage_options: StorageOptions = (),
    working_folder: Path,
) -> Target:
    """Find the checkpoint that the text means."""
    check_form(storage_options)
    if _could_be_a_job(text):
        loaded = _load_for_name(text, project, working_folder)
        if loaded and text in loaded.jobs:
            return job_target(text, loaded, storage_options)
        if not is_there(working_folder / text):
            raise _neither(text, loaded)
    location = parse_location(text, relative_to=working_folder)
    # Who names a profile means the project, also where a local path needs nothing from it.
    looked_for = not location.is_local or project.is_explicit
    file = project.find(working_folder) if looked_for else project.file
    if file is None and project.is_explicit:
        message = f"the profile {project.profile} needs a project file, and there is none here"
        raise UsageError(
            "HF1125", message, next_steps=("pass --project FILE, or leave out --profile",)
        )
    loaded = project.load(file, working_folder) if file else None
    return Target(location, settings_at(location, loaded, storage_options), project=loaded)


def resolve_place(
    text: str, target: Target, *, storage_options: StorageOptions, relative_to: Path
) -> tuple[Location, StorageSettings]:
    """Find another place that belongs to a target, such as the output folder of its sink.

    Storage options count for it where it lies in the same kind of storage as the target.
    """
    location = parse_location(text, relative_to=relative_to)
    project = target.project
    choice = ProjectChoice.of(None)
    if project is None and not location.is_local and (file := choice.find(relative_to)):
        project = choice.load(file, relative_to)
    counts = location.scheme == target.location.scheme or names_families(storage_options)
    return location, settings_at(location, project, storage_options if counts else ())


def check_form(options: StorageOptions) -> None:
    """Raise HF7010 for options of no known form, before anything else is looked for."""
    if not names_families(options):
        named_options(options)


def _could_be_a_job(text: str) -> bool:
    return text not in ("", ".", "..") and not {*text} & {*"/\\:"}


def _load_for_name(text: str, project: ProjectChoice, working_folder: Path) -> Project | None:
    file = project.find(working_folder)
    if file is None:
        return None
    try:
        return project.load(file, working_folder)
    except ProjectError as error:
        if is_there(working_folder / text):
            error.next_steps = (*error.next_steps, f"or write ./{text} if the folder is meant")
        raise


def job_target(name: str, project: Project, options: StorageOptions) -> Target:
    """Return the checkpoint of a job that the project has."""
    job = project.jobs[name]
    location = project.checkpoint_of(name)
    formats = {source: declared.format for source, declared in job.named_sources.items()}
    return Target(location, settings_at(location, project, options), name, formats, project)


def settings_at(
    location: Location, project: Project | None, options: StorageOptions = ()
) -> StorageSettings:
    """Return what counts for the location: Spark's settings, then `storage:`, then the options."""
    given = settings_given(location.scheme, options)
    if project is None or location.is_local:
        return given
    from_spark = settings_from_spark(_s3a_settings(project, location), location)
    from_storage = StorageSettings(_declared_options(project, location))
    return from_spark.overridden_by(from_storage).overridden_by(given)


def _s3a_settings(project: Project, location: Location) -> dict[str, str]:
    """Return Spark's settings for S3, filled in; elsewhere their secrets are not even asked for."""
    if location.scheme != "s3":
        return {}
    return {
        name: project.filled_in(value, "spark", "conf", name)
        for name, value in project.spark.conf.items()
        if "fs.s3a." in name
    }


def _declared_options(project: Project, location: Location) -> dict[str, dict[str, str | bool]]:
    """Return what `storage:` has for this kind of location, filled in; the rest is not read."""
    family = FAMILIES.get(location.scheme)
    if family is None:
        return {}
    declared: dict[str, str | bool] = getattr(project.storage, family).model_dump(exclude_none=True)
    filled = {
        key: project.filled_in(value, "storage", family, key) if isinstance(value, str) else value
        for key, value in declared.items()
    }
    return {family: filled} if filled else {}


def _neither(text: str, project: Project | None) -> UsageError:
    jobs = sorted(project.jobs) if project else []
    near = nearest(text, jobs)
    message = f"no job or directory named {text}"
    message += f"; did you mean {near}?" if near else ""
    if project is None:
        step = "work in the project's directory, pass --project FILE, or give a path or URL"
    else:
        step = f"give one of the jobs ({', '.join(jobs) or 'there are none'}), or a path or URL"
    return UsageError("HF1002", message, next_steps=(step,))


@dataclass(frozen=True)
class DeclaredSink:
    """The sink of one job as its project file declares it."""

    format: str
    identity: str | None
    """The path, table, function or topic; None for a format that has none."""
    path: str | None
    """The output folder, None where there is none or its path cannot be filled in here."""
    output_mode: str
    at: str
    """Where in the project file it stands."""
    native: bool = False
    """Spark's own sink of this format, not Holdfast's."""


def declared_sink(project: Project, job: str) -> DeclaredSink:
    """Return what the project file says of a job's sink."""
    from holdfast.jobs.projectfile.substitution import has_reference

    declared = project.shown_job(job)
    sink = declared.sink
    return DeclaredSink(
        format=sink.format,
        identity=sink.path or sink.table or sink.function or sink.options.get("topic"),
        path=sink.path if sink.path and not has_reference(sink.path) else None,
        output_mode=declared.decided_output_mode,
        at=project.at("jobs", job, "sink"),
        native=sink.native,
    )
