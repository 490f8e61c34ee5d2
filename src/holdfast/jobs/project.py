"""The model of a whole project file; `load_project` in discovery.py fills it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import Field, PrivateAttr, ValidationError

from holdfast.errors import ProjectError, StorageError
from holdfast.jobs import tree
from holdfast.jobs.declaration import NAMES_ONLY, Declaration, Name, SparkText, Text
from holdfast.jobs.job import Job
from holdfast.jobs.places import Storage
from holdfast.jobs.problems import Problem, first_error
from holdfast.jobs.substitution import fill_in, reference_problems
from holdfast.jobs.translation import problems_of
from holdfast.jobs.yamlfile import read_yaml
from holdfast.storage.canonical import canonical
from holdfast.storage.location import Location, parse_location


class Spark(Declaration):
    """How Spark is started for the jobs of this project."""

    master: Text = "local[*]"
    conf: dict[str, SparkText] = {}
    jars: tuple[Text, ...] = ()


class Project(Declaration):
    """Everything that a project file declares. References to secrets are not filled in here."""

    project: Name
    checkpoints: Text = "./checkpoints"
    spark: Spark = Spark()
    storage: Storage = Storage()
    jobs: dict[Name, Job] = Field(default={}, json_schema_extra=NAMES_ONLY)

    _file: Path = PrivateAttr(default=Path("holdfast.yaml"))
    _shown: str = PrivateAttr(default="holdfast.yaml")
    _root: tree.Node = PrivateAttr(default=tree.Entries(tree.Mark(1, 1), ()))

    @property
    def folder(self) -> Path:
        """The folder that relative paths in the file count from."""
        return self._file.parent

    def checkpoint_of(self, job: str) -> Location:
        """Give the one place of a job's checkpoint; a relative path counts from the file."""
        written = self.jobs[job].checkpoint or f"{self.checkpoints.rstrip('/')}/{job}"
        return parse_location(written, relative_to=self.folder)

    def at(self, *path: str | int) -> str:
        """Spell where a key stands in the file."""
        return tree.located(self._shown, tree.key_mark(self._root, path))

    def filled_in(self, text: str, *path: str | int) -> str:
        """Give a value of the file, which stands at this path, with its secrets."""
        return fill_in(text, folder=self.folder, at=self.at(*path))


def read_project(file: Path, shown: str) -> Project:
    """Read and check a project file; every problem is a located ProjectError."""
    root = read_yaml(file, shown)
    if not isinstance(root, tree.Entries):
        raise _not_a_mapping(root, shown)
    problems = list(reference_problems(root))
    try:
        project = Project.model_validate(tree.plain(root))
    except ValidationError as failure:
        problems += problems_of(failure, Project, root)
    if error := first_error(problems, shown):
        raise error
    project._file, project._shown, project._root = file, shown, root
    if error := first_error(_shared_checkpoints(project, root), shown):
        raise error
    return project


def _shared_checkpoints(project: Project, root: tree.Node) -> Iterator[Problem]:
    """Find jobs whose checkpoints are one place, however it is spelled."""
    owners: dict[str, str] = {}
    for job in project.jobs:
        owner = owners.setdefault(_place_of(project, job), job)
        if owner != job:
            message = f"jobs.{job} has the same checkpoint as jobs.{owner}"
            yield Problem(tree.key_mark(root, ("jobs", job, "checkpoint")), "HF1109", message)


def _place_of(project: Project, job: str) -> str:
    try:
        return canonical(project.checkpoint_of(job))
    except StorageError as unreadable:
        # Spark may reach what this machine can't read; there the text has to do.
        return unreadable.at or job


def _not_a_mapping(root: tree.Node | None, shown: str) -> ProjectError:
    if root is None:
        place, what = tree.Mark(1, 1), "the project file is empty"
    else:
        place, what = root.mark, "the project file is not a mapping"
    message = f"{what}; it begins with project: <name>"
    code = "HF1105" if root is None else "HF1104"
    return ProjectError(code, message, at=tree.located(shown, place))
