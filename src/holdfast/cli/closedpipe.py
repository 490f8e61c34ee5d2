"""Lets a command go on, and end quietly, when nobody reads its output any more, as with `head`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO


@contextmanager
def closed_pipe_ignored(stream: TextIO) -> Iterator[None]:
    """Write to a stream in the body; what nobody reads is dropped, now and later."""
    try:
        yield
        stream.flush()
    except BrokenPipeError:
        drop_output(stream)


def drop_output(stream: TextIO) -> None:
    """Send what is still to be written nowhere: Python would fail to flush it at its end."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
