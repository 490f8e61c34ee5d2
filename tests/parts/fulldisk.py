"""Lets a process that runs find no room for a file, without a disk of its own that is full."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def files_end_at(size: int, process: int) -> Iterator[None]:
    """Let no file of a process, or of those that it starts, grow beyond so many bytes."""
    soft, hard = resource.prlimit(process, resource.RLIMIT_FSIZE)
    resource.prlimit(process, resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.prlimit(process, resource.RLIMIT_FSIZE, (soft, hard))
