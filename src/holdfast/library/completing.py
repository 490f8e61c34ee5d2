"""Names that a shell completes; the text of the project file is read and nothing else."""

from __future__ import annotations

from pathlib import Path

from holdfast.errors import HoldfastError
from holdfast.jobs.discovery import find_project, job_names


def names_of_jobs(project: str | Path | None = None) -> list[str]:
    """Return the names of the jobs of a project; a file that cannot be read has none.

    An error message in the middle of a command line helps nobody: the command itself reports it.
    """
    try:
        file = Path(project) if project is not None else find_project(Path.cwd())
        return job_names(file) if file is not None else []
    except (HoldfastError, OSError):
        return []
