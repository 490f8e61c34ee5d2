"""Tells of a checkpoint what two listings and one small file tell, for many checkpoints at once."""

from __future__ import annotations

from dataclasses import dataclass, replace

from holdfast.errors import DecodeError, NotFoundError
from holdfast.format.logs.log import batch_id_of
from holdfast.format.logs.metadata import decode_query
from holdfast.storage.reading import Reader


@dataclass(frozen=True)
class Overview:
    """The newest batches by the names of their files; no entry was read."""

    exists: bool
    """Something of a checkpoint is there."""
    query_id: str | None
    last_planned: int | None
    last_committed: int | None
    damage: DecodeError | None = None
    """Why `metadata` tells no id, where it is there."""
    offset_ids: tuple[int, ...] = ()
    """Every id in `offsets/`, sorted, up to the batch after the newest commit.

    A running query adds later ones between the two listings."""
    commit_ids: frozenset[int] = frozenset()

    @property
    def pending(self) -> int | None:
        """The batch that was planned but not committed."""
        if self.last_planned is None or self.last_planned <= (
            self.last_committed if self.last_committed is not None else -1
        ):
            return None
        return self.last_planned


def read_overview(reader: Reader) -> Overview:
    """Look at the names in both logs and at the query's id; raise StorageError."""
    # Commits first: what Spark writes last is looked at before what it writes first.
    commits = _ids(reader.names("commits"))
    offsets = _ids(reader.names("offsets"))
    newest = max(commits, default=-1)
    seen = Overview(
        exists=bool(offsets or commits),
        query_id=None,
        last_planned=max(offsets, default=None),
        last_committed=max(commits, default=None),
        offset_ids=tuple(sorted(one for one in offsets if one <= newest + 1)),
        commit_ids=commits,
    )
    try:
        metadata = reader.read("metadata")
    except NotFoundError:
        return seen
    try:
        return replace(seen, exists=True, query_id=decode_query(metadata).id)
    except DecodeError as damage:
        return replace(seen, exists=True, damage=damage)


def _ids(names: frozenset[str]) -> frozenset[int]:
    ids = (batch_id_of(name) for name in names)
    return frozenset(one for one in ids if one is not None)
