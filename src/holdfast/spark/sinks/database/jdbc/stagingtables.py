"""Makes the staging tables of one table that is written through JDBC; none stays behind.

Their names tell table and query, generation and batch, as those of the postgres sink do.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.identity import BatchIdentity
from holdfast.spark.sinks.database.jdbc.connection import JdbcConnection, JdbcDatabase
from holdfast.spark.sinks.database.jdbc.failure import JdbcFailure
from holdfast.spark.sinks.database.jdbc.staging import staging_names
from holdfast.spark.sinks.database.jdbc.table import Target, create_table, tables_like
from holdfast.spark.sinks.database.jdbc.types import JdbcColumn, number_type
from holdfast.spark.sinks.database.postgres.stagingtables import prefix_of

_DROP_SECONDS = 5


class JdbcStagingTables:
    """The staging tables that one driver makes."""

    def __init__(self, database: JdbcDatabase, sink: ReadySink) -> None:
        self._database = database
        self._sink = sink
        self._swept: str | None = None
        self._left: set[str] = set()
        """Those that could not be dropped yet, such as one that a beaten attempt still loads."""

    def create(
        self,
        connection: JdbcConnection,
        target: Target,
        columns: Sequence[JdbcColumn],
        identity: BatchIdentity,
    ) -> str:
        """Create a staging table, and give its name; find what older drivers left behind."""
        prefix = prefix_of(target.name.table, identity.query_id)
        self._sweep(connection, target, prefix, identity.generation)
        name = f"{prefix}{identity.generation}_{identity.batch_id}_{secrets.token_hex(4)}"
        types = (number_type(self._database), *(column.staged for column in columns))
        parts = [
            f"{target.names.own(column)} {kind}"
            for column, kind in zip(staging_names(columns), types, strict=True)
        ]
        create_table(connection, target, target.names.folded(name), parts, self._sink)
        self._left.add(name)
        return name

    @contextmanager
    def dropped_after(self, target: Target) -> Iterator[None]:
        """Drop every staging table that is left, whatever becomes of the block."""
        try:
            yield
        finally:
            self._drop(target)

    def _sweep(
        self, connection: JdbcConnection, target: Target, prefix: str, generation: int
    ) -> None:
        """Find what drivers of older generations left behind, once for each driver."""
        if self._swept == prefix:
            return
        folded = target.names.folded(prefix)
        for found, _ in tables_like(connection, target.name.qualifier, folded, "%"):
            name = found.lower()
            told = name[len(prefix) :].partition("_")[0]
            if name.startswith(prefix) and told.isdigit() and int(told) < generation:
                self._left.add(name)
        self._swept = prefix

    def _drop(self, target: Target) -> None:
        """Drop what is left; what resists is tried again with the next batch."""
        try:
            with self._database.connected() as connection:
                for name in sorted(self._left):
                    if _dropped(connection, target, name):
                        self._left.remove(name)
        except JdbcFailure:
            # The batch's own error, if there is one, tells more; the next driver sweeps.
            return


def _dropped(connection: JdbcConnection, target: Target, name: str) -> bool:
    """Drop a table; tell whether it is gone, whoever did it."""
    try:
        connection.execute(f"drop table {target.beside(name)}", seconds=_DROP_SECONDS)
    except JdbcFailure:
        folded = target.names.folded(name)
        return not any(tables_like(connection, target.name.qualifier, folded))
    return True
