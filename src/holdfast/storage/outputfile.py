"""Puts a finished file in its place: under a free name, or over the file of that name."""

from __future__ import annotations

import errno
import os
import uuid
from pathlib import Path

_NO_LINKS = frozenset({errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.EMLINK})


def publish_new(temporary: Path, target: Path) -> None:
    """Name the file `target`; raise FileExistsError where that name is taken.

    A link comes first: unlike a rename it never replaces a file that appeared meanwhile.
    """
    try:
        os.link(temporary, target)
    except OSError as failure:
        if failure.errno not in _NO_LINKS:
            raise
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, "exists", str(target)) from failure
        temporary.rename(target)


def replace_whole(target: Path, data: bytes) -> None:
    """Write the bytes beside the target, then give them its name; raise OSError."""
    # Containers that share a directory may share a process number as well.
    temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex}.partial")
    try:
        write_new(temporary, data)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def write_new(path: Path, data: bytes) -> None:
    """Write a new file and wait until the disk has it; raise FileExistsError if there is one."""
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
