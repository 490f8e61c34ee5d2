"""Which rows a table takes, judged from schemas alone."""

from __future__ import annotations

import pytest
from pyspark.sql.types import (
    IntegerType,
    LongType,
    MapType,
    ShortType,
    StringType,
    StructField,
    StructType,
)

from holdfast.errors import SinkError
from holdfast.jobs.ready import ReadySink
from holdfast.spark.sinks.rowchecks import (
    check_columns,
    check_fit,
    check_merged_names,
    check_new_table,
)

TABLE = StructType([StructField("key", StringType()), StructField("value", IntegerType())])


def sink(mode: str = "append", **facts: object) -> ReadySink:
    """Declare a sink."""
    return ReadySink("delta", mode, "holdfast.yaml:4", **facts)  # type: ignore[arg-type]


def rows(**columns: object) -> StructType:
    """Give a schema by name and type."""
    return StructType([StructField(name, kind) for name, kind in columns.items()])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (rows(key=StringType(), other=StringType()), "the table has no column other"),
        (rows(key=StringType(), value=LongType()), "value is bigint, in the table int"),
        (rows(key=IntegerType()), "key is int, in the table string"),
        (
            rows(key=StructType([StructField("a", StringType())])),
            "key is struct<a:string>, in the table string",
        ),
    ],
)
def test_rows_that_do_not_fit_are_named(given: StructType, words: str) -> None:
    """Each column with both types."""
    with pytest.raises(SinkError, match=words) as caught:
        check_fit(given, TABLE, sink())
    assert (caught.value.code.number, caught.value.at) == ("HF5005", "holdfast.yaml:4")


def test_rows_that_fit() -> None:
    """Narrower numbers, another case, a column that may stay empty."""
    check_fit(rows(KEY=StringType(), value=ShortType()), TABLE, sink())
    check_fit(rows(key=StringType()), TABLE, sink())


def test_columns_that_would_stay_empty() -> None:
    """An upsert sets every column; one that is never null is always needed."""
    with pytest.raises(SinkError, match="the rows have no column value"):
        check_fit(rows(key=StringType()), TABLE, sink("upsert"))
    strict = StructType([StructField("key", StringType()), StructField("n", LongType(), False)])
    with pytest.raises(SinkError, match="the rows have no column n"):
        check_fit(rows(key=StringType()), strict, sink())


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        (sink("upsert", key=("id",)), "key names id, which the rows do not have"),
        (sink("upsert", key=("key",), order_by="at"), "order_by names at"),
        (sink(partition_by=("day", "key")), "partition_by names day, which"),
        (sink("upsert", key=("tags",)), "tags cannot be a key"),
    ],
)
def test_columns_that_the_sink_names(declared: ReadySink, words: str) -> None:
    """Each must be there, and a key must be comparable."""
    schema = rows(key=StringType(), tags=MapType(StringType(), StringType()))
    with pytest.raises(SinkError, match=words):
        check_columns(schema, declared)
    check_columns(schema, sink("upsert", key=("key",), order_by="key"))


def test_names_that_no_table_takes() -> None:
    """Twice the same, characters of Delta's own, a backtick in a merge."""
    with pytest.raises(SinkError, match="several columns named key"):
        check_columns(rows(key=StringType(), Key=StringType()), sink())
    spaced = rows(**{"a b": StringType()})
    with pytest.raises(SinkError, match="does not support a column named 'a b'"):
        check_new_table(spaced, sink())
    check_new_table(spaced, sink(options={"delta.columnMapping.mode": "name"}))
    quoted = rows(**{"it`s": StringType()})
    with pytest.raises(SinkError, match="backtick"):
        check_merged_names(quoted, sink("upsert"))
    check_merged_names(quoted, sink())
