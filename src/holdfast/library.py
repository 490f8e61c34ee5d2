"""The public functions: what the commands do, for programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.answers import Answer
from holdfast.checkpoint.reading import SHOWN_BATCHES
from holdfast.checkpoint.verification import Progress
from holdfast.diagnosis.inspecting import inspect_checkpoint
from holdfast.diagnosis.inspection import Inspection
from holdfast.errors import NotFoundError
from holdfast.jobs.target import Target, resolve_target
from holdfast.storage.opening import open_reader
from holdfast.storage.reading import Reader

if TYPE_CHECKING:
    from holdfast.diagnosis.comparison import Comparison

COMPARED_BATCHES = 100
"""How many of the newest batches `diff` compares."""


def inspect(
    target: str | Path,
    *,
    batches: int = SHOWN_BATCHES,
    spark: str | None = None,
    verify: bool = False,
    project: str | Path | None = None,
    storage_options: Sequence[str] = (),
    timeout: float | None = None,
    progress: Progress | None = None,
) -> Answer[Inspection]:
    """Tell what is in a checkpoint and what the next start will do with it; nothing is written.

    `target` is a path, a URL or a job's name in the project. Raises HoldfastError.
    """
    found, reader = _open(target, project, storage_options, timeout)
    return inspect_checkpoint(
        reader,
        formats=found.source_formats,
        shown=batches,
        spark=spark,
        verified=verify,
        may_be_missing=found.job is not None,
        progress=progress,
    )


def diff(
    target: str | Path,
    other: str | Path,
    *,
    batches: int = COMPARED_BATCHES,
    project: str | Path | None = None,
    storage_options: Sequence[str] = (),
    timeout: float | None = None,
) -> Answer[Comparison]:
    """Tell what differs between the logs of two checkpoints; nothing is written."""
    # `inspect`, which must answer at once, does not wait for what only `diff` needs.
    from holdfast.diagnosis.comparison import compare_checkpoints

    found, left = _open(target, project, storage_options, timeout)
    _, right = _open(other, project, storage_options, timeout)
    return compare_checkpoints(left, right, formats=found.source_formats, most=batches)


def _open(
    target: str | Path,
    project: str | Path | None,
    storage_options: Sequence[str],
    timeout: float | None,
) -> tuple[Target, Reader]:
    found = resolve_target(
        str(target),
        project=Path(project) if project is not None else None,
        storage_options=storage_options,
        working_folder=_working_folder(),
    )
    return found, open_reader(found.location, found.settings, timeout=timeout)


def _working_folder() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        message = "the working directory does not exist any more"
        raise NotFoundError("HF7001", message) from error
