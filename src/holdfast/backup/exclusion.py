"""Lets one backup or restore at a time work on a store, by files that are created once.

Each worker creates the number after the highest one. A file whose process is gone, or which is
older than a day, counts as abandoned, so that a kill blocks nobody.
"""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from holdfast.backup.store import Store
from holdfast.errors import CheckpointError, NotFoundError
from holdfast.storage.writingtemporary import host_mark, process_lives

FOLDER = "busy"
_ABANDONED_SECONDS = 24 * 3600
_TOKENS: set[str] = set()
"""What this process holds; a file of this process that is not among them was left by a failure."""


@contextmanager
def alone(store: Store, act: str) -> Iterator[bool]:
    """Hold the store for one act; raise HF4507 where somebody else does.

    Gives whether an act before this one was killed, so that there may be leftovers.
    """
    token = uuid.uuid4().hex
    _TOKENS.add(token)
    path: str | None = None
    try:
        path, killed = _entered(store, act, token)
        yield killed
    finally:
        _TOKENS.discard(token)
        if path is not None:
            store.writer.remove(path)


def _entered(store: Store, act: str, token: str) -> tuple[str, bool]:
    numbers = _numbers(store)
    _refuse_living(store, numbers, act)
    path = f"{FOLDER}/{max(numbers, default=0) + 1:08d}"
    mark = {"act": act, "host": host_mark(), "process": os.getpid(), "token": token}
    content = json.dumps({**mark, "since": time.time()}).encode()
    if not store.writer.create(path, (content,)):
        raise _in_use(store, act)
    others = [number for number in _numbers(store) if f"{FOLDER}/{number:08d}" != path]
    try:
        _refuse_living(store, others, act)
    except CheckpointError:
        store.writer.remove(path)
        raise
    for number in others:
        store.writer.remove(f"{FOLDER}/{number:08d}")
    return path, bool(others)


def _numbers(store: Store) -> list[int]:
    return [int(name) for name in store.reader.names(FOLDER) if name.isdigit()]


def _refuse_living(store: Store, numbers: list[int], act: str) -> None:
    for number in numbers:
        try:
            content = store.reader.read(f"{FOLDER}/{number:08d}")
        except NotFoundError:
            continue  # its owner is done
        if not _is_abandoned(content):
            raise _in_use(store, act)


def _is_abandoned(content: bytes) -> bool:
    try:
        mark = json.loads(content)
        age = time.time() - float(mark["since"])
        here, process = mark["host"] == host_mark(), int(mark["process"])
        token = mark["token"]
    except (ValueError, KeyError, TypeError):
        return False
    if here and process == os.getpid():
        return token not in _TOKENS
    return age > _ABANDONED_SECONDS or (here and not process_lives(process))


def _in_use(store: Store, act: str) -> CheckpointError:
    message = f"this {act} has to wait for another one"
    return CheckpointError("HF4507", message, at=f"{store.location}/{FOLDER}")
