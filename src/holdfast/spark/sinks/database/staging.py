"""The staging tables of a written table: made, moved into it with the ledger's row, cleaned up.

Their names tell table and query, generation and batch:
`holdfast_staging_<12 hexadecimal digits>_<generation>_<batch>_<8 random ones>`.

It holds DELETE, INSERT and UPDATE alone: in some databases anything else commits on its own.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from holdfast.crashpoints import reach
from holdfast.errors import SinkError
from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.identity import BatchIdentity
from holdfast.spark.sinks.database.dialect import (
    DatabaseConnection,
    DatabaseFailure,
    Dialect,
    StagedRows,
)
from holdfast.spark.sinks.database.ledger import DatabaseLedger
from holdfast.spark.sinks.database.ledgerstate import CommittedBatch
from holdfast.spark.sinks.database.table import WrittenColumn, WrittenTable

ATTEMPT = "holdfast_attempt"
"""The column of a staging table that tells which attempt brought a row."""
_BEGINNING = "holdfast_staging_"
_NAME = re.compile(rf"({_BEGINNING}[0-9a-f]{{12}}_)(\d+)_.*")


class StagingTables:
    """The staging tables that one driver makes."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._swept: str | None = None
        self._left: set[str] = set()
        """Those that could not be dropped yet, such as one that a beaten attempt still loads."""

    def create(
        self,
        connection: DatabaseConnection,
        table: WrittenTable,
        columns: Sequence[WrittenColumn],
        *,
        identity: BatchIdentity,
        ledger: DatabaseLedger,
    ) -> str:
        """Create a staging table and return its name; find what older drivers left behind."""
        self._sweep(connection, table, identity, ledger)
        name = f"{prefix_of(table.name, identity.query_id)}{identity.generation}_"
        name += f"{identity.batch_id}_{secrets.token_hex(4)}"
        spelling = table.spelling
        parts = [f"{spelling.own(ATTEMPT)} {self._dialect.number_column(ATTEMPT).staged}"]
        parts += [f"{spelling.quoted(one.staged_name)} {one.staged}" for one in columns]
        connection.create_table(table, spelling.folded(name), parts, is_staging=True)
        self._left.add(name)
        return name

    @contextmanager
    def dropped_after(self, table: WrittenTable) -> Iterator[None]:
        """Drop every staging table that is left, whatever becomes of the block."""
        try:
            yield
        finally:
            self._drop(table)

    def _sweep(
        self,
        connection: DatabaseConnection,
        table: WrittenTable,
        identity: BatchIdentity,
        ledger: DatabaseLedger,
    ) -> None:
        """Find what drivers of older generations left behind, once for each driver.

        A cleared table gets a new query, which nobody else sweeps for: of every query that was
        taken back from, the ledger knows the oldest generation that may still commit.
        """
        prefix = prefix_of(table.name, identity.query_id)
        if self._swept == prefix:
            return
        oldest = {**ledger.fences(connection), identity.query_id: identity.generation}
        by_prefix = {prefix_of(table.name, one): oldest[one] for one in oldest}
        for name in connection.tables_beginning(table, _BEGINNING):
            match = _NAME.fullmatch(name)
            if match is not None and int(match[2]) < by_prefix.get(match[1], 0):
                self._left.add(name)
        self._swept = prefix

    def _drop(self, table: WrittenTable) -> None:
        """Drop what is left; what resists is tried again with the next batch."""
        try:
            with self._dialect.connected() as connection:
                for name in sorted(self._left):
                    if connection.drop_table(table, name):
                        self._left.remove(name)
        except DatabaseFailure:
            # The batch's own error, if there is one, says more; the next driver sweeps.
            return


def prefix_of(table: str, query_id: str) -> str:
    """Return how the names of all staging tables begin that a query fills for a table."""
    digest = hashlib.sha256(f"{table}\0{query_id}".encode()).hexdigest()
    return f"{_BEGINNING}{digest[:12]}_"


@dataclass(frozen=True, kw_only=True)
class BatchMove:
    """One batch that is staged and wants to be committed."""

    identity: BatchIdentity
    sink: ReadySink
    dialect: Dialect
    table: WrittenTable
    ledger: DatabaseLedger
    columns: Sequence[WrittenColumn]
    staging: str
    staged: StagedRows

    def commit(self, connection: DatabaseConnection) -> CommittedBatch | None:
        """Commit rows and ledger row together; return the batch where it is in the table."""
        with connection.transaction():
            found = self._claimed(connection)
            if found is None:
                self._write(connection)
        if found is None:
            reach("sink.after-commit")
        # In mode complete the next batch writes all of it again.
        if self.sink.mode != "complete":
            self.ledger.remember(self.identity)
        return found

    def _write(self, connection: DatabaseConnection) -> None:
        kind = self.dialect.traits.kind
        reach(f"{kind}.claimed")
        self._insert(connection)
        self._refuse_other_table(connection)
        reach(f"{kind}.moved")
        self.ledger.count(connection, self.identity, self.staged.rows)
        reach("sink.before-commit")

    def _refuse_other_table(self, connection: DatabaseConnection) -> None:
        """Raise HF5027 where another table took the place of this one while rows were staged.

        After the first row, so that the table is locked and stays. In mode complete the batch
        writes all of it again.
        """
        now = connection.incarnation(self.table)
        if self.sink.mode != "complete" and now != self.table.incarnation:
            message = (
                f"{self.table.qualified} was removed while the job ran, and another table is there "
                f"({now}, before {self.table.incarnation})"
            )
            raise SinkError("HF5027", message, at=self.sink.at)

    def _claimed(self, connection: DatabaseConnection) -> CommittedBatch | None:
        found = self.ledger.committed(connection, self.identity, lock=True)
        if found is not None or self.ledger.claim(connection, self.identity):
            return found
        found = self.ledger.committed(connection, self.identity)
        if found is None:
            # Claimed by somebody, then taken back, within a moment.
            message = f"batch {self.identity.batch_id} is being committed by another driver"
            raise SinkError("HF5010", message, at=self.sink.at)
        return found

    def _insert(self, connection: DatabaseConnection) -> None:
        if self.sink.mode == "complete":
            connection.execute(f"delete from {self.table.spelled}")
        moved = sum(self._moved(connection, winners) for winners in self._winners())
        if moved != self.staged.rows:
            self._refuse_lost(connection)

    def _winners(self) -> Iterator[str]:
        """Yield the condition that a staged row is of an attempt that won, in pieces."""
        own, most = self.table.spelling.own, self.dialect.traits.longest_list
        attempts = self.staged.attempts
        for first in range(0, len(attempts), most):
            numbers = map(str, map(int, attempts[first : first + most]))
            yield f"{own(self.staging)}.{own(ATTEMPT)} in ({', '.join(numbers)})"

    def _moved(self, connection: DatabaseConnection, winners: str) -> int:
        table, quoted = self.table, self.table.spelling.quoted
        staging, upsert = table.beside(self.staging), ""
        if self.sink.mode == "upsert":
            upsert = self._upserting(connection, winners)
        given = [table.column(one.name) for one in self.columns]
        values = [self.dialect.moved(quoted(one.staged_name), one, table) for one in self.columns]
        if self.sink.batch_column is not None:
            given.append(table.column(self.sink.batch_column))
            values.append(str(int(self.identity.batch_id)))
        named = " as held" if self.sink.keeps_newer else ""
        return connection.execute(
            f"insert into {table.spelled}{named} ({', '.join(given)}) "
            f"select {', '.join(values)} from {staging} where {winners}{upsert}"
        )

    def _upserting(self, connection: DatabaseConnection, winners: str) -> str:
        """Return how the INSERT ends; where nothing makes it an upsert, delete the old rows."""
        table, key = self.table, self.sink.key
        others = [table.column(one.name) for one in self.columns if one.name not in key]
        newer = self.sink.order_by if self.sink.keeps_newer else None
        compared = None if newer is None else table.column(newer)
        ending = self.dialect.on_conflict([table.column(one) for one in key], others, compared)
        if ending is not None:
            return ending
        if compared is not None:
            message = "this database cannot leave newer rows alone in an upsert"
            raise SinkError("HF5002", message, at=self.sink.at)
        same = " and ".join(self._same_key())
        found = f"select 1 from {table.beside(self.staging)} where {same} and {winners}"
        connection.execute(f"delete from {table.spelled} where exists ({found})")
        return ""

    def _same_key(self) -> Iterator[str]:
        spelling = self.table.spelling
        staging, table = spelling.own(self.staging), spelling.quoted(self.table.name)
        for one in self.columns:
            if one.name in self.sink.key:
                staged = f"{staging}.{spelling.quoted(one.staged_name)}"
                yield f"{staged} = {table}.{self.table.column(one.name)}"

    def _refuse_lost(self, connection: DatabaseConnection) -> None:
        """Raise where rows are missing in staging: a server that crashed may empty such tables.

        Where they are all there, a trigger of the table's owner wanted fewer of them.
        """
        staging = self.table.beside(self.staging)
        there = sum(
            int(connection.rows(f"select count(*) from {staging} where {winners}")[0][0])
            for winners in self._winners()
        )
        if there != self.staged.rows:
            message = f"{there} of {self.staged.rows} staged rows are left"
            raise SinkError(self.dialect.traits.staging_lost, message, at=self.sink.at)
