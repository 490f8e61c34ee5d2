"""Sinks as a program declares them: typed, with the keys of the project file.

Values are checked where the job is declared, by the models of the project file, so that the same
mistake has the same code in both.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Literal

from holdfast.redaction import redact

Columns = str | Sequence[str]
"""One column, or several."""


@dataclass(frozen=True, kw_only=True, repr=False)
class TypedSink:
    """What all typed sinks have in common."""

    format: str
    mode: str = "append"
    options: Mapping[str, str | bool | int | float] = field(default_factory=dict)

    _COLUMNS: ClassVar[tuple[str, ...]] = ("key", "partition_by")
    _HIDDEN: ClassVar[tuple[str, ...]] = ("url", "options")

    def __repr__(self) -> str:
        """Name what is set; a URL and options may have a password in them, and are not shown."""
        declared = self.declaration()
        shown = [
            f"{one.name}={declared[one.name]!r}"
            for one in fields(self)
            if one.init and one.name in declared and one.name not in self._HIDDEN
        ]
        return redact(f"{type(self).__name__}({', '.join(shown)})")

    def declaration(self) -> dict[str, object]:
        """Return the sink with the keys of the project file.

        >>> DeltaSink(path="lake/orders", mode="upsert", key="order_id").declaration()
        {'format': 'delta', 'mode': 'upsert', 'path': 'lake/orders', 'key': ['order_id']}
        """
        given = {one.name: getattr(self, one.name) for one in fields(self)}
        written = {name: value for name, value in given.items() if value not in (None, (), {})}
        for name in self._COLUMNS:
            if isinstance(written.get(name), str):
                written[name] = [written[name]]
        return written


@dataclass(frozen=True, kw_only=True, repr=False)
class DeltaSink(TypedSink):
    """A Delta table, written exactly once.

    >>> DeltaSink(path="lake/customers", mode="upsert", key=["customer"], order_by="changed_at")
    DeltaSink(mode='upsert', path='lake/customers', key=['customer'], order_by='changed_at')
    """

    format: Literal["delta"] = field(default="delta", init=False)
    mode: Literal["append", "upsert", "complete"] = "append"
    """`append` adds rows, `upsert` replaces rows with the same key, `complete` replaces all."""
    options: Mapping[str, str | bool | int | float] = field(default_factory=dict)
    """Options of Spark's writer."""
    path: str | os.PathLike[str]
    """The directory or URL of the table."""
    key: Columns = ()
    """The columns that identify a row; required for `upsert`."""
    order_by: str | None = None
    """For `upsert`: of two rows of a batch with one key, the one with the greater value wins."""
    partition_by: Columns = ()
    """The columns that a new table is partitioned by."""


@dataclass(frozen=True, kw_only=True, repr=False)
class FileSink(TypedSink):
    """A directory of Parquet, CSV, JSON or ORC files, written exactly once.

    >>> FileSink(format="parquet", path="lake/orders")
    FileSink(format='parquet', mode='append', path='lake/orders')
    """

    format: Literal["parquet", "csv", "json", "orc"]
    """The format of the files."""
    mode: Literal["append", "complete"] = "append"
    """`append` adds files, `complete` replaces all of them with every batch."""
    options: Mapping[str, str | bool | int | float] = field(default_factory=dict)
    """Options of Spark's writer, such as `{"header": True}` for CSV."""
    path: str | os.PathLike[str]
    """The directory or URL to write."""
    partition_by: Columns = ()
    """The columns that become directories."""


@dataclass(frozen=True, kw_only=True, repr=False)
class PostgresSink(TypedSink):
    """A PostgreSQL table, written exactly once. The URL is not shown.

    >>> PostgresSink(url="postgresql://app@db/shop", table="orders")
    PostgresSink(mode='append', table='orders')
    """

    format: Literal["postgres"] = field(default="postgres", init=False)
    mode: Literal["append", "upsert", "complete"] = "append"
    """`append` adds rows, `upsert` replaces rows with the same key, `complete` replaces all."""
    options: Mapping[str, str | bool | int | float] = field(default_factory=dict)
    """Options of the connection, such as `{"user": …, "password": …}`."""
    url: str
    """The database: `postgresql://…` or `jdbc:postgresql:…`."""
    table: str
    """The table to write, with its schema if it is not on the search path."""
    key: Columns = ()
    """The columns that identify a row; required for `upsert`."""
    order_by: str | None = None
    """For `upsert`: of two rows of a batch with one key, the one with the greater value wins."""
    batch_column: str | None = None
    """For `append`: a column that gets the batch id of each row."""


@dataclass(frozen=True, kw_only=True, repr=False)
class JdbcSink(TypedSink):
    """A table of another database with a JDBC driver, written exactly once. The URL is not shown.

    >>> JdbcSink(url="jdbc:mysql://db/shop", table="orders", mode="upsert", key="order_id")
    JdbcSink(mode='upsert', table='orders', key=['order_id'])
    """

    format: Literal["jdbc"] = field(default="jdbc", init=False)
    mode: Literal["append", "upsert", "complete"] = "append"
    """`append` adds rows, `upsert` replaces rows with the same key, `complete` replaces all."""
    options: Mapping[str, str | bool | int | float] = field(default_factory=dict)
    """Options of the connection, such as `{"driver": …, "user": …, "password": …}`."""
    url: str
    """The database: `jdbc:…`."""
    table: str
    """The table to write."""
    key: Columns = ()
    """The columns that identify a row; required for `upsert`."""
    order_by: str | None = None
    """For `upsert`: of two rows of a batch with one key, the one with the greater value wins."""
    batch_column: str | None = None
    """For `append`: a column that gets the batch id of each row."""


Sink = TypedSink | Mapping[str, object] | Callable[..., Any]
"""What is accepted as a sink: a typed one, the keys of the project file, a function of
`(batch, batch_id)`."""


def written_sink(sink: Sink) -> Mapping[str, object]:
    """Return a sink with the keys of the project file, whatever form it was given in.

    >>> written_sink(FileSink(format="csv", path="out"))
    {'format': 'csv', 'mode': 'append', 'path': 'out'}
    """
    if isinstance(sink, TypedSink):
        return sink.declaration()
    return {"format": "custom", "function": sink} if callable(sink) else sink
