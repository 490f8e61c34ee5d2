"""Keeps what a person stated about a pending batch, whether the sink got it; never changed."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from holdfast.errors import CheckpointError, NotFoundError, RefusedError
from holdfast.records.documents import (
    UnreadableError,
    decode_document,
    document_of,
    encode_document,
)
from holdfast.records.folder import RecordsFolder


@dataclass(frozen=True)
class Statement:
    """A person's word on one batch with these very offsets."""

    query_id: str
    batch_id: int
    offsets_digest: str
    """The digest of the batch's offset range, in older statements of its entry alone: the statement
    holds for no other plan of the batch."""
    delivered: bool
    said_at: str
    said_by: str


class Statements:
    """The statements about one checkpoint's batches."""

    def __init__(self, folder: RecordsFolder) -> None:
        self._reader = folder.reader("statements")
        self._folder = folder

    def write(self, statement: Statement, *older: str) -> None:
        """Keep a statement; saying the same again is fine, the opposite raises HF2605.

        `older`: digests of older kinds, under which the same may have been stated before.
        """
        about = (statement.query_id, statement.batch_id)
        first = self.statement_about(*about, *older)
        path = _path(*about, statement.offsets_digest if first is None else first.offsets_digest)
        if first is None:
            writer = self._folder.writer("statements")
            if writer.create(path, encode_document(document_of(statement))):
                writer.settle()
                return
            first = self._read(path)
        if first is not None and first.delivered is not statement.delivered:
            what = "was delivered" if first.delivered else "was not delivered"
            message = (
                f"{first.said_by} stated at {first.said_at} that batch {first.batch_id} {what}"
            )
            raise RefusedError("HF2605", message, at=f"{self._reader.location}/{path}")

    def statement_about(self, query_id: str, batch_id: int, *digests: str) -> Statement | None:
        """Return what was stated about a batch with these offsets; raise HF2603 for a damaged one.

        `digests` are those of the offsets in every kind, the newest first.
        """
        found = (self._read(_path(query_id, batch_id, one)) for one in digests)
        return next((one for one in found if one is not None), None)

    def _read(self, path: str) -> Statement | None:
        at = f"{self._reader.location}/{path}"
        try:
            statement = decode_document(Statement, self._reader.read(path))
        except NotFoundError:
            return None
        except UnreadableError as error:
            message = f"a statement about a batch cannot be read: {error}"
            raise CheckpointError("HF2603", message, at=at) from error
        about = (statement.query_id, statement.batch_id, statement.offsets_digest)
        if _path(*about) != path:
            raise CheckpointError("HF2603", "a statement is about another batch", at=at)
        return statement


def _path(query_id: str, batch_id: int, offsets_digest: str) -> str:
    return f"{quote(query_id, safe='')}/{batch_id}.{quote(offsets_digest, safe='')}.json"
