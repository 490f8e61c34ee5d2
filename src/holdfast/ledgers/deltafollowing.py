"""Follows a Delta table's log for one query: what it holds is known after every look.

The first look reads the ledger. Each later one reads only the versions that came since: two small
requests where nobody wrote, which is the price of asking before every batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

from holdfast.errors import DecodeError, NotFoundError, StorageError
from holdfast.ledgers.delta import READ_VERSIONS, read_delta_ledger
from holdfast.ledgers.deltabatches import DeltaBatch, decode_batch
from holdfast.storage.reading import Reader

_AT_ONCE = 20


class FollowedTable:
    """What a table holds of one query. Reading raises StorageError."""

    def __init__(self, reader: Reader, query_id: str) -> None:
        self._reader = reader
        self._query_id = query_id
        self.newest_version: int | None = None
        """The table's version at the last look; None where there is no table."""
        self.last_batch: int | None = None
        """What the query last committed; None where the log tells of nothing."""
        self._seen: dict[int, DeltaBatch] = {}

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
        end = max(-1, self.newest_version - READ_VERSIONS)
        for start in range(self.newest_version, end, -_AT_ONCE):
            versions = range(start, max(end, start - _AT_ONCE), -1)
            for found in self._decoded(versions):
                if found.batch_id == batch_id:
                    return found
        return None

    def _look_first(self) -> None:
        ledger = read_delta_ledger(self._reader)
        self._seen.clear()
        self.newest_version = ledger.newest_version if ledger is not None else None
        self.last_batch = ledger.transactions.get(self._query_id) if ledger is not None else None

    def _is_there(self, version: int) -> bool:
        """Tell whether a version still is: with it gone, the ones after it may be gone as well."""
        try:
            self._reader.read(_file(version), 0, 1)
        except NotFoundError:
            return False
        return True

    def _take(self, version: int) -> bool:
        try:
            found = decode_batch(version, self._reader.read(_file(version)), self._query_id)
        except NotFoundError:
            return False
        if found is not None:
            self._seen = {found.batch_id: found}
            self.last_batch = found.batch_id
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
