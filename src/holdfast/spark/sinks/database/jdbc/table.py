"""Looks at the table that rows go to through JDBC: makes it on demand, names what is there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.errors import SinkError
from holdfast.jobs.ready import ReadySink
from holdfast.spark.sinks.database.jdbc.connection import JdbcConnection, translated
from holdfast.spark.sinks.database.jdbc.failure import JdbcFailure
from holdfast.spark.sinks.database.jdbc.names import Names, TableName, names_of, table_name
from holdfast.spark.sinks.database.jdbc.types import JdbcColumn

_NOT_NULL = 0


@dataclass(frozen=True)
class ThereColumn:
    """A column that is there."""

    name: str
    code: int
    """Its type by `java.sql.Types`."""
    type: str
    """Its type as the database calls it."""
    digits: int
    scale: int
    not_null: bool
    has_default: bool
    is_generated: bool


@dataclass(frozen=True)
class Target:
    """The table that rows go to, and how names are spelled beside it."""

    names: Names
    name: TableName
    columns: tuple[ThereColumn, ...] | None
    """None where there is no table yet."""

    @property
    def spelled(self) -> str:
        """The table's name for a statement."""
        return self.names.quoted(self.name.qualifier, self.name.table)

    @property
    def found(self) -> str | None:
        """The table's whole name where it is there; databases tell of nothing more in one way."""
        return None if self.columns is None else self.qualified

    @property
    def qualified(self) -> str:
        """The table's whole name, as shown to people."""
        return ".".join(part for part in (self.name.qualifier, self.name.table) if part)

    def declared(self, given: str) -> str:
        """Return the name as it would be declared with its schema; `given` where none is known."""
        return given if self.name.qualifier is None or not self.names.quote else self.spelled

    def beside(self, name: str) -> str:
        """Spell the name of a table of ours in the same schema."""
        return self.names.quoted(self.name.qualifier, self.names.folded(name))

    def column(self, name: str) -> str:
        """Give a column's name as the table has it: exact, else whatever its capital letters."""
        there = [one.name for one in self.columns or ()]
        alike = [one for one in there if one.lower() == name.lower()]
        return name if name in there or len(alike) != 1 else alike[0]


def find_target(connection: JdbcConnection, sink: ReadySink) -> Target:
    """Look for the table; raise SinkError where no table can be made or written there."""
    with translated():
        metadata = connection.metadata
        if not metadata.supportsTransactions():
            message = "the database has no transactions: a batch can't be one act there"
            raise SinkError("HF5072", message, at=sink.at)
        names = names_of(metadata)
        name = table_name(sink.table or "", names)
        if name.qualifier is None and metadata.supportsSchemasInTableDefinitions():
            name = TableName(connection.schema, name.table)
        kinds = dict(tables_like(connection, name.qualifier, name.table))
        kind = kinds.get(name.table)
        if kind is None:
            _check_schema(metadata, name, sink)
            return Target(names, name, None)
        if "TABLE" not in kind.upper() or "VIEW" in kind.upper():
            step = "name a table of its own"
            message = f"{name.table} is there and is no table"
            raise SinkError("HF5005", message, at=sink.at, next_steps=(step,))
        return Target(names, name, tuple(_columns(connection, name)))


def has_rows(connection: JdbcConnection, target: Target) -> bool:
    """Return whether the table has a row, without looking for more than one."""
    return bool(connection.rows(f"select 1 from {target.spelled}", most=1))


def tables_like(
    connection: JdbcConnection, qualifier: str | None, name: str, more: str = ""
) -> Iterator[tuple[str, str]]:
    """Give the tables, with their kind, of this name, or with `more="%"` that begin so."""
    with translated():
        metadata = connection.metadata
        catalogue, schema = _scope(connection, qualifier)
        pattern = _plain(metadata, name) + more
        found = metadata.getTables(catalogue, _plain(metadata, schema), pattern, None)
        while found.next():
            yield str(found.getString("TABLE_NAME")), str(found.getString("TABLE_TYPE"))


def create_target(
    connection: JdbcConnection, target: Target, columns: Sequence[JdbcColumn], sink: ReadySink
) -> None:
    """Create the table that rows go to; an upsert's key becomes its primary key."""
    quoted = target.names.quoted
    parts = [
        f"{quoted(one.name)} {one.made}{' not null' if one.name in sink.key else ''}"
        for one in columns
    ]
    if sink.key:
        parts.append(f"primary key ({', '.join(map(quoted, sink.key))})")
    create_table(connection, target, target.name.table, parts, sink)


def create_table(
    connection: JdbcConnection, target: Target, name: str, parts: Sequence[str], sink: ReadySink
) -> None:
    """Create a table beside the target, unless another driver did so at this moment.

    `name` is one that the database keeps so; `parts` are its columns and constraints.
    """
    options = [text for key, text in sink.options.items() if key.lower() == "createtableoptions"]
    statement = f"create table {target.names.quoted(target.name.qualifier, name)} "
    try:
        connection.execute(f"{statement}({', '.join(parts)}) {' '.join(options)}".strip())
    except JdbcFailure:
        if name not in dict(tables_like(connection, target.name.qualifier, name)):
            raise


def _scope(connection: JdbcConnection, qualifier: str | None) -> tuple[str | None, str | None]:
    """Give catalogue and schema to look in; some databases have only the first."""
    if not connection.metadata.supportsSchemasInTableDefinitions():
        return qualifier or connection.catalogue, None
    return connection.catalogue, qualifier


def _plain(metadata: Any, name: str | None) -> Any:
    """Spell a name so that no character of it is a wildcard."""
    if name is None:
        return None
    mark = str(metadata.getSearchStringEscape() or "")
    if not mark:
        return name
    return name.replace(mark, mark * 2).replace("_", f"{mark}_").replace("%", f"{mark}%")


def _check_schema(metadata: Any, name: TableName, sink: ReadySink) -> None:
    if name.qualifier is None or not metadata.supportsSchemasInTableDefinitions():
        return
    found, known = metadata.getSchemas(), set()
    while found.next():
        known.add(str(found.getString("TABLE_SCHEM")))
    if name.qualifier not in known:
        step = "create it: a schema is not made on demand"
        message = f"the database has no schema {name.qualifier}"
        raise SinkError("HF5005", message, at=sink.at, next_steps=(step,))


def _columns(connection: JdbcConnection, name: TableName) -> Iterator[ThereColumn]:
    metadata = connection.metadata
    catalogue, schema = _scope(connection, name.qualifier)
    patterns = _plain(metadata, schema), _plain(metadata, name.table)
    found = metadata.getColumns(catalogue, *patterns, None)
    while found.next():
        if str(found.getString("TABLE_NAME")) != name.table:
            continue
        counted = found.getString("IS_AUTOINCREMENT") == "YES"
        yield ThereColumn(
            name=str(found.getString("COLUMN_NAME")),
            code=int(found.getInt("DATA_TYPE")),
            type=str(found.getString("TYPE_NAME")),
            digits=int(found.getInt("COLUMN_SIZE")),
            scale=int(found.getInt("DECIMAL_DIGITS")),
            not_null=int(found.getInt("NULLABLE")) == _NOT_NULL,
            has_default=counted or found.getString("COLUMN_DEF") is not None,
            is_generated=found.getString("IS_GENERATEDCOLUMN") == "YES",
        )
