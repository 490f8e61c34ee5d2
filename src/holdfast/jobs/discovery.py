"""Finds the project file and modules beside it; loads it only when something in it is needed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.errors import ProjectError
from holdfast.storage.location import is_folder

if TYPE_CHECKING:
    from holdfast.jobs.projectfile.model import Project


PROJECT_FILE = "holdfast.yaml"
PROFILE_VARIABLE = "HOLDFAST_PROFILE"
"""The environment variable that names the profile where no option does."""


@dataclass(frozen=True)
class ProjectChoice:
    """Which project file a command reads, and which profile of it."""

    file: Path | None = None
    """None looks for the nearest one."""
    profile: str | None = None
    is_explicit: bool = False
    """The profile was given with the call, not by the environment."""

    @classmethod
    def of(cls, project: str | Path | None, profile: str | None = None) -> ProjectChoice:
        """Return the choice of a caller; an empty profile overrides the environment with none."""
        chosen = os.environ.get(PROFILE_VARIABLE) if profile is None else profile
        file = None if project is None else Path(project)
        return cls(file, chosen or None, is_explicit=bool(profile))

    @property
    def options(self) -> tuple[str, ...]:
        """The options of a command that makes the same choice; the environment stays as it is."""
        file = () if self.file is None else ("--project", str(self.file))
        profile = ("--profile", self.profile) if self.is_explicit and self.profile else ()
        return (*file, *profile)

    def find(self, folder: Path) -> Path | None:
        """Return the file that was named, else the nearest one; None when there is none."""
        return self.file or find_project(folder)

    def load(self, file: Path, working_folder: Path) -> Project:
        """Read and check the file with the chosen profile."""
        return load_project(file, working_folder=working_folder, profile=self.profile)

    def load_required(self, working_folder: Path) -> Project:
        """Read the file that was named, else the nearest one; raise HF1101 without any."""
        file = self.find(working_folder)
        if file is None:
            message = f"there is no {PROJECT_FILE} in {working_folder} or a parent directory"
            raise ProjectError("HF1101", message, next_steps=("holdfast init", "or --project FILE"))
        return self.load(file, working_folder)


def find_project(folder: Path) -> Path | None:
    """Look for the project file here and in every folder above; None when there is none."""
    start = folder.absolute()
    return next((file for each in (start, *start.parents) if (file := _file_in(each))), None)


def load_project(
    file: Path, *, working_folder: Path | None = None, profile: str | None = None
) -> Project:
    """Read and check a project file, or the one in a directory; shown as seen from here."""
    # pydantic and yaml take several times longer to import than reading a checkpoint takes;
    # most commands on a path never come here.
    from holdfast.jobs.projectfile.model import read_project

    found = file / PROJECT_FILE if is_folder(file) else file
    if found is not file and not found.is_file():
        message = f"the directory {file} contains no {PROJECT_FILE}"
        raise ProjectError("HF1101", message, at=str(file))
    return read_project(found, _shown(found, working_folder), profile)


def job_names(file: Path) -> list[str]:
    """Return the names under `jobs`, unchecked; `file` may be the directory that holds it."""
    from holdfast.jobs.projectfile.tree import Entries
    from holdfast.jobs.projectfile.yamlfile import read_yaml

    found = file / PROJECT_FILE if is_folder(file) else file
    root = read_yaml(found, str(found))
    jobs = root.get("jobs") if isinstance(root, Entries) else None
    if jobs is None or not isinstance(jobs.node, Entries):
        return []
    return [one.key for one in jobs.node.entries]


def _file_in(folder: Path) -> Path | None:
    file = folder / PROJECT_FILE
    try:
        return file if file.is_file() else None
    except OSError as failure:
        reason = (failure.strerror or "unknown reason").lower()
        message = f"cannot look for a project file in {folder}: {reason}"
        raise ProjectError("HF1101", message, at=str(file)) from failure


def _shown(file: Path, working_folder: Path | None) -> str:
    if working_folder is not None and file.is_relative_to(working_folder.absolute()):
        return str(file.relative_to(working_folder.absolute()))
    return str(file)


def module_file(folder: Path, name: str) -> Path | None:
    """Return the file of a module by its dotted name; None where the folder has none.

    A file that may not be looked at is returned too: whoever reads it is told why not.
    """
    place = folder.joinpath(*name.split("."))
    candidates = (place / "__init__.py", place.with_name(f"{place.name}.py"))
    return next((path for path in candidates if _may_be_file(path)), None)


def _may_be_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return True
