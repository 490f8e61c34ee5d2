"""The catalogue of a database, as a JDBC driver tells it, and tables of ours in it.

Names are spelled as the database takes them: folded where they are plain, quoted always.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from holdfast.errors import SinkError
from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.sinkstate import Contents, LastCommitted, SinkState
from holdfast.spark.sinks.database.dialect import DatabaseFailure
from holdfast.spark.sinks.database.dialects.jdbc.connection import (
    JdbcConnection,
    JdbcDatabase,
    translated,
)
from holdfast.spark.sinks.database.table import Spelling, TableColumn, WrittenTable

_PART = r'("(?:[^"]|"")+"|`(?:[^`]|``)+`|[^\W\d][\w$#]*)'
_TABLE = re.compile(rf"(?:{_PART}\.)?{_PART}")
_NOT_NULL = 0
_DROP_SECONDS = 5


class JdbcTables(JdbcConnection):
    """A connection to the database of one declared table."""

    def __init__(self, raw: Any, database: JdbcDatabase, sink: ReadySink) -> None:
        super().__init__(raw)
        self._database = database
        self._sink = sink

    def locate(self) -> WrittenTable:
        """Return the place of the declared table; raise HF5072 where nothing can be one act."""
        with translated():
            metadata = self.metadata
            if not metadata.supportsTransactions():
                message = "the database has no transactions: a batch cannot be written atomically"
                raise SinkError("HF5072", message, at=self._sink.at)
            spelling = spelling_of(metadata)
            schema, name = table_name(self._sink.table or "", spelling)
            if schema is None and metadata.supportsSchemasInTableDefinitions():
                schema = self.schema
            return WrittenTable(spelling, schema, name)

    def find(self, table: WrittenTable) -> WrittenTable:
        """Look for the table; raise SinkError where no table can be made or written there."""
        place = WrittenTable(table.spelling, table.schema, table.name)
        kind = dict(self._tables_like(place, place.name)).get(place.name)
        with translated():
            if kind is None:
                self._check_schema(place)
                return place
            if "TABLE" not in kind.upper() or "VIEW" in kind.upper():
                step = "name a table of its own"
                message = f"{place.name} exists and is not a table"
                raise SinkError("HF5005", message, at=self._sink.at, next_steps=(step,))
            # Databases say nothing more of a table in one way than its whole name.
            columns = tuple(self._columns(place))
            return replace(place, columns=columns, incarnation=place.qualified)

    def incarnation(self, table: WrittenTable) -> str | None:
        """Return the table's whole name: nothing more tells it from one that was made later."""
        return table.incarnation

    def has_table(self, table: WrittenTable, name: str) -> bool:
        """Return whether there is a table of ours beside the written one."""
        return any(self._tables_like(table, table.spelling.folded(name)))

    def tables_beginning(self, table: WrittenTable, beginning: str) -> Iterator[str]:
        """Name the tables of ours beside the written one that begin so, in lower case."""
        for name, _ in self._tables_like(table, table.spelling.folded(beginning), "%"):
            yield name.lower()

    def create_table(
        self, table: WrittenTable, name: str, parts: Sequence[str], *, is_staging: bool = False
    ) -> None:
        """Create a table beside the written one, unless another driver did so at this moment."""
        del is_staging  # Plain SQL has one kind of table.
        options = [
            text for key, text in self._sink.options.items() if key.lower() == "createtableoptions"
        ]
        statement = f"create table {table.spelling.quoted(table.schema, name)} "
        try:
            self.execute(f"{statement}({', '.join(parts)}) {' '.join(options)}".strip())
        except DatabaseFailure:
            if name not in dict(self._tables_like(table, name)):
                raise

    def drop_table(self, table: WrittenTable, name: str) -> bool:
        """Drop a table of ours without waiting long; return whether it is gone, whoever did it."""
        try:
            self.execute(f"drop table {table.beside(name)}", seconds=_DROP_SECONDS)
        except DatabaseFailure:
            return not self.has_table(table, name)
        return True

    def look(self, table: WrittenTable, last: LastCommitted) -> SinkState:
        """Return what is at the table's place, and whether there is any row."""
        place = f"{self._database.shown} {table.qualified}"
        if self.find(table).columns is None:
            return SinkState(last, place, contents=Contents.ABSENT)
        try:
            found = bool(self.rows(f"select 1 from {table.spelled}", most=1))
        except DatabaseFailure as failure:
            if failure.lost or failure.contended:
                raise
            # A role may only write.
            return SinkState(last, place, contents=Contents.UNKNOWN, unread=failure.words)
        return SinkState(last, place, contents=Contents.ROWS if found else Contents.EMPTY)

    def _tables_like(
        self, table: WrittenTable, name: str, more: str = ""
    ) -> Iterator[tuple[str, str]]:
        """Yield the tables, with their kind, of this name, or with `more="%"` that begin so."""
        with translated():
            catalogue, schema = self._scope(table.schema)
            pattern = self._plain(name) + more
            found = self.metadata.getTables(catalogue, self._plain(schema), pattern, None)
            while found.next():
                yield str(found.getString("TABLE_NAME")), str(found.getString("TABLE_TYPE"))

    def _scope(self, schema: str | None) -> tuple[str | None, str | None]:
        """Return catalogue and schema to look in; some databases have only the first."""
        if not self.metadata.supportsSchemasInTableDefinitions():
            return schema or self.catalogue, None
        return self.catalogue, schema

    def _plain(self, name: str | None) -> Any:
        """Spell a name so that no character of it is a wildcard."""
        if name is None:
            return None
        mark = str(self.metadata.getSearchStringEscape() or "")
        if not mark:
            return name
        return name.replace(mark, mark * 2).replace("_", f"{mark}_").replace("%", f"{mark}%")

    def _check_schema(self, table: WrittenTable) -> None:
        if table.schema is None or not self.metadata.supportsSchemasInTableDefinitions():
            return
        found, known = self.metadata.getSchemas(), set()
        while found.next():
            known.add(str(found.getString("TABLE_SCHEM")))
        if table.schema not in known:
            step = "create it: a schema is not made on demand"
            message = f"the database has no schema {table.schema}"
            raise SinkError("HF5005", message, at=self._sink.at, next_steps=(step,))

    def _columns(self, table: WrittenTable) -> Iterator[TableColumn]:
        catalogue, schema = self._scope(table.schema)
        patterns = self._plain(schema), self._plain(table.name)
        found = self.metadata.getColumns(catalogue, *patterns, None)
        while found.next():
            if str(found.getString("TABLE_NAME")) != table.name:
                continue
            counts = found.getString("IS_AUTOINCREMENT") == "YES"
            yield TableColumn(
                name=str(found.getString("COLUMN_NAME")),
                code=int(found.getInt("DATA_TYPE")),
                type=str(found.getString("TYPE_NAME")),
                digits=int(found.getInt("COLUMN_SIZE")),
                scale=int(found.getInt("DECIMAL_DIGITS")),
                not_null=int(found.getInt("NULLABLE")) == _NOT_NULL,
                has_default=counts or found.getString("COLUMN_DEF") is not None,
                is_generated=found.getString("IS_GENERATEDCOLUMN") == "YES",
            )


@contextmanager
def jdbc_connection(database: JdbcDatabase, sink: ReadySink) -> Iterator[JdbcTables]:
    """Connect to the database of a declared table."""
    with database.connected() as connection:
        yield JdbcTables(connection.raw, database, sink)


def spelling_of(metadata: Any) -> Spelling:
    """Return how this database spells names; `metadata` is the driver's."""
    folding = ""
    if metadata.storesUpperCaseIdentifiers():
        folding = "upper"
    elif metadata.storesLowerCaseIdentifiers():
        folding = "lower"
    return Spelling(str(metadata.getIdentifierQuoteString()).strip(), folding)


def check_table_name(table: str, at: str | None) -> None:
    """Refuse what is no name of a table."""
    if _TABLE.fullmatch(table) is None:
        message = f"{table} is not a valid table name"
        step = 'write `table`, `schema.table`, or `schema."Any Name"`'
        raise SinkError("HF5002", message, at=at, next_steps=(step,))


def table_name(table: str, spelling: Spelling) -> tuple[str | None, str]:
    """Return schema and name of a checked name; as in SQL, only what is quoted keeps its letters.

    Where the database has no schemas, the first is the catalogue.
    """
    match = _TABLE.fullmatch(table)
    parts = [] if match is None else [_kept(one, spelling) for one in match.groups() if one]
    return parts[0] if len(parts) > 1 else None, parts[-1]


def _kept(part: str, spelling: Spelling) -> str:
    mark = part[0]
    return part[1:-1].replace(mark * 2, mark) if mark in '"`' else spelling.folded(part)
