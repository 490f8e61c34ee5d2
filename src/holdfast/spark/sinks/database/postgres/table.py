"""Looks at the table that rows go to: makes it on demand, refuses rows it can't take."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.errors import SinkError
from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.database.connection import execute, psycopg_here
from holdfast.spark.sinks.database.postgres.types import WrittenColumn

if TYPE_CHECKING:
    import psycopg

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
_WIDER = {
    "smallint": ("integer", "bigint", "numeric"),
    "integer": ("bigint", "numeric"),
    "bigint": ("numeric",),
    "real": ("double precision",),
    "text": ("character varying", "uuid", "json", "jsonb"),
    "jsonb": ("json",),
}
"""Types that hold every value of a narrower one, or refuse a value instead of changing it."""
CAST = ("uuid", "json", "jsonb")
"""What PostgreSQL makes of a text only where it is told to."""
_NUMERIC = re.compile(r"numeric\((\d+),(\d+)\)")


@dataclass(frozen=True)
class TableColumn:
    """A column that is there."""

    name: str
    type: str
    not_null: bool
    has_default: bool
    is_generated: bool


@dataclass(frozen=True)
class Target:
    """The table that rows go to."""

    schema: str
    table: str
    columns: tuple[TableColumn, ...]
    incarnation: str
    """Its oid: another one is another table of the same name."""

    def type_of(self, column: str) -> str:
        """Give the type of a column that is there."""
        return next(one.type for one in self.columns if one.name == column)


def find_table(
    connection: psycopg.Connection[Any], schema: str, table: str, sink: ReadySink
) -> Target | None:
    """Give the table, or None where there is none yet; raise where no table can be made there."""
    query = (
        "select c.oid, c.relkind from pg_class c join pg_namespace n on n.oid = c.relnamespace "
        "where n.nspname = %s and c.relname = %s"
    )
    found = connection.execute(query, (schema, table)).fetchone()
    if found is None:
        known = "select from pg_namespace where nspname = %s"
        if not connection.execute(known, (schema,)).rowcount:
            step = "create it: a schema is not made on demand"
            message = f"the database has no schema {schema}"
            raise SinkError("HF5005", message, at=sink.at, next_steps=(step,))
        return None
    oid, kind = found
    if kind not in ("r", "p"):
        step = "name a table of its own"
        message = f"{table} is there and is no table"
        raise SinkError("HF5005", message, at=sink.at, next_steps=(step,))
    if sink.mode == "upsert":
        _check_unique(connection, oid, sink)
    rows = connection.execute(_COLUMNS, (oid,)).fetchall()
    columns = tuple(TableColumn(*row) for row in rows)
    return Target(schema, table, columns, f"oid {oid}")


def create_table(
    connection: psycopg.Connection[Any],
    schema: str,
    table: str,
    columns: Sequence[WrittenColumn],
    key: Sequence[str] = (),
    *,
    unlogged: bool = False,
) -> None:
    """Create the table where it is not there; an upsert's key becomes its primary key."""
    sql = psycopg_here().sql
    parts = [sql.SQL("{} {}").format(sql.Identifier(one.name), sql.SQL(one.type))
             for one in columns]  # fmt: skip
    if key:
        names = sql.SQL(", ").join(map(sql.Identifier, key))
        parts.append(sql.SQL("primary key ({})").format(names))
    execute(
        connection,
        "create {}table if not exists {} ({})",
        sql.SQL("unlogged " if unlogged else ""),
        sql.Identifier(schema, table),
        sql.SQL(", ").join(parts),
    )


def check_fit(columns: Sequence[WrittenColumn], target: Target, sink: ReadySink) -> None:
    """Refuse rows whose columns are not the table's."""
    told = [*_differences(columns, target), *_lacking(columns, target)]
    if told:
        message = f"the rows do not fit {target.table}: {'; '.join(told)}"
        step = "let the transform give the columns that the table has, or alter the table"
        raise SinkError("HF5005", message, at=sink.at, next_steps=(step,))


def _differences(columns: Sequence[WrittenColumn], target: Target) -> Iterator[str]:
    known = {one.name: one for one in target.columns}
    for column in columns:
        there = known.get(column.name)
        if there is None:
            yield f"the table has no column {column.name}{_alike(column.name, known)}"
        elif there.is_generated:
            yield f"{column.name} is generated by the table itself"
        elif not _accepts(there.type, column.type):
            yield f"{column.name} is {there.type} in the table, the rows need {column.type}"


def _alike(name: str, known: Iterable[str]) -> str:
    alike = [one for one in known if one.lower() == name.lower()]
    return f" (it has {alike[0]}: capital letters count)" if alike else ""


def _lacking(columns: Sequence[WrittenColumn], target: Target) -> Iterator[str]:
    given = {one.name for one in columns}
    for there in target.columns:
        can_stay_empty = not there.not_null or there.has_default or there.is_generated
        if there.name not in given and not can_stay_empty:
            yield f"the rows have no column {there.name}, which can't be null"


def _accepts(there: str, given: str) -> bool:
    if there == given:
        return True
    wide, narrow = _NUMERIC.fullmatch(there), _NUMERIC.fullmatch(given)
    if narrow:
        if wide is None:
            return there == "numeric"
        digits, scale = int(wide[1]), int(wide[2])
        return scale >= int(narrow[2]) and digits - scale >= int(narrow[1]) - int(narrow[2])
    base = re.sub(r"^(character varying)\(\d+\)$", r"\1", there)
    return base in _WIDER.get(given, ())


def _check_unique(connection: psycopg.Connection[Any], oid: int, sink: ReadySink) -> None:
    indexes = [set(row[0]) for row in connection.execute(_UNIQUE, (oid,)).fetchall()]
    if set(sink.key) in indexes:
        return
    key = ", ".join(sink.key)
    message = f"the table has no unique index of exactly the key ({key})"
    why = "without it nothing keeps two rows of one key apart, and PostgreSQL does no upsert"
    step = f"create one: create unique index on … ({key})"
    raise SinkError("HF5005", message, at=sink.at, why=why, next_steps=(step,))
