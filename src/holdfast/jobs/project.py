"""The model of a whole project file; `load_project` in discovery.py fills it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import Field, PrivateAttr, ValidationError

from holdfast.errors import ProjectError
from holdfast.jobs import tree
from holdfast.jobs.declaration import NAMES_ONLY, Declaration, Name, SparkText, Text
from holdfast.jobs.job import Job
from holdfast.jobs.jobplaces import JobPlaces, declared_places
from holdfast.jobs.paths import path_problems
from holdfast.jobs.places import Storage
from holdfast.jobs.problems import Problem, first_error
from holdfast.jobs.substitution import fill_in, reference_problems
from holdfast.jobs.translation import problems_of
from holdfast.jobs.yamlfile import read_yaml
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
        return parse_location(self._checkpoint(job), relative_to=self.folder)

    def places_of(self, job: str) -> JobPlaces:
        """Give where a job reads and writes, as it is declared; no secret is filled in."""
        return declared_places(job, self.jobs[job], self._checkpoint(job), self.folder)

    def at(self, *path: str | int) -> str:
        """Spell where a key stands in the file."""
        return tree.located(self._shown, tree.key_mark(self._root, path))

    def filled_in(self, text: str, *path: str | int) -> str:
        """Give a value of the file, which stands at this path, with its secrets."""
        return fill_in(text, folder=self.folder, at=self.at(*path))

    def filled_job(self, name: str) -> Job:
        """Give a job with its secrets, checked once more: a rule may look at what they hold."""
        path = ("jobs", name)
        node = tree.node_at(self._root, path)
        filled = None if node is None else self._filled(tree.plain(node), path)
        return checked_project(
            {"project": self.project, "jobs": {name: filled}}, self._root, self._shown
        ).jobs[name]

    def _checkpoint(self, job: str) -> str:
        return self.jobs[job].checkpoint or f"{self.checkpoints.rstrip('/')}/{job}"

    def _filled(self, value: tree.Plain, path: tree.Path) -> tree.Plain:
        if isinstance(value, str):
            return self.filled_in(value, *path)
        if isinstance(value, tuple):
            return tuple(self._filled(one, (*path, place)) for place, one in enumerate(value))
        if isinstance(value, dict):
            return {key: self._filled(one, (*path, key)) for key, one in value.items()}
        return value


def read_project(file: Path, shown: str) -> Project:
    """Read and check a project file; every problem is a located ProjectError."""
    root = read_yaml(file, shown)
    if not isinstance(root, tree.Entries):
        raise _not_a_mapping(root, shown)
    project = checked_project(tree.plain(root), root, shown, reference_problems(root))
    project._file, project._shown, project._root = file, shown, root
    if error := first_error(_place_problems(project), shown):
        raise error
    return project


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


def _place_problems(project: Project) -> Iterator[Problem]:
    """Find jobs that are in each other's way, or in their own, however their places are spelled."""
    for found in path_problems([project.places_of(job) for job in project.jobs]):
        mark = tree.key_mark(project._root, ("jobs", found.job, *found.key))
        yield Problem(mark, found.code, found.message)


def _not_a_mapping(root: tree.Node | None, shown: str) -> ProjectError:
    if root is None:
        place, what = tree.Mark(1, 1), "the project file is empty"
    else:
        place, what = root.mark, "the project file is not a mapping"
    message = f"{what}; it begins with project: <name>"
    code = "HF1105" if root is None else "HF1104"
    return ProjectError(code, message, at=tree.located(shown, place))
