"""Writes small project files and makes their jobs ready."""

from __future__ import annotations

from pathlib import Path

from holdfast.jobs.discovery import load_project
from holdfast.jobs.projectfile.model import Project
from holdfast.jobs.ready import ReadyJob
from holdfast.jobs.readying import ready_job

RATE = "{format: rate}"


def job_text(name: str, source: str = RATE, sink: str = "{format: console}", more: str = "") -> str:
    """Give the lines of one job; `more` is added as it is."""
    extra = f"    {more}\n" if more else ""
    return f"  {name}:\n    source: {source}\n    sql: select 1\n    sink: {sink}\n{extra}"


def load_jobs(folder: Path, *jobs: str, head: str = "project: p\n") -> Project:
    """Load a project with these jobs."""
    file = folder / "holdfast.yaml"
    file.write_text(f"{head}jobs:\n{''.join(jobs)}")
    return load_project(file, working_folder=folder)


def ready_jobs(folder: Path, *jobs: str, head: str = "project: p\n") -> list[ReadyJob]:
    """Make all jobs of such a project ready."""
    project = load_jobs(folder, *jobs, head=head)
    return [ready_job(project, name) for name in project.jobs]
