"""Makes the staging tables of one written table, and sees to it that none stays behind.

Their names tell table and query, generation and batch:
`holdfast_staging_<12 hexadecimal digits>_<generation>_<batch>_<8 random ones>`.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from holdfast.crashpoints import reach
from holdfast.ledgers.database.connection import connected, execute, psycopg_here
from holdfast.ledgers.identity import BatchIdentity
from holdfast.spark.sinks.database.postgres.table import create_table
from holdfast.spark.sinks.database.postgres.types import WrittenColumn
from holdfast.spark.sinks.database.staged import ATTEMPT

if TYPE_CHECKING:
    import psycopg

_BEGINNING = "holdfast_staging_"
_NAME = re.compile(rf"({_BEGINNING}[0-9a-f]{{12}}_)(\d+)_.*")


class StagingTables:
    """The staging tables that one driver makes."""

    def __init__(self, conninfo: str, table: str) -> None:
        self._conninfo = conninfo
        self._table = table
        self._swept: str | None = None
        self._left: set[str] = set()
        """Those that could not be dropped yet, such as one that a beaten attempt still loads."""

    @contextmanager
    def fresh(
        self,
        connection: psycopg.Connection[Any],
        schema: str,
        columns: Sequence[WrittenColumn],
        identity: BatchIdentity,
        fences: Callable[[], Mapping[str, int]] = dict,
    ) -> Iterator[str]:
        """Give a staging table, gone afterwards; what is left of older ones goes first.

        `fences` gives, for each query that was taken back from, the oldest generation that may
        still commit: a cleared table gets a new query, which nobody else sweeps for.
        """
        self._sweep(connection, schema, identity, fences)
        name = f"{prefix_of(self._table, identity.query_id)}{identity.generation}_"
        name += f"{identity.batch_id}_{secrets.token_hex(4)}"
        every = (WrittenColumn(ATTEMPT, "bigint"), *columns)
        create_table(connection, schema, name, every, unlogged=True)
        # A connection that idles while Spark loads is one that may be lost.
        connection.close()
        self._left.add(name)
        reach("postgres.staging-made")
        try:
            yield name
        finally:
            self._drop_later(schema)

    def _sweep(
        self,
        connection: psycopg.Connection[Any],
        schema: str,
        identity: BatchIdentity,
        fences: Callable[[], Mapping[str, int]],
    ) -> None:
        """Drop what drivers of older generations left behind, once for each driver."""
        prefix = prefix_of(self._table, identity.query_id)
        if self._swept == prefix:
            return
        oldest = {**fences(), identity.query_id: identity.generation}
        by_prefix = {prefix_of(self._table, one): oldest[one] for one in oldest}
        query = (
            "select tablename from pg_tables where schemaname = %s and starts_with(tablename, %s)"
        )
        for (name,) in connection.execute(query, (schema, _BEGINNING)).fetchall():
            match = _NAME.fullmatch(name)
            if match is not None and int(match[2]) < by_prefix.get(match[1], 0):
                self._left.add(name)
        self._swept = prefix

    def _drop_later(self, schema: str) -> None:
        """Drop what is left; what resists is tried again with the next batch."""
        library = psycopg_here()
        try:
            with connected(self._conninfo) as connection:
                for name in sorted(self._left):
                    if self._dropped(connection, schema, name):
                        self._left.remove(name)
        except library.OperationalError:
            # The batch's own error, if there is one, tells more; the next driver sweeps.
            return

    def _dropped(self, connection: psycopg.Connection[Any], schema: str, name: str) -> bool:
        library = psycopg_here()
        table = library.sql.Identifier(schema, name)
        try:
            with connection.transaction():
                connection.execute("set local lock_timeout = '2s'")
                execute(connection, "drop table if exists {}", table)
        except library.errors.LockNotAvailable:
            return False
        return True


def prefix_of(table: str, query_id: str) -> str:
    """Give how the names of all staging tables begin that a query fills for a table."""
    digest = hashlib.sha256(f"{table}\0{query_id}".encode()).hexdigest()
    return f"{_BEGINNING}{digest[:12]}_"
