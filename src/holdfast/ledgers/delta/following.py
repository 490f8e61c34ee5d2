"""Follows a Delta table's log for one query: what it holds is known after every look.

The first look reads the ledger. Each later one reads only the versions that came since: two small
requests where nobody wrote, which is the price of asking before every batch.

A table is followed under one name of the query for good. Once its batches are taken back, that name
is closed; whoever follows it is an old driver, and never learns the new one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from holdfast.errors import DecodeError, NotFoundError, StorageError
from holdfast.ledgers.delta.batches import (
    CLOSED,
    Application,
    DeltaBatch,
    application_state,
    batch_of,
    current_application,
    fence_before,
    note_of,
)
from holdfast.ledgers.delta.log import Commit, version_file
from holdfast.ledgers.delta.transactions import (
    LOG_FOLDER,
    READ_VERSIONS,
    read_delta_ledger,
    table_or_nothing,
)
from holdfast.ledgers.sinkstate import (
    NOT_COMMITTED,
    UNKNOWN,
    CommittedOffsets,
    SinkState,
    committed_with,
)
from holdfast.storage.beside import part_of
from holdfast.storage.location import Location, canonical
from holdfast.storage.opening import open_reader
from holdfast.storage.options import StorageSettings
from holdfast.storage.reading import Reader

_AT_ONCE = 20
_FIRST_VERSIONS = 3
"""How many of the first versions may have the first batch; an upsert makes an empty table first."""
_HEAD_BYTES = 1024
RESTORE = "RESTORE"
_REPLACES = "REPLACE TABLE"


@dataclass(frozen=True)
class Undoing:
    """A version of somebody else after which the rows of a batch may be gone."""

    version: int
    operation: str
    """`RESTORE`, or one that replaced the whole table."""


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
        self.may_have_forgotten = False
        """The table drops identifiers, and the versions that are left do not go back to its first:
        it may hold batches of the query although the log tells of none."""
        self.closed = False
        """Nothing can be written under this name any more."""
        self.fence = 0
        """The oldest generation that may write under this name."""
        self.table_schema: str | None = None
        """The table's columns as Spark's JSON of a schema; None where the log does not tell."""
        self.table_id: str | None = None
        """The table's own id at the last look; None where there is no table, or no id is known."""
        self._seen: dict[int, DeltaBatch] = {}
        self._generation: int | None = None
        self._head: bytes | None = None
        """How the newest version begins: with the time and the id of its transaction."""

    @property
    def newest_generation(self) -> int:
        """The generation that wrote the query's newest batch; 0 where the log does not tell."""
        if self._generation is None:
            found = None if self.last_batch is None else self.batch(self.last_batch)
            self._generation = 0 if found is None else found.generation or 0
        return self._generation

    @property
    def application(self) -> Application:
        """The name of the query that is followed; before the first look its first one."""
        return self._application or Application(self._query_id, 0)

    def look(self) -> None:
        """Take in what was committed since the last look."""
        if self.newest_version is None or self._head_of(self.newest_version) != self._head:
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

    def first_batch(self) -> int | None:
        """Return the oldest batch that the table ever had of the query.

        None where the log does not reach back to the first version, or others wrote for long
        before.
        """
        data = self._reader.read_many(tuple(map(version_file, range(_FIRST_VERSIONS))))
        for version in range(_FIRST_VERSIONS):
            content = data[version_file(version)]
            if isinstance(content, StorageError):
                return None
            try:
                found = batch_of(version, Commit(content), self._query_id)
            except DecodeError:
                return None
            if found is not None:
                return None if found.number or found.batch_id == CLOSED else found.batch_id
        return None

    def undone_after(self, batch_id: int) -> Undoing | None:
        """Return the newest version after a batch that restored an older one, or a new table.

        None where there is none, or where the version of the batch is not found.
        """
        held = self.batch(batch_id)
        if held is None or self.newest_version is None:
            return None
        files = {version_file(one): one
                 for one in range(self.newest_version, held.table_version, -1)}  # fmt: skip
        for file, data in self._reader.read_many(files).items():
            if not isinstance(data, StorageError):
                with suppress(DecodeError):
                    operation = _undoes(Commit(data), held.table_version)
                    if operation is not None:
                        return Undoing(files[file], operation)
        return None

    def _newest_first(self) -> Iterator[DeltaBatch]:
        """Yield what the newest versions hold under this name and earlier ones."""
        newest = -1 if self.newest_version is None else self.newest_version
        end = max(-1, newest - READ_VERSIONS)
        for start in range(newest, end, -_AT_ONCE):
            for found in self._decoded(range(start, max(end, start - _AT_ONCE), -1)):
                if found.number <= self.application.number:
                    yield found

    def _look_first(self) -> None:
        ledger = read_delta_ledger(self._reader)
        self._seen.clear()
        self._generation = None
        self.newest_version = ledger.newest_version if ledger is not None else None
        identifiers = ledger.identifiers if ledger is not None else {}
        if self._application is None:
            self._application = current_application(identifiers, self._query_id)
        standing = application_state(identifiers, self._application)
        self.last_batch, self.closed = standing.last_batch, standing.closed
        self.fence = fence_before(identifiers, self._application)
        if self.last_batch is None and ledger is not None and ledger.retention is not None:
            self._find_forgotten(self._application.number)
        self.table_schema = ledger.table_schema if ledger is not None else None
        self.table_id = ledger.table_id if ledger is not None else None
        self._head = None if self.newest_version is None else self._head_of(self.newest_version)

    def _find_forgotten(self, number: int) -> None:
        """Look for the newest batch of the query in the versions themselves.

        A table with a retention drops identifiers from its summaries, while the rows stay.
        """
        for found in self._newest_first():
            if found.number == number and not found.opens:
                self.closed = found.batch_id == CLOSED
                self.last_batch = None if self.closed else found.batch_id
                return
        # Delta removes the oldest versions first.
        is_whole = (self.newest_version or 0) < READ_VERSIONS and self._is_there(0)
        self.may_have_forgotten = not is_whole

    def _is_there(self, version: int) -> bool:
        return self._head_of(version) is not None

    def _head_of(self, version: int) -> bytes | None:
        """Return how a version begins; None where it is gone, and later ones may be as well.

        One that begins differently is of another table, which was made in the same place.
        """
        try:
            return self._reader.read(version_file(version), 0, _HEAD_BYTES)
        except NotFoundError:
            return None

    def _take(self, version: int) -> bool:
        try:
            data = self._reader.read(version_file(version))
        except NotFoundError:
            return False
        self._head = data[:_HEAD_BYTES]
        commit = Commit(data)
        found = batch_of(version, commit, self._query_id)
        if commit.metadata is not None:
            self.table_schema = commit.metadata.schema or self.table_schema
            self.table_id = commit.metadata.table_id or self.table_id
        if found is not None and found.number == self.application.number and not found.opens:
            self._seen = {found.batch_id: found}
            self._generation = max(self._generation or 0, found.generation or 0)
            self.closed = found.batch_id == CLOSED
            self.last_batch = None if self.closed else found.batch_id
        return True

    def _decoded(self, versions: Iterable[int]) -> Iterator[DeltaBatch]:
        files = {version_file(version): version for version in versions}
        for file, data in self._reader.read_many(files).items():
            # Cleaned away, or no version that anybody can read: such a one does not tell.
            if not isinstance(data, StorageError):
                with suppress(DecodeError):
                    found = batch_of(files[file], Commit(data), self._query_id)
                    if found is not None:
                        yield found


def _undoes(commit: Commit, version: int) -> str | None:
    """Return the operation of a commit that may have taken the rows of a version away."""
    operation = commit.information.get("operation")
    if not isinstance(operation, str) or note_of(commit.information):
        return None
    if _REPLACES in operation:
        return operation
    if operation != RESTORE:
        return None
    parameters = commit.information.get("operationParameters")
    to = str(parameters.get("version")) if isinstance(parameters, dict) else ""
    # By a time stamp no version is given: it may be an older one.
    return None if to.isdecimal() and int(to) >= version else operation


def look_at_delta_table(location: Location, settings: StorageSettings, query_id: str) -> SinkState:
    """Return what the table's log holds of the query; raise StorageError where it is unreadable."""
    table = table_or_nothing(location, settings)
    if isinstance(table, SinkState):
        return table
    held, place = table.last_committed(query_id), canonical(location)
    log = open_reader(part_of(location, LOG_FOLDER), settings)
    first = None if held.value is None else FollowedTable(log, query_id).first_batch()
    return SinkState(held, place, table.table_id, forgets_after=table.retention, begins_with=first)


def offsets_in_table(reader: Reader, query_id: str, batch_id: int) -> CommittedOffsets:
    """Return what the log of a table says of one batch; never raises."""
    table = FollowedTable(reader, query_id)
    try:
        table.look()
        found = table.batch(batch_id)
        ledger = read_delta_ledger(reader)
    except (StorageError, DecodeError):
        return UNKNOWN
    if table.closed:
        return UNKNOWN
    if found is not None:
        return committed_with(found.offsets_digest)
    if ledger is not None and (ledger.unread or (table.last_batch is None and not ledger.complete)):
        return UNKNOWN
    return NOT_COMMITTED if table.last_batch is None or table.last_batch < batch_id else UNKNOWN
