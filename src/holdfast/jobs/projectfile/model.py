"""The model of a whole project file, and its JSON Schema; discovery.py loads it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import Field, PrivateAttr, ValidationError

from holdfast.errors import ProjectError
from holdfast.jobs.endpoints import JobPlaces, declared_places
from holdfast.jobs.lineage import Lineage, changed_tables, downstream_jobs
from holdfast.jobs.ownership import path_problems
from holdfast.jobs.projectfile import tree
from holdfast.jobs.projectfile.declaration import (
    NAMES_ONLY,
    Declaration,
    Name,
    Spark,
    Storage,
    Text,
)
from holdfast.jobs.projectfile.job import Job
from holdfast.jobs.projectfile.profiles import (
    PROFILES,
    Profiles,
    profile_names,
    profile_problems,
    with_profile,
)
from holdfast.jobs.projectfile.substitution import fill_in, is_shown, reference_problems
from holdfast.jobs.projectfile.translation import problems_of
from holdfast.jobs.projectfile.tree import Problem, first_error
from holdfast.jobs.projectfile.yamlfile import read_yaml
from holdfast.jobs.ready import ChangedTable, DownstreamJob
from holdfast.storage.location import Location, parse_location


class Project(Declaration):
    """Everything that a project file declares. References to secrets are not filled in here."""

    project: Name
    checkpoints: Text = "./checkpoints"
    spark: Spark = Spark()
    storage: Storage = Storage()
    jobs: dict[Name, Job] = Field(default={}, json_schema_extra=NAMES_ONLY)
    profiles: Profiles = {}

    _file: Path = PrivateAttr(default=Path("holdfast.yaml"))
    _shown: str = PrivateAttr(default="holdfast.yaml")
    _root: tree.Node = PrivateAttr(default=tree.Entries(tree.Mark(1, 1), ()))
    _profile: str | None = PrivateAttr(default=None)

    @property
    def folder(self) -> Path:
        """The folder that relative paths in the file count from."""
        return self._file.parent

    @property
    def profile(self) -> str | None:
        """The profile that is laid over the file, None for the file as it is."""
        return self._profile

    def checkpoint_of(self, job: str) -> Location:
        """Return the one place of a job's checkpoint; a relative path counts from the file."""
        return parse_location(self._checkpoint(job), relative_to=self.folder)

    def places_of(self, job: str) -> JobPlaces:
        """Return where a job reads and writes, as it is declared; no secret is filled in."""
        return declared_places(job, self.jobs[job], self._checkpoint(job), self.folder)

    def changed_tables_of(self, job: str) -> tuple[ChangedTable, ...]:
        """Return the Delta tables that a job streams and another job of the project changes."""
        places = self._shown_places()
        return changed_tables(places[job], places.values())

    def downstream_of(self, job: str) -> tuple[DownstreamJob, ...]:
        """Return the other jobs that the rows of a job reach, those that read them itself first."""
        return downstream_jobs(job, self._shown_places())

    def fed_sources_of(self, job: str) -> frozenset[str]:
        """Return the sources of a job that read what another job of the project writes."""
        lineage = Lineage.from_places(list(self._shown_places().values()))
        return frozenset(edge.source for edge in lineage.edges if edge.downstream == job)

    def _shown_places(self) -> dict[str, JobPlaces]:
        return {
            name: declared_places(name, self.shown_job(name), self._checkpoint(name), self.folder)
            for name in self.jobs
        }

    def at(self, *path: str | int) -> str:
        """Spell where a key stands in the file."""
        return tree.located(self._shown, tree.key_mark(self._root, path))

    def filled_in(self, text: str, *path: str | int) -> str:
        """Return a value of the file, which stands at this path, with its secrets."""
        return fill_in(text, folder=self.folder, at=self.at(*path), path=path)

    def filled_job(self, name: str) -> Job:
        """Return a job with its secrets, checked once more: a rule may look at what they hold."""
        return self._job_filled(name, self.filled_in)

    def shown_job(self, name: str) -> Job:
        """Return a job with its paths, tables, topics and hosts filled in, and no secret.

        What cannot be filled in here stays as it is written.
        """
        return self._job_filled(name, self._filled_if_shown)

    def _filled_if_shown(self, text: str, *path: str | int) -> str:
        try:
            return self.filled_in(text, *path) if is_shown(path) else text
        except ProjectError:
            return text

    def _job_filled(self, name: str, fill: Callable[..., str]) -> Job:
        path = ("jobs", name)
        node = tree.node_at(self._root, path)
        filled = None if node is None else _filled(tree.plain(node), path, fill)
        return checked_project(
            {"project": self.project, "jobs": {name: filled}}, self._root, self._shown
        ).jobs[name]

    def with_values(self, values: Mapping[tuple[str, ...], tree.Plain]) -> Project:
        """Return the project with other values at these paths of keys; None removes a key.

        Relative paths, modules and secrets count from the same file.
        """
        root = self._root
        for path, value in values.items():
            root = tree.with_value(root, path, value)
        other = checked_project(tree.plain(root), root, self._shown)
        other._file, other._shown, other._root = self._file, self._shown, root
        other._profile = self._profile
        return other

    def _checkpoint(self, job: str) -> str:
        return self.jobs[job].checkpoint or f"{self.checkpoints.rstrip('/')}/{job}"


def read_project(file: Path, shown: str, profile: str | None = None) -> Project:
    """Read and check a project file with one of its profiles, or with none.

    Every problem is a located ProjectError, also one of a profile that is not chosen.
    """
    root = read_yaml(file, shown)
    if not isinstance(root, tree.Entries):
        raise _not_a_mapping(root, shown)
    if error := first_error(profile_problems(root), shown):
        raise error
    problems = list(reference_problems(root))
    project = _with_profile(root, file, shown, profile, problems)
    profiles = profile_names(root)
    variants = [_with_profile(root, file, shown, name) for name in profiles]
    if profiles and (bare := _without_profile(root, file, shown)) is not None:
        variants.insert(0, bare)
    if error := first_error(_shared_checkpoints(variants), shown):
        raise error
    return project


def _with_profile(
    root: tree.Entries,
    file: Path,
    shown: str,
    profile: str | None,
    problems: Iterable[Problem] = (),
) -> Project:
    merged = with_profile(root, profile)
    try:
        project = checked_project(tree.plain(merged), merged, shown, problems)
        project._file, project._shown, project._root = file, shown, merged
        project._profile = profile
        if error := first_error(_place_problems(project), shown):
            raise error
    except ProjectError as error:
        raise error if profile is None else _named(error, profile) from error
    return project


def _named(error: ProjectError, profile: str) -> ProjectError:
    """Return the same error with the profile that it appears with."""
    return ProjectError(
        error.code.number,
        f"with profile {profile}: {error.message}",
        at=error.at,
        why=error.why,
        next_steps=error.next_steps,
    )


def _without_profile(root: tree.Entries, file: Path, shown: str) -> Project | None:
    """Return the file as it is; None where it is whole with a profile only, so that none runs."""
    try:
        return _with_profile(root, file, shown, None)
    except ProjectError:
        return None


def checked_project(
    plain: tree.Plain, root: tree.Node, shown: str, problems: Iterable[Problem] = ()
) -> Project:
    """Make a project of what is written; the first problem, also of those given, is raised."""
    problems = list(problems)
    try:
        project = Project.model_validate(plain)
    except ValidationError as failure:
        problems += problems_of(failure, Project, root)
    if error := first_error(problems, shown):
        raise error
    return project


def _filled(value: tree.Plain, path: tree.Path, fill: Callable[..., str]) -> tree.Plain:
    if isinstance(value, str):
        return fill(value, *path)
    if isinstance(value, tuple):
        return tuple(_filled(one, (*path, place), fill) for place, one in enumerate(value))
    if isinstance(value, dict):
        return {key: _filled(one, (*path, key), fill) for key, one in value.items()}
    return value


def _place_problems(project: Project) -> Iterator[Problem]:
    """Find jobs that are in each other's way, or in their own, however their places are spelled."""
    for found in path_problems([project.places_of(job) for job in project.jobs]):
        mark = tree.key_mark(project._root, ("jobs", found.job, *found.key))
        yield Problem(mark, found.code, found.message)


def _shared_checkpoints(variants: Sequence[Project]) -> Iterator[Problem]:
    """Find jobs that have one checkpoint and, with another profile, another sink."""
    owners: dict[str, tuple[Project, str]] = {}
    for project in variants:
        for name in project.jobs:
            checkpoint = project.places_of(name).checkpoint
            other, owner = owners.setdefault(checkpoint, (project, name))
            if other is not project and _sink_of(other, owner) != _sink_of(project, name):
                message = (
                    f"jobs.{name} {_in_words(project)} and jobs.{owner} {_in_words(other)} share "
                    "one checkpoint but have two sinks"
                )
                laid = (PROFILES, project.profile or "", "jobs", name, "sink")
                mark = tree.key_mark(project._root, laid)
                yield Problem(mark, "HF1127", message)


def _sink_of(project: Project, job: str) -> tuple[object, ...]:
    return project.places_of(job).writes, project.jobs[job].sink.function


def _in_words(project: Project) -> str:
    return "without a profile" if project.profile is None else f"with profile {project.profile}"


def _not_a_mapping(root: tree.Node | None, shown: str) -> ProjectError:
    if root is None:
        place, what = tree.Mark(1, 1), "the project file is empty"
    else:
        place, what = root.mark, "the project file is not a mapping"
    message = f"{what}; it must begin with project: <name>"
    code = "HF1105" if root is None else "HF1104"
    return ProjectError(code, message, at=tree.located(shown, place))


def project_schema() -> dict[str, object]:
    """Return the schema of `holdfast.yaml`, made from the models that read it."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Project.model_json_schema(),
        "title": "holdfast.yaml",
    }


def schema_text() -> str:
    """Return the schema as it is written to a file."""
    return json.dumps(project_schema(), indent=2, ensure_ascii=False) + "\n"
