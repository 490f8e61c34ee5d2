"""Shows a run while it goes on, on standard error: a live line a job, plain lines in a pipe."""

from __future__ import annotations

import sys
import threading
import time
from typing import TYPE_CHECKING

from holdfast.redaction import redact
from holdfast.spark.events import (
    BatchDone,
    Event,
    JobEnded,
    JobStarted,
    JobStarting,
    JobWaiting,
)

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text

_PLAIN_SECONDS = 1.0
"""In a pipe a job says at most so often how far it is."""


class LiveRun:
    """Takes events from any thread and shows where each job stands."""

    def __init__(self, *, silent: bool, no_color: bool) -> None:
        self._silent = silent
        self._no_color = no_color
        self._lock = threading.Lock()
        self._lines: dict[str, str] = {}
        self._said: dict[str, float] = {}
        self._live: Live | None = None

    def __enter__(self) -> LiveRun:
        if not self._silent and sys.stderr.isatty():
            # Only who watches a terminal waits for the import.
            from rich.console import Console
            from rich.live import Live

            console = Console(stderr=True, no_color=self._no_color or None, highlight=False)
            self._live = Live(console=console, refresh_per_second=8)
            self._live.start()
        return self

    def __exit__(self, *_failure: object) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, event: Event) -> None:
        """Show what happened."""
        if self._silent:
            return
        with self._lock:
            self._lines[event.job] = f"{event.job}: {redact(line_of(event))}"
            if self._live is not None:
                self._live.update(_block(self._lines))
            elif self._is_due(event):
                sys.stderr.write(self._lines[event.job] + "\n")
                sys.stderr.flush()
            if isinstance(event, JobStarted) and event.promise is not None:
                self._leave(f"{event.job}: sink: {redact(event.promise)}")

    def _leave(self, line: str) -> None:
        """Print a line that stays, also where the others are drawn anew."""
        if self._live is not None:
            self._live.console.print(line, markup=False)
        else:
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()

    def _is_due(self, event: Event) -> bool:
        if not isinstance(event, BatchDone):
            return True
        now = time.monotonic()
        if now - self._said.get(event.job, -_PLAIN_SECONDS) < _PLAIN_SECONDS:
            return False
        self._said[event.job] = now
        return True


def line_of(event: Event) -> str:
    """Say an event in one line."""
    if isinstance(event, JobStarting):
        return "starting"
    if isinstance(event, JobWaiting):
        return f"waiting half a minute for a sign of life of {event.holder}"
    if isinstance(event, JobStarted):
        first = "" if event.next_batch is None else f", batch {event.next_batch} is run again"
        notes = "".join(f"; {finding.code} {finding.message}" for finding in event.findings)
        return f"started (query {event.query_id}, generation {event.generation}){first}{notes}"
    if isinstance(event, BatchDone):
        held = " (the sink held it already)" if event.batch.skipped else ""
        behind = "" if event.behind is None else f", behind by {event.behind}"
        rows = "1 row" if event.total_rows == 1 else f"{event.total_rows:,} rows"
        speed = f"{event.rows_per_second:,.0f} a second"
        return f"batch {event.batch.batch_id}{held}, {rows}, {speed}{behind}"
    return _end(event)


def _end(event: JobEnded) -> str:
    counted = f"{event.batches} batch{'es' if event.batches != 1 else ''}, {event.rows:,} rows"
    why = "" if event.message is None else f": {event.message}"
    return f"{event.ended.value} after {event.seconds:.1f} s, {counted}{why}"


def _block(lines: dict[str, str]) -> Text:
    from rich.text import Text

    return Text("\n".join(lines.values()), no_wrap=True, overflow="ellipsis")
