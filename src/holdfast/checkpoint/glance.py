"""Tells of a checkpoint what two listings and one small file tell, for many checkpoints at once."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.errors import DecodeError, NotFoundError
from holdfast.format.log import batch_id_of
from holdfast.format.query import decode_query
from holdfast.storage.reading import Reader


@dataclass(frozen=True)
class Glance:
    """The newest batches by the names of their files; no entry was read."""

    exists: bool
    """Something of a checkpoint is there."""
    query_id: str | None
    last_planned: int | None
    last_committed: int | None
    damage: DecodeError | None = None
    """Why `metadata` tells no id, where it is there."""

    @property
    def pending(self) -> int | None:
        """The batch that was planned but not committed."""
        if self.last_planned is None or self.last_planned <= (
            self.last_committed if self.last_committed is not None else -1
        ):
            return None
        return self.last_planned


def glance_at(reader: Reader) -> Glance:
    """Look at the names in both logs and at the query's id; raise StorageError."""
    # Commits first: what Spark writes last is looked at before what it writes first.
    committed = _newest(reader.names("commits"))
    planned = _newest(reader.names("offsets"))
    try:
        metadata = reader.read("metadata")
    except NotFoundError:
        exists = planned is not None or committed is not None
        return Glance(exists, None, planned, committed)
    try:
        return Glance(True, decode_query(metadata).id, planned, committed)
    except DecodeError as damage:
        return Glance(True, None, planned, committed, damage)


def _newest(names: frozenset[str]) -> int | None:
    ids = (batch_id_of(name) for name in names)
    return max((one for one in ids if one is not None), default=None)
