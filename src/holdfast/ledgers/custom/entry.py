"""One batch in the ledger of a function of the user's, as bytes and back."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from holdfast.errors import SinkError

VERSION = 1
"""The version of an entry, in its field `holdfast`; fields may be added without a new one."""

_TEXTS = ("query_id", "offsets_digest", "recorded_at")


@dataclass(frozen=True)
class LedgerEntry:
    """One batch that was delivered."""

    query_id: str
    batch_id: int
    generation: int
    offsets_digest: str
    recorded_at: str


def encode_entry(entry: LedgerEntry) -> bytes:
    """Give the bytes of an entry: JSON in ASCII, names in order, one line."""
    document = {"holdfast": VERSION, **asdict(entry)}
    return json.dumps(document, sort_keys=True).encode("ascii") + b"\n"


def decode_entry(content: bytes, at: str) -> LedgerEntry:
    """Give the entry that the bytes hold; raise SinkError where they hold none."""
    try:
        return _decoded(json.loads(content.decode("utf-8")))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        message = f"an entry can't be read: {type(error).__name__}"
        raise SinkError("HF5091", message, at=at) from error


def _decoded(document: Any) -> LedgerEntry:
    numbers = [document[name] for name in ("holdfast", "batch_id", "generation")]
    texts = [document[name] for name in _TEXTS]
    if any(type(one) is not int for one in numbers) or any(type(one) is not str for one in texts):
        raise TypeError("a field of the wrong kind")
    if numbers[0] > VERSION:
        raise ValueError("a newer version")
    return LedgerEntry(texts[0], numbers[1], numbers[2], texts[1], texts[2])
