"""A progress bar on standard error, shown only for work that takes longer than two seconds."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE_SECONDS = 2.0


class ByteProgress:
    """Counts bytes; stays silent in a pipe and while the work is quick."""

    def __init__(self, label: str, *, silent: bool) -> None:
        self._label = label
        self._silent = silent or not sys.stderr.isatty()
        self._started = time.monotonic()
        self._bar: Progress | None = None

    def __enter__(self) -> ByteProgress:
        return self

    def __exit__(self, *_failure: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, done: int, total: int) -> None:
        """Show how far the work has come."""
        if self._silent or time.monotonic() - self._started < PATIENCE_SECONDS:
            return
        if self._bar is None:
            self._bar = _open_bar(self._label, total)
        self._bar.update(self._bar.task_ids[0], completed=done, total=total)


def _open_bar(label: str, total: int) -> Progress:
    # Most commands end before a bar is due: only one that takes long pays for the import.
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(label), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    bar.add_task(label, total=total)
    bar.start()
    return bar
