"""Tells whether a backup or restore is at work on a checkpoint, by the marks that workers leave.

`backups/busy/<number>` is there while a worker is. A mark whose process is gone, or which is older
than a day, counts as abandoned, so that a kill blocks nobody.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable

from holdfast.errors import NotFoundError
from holdfast.storage.reading import Reader
from holdfast.storage.writingtemporary import host_mark, process_lives

FOLDER = "busy"
TOKENS: set[str] = set()
"""What this process holds; a mark of this process that is not among them was left by a failure."""
_ABANDONED_SECONDS = 24 * 3600


def encode_mark(act: str, token: str) -> bytes:
    """Give the mark of this process."""
    mark = {"act": act, "host": host_mark(), "process": os.getpid(), "token": token}
    return json.dumps({**mark, "since": time.time()}).encode()


def marked_numbers(backups: Reader) -> list[int]:
    """Give the numbers of all marks, of living workers and of others."""
    return [int(name) for name in backups.names(FOLDER) if name.isdigit()]


def mark_path(number: int) -> str:
    """Name the file of a mark below `backups`."""
    return f"{FOLDER}/{number:08d}"


def is_busy(backups: Reader, numbers: Iterable[int] | None = None) -> bool:
    """Whether one of the marks, or of all marks, belongs to somebody who may still be at work."""
    for number in marked_numbers(backups) if numbers is None else numbers:
        try:
            content = backups.read(mark_path(number))
        except NotFoundError:
            continue  # its owner is done
        if not _is_abandoned(content):
            return True
    return False


def _is_abandoned(content: bytes) -> bool:
    try:
        mark = json.loads(content)
        age = time.time() - float(mark["since"])
        here, process = mark["host"] == host_mark(), int(mark["process"])
        token = mark["token"]
    except (ValueError, KeyError, TypeError):
        return False
    if here and process == os.getpid():
        return token not in TOKENS
    return age > _ABANDONED_SECONDS or (here and not process_lives(process))
