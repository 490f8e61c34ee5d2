"""Turns what Spark reports of every batch into the notes of a run."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from holdfast.errors import DecodeError
from holdfast.format.sources import SourceEvidence, amount_between
from holdfast.plurals import measured
from holdfast.records.run import BatchNote, SourceProgress
from holdfast.redaction import redact
from holdfast.spark.listening import Report

RECENT_BATCHES = 20
"""How many of the newest batches a record keeps."""


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
            return note


def behind(report: Report, kinds: Mapping[int, str]) -> str | None:
    """Say how much the sources have beyond this batch, as far as they tell it."""
    parts = [
        told
        for position, source in enumerate(report["sources"])
        if (told := _distance(kinds.get(position, "unknown"), source))
    ]
    return ", ".join(parts) or None


def _distance(kind: str, source: Report) -> str | None:
    end, latest = _offset(source.get("endOffset")), _offset(source.get("latestOffset"))
    if not end or not latest or kind == "unknown":
        return None
    try:
        amount = amount_between(kind, SourceEvidence(end), SourceEvidence(latest))
    except DecodeError:
        return None
    return measured(amount.total, amount.unit) if amount.total else None


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
    """Give an offset's text; Spark puts one that is JSON into its report as JSON."""
    if told is None or isinstance(told, str):
        return told
    return json.dumps(told, separators=(",", ":"))
