"""Makes the staging tables of one written table, and sees to it that none stays behind.

Their names tell table and query, generation and batch:
`holdfast_staging_<12 hexadecimal digits>_<generation>_<batch>_<8 random ones>`.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from holdfast.ledgers.identity import BatchIdentity
from holdfast.spark.sinks.database.dialect import DatabaseConnection, DatabaseFailure, Dialect
from holdfast.spark.sinks.database.ledger import DatabaseLedger
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
