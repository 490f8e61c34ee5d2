"""Writes the record of a run while it goes on; a storage that fails does not stop the job.

The record is what `status` and the next start know of the run. The rows are in the sink without it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.errors import HoldfastError, StorageError
from holdfast.findings import Finding, Place, Severity
from holdfast.ledgers.sinkstate import SinkState
from holdfast.plurals import counted
from holdfast.records.history import History
from holdfast.records.run import Run, SinkFacts
from holdfast.running.events import RecordFailing, Watcher

if TYPE_CHECKING:
    from holdfast.jobs.ready import ReadySink
    from holdfast.spark.sinks.sink import JobSink


ATTEMPTS = 3
"""How often writing may fail in a row before it is reported."""
_PAUSE_SECONDS = 1.0


class RecordKeeper:
    """Keeps the record of one run."""

    def __init__(
        self, history: History, watch: Watcher, pause: Callable[[float], object] = time.sleep
    ) -> None:
        self._history = history
        self._watch = watch
        self._pause = pause
        self._failed = 0
        self._reported: StorageError | None = None
        self._unwritten: tuple[Run, StorageError] | None = None
        """How the run ended, where that could not be written, and why."""

    def progress(self, run: Run) -> bool:
        """Write how far the run is; False where that failed and is to be tried again."""
        error = self._attempt(run)
        if error is None:
            self._failed = 0
            return True
        self._failed += 1
        if self._failed >= ATTEMPTS and self._reported is None:
            self._reported = error
            self._watch(RecordFailing(run.job, error.message, error.at))
        return False

    def end(self, run: Run) -> None:
        """Write how the run ended; where every attempt fails, `findings` says so."""
        for attempt in range(ATTEMPTS):
            if attempt:
                self._pause(_PAUSE_SECONDS)
            error = self._attempt(run)
            if error is None:
                self._unwritten = None
                return
            self._unwritten = run, error

    def findings(self) -> Iterator[Finding]:
        """Report what could not be written."""
        if self._unwritten is not None:
            yield _without_an_end(*self._unwritten)
        elif self._reported is not None:
            error = self._reported
            message = f"the run record was behind for a while: {error.message}"
            yield Finding("HF2611", Severity.INFO, message, _place(error))

    def _attempt(self, run: Run) -> StorageError | None:
        try:
            self._history.write(run)
        except StorageError as error:
            return error
        return None


def _without_an_end(run: Run, error: StorageError) -> Finding:
    ended = "ended" if run.ended is None else run.ended.value
    done = f"{counted(run.batches, 'batch')}, {counted(run.rows, 'row')}"
    message = (
        f"{run.job} {ended} ({done}), but this could not be written to its run record: "
        f"{error.message}"
    )
    evidence = {"job": run.job, "generation": run.generation, "ended": ended}
    return Finding("HF2612", Severity.WARNING, message, _place(error), evidence)


def _place(error: StorageError) -> Place:
    return Place("", root=error.at) if error.at is not None else Place("")


def facts_of_sink(sink: JobSink, sight: SinkState, declared: ReadySink, since: int) -> SinkFacts:
    """Return what the record says of the sink before the first batch, which is `since`."""
    native = sight.native is not None
    facts = SinkFacts(
        sink.kind, sink.identity, declared.mode, sink.promise, native=native, key=declared.key
    )
    if sight.place is None:
        return facts
    return replace(
        facts,
        place=sight.place,
        incarnation=sight.incarnation,
        held=sight.newest_delivered,
        since=since,
    )


class SinkTracker:
    """Keeps what a run says of its sink up to date."""

    def __init__(self) -> None:
        self._incarnation: str | None = None
        self._looked = False

    def now(
        self, record: Run, sink: JobSink, delivered: int | None, *, may_look: bool = True
    ) -> SinkFacts | None:
        """Return what is known of the sink now that this batch is delivered.

        Without Spark nobody may look at it.
        """
        facts = record.sink
        if facts is None or facts.place is None or delivered is None:
            return facts
        if facts.since is not None and delivered < facts.since:
            return facts
        incarnation = facts.incarnation or self._incarnation
        if incarnation is None and may_look:
            incarnation = self._made(sink, record.query_id)
        return replace(facts, held=delivered, incarnation=incarnation)

    def _made(self, sink: JobSink, query_id: str | None) -> str | None:
        """Look once at a table that the run itself has created."""
        if not self._looked:
            self._looked = True
            try:
                self._incarnation = sink.sight(query_id).incarnation
            except HoldfastError:
                # The rows are delivered; only a later warning is lost with this.
                self._incarnation = None
        return self._incarnation
