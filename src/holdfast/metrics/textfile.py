"""Writes metrics to a file for a node exporter's textfile collector, whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from holdfast.errors import HoldfastError, UsageError
from holdfast.storage.outputfile import replace_whole
from holdfast.storage.showing import shown_path
from holdfast.storage.walk import is_inside

SUFFIX = ".prom"
"""The only files that the collector reads."""
_OURS = b"# HELP holdfast_"
"""How a file of ours begins."""


def refuse_bad_file(path: Path, checkpoints: Iterable[Path]) -> None:
    """Raise HF1023 for a place that metrics must not be written to."""
    if (reason := _bad(path, checkpoints)) is not None:
        raise UsageError("HF1023", reason, at=shown_path(str(path)))


def write_metrics(path: Path, text: bytes) -> None:
    """Replace the metrics file, so that a reader sees the old one or the new one."""
    try:
        replace_whole(path, text)
    except OSError as failure:
        raise _unwritable(path, failure) from failure


def _bad(path: Path, checkpoints: Iterable[Path]) -> str | None:
    if path.suffix != SUFFIX:
        return f"the name of the metrics file does not end in {SUFFIX}"
    folder = os.path.realpath(path.parent)
    if not Path(folder).is_dir():
        return "the directory of the metrics file does not exist"
    if any(is_inside(folder, os.path.realpath(one)) for one in checkpoints):
        return "the metrics file would be inside a checkpoint"
    if not os.access(folder, os.W_OK | os.X_OK):
        return "the directory of the metrics file cannot be written"
    if path.is_dir():
        return "the metrics file is a directory"
    if os.path.lexists(path) and not _is_ours(path):
        return "the file exists and is not a metrics file of Holdfast"
    return None


def _is_ours(path: Path) -> bool:
    """Whether the file is one that may be replaced; an empty one holds nothing."""
    try:
        with path.open("rb") as file:
            begins = file.read(len(_OURS))
    except OSError as failure:
        raise _unwritable(path, failure) from failure
    return begins in (_OURS, b"")


def _unwritable(path: Path, failure: OSError) -> HoldfastError:
    reason = (failure.strerror or "unknown reason").lower()
    message = f"the metrics file cannot be written: {reason}"
    return UsageError("HF1023", message, at=shown_path(str(path)))
