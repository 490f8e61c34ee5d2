"""Shows a run while it goes on, on standard error: a live line a job, plain lines in a pipe."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from holdfast.cli.closedpipe import closed_pipe_ignored
from holdfast.plurals import counted, measured
from holdfast.redaction import redact
from holdfast.spark.events import (
    BatchDone,
    Event,
    JobEnded,
    JobRestarting,
    JobsFailed,
    JobStarted,
    JobStarting,
    JobStopping,
    JobWaiting,
    JobWaitingForUpstream,
    RecordFailing,
    RunStep,
)

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text

_ALL_JOBS = ""
"""Where the line stands that is about all jobs: below theirs."""
_WORTH_SECONDS = 2
"""A batch that takes longer shows how long."""
_PLAIN_SECONDS = 1.0
"""In a pipe a job says at most so often how far it is."""


Delivering = Callable[[], Mapping[str, int | None]]
"""Says which jobs run, each with the batch that it delivers right now."""


class InWork:
    """How long the batches take that are delivered right now."""

    def __init__(self, delivering: Delivering, clock: Callable[[], float] = time.monotonic) -> None:
        self._delivering = delivering
        self._clock = clock
        self._since: dict[tuple[str, int], float] = {}

    def added_to(self, lines: Mapping[str, str]) -> dict[str, str]:
        """Return the lines of jobs, those with a batch in work with how long it takes."""
        now = self._clock()
        batches = [(job, one) for job, one in self._delivering().items() if one is not None]
        self._since = {key: self._since.get(key, now) for key in batches}
        shown = dict(lines)
        for job, batch in batches:
            seconds = int(now - self._since[job, batch])
            if job in shown and seconds >= _WORTH_SECONDS:
                rest = shown[job].removeprefix(f"{job}: ")
                shown[job] = f"{job}: batch {batch} in progress for {seconds} s; {rest}"
        return shown


class LiveRun:
    """Takes events from any thread and shows where each job stands."""

    def __init__(
        self, *, silent: bool, no_color: bool, delivering: Delivering = dict[str, "int | None"]
    ) -> None:
        self._silent = silent
        self._in_work = InWork(delivering)
        self._no_color = no_color
        self._lock = threading.Lock()
        self._lines: dict[str, str] = {}
        self._over: frozenset[str] = frozenset()
        """Jobs that have ended."""
        self._said: dict[str, float] = {}
        self._unsaid: dict[str, list[BatchDone]] = {}
        """Batches of each job since its last line about one."""
        self._live: Live | None = None

    def __enter__(self) -> LiveRun:
        if not self._silent and sys.stderr.isatty():
            # Only who watches a terminal waits for the import.
            from rich.console import Console
            from rich.live import Live

            console = Console(stderr=True, no_color=self._no_color or None, highlight=False)
            self._live = Live(console=console, refresh_per_second=8, get_renderable=self._drawn)
            self._live.start()
        return self

    def __exit__(self, *_failure: object) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, event: Event) -> None:
        """Show what happened."""
        if self._silent and not (isinstance(event, RunStep) and event.always):
            return
        with self._lock:
            if isinstance(event, RunStep):
                self._leave(redact(event.message))
                return
            key, line = event.job, f"{event.job}: {redact(line_of(event))}"
            if isinstance(event, JobStopping):
                self._leave(line)
                return
            if isinstance(event, JobsFailed):
                key, line = _ALL_JOBS, redact(line_of(event))
            self._lines[key] = line
            if isinstance(event, JobEnded):
                # A delivery may go on in code that does not listen.
                self._over = self._over | {event.job}
            elif isinstance(event, JobStarting):
                self._over = self._over - {event.job}
            if self._live is not None:
                self._live.refresh()
            elif self._is_due(event):
                self._leave_unsaid(event.job)
                self._leave(line)
            if isinstance(event, JobStarted) and event.promise is not None:
                self._leave(f"{event.job}: sink: {redact(event.promise)}")

    def _drawn(self) -> Text:
        # Drawn by a thread of the terminal's, which must not wait for who shows an event.
        lines, over = dict(self._lines), self._over
        running = {job: line for job, line in lines.items() if job not in over}
        return _block(lines | self._in_work.added_to(running))

    def _leave_unsaid(self, job: str) -> None:
        """Print how many batches had no line of their own."""
        batches = self._unsaid.pop(job, [])
        if batches:
            rows = counted(sum(one.batch.rows for one in batches), "row")
            number = counted(len(batches), "more batch", "more batches")
            self._leave(f"{job}: … {number}, {rows}")

    def _leave(self, line: str) -> None:
        """Print a line that stays, also where the others are drawn anew."""
        if self._live is not None:
            self._live.console.print(line, markup=False)
        else:
            with closed_pipe_ignored(sys.stderr):
                sys.stderr.write(f"{line}\n")

    def _is_due(self, event: Event) -> bool:
        if not isinstance(event, BatchDone):
            return True
        now = time.monotonic()
        if now - self._said.get(event.job, -_PLAIN_SECONDS) < _PLAIN_SECONDS:
            self._unsaid.setdefault(event.job, []).append(event)
            return False
        self._said[event.job] = now
        return True


def line_of(event: Event) -> str:
    """Say an event in one line."""
    if isinstance(event, RunStep):
        return event.message
    if isinstance(event, JobStarting):
        return "starting"
    if isinstance(event, JobWaiting):
        return f"waiting up to 30 s to see whether {event.holder} is still alive"
    if isinstance(event, JobStarted):
        first = "" if event.next_batch is None else f", batch {event.next_batch} is run again"
        notes = "".join(f"; {finding.code} {finding.message}" for finding in event.findings)
        return f"started (query {event.query_id}, generation {event.generation}){first}{notes}"
    if isinstance(event, BatchDone):
        return _batch(event)
    if isinstance(event, RecordFailing):
        return f"goes on, but its record cannot be written: {event.message}"
    if isinstance(event, JobStopping):
        return _stopping(event)
    if isinstance(event, JobEnded):
        return _end(event)
    return _line_of_several(event)


def _line_of_several(event: JobWaitingForUpstream | JobRestarting | JobsFailed) -> str:
    if isinstance(event, JobWaitingForUpstream):
        jobs = "job" if len(event.upstream) == 1 else "jobs"
        return f"waiting for the first output of upstream {jobs} {', '.join(event.upstream)}"
    if isinstance(event, JobRestarting):
        which = f"restart {event.restart} of {event.limit}"
        return f"restarting in {event.seconds:g} s ({which}) after {event.code} {event.message}"
    jobs = "job" if event.jobs == 1 else "jobs"
    return f"{len(event.failed)} of {event.jobs} {jobs} failed: {', '.join(event.failed)}"


def _batch(event: BatchDone) -> str:
    """Name the batch's own rows, and what the run has delivered so far."""
    skipped = " skipped (already in the sink)" if event.batch.skipped else ""
    rows = counted(event.batch.rows, "row")
    total = f"{counted(event.total_batches, 'batch')}, {counted(event.total_rows, 'row')}"
    speed = f"{measured(round(event.rows_per_second), 'rows')}/s"
    behind = "" if event.behind is None else f", behind by {event.behind}"
    return f"batch {event.batch.batch_id}{skipped}, {rows}, {speed}{behind}; so far {total}"


def _stopping(event: JobStopping) -> str:
    if event.batch is None:
        return "stopping; no batch is being written"
    if event.signal is None:
        return f"finishing batch {event.batch}, then stopping"
    again = "press Ctrl-C again" if event.signal == signal.SIGINT else "send the signal again"
    return f"finishing batch {event.batch}, {again} to stop now"


def _end(event: JobEnded) -> str:
    total = f"{counted(event.batches, 'batch')}, {counted(event.rows, 'row')}"
    why = "" if event.message is None else f": {event.message}"
    return f"{event.ended.value} after {event.seconds:.1f} s, {total}{why}"


def _block(lines: dict[str, str]) -> Text:
    from rich.text import Text

    jobs = [line for job, line in lines.items() if job != _ALL_JOBS]
    summary = [lines[_ALL_JOBS]] if _ALL_JOBS in lines else []
    return Text("\n".join([*jobs, *summary]), no_wrap=True, overflow="ellipsis")
