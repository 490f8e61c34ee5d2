"""Remembers where a checkpoint was before it was moved: `moves/<generation>.json`.

Records of runs name the place that they were made at. Who finds them at another place learns here
that both were moved together, and by which act.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from holdfast.errors import CheckpointError
from holdfast.records.documents import (
    UnreadableError,
    decode_document,
    document_of,
    encode_document,
)
from holdfast.records.folder import RecordsFolder

MOVES_PART = "moves"
_NAME = re.compile(r"(\d{10})\.json")


@dataclass(frozen=True)
class Move:
    """One move of a checkpoint with its records."""

    generation: int
    """That of the lease under which it was moved."""
    act: str
    """The id of the act in the journal of the old place."""
    moved_from: str
    """The canonical location of the checkpoint before."""
    moved_to: str
    at: str


class Moves:
    """The moves that brought one checkpoint here."""

    def __init__(self, folder: RecordsFolder) -> None:
        self._folder = folder

    def write(self, move: Move) -> None:
        """Keep a move; writing it twice is no error."""
        writer = self._folder.writer(MOVES_PART)
        writer.replace(f"{move.generation:010d}.json", encode_document(document_of(move)))
        writer.settle()

    def all(self) -> tuple[Move, ...]:
        """Return every move, the newest first; raise HF2603 for one that cannot be read."""
        reader = self._folder.reader(MOVES_PART)
        names = sorted(filter(_NAME.fullmatch, reader.names()), reverse=True)
        found = []
        for name in names:
            try:
                found.append(decode_document(Move, reader.read(name)))
            except UnreadableError as error:
                message = f"the record of a move cannot be read: {error}"
                raise CheckpointError("HF2603", message, at=f"{reader.location}/{name}") from error
        return tuple(found)
