"""Which manifests count: every taking back begins a new epoch for the batches that it takes.

A manifest carries the epoch of its batch in its name. A driver that comes late still writes the old
name, and so its manifest is void for every reader, without anybody having to find and remove it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from holdfast.errors import SinkError

EPOCHS = "-epochs"
"""The folder of the epochs, in the folder of the manifests; it comes before every query id."""
VERSION = 1
STOP_NAME = "0000000000.json"
"""Looks like a manifest to versions without epochs, and makes them stop (HF5023)."""
STOP = b'{"holdfast": 2}\n'


@dataclass(frozen=True)
class Fence:
    """One taking back: older manifests of batches after `batch_id` are void."""

    number: int
    """Its epoch, greater than those of all fences before it."""
    generation: int
    """The lease under which it happened: drivers of older ones are refused."""
    query_id: str | None
    """None: of every query."""
    batch_id: int
    """The last batch that stays, -1 where none does."""
    token: str
    """By which its maker finds it again."""

    def covers(self, query_id: str) -> bool:
        """Return whether it is about this query."""
        return self.query_id is None or self.query_id == query_id

    def takes(self, query_id: str, batch_id: int) -> bool:
        """Return whether it takes a batch back."""
        return self.covers(query_id) and batch_id > self.batch_id


@dataclass(frozen=True)
class Epochs:
    """The newest document of the epochs: each one holds everything, and replaces the one before."""

    number: int = 0
    generations: Mapping[str, int] = field(default_factory=dict)
    """Query id to the greatest generation that ever wrote it."""
    fences: tuple[Fence, ...] = ()
    unfinished: tuple[int, ...] = ()
    """Fences whose files may still be there."""

    def epoch(self, query_id: str, batch_id: int) -> int:
        """Return the epoch of a batch; it only ever grows, and one name per batch counts."""
        takes = (one.number for one in self.fences if one.takes(query_id, batch_id))
        return max(takes, default=0)

    def fenced_below(self, query_id: str) -> int:
        """Return the generation below which drivers of a query are refused."""
        return max((one.generation for one in self.fences if one.covers(query_id)), default=0)

    def newest_generation(self, query_id: str | None) -> int:
        """Return the greatest generation that is known of a query, or of all of them."""
        known = [
            generation for query, generation in self.generations.items()
            if query_id in (None, query)
        ]  # fmt: skip
        known += [one.generation for one in self.fences if query_id is None or one.covers(query_id)]
        return max(known, default=0)

    def newest_of(self, query_id: str | None) -> int:
        """Return the greatest generation that wrote a query or fenced it; None: a new query."""
        return self.newest_generation(query_id or "")

    def opened(self, query_id: str, generation: int) -> Epochs:
        """Return them with a driver of a query that begins to write."""
        return replace(self, generations={**self.generations, query_id: generation})

    def fenced(self, fence: Fence) -> Epochs:
        """Return them with one more fence; those that it makes superfluous go."""
        kept = [
            one for one in self.fences
            if fence.query_id is not None
            and (one.query_id != fence.query_id or one.batch_id < fence.batch_id)
        ]  # fmt: skip
        return replace(self, fences=(*kept, fence), unfinished=(*self.unfinished, fence.number))

    def finished(self, numbers: tuple[int, ...]) -> Epochs:
        """Return them with nothing left to do for some fences."""
        left = tuple(one for one in self.unfinished if one not in numbers)
        return replace(self, unfinished=left)


def encode_epochs(epochs: Epochs) -> bytes:
    """Return the bytes of a document: JSON in ASCII, names in order."""
    document = {"holdfast": VERSION, **asdict(epochs)}
    return json.dumps(document, sort_keys=True, indent=1).encode("ascii") + b"\n"


def decode_epochs(content: bytes, at: str) -> Epochs:
    """Return the epochs that the bytes hold; raise SinkError where they hold none."""
    try:
        return _decoded(json.loads(content.decode("utf-8")))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        message = f"the epochs of the manifests can't be read: {type(error).__name__}"
        raise SinkError("HF5023", message, at=at) from error


def _decoded(document: Any) -> Epochs:
    if _number(document["holdfast"]) > VERSION:
        raise ValueError("a newer version")
    return Epochs(
        number=_number(document["number"]),
        generations={str(query): _number(one) for query, one in document["generations"].items()},
        fences=tuple(_fence(one) for one in document["fences"]),
        unfinished=tuple(_number(one) for one in document["unfinished"]),
    )


def _fence(document: Any) -> Fence:
    query_id, token = document["query_id"], document["token"]
    if not isinstance(query_id, str | None) or not isinstance(token, str):
        raise TypeError("no fence")
    return Fence(
        number=_number(document["number"]),
        generation=_number(document["generation"]),
        query_id=query_id,
        batch_id=_number(document["batch_id"]),
        token=token,
    )


def _number(value: object) -> int:
    # A truth value is an int to Python, and none here.
    if type(value) is not int:
        raise TypeError("no number")
    return value
