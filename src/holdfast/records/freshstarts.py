"""Remembers how the next query begins on a checkpoint that a reset emptied.

`freshstarts/<generation>.json` is written by the holder of that generation. It counts until a batch
is planned: from then on Spark reads neither the starting options nor asks where rows go.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from holdfast.errors import CheckpointError
from holdfast.records.documents import (
    UnreadableError,
    decode_document,
    document_of,
    encode_document,
)
from holdfast.records.folder import RecordsFolder

FRESH_STARTS_PART = "freshstarts"
_NAME = re.compile(r"(\d{10})\.json")


@dataclass(frozen=True)
class FreshStart:
    """What a reset decided about the first start after it."""

    generation: int
    """That of the lease under which it was decided."""
    act: str
    """The id of the act in the journal."""
    at: str
    output: str | None = None
    """The only output that the first start may write to, in the canonical spelling; None where the
    reset left the output as declared."""
    starting: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict)
    """By source the options that take the place of the declared ones; None removes one."""


class FreshStarts:
    """The fresh starts of one checkpoint."""

    def __init__(self, folder: RecordsFolder) -> None:
        self._folder = folder
        self._reader = folder.reader(FRESH_STARTS_PART)

    def write(self, start: FreshStart) -> None:
        """Keep it; on return it survives a power cut. Writing it twice is no error."""
        writer = self._folder.writer(FRESH_STARTS_PART)
        writer.replace(_name(start.generation), encode_document(document_of(start)))
        writer.settle()

    def remove(self, act: str) -> None:
        """Forget what an act decided that is undone."""
        writer = self._folder.writer(FRESH_STARTS_PART)
        for start in self._all():
            if start.act == act:
                writer.remove(_name(start.generation))
        writer.settle()

    def newest(self) -> FreshStart | None:
        """Return the newest, None where there is none; raise HF2603 for one that is unreadable."""
        return next(iter(self._all()), None)

    def _all(self) -> list[FreshStart]:
        names = sorted(filter(_NAME.fullmatch, self._reader.names()), reverse=True)
        return [self._decoded(name) for name in names]

    def _decoded(self, name: str) -> FreshStart:
        try:
            return decode_document(FreshStart, self._reader.read(name))
        except UnreadableError as error:
            at = f"{self._reader.location}/{name}"
            message = f"the record of a reset cannot be read: {error}"
            raise CheckpointError("HF2603", message, at=at) from error


def _name(generation: int) -> str:
    return f"{generation:010d}.json"
