"""Opens checkpoints, and what is recorded beside them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.errors import NotFoundError, StorageError
from holdfast.jobs.discovery import ProjectChoice
from holdfast.jobs.target import Target, resolve_target
from holdfast.storage.location import Location
from holdfast.storage.opening import open_reader
from holdfast.storage.options import StorageOptions, StorageSettings
from holdfast.storage.reading import Reader

if TYPE_CHECKING:
    from holdfast.diagnosis.inspection.runs.recorded import Recall


@dataclass(frozen=True)
class Opening:
    """Opens places, each for at most `timeout` seconds, over shared connections."""

    timeout: float | None
    instances: dict[str, Any] = field(default_factory=dict)

    def reader(self, location: Location, settings: StorageSettings) -> Reader:
        """Open a place for reading."""
        return open_reader(location, settings, timeout=self.timeout, instances=self.instances)


def open_target(
    target: str | Path,
    project: ProjectChoice,
    storage_options: StorageOptions,
    timeout: float | None,
) -> tuple[Target, Reader]:
    """Find out which checkpoint is meant, and open it for reading."""
    found = resolved(target, project, storage_options)
    return found, open_reader(found.location, found.settings, timeout=timeout)


def open_recorded(
    target: str | Path,
    project: ProjectChoice,
    storage_options: StorageOptions,
    timeout: float | None,
    *,
    runs: int = 1,
    lease: bool = False,
    all_attempts: bool = False,
    recordings: bool = False,
) -> tuple[Target, Reader, Recall]:
    """Find out which checkpoint is meant; open it, and what is recorded beside it."""
    opening = Opening(timeout)
    found = resolved(target, project, storage_options)
    reader = opening.reader(found.location, found.settings)
    recall = recall_of(
        found, opening, runs=runs, lease=lease, all_attempts=all_attempts, recordings=recordings
    )
    return found, reader, recall


def recall_of(
    target: Target,
    opening: Opening,
    *,
    runs: int = 1,
    lease: bool = False,
    all_attempts: bool = False,
    recordings: bool = False,
) -> Recall:
    """Return what looks at the records of a target; nothing can be recorded beside a root."""
    from holdfast.diagnosis.inspection.runs.recorded import nothing, recall
    from holdfast.records.folder import records_of
    from holdfast.storage.location import canonical

    try:
        folder = records_of(target.location, target.settings)
    except StorageError:
        return nothing
    folder = replace(folder, open_reader=opening.reader)
    project, name = target.project, target.job
    return partial(
        recall,
        folder,
        checkpoint=canonical(target.location),
        runs=runs,
        lease=lease,
        job=(name, project.project) if project is not None and name is not None else None,
        all_attempts=all_attempts,
        recordings=recordings,
    )


def resolved(target: str | Path, project: ProjectChoice, storage_options: StorageOptions) -> Target:
    """Find out which checkpoint is meant."""
    return resolve_target(
        str(target),
        project=project,
        storage_options=storage_options,
        working_folder=working_folder(),
    )


def local_folder(location: Location) -> Path | None:
    """Return the folder of a place on this machine, None elsewhere."""
    return Path(location.url) if location.is_local else None


def working_folder() -> Path:
    """Return the working directory; somebody may have removed it under us."""
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        message = "the working directory no longer exists"
        raise NotFoundError("HF7001", message) from error
