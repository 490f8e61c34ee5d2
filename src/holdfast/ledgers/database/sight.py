"""Looks at a PostgreSQL table before a start: is it there, is it the same one, has it rows?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.ledgers.database.address import PostgresAddress
from holdfast.ledgers.database.connection import psycopg_here
from holdfast.ledgers.lastcommitted import LastCommitted
from holdfast.ledgers.sinksight import Contents, SinkSight

if TYPE_CHECKING:
    import psycopg

_OID = (
    "select c.oid::bigint from pg_class c join pg_namespace n on n.oid = c.relnamespace "
    "where n.nspname = %s and c.relname = %s"
)


def look_at_table(
    connection: psycopg.Connection[Any], address: PostgresAddress, schema: str, held: LastCommitted
) -> SinkSight:
    """Return what is at the address, and whether there is any row."""
    server = address.shown.partition(" ")[0]
    place = f"{server} {schema}.{address.table}"
    row = connection.execute(_OID, (schema, address.table)).fetchone()
    if row is None:
        return SinkSight(held, place, contents=Contents.ABSENT)
    contents = _contents(connection, schema, address.table)
    unread = "this role has no right to SELECT" if contents is Contents.UNKNOWN else None
    return SinkSight(held, place, f"oid {row[0]}", contents, unread=unread)


def _contents(connection: psycopg.Connection[Any], schema: str, table: str) -> Contents:
    library = psycopg_here()
    statement = library.sql.SQL("select exists (select from {})")
    try:
        row = connection.execute(statement.format(library.sql.Identifier(schema, table))).fetchone()
    except library.errors.InsufficientPrivilege:
        # A table that can't be read must not pass for an empty one.
        return Contents.UNKNOWN
    return Contents.ROWS if row is None or row[0] else Contents.EMPTY
