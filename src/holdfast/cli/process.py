"""What a command does about its own process: an output that nobody reads any more, numpy without
threads."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

from holdfast.errors import StorageError

_NOBODY_READS = (errno.EPIPE, errno.EIO)


@contextmanager
def closed_pipe_ignored(stream: TextIO) -> Iterator[None]:
    """Write to a stream in the body; what nobody reads is dropped, now and later.

    Nobody reads a pipe whose reader ended, or a terminal that was closed. Raise OutputError where
    the output goes to a file that takes no more.
    """
    try:
        yield
        stream.flush()
    except OSError as error:
        drop_output(stream)
        if error.errno not in _NOBODY_READS:
            raise OutputError(error) from error


class OutputError(StorageError):
    """What a command prints could not be written to the end."""

    def __init__(self, error: OSError) -> None:
        reason = (error.strerror or str(error)).lower()
        super().__init__(
            "HF7015",
            f"the output cannot be written: {reason}",
            why="what was printed is incomplete",
            next_steps=("free space where the output is redirected to, or redirect it elsewhere",),
        )


def drop_output(stream: TextIO) -> None:
    """Send what is still to be written nowhere: Python would fail to flush it at its end."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def start_numpy_without_threads() -> None:
    """Keep OpenBLAS from starting a thread for each core, once numpy is imported.

    They take longer to start than the first rows to read. Only for commands that run no code of
    the user: whoever computes with numpy wants them.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
