"""Copies a PostgreSQL table with its ledger into a schema of its own, for a rehearsal.

One transaction reads the originals at one moment, and writes to the new schema alone. A column that
takes its values from a sequence of the original gets a sequence there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from holdfast.errors import SinkError
from holdfast.ledgers.database.connection import (
    PostgresAddress,
    connected,
    execute,
    psycopg_here,
    words_of,
)
from holdfast.ledgers.database.postgres import LEDGER, schema_of

if TYPE_CHECKING:
    import psycopg

_EXISTS = "select to_regclass(%s) is not null"
_COLUMNS = (
    "select attname from pg_attribute where attrelid = %s::regclass and attnum > 0 "
    "and not attisdropped and attgenerated = '' order by attnum"
)
_SEQUENCES = (
    "select a.attname from pg_attrdef d "
    "join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum "
    "where d.adrelid = %s::regclass and pg_get_expr(d.adbin, d.adrelid) like 'nextval(%%'"
)
_FINGERPRINT = (
    "select count(*), coalesce(sum(('x' || substr(md5(t::text), 1, 15))::bit(60)::bigint), 0) "
    "from {} t"
)
_OF_TABLE = " where table_name in (%s, %s)"


@dataclass(frozen=True)
class Fingerprint:
    """How many rows a table has, and one digest of its rows and of its ledger."""

    rows: int
    digest: str


@dataclass(frozen=True)
class ScratchTable:
    """A copy of a table in a schema of its own."""

    original: PostgresAddress
    schema: str

    @property
    def written(self) -> str:
        """The copy as `table` declares it."""
        quoted = (one.replace('"', '""') for one in (self.schema, self.original.table))
        return ".".join(f'"{one}"' for one in quoted)

    @property
    def shown(self) -> str:
        """The copy, as shown to people."""
        return f"schema {self.schema} of {self.original.shown.partition(' ')[0]}"

    def copy(self) -> None:
        """Make the schema with copies of the table and its ledger; raise SinkError."""
        with _asked(self.original) as connection, connection.transaction():
            connection.execute("set transaction isolation level repeatable read")
            schema = schema_of(connection, self.original)
            execute(connection, "create schema {}", self._name())
            if _is_there(connection, schema, self.original.table):
                self._copy_rows(connection, schema, self.original.table)
            if _is_there(connection, schema, LEDGER):
                self._copy_rows(connection, schema, LEDGER, (*_names(self.original),))

    def drop(self) -> None:
        """Remove the schema with everything in it; one that is gone is no error."""
        with _asked(self.original) as connection:
            execute(connection, "drop schema if exists {} cascade", self._name())

    def rows(self) -> int:
        """Count the rows of the copy."""
        address = replace(self.original, schema=self.schema)
        return fingerprint(address).rows

    def _name(self) -> Any:
        return psycopg_here().sql.Identifier(self.schema)

    def _copy_rows(
        self,
        connection: psycopg.Connection[Any],
        schema: str,
        table: str,
        of_table: tuple[str, ...] = (),
    ) -> None:
        sql = psycopg_here().sql
        before, after = sql.Identifier(schema, table), sql.Identifier(self.schema, table)
        execute(connection, "create table {} (like {} including all)", after, before)
        original = before.as_string(connection)
        names = [row[0] for row in connection.execute(_COLUMNS, (original,)).fetchall()]
        columns = sql.SQL(", ").join(map(sql.Identifier, names))
        chosen = _OF_TABLE if of_table else ""
        execute(
            connection,
            f"insert into {{}} ({{}}) overriding system value select {{}} from {{}}{chosen}",
            after, columns, columns, before, values=of_table,
        )  # fmt: skip
        for (column,) in connection.execute(_SEQUENCES, (original,)).fetchall():
            self._own_sequence(connection, after, column)

    def _own_sequence(self, connection: psycopg.Connection[Any], table: Any, column: str) -> None:
        sql = psycopg_here().sql
        sequence = sql.Identifier(self.schema, f"{column[:40]}_values")
        name = sql.Identifier(column)
        execute(connection, "create sequence {}", sequence)
        text = sql.Literal(sequence.as_string(connection))
        execute(connection, "select setval({}, (select coalesce(max({}), 0) + 1 from {}))",
                text, name, table)  # fmt: skip
        execute(connection, "alter table {} alter column {} set default nextval({})",
                table, name, text)  # fmt: skip


def fingerprint(address: PostgresAddress) -> Fingerprint:
    """Look at a table and at its part of the ledger; raise SinkError where that is impossible."""
    sql = psycopg_here().sql
    with _asked(address) as connection:
        schema = schema_of(connection, address)
        found: list[tuple[int, str]] = []
        for table, chosen in ((address.table, ""), (LEDGER, _OF_TABLE)):
            row = (0, "none")
            if _is_there(connection, schema, table):
                values = (*_names(address),) if chosen else ()
                name = sql.Identifier(schema, table)
                told = execute(connection, _FINGERPRINT + chosen, name, values=values).fetchone()
                row = row if told is None else (int(told[0]), str(told[1]))
            found.append(row)
    digest = hashlib.sha256(repr(found).encode()).hexdigest()
    return Fingerprint(found[0][0], digest)


def _names(address: PostgresAddress) -> tuple[str, str]:
    """Return what the ledger calls the table: in rows of batches, and in those that are none."""
    return address.table, f"holdfast:{address.table}"


def _is_there(connection: psycopg.Connection[Any], schema: str, table: str) -> bool:
    name = psycopg_here().sql.Identifier(schema, table).as_string(connection)
    row = connection.execute(_EXISTS, (name,)).fetchone()
    return bool(row and row[0])


@contextmanager
def _asked(address: PostgresAddress) -> Iterator[psycopg.Connection[Any]]:
    """Connect to a database; what it refuses is a SinkError without rows or secrets."""
    library = psycopg_here()
    try:
        connection = connected(address.conninfo)
        try:
            yield connection
        finally:
            connection.close()
    except library.Error as error:
        message = f"the database can't be asked: {words_of(error)}"
        raise SinkError("HF5041", message, at=address.shown) from error
