"""Remembers that a job is over: its checkpoint is archived, and no start may write to its output.

`retirement/retired.json` is there while the job is retired.
"""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.errors import CheckpointError, NotFoundError
from holdfast.records.documents import (
    UnreadableError,
    decode_document,
    document_of,
    encode_document,
)
from holdfast.records.folder import RecordsFolder

RETIREMENT_PART = "retirement"
_FILE = "retired.json"


@dataclass(frozen=True)
class Retirement:
    """Who retired a job, and where its checkpoint is kept."""

    act: str
    """The id of the act in the journal."""
    at: str
    by: str
    query_id: str | None
    backup: str
    """The backup that holds the whole checkpoint."""


class Retirements:
    """The retirement of one checkpoint, if it is retired."""

    def __init__(self, folder: RecordsFolder) -> None:
        self._folder = folder
        self._reader = folder.reader(RETIREMENT_PART)

    def write(self, retirement: Retirement) -> None:
        """Keep it; on return it survives a power cut. Writing it twice is no error."""
        writer = self._folder.writer(RETIREMENT_PART)
        writer.replace(_FILE, encode_document(document_of(retirement)))
        writer.settle()

    def remove(self) -> None:
        """Forget it: the job is brought back."""
        writer = self._folder.writer(RETIREMENT_PART)
        writer.remove(_FILE)
        writer.settle()

    def current(self) -> Retirement | None:
        """Return it, None where the job is not retired; raise HF2603 where it is unreadable."""
        try:
            content = self._reader.read(_FILE)
        except NotFoundError:
            return None
        try:
            return decode_document(Retirement, content)
        except UnreadableError as error:
            at = f"{self._reader.location}/{_FILE}"
            message = f"the record of the retirement cannot be read: {error}"
            raise CheckpointError("HF2603", message, at=at) from error
