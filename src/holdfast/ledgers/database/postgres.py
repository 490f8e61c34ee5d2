"""Reads without a JVM what a PostgreSQL database remembers of the batches of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.errors import SinkError
from holdfast.ledgers.database.connection import (
    PostgresAddress,
    connected,
    connected_within,
    execute,
    psycopg_here,
    words_of,
)
from holdfast.ledgers.sinkstate import (
    NOT_COMMITTED,
    UNKNOWN,
    CommittedOffsets,
    Contents,
    LastCommitted,
    OwnLedger,
    SinkState,
    committed_with,
)

if TYPE_CHECKING:
    import psycopg


_OID = (
    "select c.oid::bigint from pg_class c join pg_namespace n on n.oid = c.relnamespace "
    "where n.nspname = %s and c.relname = %s"
)


def look_at_table(
    connection: psycopg.Connection[Any], address: PostgresAddress, schema: str, held: LastCommitted
) -> SinkState:
    """Return what is at the address, and whether there is any row."""
    server = address.shown.partition(" ")[0]
    place = f"{server} {schema}.{address.table}"
    row = connection.execute(_OID, (schema, address.table)).fetchone()
    if row is None:
        return SinkState(held, place, contents=Contents.ABSENT)
    contents = _contents(connection, schema, address.table)
    unread = "this role has no right to SELECT" if contents is Contents.UNKNOWN else None
    return SinkState(held, place, f"oid {row[0]}", contents, unread=unread)


def _contents(connection: psycopg.Connection[Any], schema: str, table: str) -> Contents:
    library = psycopg_here()
    statement = library.sql.SQL("select exists (select from {})")
    try:
        row = connection.execute(statement.format(library.sql.Identifier(schema, table))).fetchone()
    except library.errors.InsufficientPrivilege:
        # A table that can't be read must not pass for an empty one.
        return Contents.UNKNOWN
    return Contents.ROWS if row is None or row[0] else Contents.EMPTY


LEDGER = "holdfast_ledger"
"""The table, beside the written one, with a row for each batch."""

_NO_LEDGER = f"the database holds no {LEDGER} yet"

_READ_SECONDS = 10


class PostgresLedger:
    """The memory of one table."""

    def __init__(self, address: PostgresAddress) -> None:
        self._address = address

    def last_committed(self, query_id: str | None, seconds: int | None = None) -> LastCommitted:
        """Return the newest batch that the table holds of this query, or why that is unknown.

        Where seconds are given, the answer does not take longer.
        """
        if query_id is None:
            return LastCommitted.unknown("the query's id is unknown")
        found = self._ask(
            "select batch_id, generation, committed_at from {} "
            "where table_name = %s and query_id = %s order by batch_id desc limit 1",
            query_id,
            seconds=seconds,
        )
        if found == _NO_LEDGER:
            return LastCommitted.nothing(_NO_LEDGER)
        if isinstance(found, str):
            return LastCommitted.unknown(found)
        if not found:
            return LastCommitted.nothing(f"{LEDGER} holds no batch of this query")
        batch_id, generation, moment = found[0]
        basis = f"{LEDGER}, written by generation {generation} at {moment.isoformat()}"
        return LastCommitted.batch(int(batch_id), basis)

    def sight(self, query_id: str, seconds: int) -> SinkState:
        """Return what is at the table's address; raise SinkError where it cannot be looked at."""
        held = self.last_committed(query_id, seconds)
        psycopg = psycopg_here()
        try:
            with self._connected(seconds) as connection:
                schema = schema_of(connection, self._address)
                return look_at_table(connection, self._address, schema, held)
        except psycopg.Error as error:
            message = f"the database can't be asked: {words_of(error)}"
            raise SinkError("HF5041", message, at=self._address.shown) from error

    def offsets_of(self, query_id: str, batch_id: int) -> CommittedOffsets:
        """Return what the ledger has of one batch; never raises."""
        found = self._ask(
            "select batch_id, offsets_digest from {} where table_name = %s and query_id = %s "
            "and batch_id >= %s order by batch_id limit 1",
            query_id,
            batch_id,
        )
        if isinstance(found, str):
            return NOT_COMMITTED if found == _NO_LEDGER else UNKNOWN
        for number, digest in found:
            # Rows of old batches are removed: one that is missing below another may be there.
            return committed_with(digest) if number == batch_id else UNKNOWN
        return NOT_COMMITTED

    def queries(self) -> frozenset[str]:
        """Name every query whose batches the table took; empty where that can't be asked."""
        found = self._ask("select distinct query_id from {} where table_name = %s")
        return frozenset() if isinstance(found, str) else frozenset(row[0] for row in found)

    def look(self, seconds: int) -> OwnLedger | str:
        """Read the newest batch of every query in this time, or say why that is not to be had."""
        statement = "select query_id, max(batch_id) from {} where table_name = %s group by query_id"
        found = self._ask(statement, seconds=seconds)
        named = f"{LEDGER} in the database"
        if found == _NO_LEDGER:
            found, named = [], f"the database, which holds no {LEDGER} yet"
        if isinstance(found, str):
            return found
        return OwnLedger("postgres", self._address.shown, named, dict(found))

    def _ask(
        self, statement: str, *more: str | int, seconds: int | None = None
    ) -> list[tuple[Any, ...]] | str:
        """Return rows, or why there are none."""
        try:
            psycopg = psycopg_here()
        except SinkError as error:
            return error.message
        try:
            with self._connected(seconds) as connection:
                ledger = ledger_of(connection, self._address)
                values = (self._address.table, *more)
                return execute(connection, statement, ledger, values=values).fetchall()
        except psycopg.errors.UndefinedTable:
            return _NO_LEDGER
        except psycopg.Error as error:
            return f"the database can't be asked: {words_of(error)}"

    def _connected(self, seconds: int | None) -> psycopg.Connection[Any]:
        """Connect; where seconds are given, neither connecting nor a statement takes longer."""
        if seconds is None:
            return connected(self._address.conninfo, seconds=_READ_SECONDS)
        return connected_within(self._address.conninfo, seconds)


def schema_of(connection: psycopg.Connection[Any], address: PostgresAddress) -> str:
    """Name the schema of the table: the declared one, else the search path's first."""
    if address.schema is not None:
        return address.schema
    row = connection.execute("select coalesce(current_schema(), 'public')").fetchone()
    return "public" if row is None else str(row[0])


def ledger_of(connection: psycopg.Connection[Any], address: PostgresAddress) -> Any:
    """Return the ledger's name for a statement."""
    return psycopg_here().sql.Identifier(schema_of(connection, address), LEDGER)
