"""Lets one backup or restore at a time work on a store, by files that are created once.

Each worker creates the number after the highest one; `records/busy.py` tells whose file counts.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from holdfast.backup.store import Store
from holdfast.errors import CheckpointError, NotFoundError
from holdfast.records.busy import (
    FOLDER,
    TOKENS,
    encode_mark,
    mark_path,
    marked_numbers,
    worker,
)


@contextmanager
def alone(store: Store, act: str, generation: int | None = None) -> Iterator[bool]:
    """Hold the store for one act; raise HF4507 where somebody else does.

    Gives whether an act before this one was killed, so that there may be leftovers. `generation`
    is that of the lease on the checkpoint beside the store, for acts that take it.
    """
    token = uuid.uuid4().hex
    TOKENS.add(token)
    path: str | None = None
    try:
        path, killed = _entered(store, act, token, generation)
        yield killed
    finally:
        TOKENS.discard(token)
        if path is not None and _is_own(store, path, token):
            store.writer.remove(path)


def _entered(store: Store, act: str, token: str, generation: int | None) -> tuple[str, bool]:
    numbers = marked_numbers(store.reader)
    _refuse_busy(store, act, numbers, generation)
    own = max(numbers, default=0) + 1
    if not store.writer.create(mark_path(own), (encode_mark(act, token, generation),)):
        raise _in_use(store, act, "another one was faster")
    others = [number for number in marked_numbers(store.reader) if number != own]
    try:
        _refuse_busy(store, act, others, generation)
    except CheckpointError:
        store.writer.remove(mark_path(own))
        raise
    for number in others:
        store.writer.remove(mark_path(number))
    return mark_path(own), bool(others)


def _is_own(store: Store, path: str, token: str) -> bool:
    """Whether the mark is still ours: who slept for long may find another's under its number."""
    try:
        return token.encode() in store.reader.read(path)
    except NotFoundError:
        return False


def _refuse_busy(store: Store, act: str, numbers: Sequence[int], generation: int | None) -> None:
    other = worker(store.reader, numbers, generation=generation)
    if other is not None:
        raise _in_use(store, act, other)


def _in_use(store: Store, act: str, other: str) -> CheckpointError:
    message = f"this {act} has to wait for another one: {other}"
    return CheckpointError("HF4507", message, at=f"{store.location}/{FOLDER}")
