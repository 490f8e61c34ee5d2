"""Turns what Spark reports of every batch into the notes of a run."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from pyspark.sql.streaming.listener import (
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

from holdfast.errors import DecodeError
from holdfast.format.sources import SourceEvidence, amount_between
from holdfast.records.run import BatchNote, SourceProgress
from holdfast.redaction import redact

RECENT_BATCHES = 20
"""How many of the newest batches a record keeps."""
_EARLY_REPORTS = 100


class Notes:
    """What one query has done so far. Spark writes from its own thread, we read from ours."""

    def __init__(self, sources: tuple[SourceProgress, ...], skipped: Callable[[int], bool]) -> None:
        self._lock = threading.Lock()
        self._skipped = skipped
        self.sources = sources
        self.batches = 0
        self.rows = 0
        self.skipped_batches = 0
        self.first_batch: int | None = None
        self.last_batch: int | None = None
        self.recent: deque[BatchNote] = deque(maxlen=RECENT_BATCHES)
        self.over = threading.Event()
        """Spark said that the query is over; nothing more comes."""

    def take(self, progress: Any) -> BatchNote | None:
        """Note a batch; None where Spark only says that nothing happened."""
        batch_id = int(progress.batchId)
        with self._lock:
            if self.last_batch is not None and batch_id <= self.last_batch:
                return None
            note = BatchNote(
                batch_id,
                max(int(progress.numInputRows), 0),
                str(progress.timestamp),
                round(int(progress.durationMs.get("triggerExecution", 0)) / 1000, 3),
                self._skipped(batch_id),
            )
            self.batches += 1
            self.rows += note.rows
            self.skipped_batches += note.skipped
            self.first_batch = batch_id if self.first_batch is None else self.first_batch
            self.last_batch = batch_id
            self.recent.append(note)
            self.sources = _moved(self.sources, progress.sources)
            return note


class Listening(StreamingQueryListener):
    """Hears every query of a session, and passes on what belongs to the one that it follows."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._early: deque[tuple[str, Any]] = deque(maxlen=_EARLY_REPORTS)
        self._run_id: str | None = None
        self._heard: Callable[[Any], None] = _unheard
        self._over: Callable[[], None] = _nothing

    def follow(self, run_id: str, heard: Callable[[Any], None], over: Callable[[], None]) -> None:
        """Pass the reports of a run on, beginning with those that came before we knew its id."""
        with self._lock:
            self._run_id, self._heard, self._over = run_id, heard, over
            for early_id, report in self._early:
                self._pass_on(early_id, report)
            self._early.clear()

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802  (Spark's name)
        """Nothing: the one who started it knows."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802
        """Pass a batch on."""
        self._take(str(event.progress.runId), event.progress)

    def onQueryIdle(self, event: Any) -> None:  # noqa: N802
        """Nothing: no batch was run."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802
        """Pass the end on."""
        self._take(str(event.runId), None)

    def _take(self, run_id: str, report: Any) -> None:
        with self._lock:
            if self._run_id is None:
                self._early.append((run_id, report))
            else:
                self._pass_on(run_id, report)

    def _pass_on(self, run_id: str, report: Any) -> None:
        if run_id != self._run_id:
            return
        if report is None:
            self._over()
        else:
            self._heard(report)


def _unheard(_report: Any) -> None:
    """Nobody follows yet."""


def _nothing() -> None:
    """Nobody follows yet."""


def behind(progress: Any, kinds: Mapping[int, str]) -> str | None:
    """Say how much the sources have beyond this batch, as far as they tell it."""
    parts = [
        told
        for position, source in enumerate(progress.sources)
        if (told := _distance(kinds.get(position, "unknown"), source))
    ]
    return ", ".join(parts) or None


def _distance(kind: str, source: Any) -> str | None:
    end, latest = _offset(source.endOffset), _offset(source.latestOffset)
    if not end or not latest or kind == "unknown":
        return None
    try:
        amount = amount_between(kind, SourceEvidence(end), SourceEvidence(latest))
    except DecodeError:
        return None
    return f"{amount.total:,} {amount.unit}" if amount.total else None


def _moved(known: tuple[SourceProgress, ...], reported: Any) -> tuple[SourceProgress, ...]:
    """Take the offsets over; the first start offset of a run stays."""
    if len(known) != len(reported):
        return known
    return tuple(
        replace(
            source,
            description=redact(str(told.description)),
            start_offset=source.start_offset if source.end_offset else _offset(told.startOffset),
            end_offset=_offset(told.endOffset),
        )
        for source, told in zip(known, reported, strict=True)
    )


def _offset(told: str | None) -> str | None:
    """Give an offset; where there is none pyspark spells it out."""
    return None if told in (None, "None", "null") else told
