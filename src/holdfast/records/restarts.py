"""Says that a driver waits to start its job again: without this, its failed run looks final.

`restarts/next.json` is written when the wait begins. No lease is held meanwhile, so that another
driver may start the job; whatever was recorded later makes the note void.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from holdfast.errors import CheckpointError, NotFoundError
from holdfast.records.documents import (
    UnreadableError,
    decode_document,
    document_of,
    encode_document,
)
from holdfast.records.folder import RecordsFolder
from holdfast.records.holder import Holder, Presence, presence
from holdfast.records.moments import seconds_since
from holdfast.redaction import redact

PART = "restarts"
_FILE = "next.json"
_OVERDUE_SECONDS = 30.0
"""A driver elsewhere that did not start its job for this long after it was due may be gone."""


@dataclass(frozen=True)
class NextRestart:
    """A restart that a driver waits for."""

    job: str
    holder: Holder
    at: str
    """When the wait began."""
    due_at: str
    restart: int
    """How many restarts in a row this makes, without a committed batch in between."""
    limit: int
    code: str
    """Why the job is started again."""
    message: str

    @property
    def is_here(self) -> bool:
        """Whether the driver is known to live, on this machine."""
        return presence(self.holder) is Presence.HERE


class Restarts:
    """The note of one checkpoint."""

    def __init__(self, folder: RecordsFolder) -> None:
        self._folder = folder

    def write(self, note: NextRestart) -> None:
        """Say that a restart is due, in place of an earlier note."""
        self._folder.writer(PART).replace(_FILE, _encoded(note))

    def clear(self) -> None:
        """Say that none is due; it is no error when none was."""
        self._folder.writer(PART).remove(_FILE)

    def note(self) -> NextRestart | None:
        """Return what was written last; raise HF2603 where it cannot be read."""
        reader = self._folder.reader(PART)
        try:
            return decode_document(NextRestart, reader.read(_FILE))
        except NotFoundError:
            return None
        except UnreadableError as error:
            message = f"the note of the next restart cannot be read: {error}"
            raise CheckpointError("HF2603", message, at=f"{reader.location}/{_FILE}") from error


def _encoded(note: NextRestart) -> bytes:
    return encode_document(document_of(replace(note, message=redact(note.message))))


def awaited_restart(note: NextRestart | None, newest: str) -> NextRestart | None:
    """Return the note where it still counts; `newest` is when the job was started last."""
    if note is None or newest > note.at:
        return None
    seen = presence(note.holder)
    if seen is Presence.UNCLEAR:
        overdue = seconds_since(note.due_at)
        return None if overdue is None or overdue > _OVERDUE_SECONDS else note
    return note if seen is Presence.HERE else None
