"""Gives a finished temporary file its final name, without replacing a file of that name."""

from __future__ import annotations

import errno
import os
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
