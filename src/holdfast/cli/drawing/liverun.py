"""Shows a run while it goes on: a live line a job on standard error, plain lines in a pipe, a
line of JSON an event in a file."""

from __future__ import annotations

import json
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from holdfast.answers import plain
from holdfast.cli.process import closed_pipe_ignored
from holdfast.errors import UsageError
from holdfast.records.moments import moment_now
from holdfast.redaction import redact, redact_value
from holdfast.running.report import (
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
from holdfast.wording import counted, measured

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text


_ALL_JOBS = ""
"""Where the line stands that is about all jobs: below theirs."""
_WORTH_SECONDS = 2
"""A batch that takes longer shows how long."""
_PLAIN_SECONDS = 1.0
"""In a pipe a job says at most so often how far it is."""
_FIRST_SECONDS, _LEAST_SECONDS, _MOST_SECONDS = 30, 60, 600
"""In a pipe a batch in progress has its first line after 30 s, then one a minute; after ten minutes
the distance grows with what it took so far, up to ten minutes."""
_LOOK_SECONDS = 1.0


Delivering = Callable[[], Mapping[str, int | None]]
"""Says which jobs run, each with the batch that it delivers right now."""


class InWork:
    """How long the batches take that are delivered right now."""

    def __init__(self, delivering: Delivering, clock: Callable[[], float] = time.monotonic) -> None:
        self._delivering = delivering
        self._clock = clock
        self._since: dict[tuple[str, int], float] = {}
        self._next: dict[tuple[str, int], int] = {}
        """In a pipe: after how many seconds each batch has its next line."""

    def added_to(self, lines: Mapping[str, str]) -> dict[str, str]:
        """Return the lines of jobs, those with a batch in work with how long it takes."""
        shown = dict(lines)
        for (job, batch), seconds in self._taken().items():
            if job in shown and seconds >= _WORTH_SECONDS:
                shown[job] = _in_progress(job, batch, seconds, shown[job])
        return shown

    def due(self, lines: Mapping[str, str]) -> list[str]:
        """Return the lines of batches that have been in work for long since their last line."""
        taken = self._taken()
        self._next = {key: self._next.get(key, _FIRST_SECONDS) for key in taken}
        found: list[str] = []
        for (job, batch), seconds in taken.items():
            if job in lines and seconds >= self._next[job, batch]:
                self._next[job, batch] = seconds + _pause(seconds)
                found.append(_in_progress(job, batch, seconds, lines[job]))
        return found

    def _taken(self) -> dict[tuple[str, int], int]:
        """Return the batches in work with the seconds that they took so far."""
        now = self._clock()
        batches = [(job, one) for job, one in self._delivering().items() if one is not None]
        self._since = {key: self._since.get(key, now) for key in batches}
        return {key: int(now - since) for key, since in self._since.items()}


def _in_progress(job: str, batch: int, seconds: int, line: str) -> str:
    rest = line.removeprefix(f"{job}: ")
    return f"{job}: batch {batch} in progress for {seconds} s; {rest}"


def _pause(seconds: int) -> int:
    """Return how long a batch that took this long has no further line."""
    return min(max(_LEAST_SECONDS, seconds // 10), _MOST_SECONDS)


class LiveRun:
    """Takes events from any thread and shows where each job stands."""

    def __init__(
        self,
        *,
        silent: bool,
        no_color: bool,
        delivering: Delivering = dict[str, "int | None"],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._silent = silent
        self._in_work = InWork(delivering, clock)
        self._ended = threading.Event()
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
        elif not self._silent:
            threading.Thread(target=self._look, name="holdfast-in-progress", daemon=True).start()
        return self

    def __exit__(self, *_failure: object) -> None:
        self._ended.set()
        if self._live is not None:
            with closed_pipe_ignored(sys.stderr):
                self._live.stop()

    def show(self, event: Event) -> None:
        """Show what happened."""
        if self._silent and not (isinstance(event, RunStep) and event.always):
            return
        with self._lock, closed_pipe_ignored(sys.stderr):
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
                self._leave(f"{event.job}: delivery: {redact(event.promise)}")

    def _drawn(self) -> Text:
        # Drawn by a thread of the terminal's, which must not wait for who shows an event.
        return _block(dict(self._lines) | self._in_work.added_to(self._running()))

    def _running(self) -> dict[str, str]:
        """Return the lines of jobs that have not ended."""
        lines, over = dict(self._lines), self._over
        return {job: line for job, line in lines.items() if job not in over}

    def _look(self) -> None:
        while not self._ended.wait(_LOOK_SECONDS):
            self.show_in_progress()

    def show_in_progress(self) -> None:
        """Print the batches that take long, in a pipe, where no line is drawn again."""
        with self._lock:
            if self._ended.is_set():
                return
            for line in self._in_work.due(self._running()):
                self._leave(line)

    def _leave_unsaid(self, job: str) -> None:
        """Print how many batches had no line of their own."""
        batches = self._unsaid.pop(job, [])
        if batches:
            rows = counted(sum(one.batch.rows for one in batches), "row")
            number = counted(len(batches), "more batch", "more batches")
            self._leave(f"{job}: … {number}, {rows}")

    def _leave(self, line: str) -> None:
        """Print a line that stays, also where the others are drawn again."""
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
        return f"continues, but its run record cannot be written: {event.message}"
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


_NAMES = {
    "RunStep": "step",
    "JobStarting": "starting",
    "JobWaiting": "waiting",
    "JobWaitingForUpstream": "waiting-for-upstream",
    "JobStarted": "started",
    "BatchDone": "batch",
    "RecordFailing": "record-failing",
    "JobStopping": "stopping",
    "JobEnded": "ended",
    "JobRestarting": "restarting",
    "JobsFailed": "jobs-failed",
}


class EventLines:
    """The file of `--events`; without one, nothing is written."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._file: TextIO | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> EventLines:
        if self._path is not None:
            try:
                self._file = self._path.open("a", encoding="utf-8")
            except OSError as error:
                reason = (error.strerror or "unknown reason").lower()
                message = f"--events: the file cannot be opened: {reason}"
                raise UsageError("HF1001", message, at=str(self._path)) from error
        return self

    def __exit__(self, *_failure: object) -> None:
        if self._file is not None:
            self._file.close()

    def write(self, event: Event) -> None:
        """Append one event, whole and at once."""
        if self._file is None:
            return
        fields = plain(event)
        assert isinstance(fields, dict)
        line = {"event": _NAMES[type(event).__name__], "at": moment_now(), **fields}
        with self._lock:
            self._file.write(json.dumps(redact_value(line), ensure_ascii=False) + "\n")
            self._file.flush()
