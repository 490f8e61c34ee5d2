"""Loads recorded event logs, with the checkpoints of their queries."""

from __future__ import annotations

import zipfile
from pathlib import Path

from holdfast.format.eventlogs import EventLog, LoggedQuery
from holdfast.restart.eventlogs import read_event_log
from tests.eventlogs.make import LOGS


def extracted(shape: str, folder: Path) -> tuple[Path, Path]:
    """Extract a shape; return its event log and its checkpoint."""
    with zipfile.ZipFile(LOGS / f"{shape}.zip") as archive:
        archive.extractall(folder)
    (log,) = (folder / "events").iterdir()
    return log, folder / "checkpoint"


def query_of(shape: str, folder: Path) -> tuple[EventLog, LoggedQuery]:
    """Return what the log of a shape says, and its newest query."""
    log = read_event_log(extracted(shape, folder)[0])
    return log, log.queries[-1]
