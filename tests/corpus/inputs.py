"""Writes the small input files of a shape, always the same bytes with the same times."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path

SCHEMA = "key string, value long, at timestamp"
START = datetime(2026, 1, 1, tzinfo=timezone.utc)
KEYS: tuple[str | None, ...] = ("alder", "birch", "çam", None)

Row = dict[str, object]


def row(key: str | None, value: int, seconds: int) -> Row:
    """Returns one event, `seconds` after the start of 2026."""
    at = START + timedelta(seconds=seconds)
    return {"key": key, "value": value, "at": at.strftime("%Y-%m-%dT%H:%M:%SZ")}


def batch(number: int, keys: Sequence[str | None] = KEYS) -> list[Row]:
    """Returns the events of one batch: one per key, in the batch's own minute."""
    return [row(key, number * 10 + i, number * 60 + i) for i, key in enumerate(keys)]


def write_batches(folder: Path, numbers: Iterable[int]) -> None:
    """Writes one file per batch into `folder`."""
    for number in numbers:
        write_file(folder, number, batch(number))


def write_file(folder: Path, number: int, rows: Iterable[Row]) -> None:
    """Writes one JSON file whose modification time puts it at place `number`."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{number:04}.json"
    path.write_text("".join(json.dumps(item) + "\n" for item in rows), encoding="utf-8")
    modified = START.timestamp() + number * 60
    os.utime(path, (modified, modified))
