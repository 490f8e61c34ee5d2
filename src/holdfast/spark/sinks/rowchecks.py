"""Judges which rows a table takes: fitting columns, and one row a key; tells no values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from holdfast.errors import SinkError
from holdfast.jobs.ready import ReadySink
from holdfast.wording import counted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructField, StructType


@contextmanager
def rows_to_write(batch: DataFrame, sink: ReadySink) -> Iterator[DataFrame]:
    """Yield the rows to write. Those of an upsert are looked at first, and computed once."""
    if sink.mode != "upsert":
        yield batch
        return
    batch.persist()
    try:
        yield one_row_a_key(batch, sink.key, sink.order_by, sink.at)
    finally:
        batch.unpersist()


def one_row_a_key(
    batch: DataFrame, key: Sequence[str], order_by: str | None, at: str | None
) -> DataFrame:
    """Return the rows of a cached batch that are upserted; raise SinkError where that is unclear.

    Of several rows of one key the one with the greatest `order_by` wins, and null is the smallest.
    """
    without_key, doubled = _trouble(batch, key)
    if without_key:
        message = f"{_rows(without_key)} with null in the key ({', '.join(key)})"
        raise SinkError("HF5008", message, at=at)
    if not doubled:
        return batch
    if order_by is None:
        raise SinkError("HF5007", f"{_keys(doubled, key)} with several rows", at=at)
    winners = _greatest(batch, key, order_by)
    _, tied = _trouble(winners, key)
    if tied:
        message = f"{_keys(tied, key)} with several rows that {order_by} does not distinguish"
        step = "name a column in `order_by` that differs between the rows of one key"
        raise SinkError("HF5007", message, at=at, next_steps=(step,))
    return winners


def quoted(column: str) -> str:
    """Spell a column's name so that every character in it is a plain one."""
    return "`" + column.replace("`", "``") + "`"


def _trouble(batch: DataFrame, key: Sequence[str]) -> tuple[int, int]:
    """Count the rows without a key, and the keys with several rows, in one pass."""
    from pyspark.sql import functions

    columns = [functions.col(quoted(name)).alias(f"key{place}") for place, name in enumerate(key)]
    no_key = functions.lit(False)
    for place in range(len(key)):
        no_key = no_key | functions.col(f"key{place}").isNull()
    groups = batch.groupBy(*columns).agg(functions.count("*").alias("rows"))
    rows = functions.col("rows")
    counted = groups.agg(
        functions.sum(functions.when(no_key, rows)).alias("without"),
        functions.sum(functions.when(~no_key & (rows > 1), 1)).alias("doubled"),
    ).collect()[0]
    return counted["without"] or 0, counted["doubled"] or 0


def _greatest(batch: DataFrame, key: Sequence[str], order_by: str) -> DataFrame:
    from pyspark.sql import Window, functions

    place = "place"
    while place in {name.lower() for name in batch.columns}:
        place += "_"
    order = functions.col(quoted(order_by)).desc_nulls_last()
    window = Window.partitionBy(*[functions.col(quoted(name)) for name in key]).orderBy(order)
    ranked = batch.withColumn(place, functions.rank().over(window))
    return ranked.where(functions.col(place) == 1).drop(place)


def _rows(count: int) -> str:
    return counted(count, "row")


def _keys(count: int, key: Sequence[str]) -> str:
    return f"{counted(count, 'key')} ({', '.join(key)})"


_NOT_IN_A_NAME = re.compile(r"[ ,;{}()\n\t=]")
_WIDENED = frozenset((("tinyint", "smallint"), ("tinyint", "int"), ("smallint", "int")))
_NOT_COMPARED = ("map<", "variant")
_UNIQUE = "give every column a name of its own, upper and lower case alike"


def check_columns(schema: StructType, sink: ReadySink) -> None:
    """Refuse rows that lack a column which the sink names, or have two columns of one name."""
    names = schema.fieldNames()
    twice = [name for name, count in Counter(map(str.lower, names)).items() if count > 1]
    if twice:
        message = f"the rows have several columns named {', '.join(twice)}"
        raise SinkError("HF5005", message, at=sink.at, next_steps=(_UNIQUE,))
    order = (sink.order_by,) if sink.order_by is not None else ()
    for what, wanted in (("key", sink.key), ("order_by", order),
                         ("partition_by", sink.partition_by)):  # fmt: skip
        lacking = [name for name in wanted if name not in names]
        if lacking:
            message = f"{what} names {', '.join(lacking)}, which the rows do not have"
            why = f"the rows have the columns {', '.join(names)}"
            step = f"correct `{what}`, or let the transform give that column"
            raise SinkError("HF5005", message, at=sink.at, why=why, next_steps=(step,))
    for name in sink.key:
        if schema[name].dataType.simpleString().startswith(_NOT_COMPARED):
            message = f"{name} cannot be a key: values of its type cannot be compared"
            step = "name a column of a plain type in `key`"
            raise SinkError("HF5005", message, at=sink.at, next_steps=(step,))


def check_new_table(schema: StructType, sink: ReadySink) -> None:
    """Refuse names that a new Delta table can't have."""
    if any(name.lower() == "delta.columnmapping.mode" for name in sink.options):
        return
    bad = [name for name in schema.fieldNames() if _NOT_IN_A_NAME.search(name)]
    if bad:
        message = f"Delta does not support a column named {', '.join(map(repr, bad))}"
        steps = (
            "rename it in the transform: no space and none of , ; { } ( ) = in a name",
            "or let the table map names: `options: {delta.columnMapping.mode: name}`",
        )
        raise SinkError("HF5005", message, at=sink.at, next_steps=steps)


def check_merged_names(schema: StructType, sink: ReadySink) -> None:
    """Refuse the one name that a merge of Delta stumbles over: it does not quote it."""
    bad = [name for name in schema.fieldNames() if "`" in name]
    if sink.mode == "upsert" and bad:
        message = f"Delta cannot merge a column with a backtick in its name: {', '.join(bad)}"
        step = "rename it in the transform"
        raise SinkError("HF5005", message, at=sink.at, next_steps=(step,))


def check_fit(rows: StructType, table: StructType, sink: ReadySink) -> None:
    """Refuse rows whose columns are not the table's."""
    reported = [*_differences(rows, table), *_lacking(rows, table, sink.mode)]
    if reported:
        message = f"the rows do not fit the table: {'; '.join(reported)}"
        raise SinkError("HF5005", message, at=sink.at)


def _differences(rows: StructType, table: StructType) -> Iterable[str]:
    known = {field.name.lower(): field for field in table.fields}
    for field in rows.fields:
        there = known.get(field.name.lower())
        if there is None:
            yield f"the table has no column {field.name}"
        elif not _accepts(there, field):
            had, given = (one.dataType.simpleString() for one in (there, field))
            yield f"{field.name} is {given}, in the table {had}"


def _accepts(there: StructField, given: StructField) -> bool:
    had, has = (one.dataType.simpleString().lower() for one in (there, given))
    return had == has or (has, had) in _WIDENED


def _lacking(rows: StructType, table: StructType, mode: str) -> Iterable[str]:
    """Name columns that would stay empty where they can't; an upsert sets every column."""
    given = {name.lower() for name in rows.fieldNames()}
    for field in table.fields:
        if field.name.lower() not in given and (mode == "upsert" or not field.nullable):
            yield f"the rows have no column {field.name}"
