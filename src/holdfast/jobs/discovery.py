"""Finds the project file, and loads it only when something in it is needed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.errors import ProjectError

if TYPE_CHECKING:
    from holdfast.jobs.project import Project

PROJECT_FILE = "holdfast.yaml"


def find_project(folder: Path) -> Path | None:
    """Look for the project file here and in every folder above; None when there is none."""
    start = folder.absolute()
    return next((file for each in (start, *start.parents) if (file := _file_in(each))), None)


def load_project(file: Path, *, working_folder: Path | None = None) -> Project:
    """Read and check a project file; messages show it as seen from the working folder."""
    # pydantic and yaml take several times longer to import than reading a checkpoint takes;
    # most commands on a path never come here.
    from holdfast.jobs.project import read_project

    if file.is_dir():
        message = f"{file} is a folder; give the file in it"
        raise ProjectError("HF1101", message, at=str(file))
    return read_project(file, _shown(file, working_folder))


def _file_in(folder: Path) -> Path | None:
    file = folder / PROJECT_FILE
    try:
        return file if file.is_file() else None
    except OSError as failure:
        reason = (failure.strerror or "unknown reason").lower()
        message = f"can't look for a project file in {folder}: {reason}"
        raise ProjectError("HF1101", message, at=str(file)) from failure


def _shown(file: Path, working_folder: Path | None) -> str:
    if working_folder is not None and file.is_relative_to(working_folder.absolute()):
        return str(file.relative_to(working_folder.absolute()))
    return str(file)
