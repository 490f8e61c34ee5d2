"""Writes the record of a run while it goes on, from what Spark reports of every batch.

The record is what `status` and the next start know of the run. The rows are in the sink without it.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from holdfast.errors import DecodeError, HoldfastError, StorageError
from holdfast.findings import Finding, Place, Severity
from holdfast.format.sources import Amount, SourceEvidence, amount_between
from holdfast.ledgers.sinkstate import SinkState
from holdfast.records.history import History
from holdfast.records.run import (
    BatchNote,
    Measures,
    OperatorState,
    Run,
    SinkFacts,
    SourceLag,
    SourceProgress,
)
from holdfast.redaction import redact
from holdfast.running.report import RecordFailing, Watcher
from holdfast.wording import counted, measured

if TYPE_CHECKING:
    from holdfast.jobs.ready import ReadySink
    from holdfast.spark.sinks.sink import JobSink


Report = Mapping[str, Any]
"""What Spark reports of one batch, as its JSON names it."""

RECENT_BATCHES = 20
"""How many of the newest batches a record keeps."""
_OUTSTANDING = {"numFilesOutstanding": "files", "numBytesOutstanding": "bytes"}
"""Metrics in which a source says what it has left to read, and what they count."""


class QueryProgress:
    """What one query has done so far. Spark writes from its own thread, we read from ours."""

    def __init__(self, sources: tuple[SourceProgress, ...], skipped: Callable[[int], bool]) -> None:
        self._lock = threading.Lock()
        self._skipped = skipped
        self.sources = sources
        self.measures: Measures | None = None
        self.batches = 0
        self.rows = 0
        self.skipped_batches = 0
        self.first_batch: int | None = None
        self.last_batch: int | None = None
        self.recent: deque[BatchNote] = deque(maxlen=RECENT_BATCHES)
        self.over = threading.Event()
        """Spark said that the query is over; nothing more comes."""

    def take(self, report: Report) -> BatchNote | None:
        """Note a batch; None where Spark only says that nothing happened."""
        batch_id = int(report["batchId"])
        with self._lock:
            if self.last_batch is not None and batch_id <= self.last_batch:
                return None
            note = BatchNote(
                batch_id,
                max(int(report["numInputRows"]), 0),
                str(report["timestamp"]),
                round(int(report["durationMs"].get("triggerExecution", 0)) / 1000, 3),
                self._skipped(batch_id),
            )
            self.batches += 1
            self.rows += note.rows
            self.skipped_batches += note.skipped
            self.first_batch = batch_id if self.first_batch is None else self.first_batch
            self.last_batch = batch_id
            self.recent.append(note)
            self.sources = _moved(self.sources, report["sources"])
            self.measures = _measures(report, self.sources)
            return note


def behind(report: Report, kinds: Mapping[int, str]) -> str | None:
    """Say how much the sources have beyond this batch, as far as they tell it."""
    amounts = [
        _distance(kinds.get(position, "unknown"), source)
        for position, source in enumerate(report["sources"])
    ]
    parts = [measured(one.total, one.unit) for one in amounts if one is not None and one.total]
    return ", ".join(parts) or None


def _measures(report: Report, sources: tuple[SourceProgress, ...]) -> Measures:
    durations = report.get("durationMs") or {}
    operators = enumerate(report.get("stateOperators") or ())
    return Measures(
        int(report["batchId"]),
        {str(phase): int(spent) / 1000 for phase, spent in durations.items()},
        tuple(
            OperatorState(
                position,
                str(one.get("operatorName", "unknown")),
                int(one.get("numRowsTotal", 0)),
                int(one.get("memoryUsedBytes", 0)),
            )
            for position, one in operators
        ),
        tuple(_lags(report["sources"], sources)),
    )


def _lags(reported: Sequence[Report], sources: tuple[SourceProgress, ...]) -> Iterator[SourceLag]:
    """Yield what each source has left to read, once per unit."""
    if len(reported) != len(sources):
        return
    for source, report in zip(sources, reported, strict=True):
        left = dict(_outstanding(report))
        amount = _distance(source.format, report)
        if amount is not None and amount.total is not None:
            left.setdefault(amount.unit, amount.total)
        yield from (SourceLag(source.name, total, unit) for unit, total in left.items())


def _outstanding(source: Report) -> Iterator[tuple[str, int]]:
    reported = source.get("metrics") or {}
    for metric, unit in _OUTSTANDING.items():
        text = str(reported.get(metric, ""))
        if text.isdecimal():
            yield unit, int(text)


def _distance(kind: str, source: Report) -> Amount | None:
    end, latest = _offset(source.get("endOffset")), _offset(source.get("latestOffset"))
    if not end or not latest or kind == "unknown":
        return None
    try:
        return amount_between(kind, SourceEvidence(end), SourceEvidence(latest))
    except DecodeError:
        return None


def _moved(
    known: tuple[SourceProgress, ...], reported: Sequence[Report]
) -> tuple[SourceProgress, ...]:
    """Take the offsets over; the first start offset of a run stays."""
    if len(known) != len(reported):
        return known
    return tuple(
        replace(
            source,
            description=redact(str(report["description"])),
            start_offset=source.start_offset
            if source.end_offset
            else _offset(report.get("startOffset")),
            end_offset=_offset(report.get("endOffset")),
        )
        for source, report in zip(known, reported, strict=True)
    )


def _offset(progress: Any) -> str | None:
    """Return an offset's text; Spark puts one that is JSON into its report as JSON."""
    if progress is None or isinstance(progress, str):
        return progress
    return json.dumps(progress, separators=(",", ":"))


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
