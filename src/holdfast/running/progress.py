"""Turns what Spark reports of every batch into the notes of a run."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from holdfast.errors import DecodeError
from holdfast.format.sources import Amount, SourceEvidence, amount_between
from holdfast.plurals import measured
from holdfast.records.run import BatchNote, Measures, OperatorState, SourceLag, SourceProgress
from holdfast.redaction import redact

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
    for source, told in zip(sources, reported, strict=True):
        left = dict(_outstanding(told))
        amount = _distance(source.format, told)
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
            description=redact(str(told["description"])),
            start_offset=source.start_offset
            if source.end_offset
            else _offset(told.get("startOffset")),
            end_offset=_offset(told.get("endOffset")),
        )
        for source, told in zip(known, reported, strict=True)
    )


def _offset(told: Any) -> str | None:
    """Return an offset's text; Spark puts one that is JSON into its report as JSON."""
    if told is None or isinstance(told, str):
        return told
    return json.dumps(told, separators=(",", ":"))
