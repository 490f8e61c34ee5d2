"""Appends what happens in a run to a file, one line of JSON an event, readable while it grows."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from holdfast.answers import plain
from holdfast.errors import UsageError
from holdfast.records.moments import moment_now
from holdfast.redaction import redact_value

if TYPE_CHECKING:
    from holdfast.spark.events import Event

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
