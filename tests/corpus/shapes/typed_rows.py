"""State rows with a column of every type that a grouping key or an aggregate may have."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from tests.corpus.bench import Bench
from tests.corpus.shapes.shape import CHANGELOG, EVERY, OLDEST_AND_NEWEST, ROCKSDB, Shape

KEYS = {
    "a_boolean": "value % 2 = 0",
    "a_byte": "cast(value - 2 as byte)",
    "a_short": "cast(value * -100 as short)",
    "an_int": "cast(value * 1000 as int)",
    "a_long": "value * -5000000000",
    "a_float": "cast(value / 4 as float)",
    "a_double": "value / -8",
    "a_decimal": "cast(value as decimal(10, 2)) / 4",
    "a_wide_decimal": "cast(value as decimal(38, 6)) * -12345678901234567890",
    "a_date": "date_add(date'1969-12-30', cast(value as int))",
    "a_timestamp": "at",
    "a_local_timestamp": "cast(at as timestamp_ntz)",
    "a_day_interval": "make_dt_interval(cast(value as int), 1, 2, 3.5)",
    "a_year_interval": "make_ym_interval(-1, cast(value as int))",
    "a_string": "if(value % 3 = 0, null, concat(key, ' ß€😀'))",
    "a_binary": "cast(key as binary)",
    "an_array": "array(value, null, value + 1)",
    "a_struct": "struct(key as inner_key, value as inner_value)",
}
VALUES = {
    "a_map": "map(coalesce(key, '-'), array(value), 'fixed', array(null))",
    "nested": "array(struct(key as k, array(key, null) as ks), null)",
    "text": "repeat(coalesce(key, '-'), 3)",
    "nothing": "cast(null as string)",
    "wide": "cast(value as decimal(38, 10))",
}


def every_type(bench: Bench) -> None:
    """Groups by every type at once and keeps the first nested values."""
    frame = with_columns(bench.events(2))
    firsts = [f.first(name).alias(name) for name in VALUES]
    grouped = frame.groupBy(*KEYS).agg(*firsts, f.collect_set("value").alias("values"))
    bench.finish(grouped.writeStream.format("noop").outputMode("update"))


def many_columns(bench: Bench) -> None:
    """More than 64 columns: the null bits of a row need a second word."""
    frame = bench.events(2)
    sums = [f.sum(f.when(f.col("value") != number, f.col("value"))) for number in range(70)]
    grouped = frame.groupBy("key").agg(sums[0], *sums[1:])
    bench.finish(grouped.writeStream.format("noop").outputMode("update"))


def with_columns(frame: DataFrame) -> DataFrame:
    """Adds the typed columns."""
    columns = {**KEYS, **VALUES}
    return frame.selectExpr("value", *(f"{text} as {name}" for name, text in columns.items()))


SHAPES = (
    Shape("types", "a grouping key of every type, nested values", every_type, EVERY),
    Shape(
        "types-rocksdb",
        "a grouping key of every type, nested values, changelogs",
        every_type,
        OLDEST_AND_NEWEST,
        {**ROCKSDB, **CHANGELOG},
    ),
    Shape("many-columns", "more than 64 columns in a row", many_columns, OLDEST_AND_NEWEST),
)
