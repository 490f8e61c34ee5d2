"""Remembers since when batches of a query no longer count: they were taken back on purpose.

A start compares the sink and the checkpoint with what earlier runs delivered. After a replay or a
reset fewer batches are there than the records of runs know; the rewind says so, and who did it.
`rewinds/<generation>.json` is written by the holder of that generation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from holdfast.errors import CheckpointError, NotFoundError, StorageError
from holdfast.records.documents import (
    UnreadableError,
    decode_document,
    document_of,
    encode_document,
)
from holdfast.records.folder import RecordsFolder

REWINDS_PART = "rewinds"
_NAME = re.compile(r"(\d{10})\.json")


@dataclass(frozen=True)
class Rewind:
    """Batches of one query that were taken back."""

    generation: int
    """That of the lease under which it happened: runs of older ones are about the time before."""
    act: str
    """The id of the act in the journal."""
    remedy: str
    query_id: str | None
    """The query; None where the checkpoint had no id."""
    through: int | None
    """The newest batch that still counts; None where none does."""
    at: str
    every_query: bool = False
    """It is about the batches of every query that ever ran on the checkpoint."""
    removed: Mapping[str, str] = field(default_factory=dict)
    """The offsets entries that were removed, by path, with their SHA-256; empty where unknown."""

    def counts(self, query_id: str | None, generation: int, batch: int | None) -> int | None:
        """Return what is left of the newest batch that a run of this generation delivered."""
        is_meant = self.every_query or query_id == self.query_id
        if batch is None or generation >= self.generation or not is_meant:
            return batch
        return None if self.through is None else min(batch, self.through)


class Rewinds:
    """The rewinds of one checkpoint."""

    def __init__(self, folder: RecordsFolder) -> None:
        self._folder = folder
        self._reader = folder.reader(REWINDS_PART)
        self._known: tuple[Rewind, ...] | None = None

    def write(self, rewind: Rewind) -> None:
        """Keep a rewind; on return it survives a power cut. Writing it twice is no error."""
        writer = self._folder.writer(REWINDS_PART)
        writer.replace(_name(rewind.generation), encode_document(document_of(rewind)))
        writer.settle()

    def remove(self, generation: int) -> None:
        """Forget a rewind that is undone."""
        writer = self._folder.writer(REWINDS_PART)
        writer.remove(_name(generation))
        writer.settle()

    def all(self) -> tuple[Rewind, ...]:
        """Return every rewind, the newest first; raise HF2603 for one that cannot be read."""
        if self._known is None:
            names = sorted(filter(_NAME.fullmatch, self._reader.names()), reverse=True)
            self._known = tuple(self._decoded(names))
        return self._known

    def left_of(self, query_id: str | None, generation: int, batch: int | None) -> int | None:
        """Return the newest batch of a run that still counts, None where none does."""
        for rewind in self.all():
            batch = rewind.counts(query_id, generation, batch)
        return batch

    def _decoded(self, names: Iterable[str]) -> Iterable[Rewind]:
        chosen = list(names)
        for name, content in self._reader.read_many(chosen).items():
            at = f"{self._reader.location}/{name}"
            if isinstance(content, NotFoundError):
                continue
            if isinstance(content, StorageError):
                raise content
            try:
                yield decode_document(Rewind, content)
            except UnreadableError as error:
                message = f"the record of a rewind cannot be read: {error}"
                raise CheckpointError("HF2603", message, at=at) from error


def _name(generation: int) -> str:
    return f"{generation:010d}.json"
