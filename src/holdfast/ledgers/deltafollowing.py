"""Follows a Delta table's log for one query: what it holds is known after every look.

The first look reads the ledger. Each later one reads only the versions that came since: two small
requests where nobody wrote, which is the price of asking before every batch.

A table is followed under one name of the query for good. Once its batches are taken back, that name
is closed; whoever follows it is an old driver, and never learns the new one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

from holdfast.errors import DecodeError, NotFoundError, StorageError
from holdfast.ledgers.delta import READ_VERSIONS, read_delta_ledger
from holdfast.ledgers.deltabatches import DeltaBatch, decode_batch, decode_table_schema
from holdfast.ledgers.deltaidentity import CLOSED, Application, current_application, standing_of
from holdfast.storage.reading import Reader

_AT_ONCE = 20


class FollowedTable:
    """What a table holds of one query. Reading raises StorageError."""

    def __init__(
        self, reader: Reader, query_id: str, application: Application | None = None
    ) -> None:
        self._reader = reader
        self._query_id = query_id
        self._application = application
        self.newest_version: int | None = None
        """The table's version at the last look; None where there is no table."""
        self.last_batch: int | None = None
        """What the query last committed; None where the log tells of nothing."""
        self.closed = False
        """Nothing can be written under this name any more."""
        self.table_schema: str | None = None
        """The table's columns as Spark's JSON of a schema; None where the log does not tell."""
        self._seen: dict[int, DeltaBatch] = {}

    @property
    def application(self) -> Application:
        """The name of the query that is followed; before the first look its first one."""
        return self._application or Application(self._query_id, 0)

    def look(self) -> None:
        """Take in what was committed since the last look."""
        if self.newest_version is None or not self._is_there(self.newest_version):
            self._look_first()
        while self.newest_version is not None and self._take(self.newest_version + 1):
            self.newest_version += 1

    def batch(self, batch_id: int) -> DeltaBatch | None:
        """Find the commit of a batch, newest versions first; None where it is not among them."""
        if batch_id in self._seen or self.newest_version is None:
            return self._seen.get(batch_id)
        newest = CLOSED
        for found in self._newest_first():
            if found.opens:
                # What was written under earlier names counts up to here; the rest is taken back.
                newest = min(newest, found.batch_id - 1)
            elif found.batch_id == batch_id <= newest:
                return found
        return None

    def _newest_first(self) -> Iterator[DeltaBatch]:
        """Give what the newest versions hold under this name and earlier ones."""
        newest = -1 if self.newest_version is None else self.newest_version
        end = max(-1, newest - READ_VERSIONS)
        for start in range(newest, end, -_AT_ONCE):
            for found in self._decoded(range(start, max(end, start - _AT_ONCE), -1)):
                if found.number <= self.application.number:
                    yield found

    def _look_first(self) -> None:
        ledger = read_delta_ledger(self._reader)
        self._seen.clear()
        self.newest_version = ledger.newest_version if ledger is not None else None
        identifiers = ledger.identifiers if ledger is not None else {}
        if self._application is None:
            self._application = current_application(identifiers, self._query_id)
        standing = standing_of(identifiers, self._application)
        self.last_batch, self.closed = standing.last_batch, standing.closed
        self.table_schema = ledger.table_schema if ledger is not None else None

    def _is_there(self, version: int) -> bool:
        """Tell whether a version still is: with it gone, the ones after it may be gone as well."""
        try:
            self._reader.read(_file(version), 0, 1)
        except NotFoundError:
            return False
        return True

    def _take(self, version: int) -> bool:
        try:
            data = self._reader.read(_file(version))
        except NotFoundError:
            return False
        found = decode_batch(version, data, self._query_id)
        self.table_schema = decode_table_schema(data) or self.table_schema
        if found is not None and found.number == self.application.number and not found.opens:
            self._seen = {found.batch_id: found}
            self.closed = found.batch_id == CLOSED
            self.last_batch = None if self.closed else found.batch_id
        return True

    def _decoded(self, versions: Iterable[int]) -> Iterator[DeltaBatch]:
        files = {_file(version): version for version in versions}
        for file, data in self._reader.read_many(files).items():
            # Cleaned away, or no version that anybody can read: such a one does not tell.
            if not isinstance(data, StorageError):
                with suppress(DecodeError):
                    found = decode_batch(files[file], data, self._query_id)
                    if found is not None:
                        yield found


def _file(version: int) -> str:
    return f"{version:020}.json"
