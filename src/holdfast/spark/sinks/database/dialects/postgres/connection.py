"""A connection to PostgreSQL: its statements, its catalogue, and tables of ours beside others.

Whatever psycopg raises is a DatabaseFailure, without values of rows and without secrets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from holdfast.errors import SinkError
from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.database.connection import PostgresAddress, connected, psycopg_here, words_of
from holdfast.ledgers.database.postgres import look_at_table, schema_of
from holdfast.ledgers.sinkstate import LastCommitted, SinkState
from holdfast.spark.sinks.database.dialect import DatabaseFailure
from holdfast.spark.sinks.database.table import Spelling, TableColumn, WrittenTable

if TYPE_CHECKING:
    import psycopg

SPELLING = Spelling('"', "lower", placeholder="%s", exact=True)
_TABLE = (
    "select c.oid, c.relkind from pg_class c join pg_namespace n on n.oid = c.relnamespace "
    "where n.nspname = %s and c.relname = %s"
)
_COLUMNS = """
select a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
       a.atthasdef or a.attidentity <> '', a.attgenerated <> '' or a.attidentity = 'a'
from pg_attribute a where a.attrelid = %s and a.attnum > 0 and not a.attisdropped
order by a.attnum
"""
_UNIQUE = """
select array(select a.attname::text from pg_attribute a
             where a.attrelid = i.indrelid
               and a.attnum = any((i.indkey::int2[])[0:i.indnkeyatts - 1]))
from pg_index i
where i.indrelid = %s and i.indisunique and i.indisvalid and i.indimmediate
  and i.indpred is null and i.indexprs is null
"""
_ISOLATION = "set transaction isolation level read committed"
# What others committed while we waited for a lock has to be seen.
_SETTINGS = """
select set_config('lock_timeout', case current_setting('lock_timeout') when '0' then '60s'
                  else current_setting('lock_timeout') end, true),
       set_config('synchronous_commit', case current_setting('synchronous_commit')
                  when 'off' then 'on' else current_setting('synchronous_commit') end, true)
"""
# A server that answers before the transaction is on disk may forget it, while Spark does not.


class PostgresConnection:
    """A connection to the database of one declared table."""

    def __init__(
        self, raw: psycopg.Connection[Any], address: PostgresAddress, sink: ReadySink
    ) -> None:
        self._raw = raw
        self._address = address
        self._sink = sink

    def execute(self, statement: str, *values: str | int, seconds: int = 0) -> int:  # noqa: ARG002
        """Execute a statement, and return how many rows it touched.

        Transactions have a `lock_timeout`, so that `seconds` change nothing.
        """
        return self._run(statement, values).rowcount

    def rows(self, statement: str, *values: str | int) -> list[tuple[Any, ...]]:
        """Return what a query finds."""
        return self._run(statement, values).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit everything in the block at its end; take all of it back where it raises.

        It sees what others commit, waits for locks for a minute, and is on disk afterwards.
        """
        with translated(), self._raw.transaction():
            self._raw.execute(_ISOLATION)
            self._raw.execute(_SETTINGS)
            yield

    def locate(self) -> WrittenTable:
        """Return the place of the declared table: in its schema, else the search path's first."""
        with translated():
            schema = schema_of(self._raw, self._address)
        return WrittenTable(SPELLING, schema, self._address.table)

    def find(self, table: WrittenTable) -> WrittenTable:
        """Look for the table; raise SinkError where no table can be made or written there."""
        found = self.rows(_TABLE, table.schema or "", table.name)
        if not found:
            self._check_schema(table.schema or "")
            return WrittenTable(SPELLING, table.schema, table.name)
        ((oid, kind),) = found
        if kind not in ("r", "p"):
            step = "name a table of its own"
            message = f"{table.name} exists and is not a table"
            raise SinkError("HF5005", message, at=self._sink.at, next_steps=(step,))
        if self._sink.mode == "upsert":
            self._check_unique(oid)
        columns = tuple(
            TableColumn(
                name=name,
                type=type_,
                not_null=not_null,
                has_default=has_default,
                is_generated=is_generated,
            )
            for name, type_, not_null, has_default, is_generated in self.rows(_COLUMNS, oid)
        )
        return WrittenTable(SPELLING, table.schema, table.name, columns, f"oid {oid}")

    def incarnation(self, table: WrittenTable) -> str | None:
        """Return what identifies the table that is there now; None where there is none."""
        found = self.rows(_TABLE, table.schema or "", table.name)
        return f"oid {found[0][0]}" if found else None

    def has_table(self, table: WrittenTable, name: str) -> bool:
        """Return whether there is a table of ours beside the written one."""
        return bool(self.rows(_TABLE, table.schema or "", name))

    def tables_beginning(self, table: WrittenTable, beginning: str) -> Iterator[str]:
        """Name the tables of ours beside the written one that begin so."""
        query = (
            "select tablename from pg_tables where schemaname = %s and starts_with(tablename, %s)"
        )
        for (name,) in self.rows(query, table.schema or "", beginning):
            yield name

    def create_table(
        self, table: WrittenTable, name: str, parts: Sequence[str], *, is_staging: bool = False
    ) -> None:
        """Create a table beside the written one; another driver may do it at the same moment."""
        kind = "unlogged table" if is_staging else "table"
        spelled = table.spelling.quoted(table.schema, name)
        statement = f"create {kind} if not exists {spelled} ({', '.join(parts)})"
        try:
            self.execute(statement)
        except DatabaseFailure as failure:
            if not failure.duplicate:
                raise
            self.execute(statement)

    def drop_table(self, table: WrittenTable, name: str) -> bool:
        """Drop a table of ours without waiting long; return whether it is gone."""
        try:
            with translated(), self._raw.transaction():
                self._raw.execute("set local lock_timeout = '2s'")
                self.execute(f"drop table if exists {table.beside(name)}")
        except DatabaseFailure as failure:
            if failure.lost:
                raise
            return False
        return True

    def look(self, table: WrittenTable, last: LastCommitted) -> SinkState:
        """Return what is at the table's place, and whether there is any row."""
        with translated():
            return look_at_table(self._raw, self._address, table.schema or "", last)

    def _run(self, statement: str, values: tuple[str | int, ...]) -> psycopg.Cursor[Any]:
        with translated():
            # Values are always given, so that a doubled per cent sign is always one of a name.
            return self._raw.execute(psycopg_here().sql.SQL(statement), values)

    def _check_schema(self, schema: str) -> None:
        if not self.execute("select from pg_namespace where nspname = %s", schema):
            step = "create it: a schema is not made on demand"
            message = f"the database has no schema {schema}"
            raise SinkError("HF5005", message, at=self._sink.at, next_steps=(step,))

    def _check_unique(self, oid: int) -> None:
        indexes = [set(row[0]) for row in self.rows(_UNIQUE, oid)]
        if set(self._sink.key) in indexes:
            return
        key = ", ".join(self._sink.key)
        message = f"the table has no unique index on exactly the key ({key})"
        why = (
            "without it the table could get two rows with the same key, and PostgreSQL cannot "
            "upsert"
        )
        step = f"create one: create unique index on … ({key})"
        raise SinkError("HF5005", message, at=self._sink.at, why=why, next_steps=(step,))


@contextmanager
def postgres_connection(address: PostgresAddress, sink: ReadySink) -> Iterator[PostgresConnection]:
    """Connect to the database of a declared table."""
    with translated(), connected(address.conninfo) as raw:
        yield PostgresConnection(raw, address, sink)


@contextmanager
def translated() -> Iterator[None]:
    """Let what psycopg raises in the block be a DatabaseFailure."""
    library = psycopg_here()
    try:
        yield
    except library.Error as error:
        raise failure_of(error) from error


def failure_of(error: psycopg.Error) -> DatabaseFailure:
    """Judge what psycopg raised."""
    library = psycopg_here()
    errors = library.errors
    contended = isinstance(error, errors.LockNotAvailable | errors.DeadlockDetected)
    # A server without room answers, and asking again changes nothing.
    is_full = isinstance(error, errors.DiskFull)
    lost = isinstance(error, library.OperationalError) and not is_full and not contended
    duplicate = isinstance(error, errors.UniqueViolation | errors.DuplicateTable)
    return DatabaseFailure(words_of(error), lost=lost, contended=contended, duplicate=duplicate)
