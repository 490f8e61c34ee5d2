"""Lets one backup or restore at a time work on a store, by files that are created once.

Each worker creates the number after the highest one; `records/busy.py` tells whose file counts.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from holdfast.backup.store import Store
from holdfast.errors import CheckpointError
from holdfast.records.busy import (
    FOLDER,
    TOKENS,
    encode_mark,
    is_busy,
    mark_path,
    marked_numbers,
)


@contextmanager
def alone(store: Store, act: str) -> Iterator[bool]:
    """Hold the store for one act; raise HF4507 where somebody else does.

    Gives whether an act before this one was killed, so that there may be leftovers.
    """
    token = uuid.uuid4().hex
    TOKENS.add(token)
    path: str | None = None
    try:
        path, killed = _entered(store, act, token)
        yield killed
    finally:
        TOKENS.discard(token)
        if path is not None:
            store.writer.remove(path)


def _entered(store: Store, act: str, token: str) -> tuple[str, bool]:
    numbers = marked_numbers(store.reader)
    if is_busy(store.reader, numbers):
        raise _in_use(store, act)
    own = max(numbers, default=0) + 1
    if not store.writer.create(mark_path(own), (encode_mark(act, token),)):
        raise _in_use(store, act)
    others = [number for number in marked_numbers(store.reader) if number != own]
    if is_busy(store.reader, others):
        store.writer.remove(mark_path(own))
        raise _in_use(store, act)
    for number in others:
        store.writer.remove(mark_path(number))
    return mark_path(own), bool(others)


def _in_use(store: Store, act: str) -> CheckpointError:
    message = f"this {act} has to wait for another one"
    return CheckpointError("HF4507", message, at=f"{store.location}/{FOLDER}")
