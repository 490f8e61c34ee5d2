"""Finds a lease that others who use the checkpoint would not see."""

from __future__ import annotations

import os
from pathlib import Path

from holdfast.errors import LeaseError
from holdfast.records.folder import RecordsFolder
from holdfast.storage.mounts import beside_is_elsewhere

_MOUNTINFO = Path("/proc/self/mountinfo")


def refuse_unshared(folder: RecordsFolder) -> None:
    """Raise HF2613 where the checkpoint is a mount and its records are not on one with it."""
    if not folder.location.is_local:
        return
    try:
        mountinfo = os.fsdecode(_MOUNTINFO.read_bytes())
    except OSError:
        return  # only Linux tells
    around, name = os.path.split(folder.location.url)
    parent = os.path.dirname(around)  # noqa: PTH120 - a text, which is compared with texts
    checkpoint = f"{parent.rstrip('/')}/{name}"
    if beside_is_elsewhere(mountinfo, checkpoint, folder.location.url):
        message = f"{checkpoint} is a mount point, and {around} lies on another file system"
        steps = (
            f"mount {parent} instead, with {name} inside it",
            f"or mount a shared directory at {around}, too, in every container that uses the "
            "checkpoint",
        )
        raise LeaseError("HF2613", message, at=folder.location.shown, next_steps=steps)
