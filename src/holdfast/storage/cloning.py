"""Lets the file system share the blocks of a file with a copy of it, until either is changed."""

from __future__ import annotations

import os
from pathlib import Path

_CLONE = 0x40049409
"""FICLONE of Linux: Btrfs, XFS, bcachefs and overlays of them know it."""


def cloned(source: Path, target: Path) -> bool:
    """Make `target`, a new file, a clone of `source`; False, and no file, where nothing clones.

    Unlike a hard link, a clone is a file of its own: writing to one never changes the other.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        return False
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)
    try:
        read = os.open(source, flags)
    except OSError:
        return False
    try:
        with target.open("xb") as written:
            fcntl.ioctl(written.fileno(), _CLONE, read)
    except OSError:
        target.unlink(missing_ok=True)
        return False
    finally:
        os.close(read)
    return True
