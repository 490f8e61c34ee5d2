"""Sees to it that an upsert gets one row a key: found before the write, never left to chance.

Messages hold column names and counts, no values: keys are often personal data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from holdfast.errors import SinkError
from holdfast.jobs.ready import ReadySink
from holdfast.plurals import counted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@contextmanager
def rows_to_write(batch: DataFrame, sink: ReadySink) -> Iterator[DataFrame]:
    """Give the rows to write. Those of an upsert are looked at first, and computed once."""
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
    """Give the rows of a cached batch that are upserted; raise SinkError where that is unclear.

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
        message = f"{_keys(tied, key)} with several rows that {order_by} does not tell apart"
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
