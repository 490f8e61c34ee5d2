"""Puts a bundle in its place: whole or not at all, over nothing, and not inside of any evidence."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from holdfast.errors import HoldfastError, UsageError
from holdfast.storage.outputfile import publish_new, write_new
from holdfast.storage.showing import shown_path
from holdfast.storage.walk import is_inside


def refuse_bad_place(target: Path, evidence: Sequence[Path]) -> None:
    """Refuse a name that is taken, a folder that is not there, or one that is evidence itself."""
    at = shown_path(str(target))
    if os.path.lexists(target):
        raise UsageError("HF2501", "the bundle's file exists already", at=at)
    folder = os.path.realpath(target.parent)
    for root in evidence:
        if is_inside(folder, os.path.realpath(root)):
            message = f"the bundle would lie inside of {shown_path(str(root))}"
            raise UsageError("HF2502", message, at=at)
    if not Path(folder).is_dir():
        raise UsageError("HF2503", "the bundle's folder does not exist", at=at)


def put_bundle(target: Path, data: bytes) -> None:
    """Write the bytes beside the target and give them its name at the end, if it is still free."""
    temporary = target.with_name(f".{target.name}.{os.getpid()}.partial")
    at = shown_path(str(target))
    try:
        try:
            write_new(temporary, data)
            publish_new(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)
    except FileExistsError as failure:
        raise UsageError("HF2501", "the bundle's file exists already", at=at) from failure
    except OSError as failure:
        reason = (failure.strerror or "unknown reason").lower()
        message = f"the bundle can't be written: {reason}"
        raise HoldfastError("HF2503", message, at=at) from failure
