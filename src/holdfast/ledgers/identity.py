"""What makes a batch the same batch, whichever driver delivers it and how often."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

_RANGE = "range1:"
"""The kind of a digest over both entries. Another way to compute it needs another word."""

_ENTRY_KIND = re.compile(r"[0-9a-f]{64}")
"""The kind of a digest over the batch's own entry alone."""


_BACKFILL = re.compile(r"(.+)\+backfill-[0-9a-f]{16}")


def backfill_name(query_id: str, plan_id: str) -> str:
    """Return the name under which a backfill of a query writes its batches to the sink.

    It is another name than the query's, so that neither takes the other's batches for its own, and
    it says whose batches these are.
    """
    return f"{query_id}+{plan_id}"


def is_backfill(name: str) -> bool:
    """Return whether a name in a ledger is a backfill's."""
    return _BACKFILL.fullmatch(name) is not None


def query_of(name: str) -> str:
    """Return the query whose rows a name in a ledger stands for: its own, or one's backfill's."""
    found = _BACKFILL.fullmatch(name)
    return name if found is None else found[1]


@dataclass(frozen=True)
class BatchIdentity:
    """One batch of one query, with the offsets that it was planned with."""

    query_id: str
    """The checkpoint's own; a reset makes another one."""
    batch_id: int
    generation: int
    """Which holder of the lease delivers it: it grows with every take-over."""
    offsets_digest: str
    """The digest of the batch's offset range: what a ledger stores with the batch."""
    entry_digest: str | None = None
    """The SHA-256 of `offsets/<batch_id>` alone, which ledgers stored before there were ranges."""

    @property
    def key(self) -> str:
        """One text for the query and the batch: the same however often the batch is delivered."""
        return f"{self.query_id}/{self.batch_id}"

    def has_offsets(self, stored: str) -> bool:
        """Return whether a ledger's digest is of this batch's offsets; compare in no other way.

        A digest is compared as the kind that it is; one of an unknown kind is never equal.
        """
        kinds = [self.offsets_digest, *([] if self.entry_digest is None else [self.entry_digest])]
        return stored in kinds


class BatchId(int):
    """The batch id as `foreachBatch` gives it, an int in every respect, with the whole identity.

    It has the attributes of its identity, so that a function may be written for either. Ledgers
    keep and compare the identity; as a number, equal ids of two queries are equal.
    """

    identity: BatchIdentity
    query_id: str
    batch_id: int
    generation: int
    offsets_digest: str
    entry_digest: str | None
    key: str
    has_offsets: Callable[[str], bool]

    def __new__(cls, identity: BatchIdentity) -> BatchId:
        """Return the id of the batch, which knows its identity."""
        made = super().__new__(cls, identity.batch_id)
        made.identity = identity
        return made

    def __getattr__(self, name: str) -> Any:
        """Return what the identity has under this name."""
        if name == "identity" or name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.identity, name)

    def __reduce__(self) -> tuple[type[BatchId], tuple[BatchIdentity]]:
        """Travel to executors with the identity."""
        return type(self), (self.identity,)

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        """Raise: createDataFrame would take an object with attributes for a struct, unasked."""
        raise AttributeError("__dict__")


@dataclass(frozen=True)
class OffsetRange:
    """The two entries that the rows of a batch follow from, as bytes."""

    batch_id: int
    previous: bytes
    """`offsets/<batch_id - 1>`: where the batch begins; empty for batch 0."""
    entry: bytes
    """`offsets/<batch_id>`: where it ends."""

    @property
    def digest(self) -> str:
        """The digest of the range; lengths are part of it, so that no byte can change sides."""
        digest = hashlib.sha256()
        for part in (self.previous, self.entry):
            digest.update(len(part).to_bytes(8, "big"))
            digest.update(part)
        return f"{_RANGE}{digest.hexdigest()}"

    @property
    def digests(self) -> tuple[str, str]:
        """The digest in every kind that was ever stored, the newest kind first."""
        return self.digest, digest_of_offsets(self.entry)

    def identity(self, query_id: str, generation: int) -> BatchIdentity:
        """Return the identity of the batch with this range."""
        return BatchIdentity(query_id, self.batch_id, generation, *self.digests)


def is_of(stored: str, batch_id: int, entries: Mapping[int, bytes]) -> bool | None:
    """Return whether a ledger's digest of a batch is that of these entries; None where unknown.

    A digest is compared as the kind that it is. It is unknown where its kind is, or where an entry
    is missing that it was made from.
    """
    needs_previous = stored.startswith(_RANGE) and batch_id > 0
    is_known = stored.startswith(_RANGE) or _ENTRY_KIND.fullmatch(stored) is not None
    entry, previous = entries.get(batch_id), entries.get(batch_id - 1)
    if not is_known or entry is None or (needs_previous and previous is None):
        return None
    found = OffsetRange(batch_id, previous or b"", entry)
    return found.identity("", 0).has_offsets(stored)


def digest_of_offsets(entry: bytes) -> str:
    """Return the digest of one offsets entry: what ledgers stored before there were ranges."""
    return hashlib.sha256(entry).hexdigest()
