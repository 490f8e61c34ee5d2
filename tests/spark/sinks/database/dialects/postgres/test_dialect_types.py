"""Every value arrives in PostgreSQL as it was in Spark, or nothing of its batch does."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from typing import Any

import pytest

from holdfast.errors import SinkError
from tests.parts.postgres import rows_in
from tests.spark.sinks.deliveries import QUERY, identity, postgres_sink

pytestmark = pytest.mark.spark

SCALARS = {
    "cast(-128 as tinyint)": "smallint",
    "cast(-32768 as smallint)": "smallint",
    "-2147483648": "integer",
    "cast(9223372036854775807 as bigint)": "bigint",
    "cast(0.1 as float)": "real",
    "cast(0.1 as double)": "double precision",
    "true": "boolean",
    "cast('-0.0000001' as decimal(38,10))": "numeric(38,10)",
    "cast('12345678901234567890123456789012345678' as decimal(38,0))": "numeric(38,0)",
    "''": "text",
    "'a\\\\b\"c\\'\\t\\n\\r{}, NULL \\\\N é 🎈'": "text",
    "date'1582-10-04'": "date",
    "timestamp'1969-12-31 23:59:59.999999+05:00'": "timestamp with time zone",
    "timestamp_ntz'0001-01-01 00:00:00.000001'": "timestamp without time zone",
    "X'00ff5c78'": "bytea",
    "X''": "bytea",
}
SPECIAL = {
    "double('NaN')": "nan",
    "double('Infinity')": "inf",
    "float('-Infinity')": "-inf",
    "date_add(date'0001-01-01', -1)": "0001-12-31 BC",
    "date_add(date'9999-12-31', 1)": "10000-01-01",
    "timestamp_micros(-62135596800000001)": "0001-12-31 23:59:59.999999+00 BC",
    "timestamp_micros(253402300800000000)": "10000-01-01 00:00:00+00",
    "array(1, null, 3)": "{1,NULL,3}",
    "array('a\"b', 'NULL', null, '', 'x,\\\\y')": '{"a\\"b","NULL",NULL,"","x,\\\\y"}',
    "array(X'ff', X'')": '{"\\\\xff","\\\\x"}',
    "array(date'2020-02-29')": "{2020-02-29}",
    "array(cast(1.50 as decimal(5,2)))": "{1.50}",
    "cast(array() as array<int>)": "{}",
    "named_struct('b', 1, 'a', cast(null as string))": '{"a": null, "b": 1}',
    "map('k', 1.5, 'l', null)": '{"k": 1.5, "l": null}',
    "map(2, array('x'))": '{"2": ["x"]}',
    "array(array(1), null)": "[[1], null]",
    "named_struct('t', timestamp'2020-01-01 00:00:00.000001Z')":
        '{"t": "2020-01-01T00:00:00.000001Z"}',
    "named_struct('s', '\\\\\\\\u0000')": '{"s": "\\\\\\\\u0000"}',
}  # fmt: skip


def columns(expressions: Any) -> list[str]:
    """Name the expressions c0, c1 and so on."""
    return [f"{one} as c{place}" for place, one in enumerate(expressions)]


@pytest.fixture
def in_utc(spark: Any) -> Any:
    """Let Spark spell moments in UTC."""
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    yield spark
    spark.conf.set("spark.sql.session.timeZone", before)


def test_scalars_arrive_exactly(in_utc: Any, database: str) -> None:
    """Null as well; the types are those that the reference names."""
    values = in_utc.range(1).selectExpr(*columns(SCALARS))
    nulls = in_utc.range(1).selectExpr(
        *[f"cast(null as {field.dataType.simpleString()}) as {field.name}"
          for field in values.schema.fields]
    )  # fmt: skip
    sink = postgres_sink(in_utc, database)
    sink.write(values.union(nulls), identity(0))
    types = "select format_type(atttypid, atttypmod) from pg_attribute where attnum > 0 and "
    types += "attrelid = 'readings'::regclass order by attnum"
    assert [row[0] for row in rows_in(database, types)] == list(SCALARS.values())
    rows = rows_in(database, "select * from readings order by c0 nulls last")
    assert rows[1] == (None,) * len(SCALARS)
    zone = datetime.timezone.utc
    assert rows[0] == (
        -128, -32768, -2147483648, 9223372036854775807, 0.1, 0.1, True, Decimal("-0.0000001000"),
        Decimal("12345678901234567890123456789012345678"), "",
        "a\\b\"c'\t\n\r{}, NULL \\N é 🎈", datetime.date(1582, 10, 4),
        datetime.datetime(1969, 12, 31, 18, 59, 59, 999999, tzinfo=zone),
        datetime.datetime(1, 1, 1, 0, 0, 0, 1), b"\x00\xff\\x", b"",
    )  # fmt: skip


def test_special_values_arrive_exactly(in_utc: Any, database: str) -> None:
    """Not a number, eras, arrays, and what is nested as JSON."""
    sink = postgres_sink(in_utc, database)
    sink.write(in_utc.range(1).selectExpr(*columns(SPECIAL)), identity(0))
    texts = ", ".join(f"c{place}::text" for place in range(len(SPECIAL)))
    (row,) = rows_in(f"{database}&options=-ctimezone%3DUTC", f"select {texts} from readings")
    wanted = [text.replace("nan", "NaN").replace("inf", "Infinity") for text in SPECIAL.values()]
    assert list(row) == wanted
    assert math.isnan(rows_in(database, "select c0 from readings")[0][0])


def test_nul_is_told_by_column_and_count(spark: Any, database: str) -> None:
    """In text, arrays and nested values; nothing is written, not even the batch's id."""
    sink = postgres_sink(spark, database)
    batch = spark.range(10, numPartitions=2).selectExpr(
        "id",
        "if(id % 3 = 0, concat('a', char(0)), 'b') as name",
        "array(if(id = 7, char(0), '')) as list",
        "named_struct('in', if(id < 2, char(0), '')) as nested",
        "cast(char(0) as binary) as bytes",
    )
    with pytest.raises(SinkError) as caught:
        sink.write(batch, identity(0))
    assert caught.value.code.number == "HF5043"
    assert "list in 1 value, name in 4 values, nested in 2 values" in caught.value.message
    assert rows_in(database, "select count(*) from readings") == [(0,)]
    assert sink.last_committed(QUERY).value is None


def test_types_without_a_counterpart_are_refused(spark: Any, database: str) -> None:
    """Intervals, also nested; before anything is written."""
    sink = postgres_sink(spark, database)
    for expression, shown in (
        ("interval 1 day", "interval day"),
        ("interval 1 month", "interval month"),
        ("array(interval 1 day)", "array<interval day>"),
        ("map(named_struct('a', 1), 1)", "map<struct<a:int>,int>"),
        ("null", "void"),
    ):
        schema = spark.range(1).selectExpr(f"{expression} as odd").schema
        with pytest.raises(SinkError, match="no type for odd, which is") as caught:
            sink.prepare(schema, begun=False)
        assert (caught.value.code.number, shown in caught.value.message) == ("HF5005", True)
    long = spark.range(1).selectExpr(f"id as `{'é' * 32}`")
    with pytest.raises(SinkError, match="does not support a column named"):
        sink.prepare(long.schema, begun=False)


def test_a_table_may_have_wider_types(spark: Any, database: str) -> None:
    """None that rounds or cuts off; a text is cast where the column is a uuid."""
    rows_in(database, "create table readings (a bigint, b numeric, c varchar(3), d uuid, "
            "e numeric(6,3), f double precision)")  # fmt: skip
    values = ["1 as a", "2L as b", "'abc' as c",
              "'6f1c2b52-0f8c-4c60-9c11-3b7d2bfb1a01' as d", "1.25BD as e",
              "float(0.5) as f"]  # fmt: skip
    sink = postgres_sink(spark, database)
    batch = spark.range(1).selectExpr(*values)
    sink.prepare(batch.schema, begun=False)
    sink.write(batch, identity(0))
    assert rows_in(database, "select a, b, c, d::text, e, f from readings") == [
        (1, 2, "abc", "6f1c2b52-0f8c-4c60-9c11-3b7d2bfb1a01", Decimal("1.250"), 0.5)
    ]
    for place, value, words in (
        (2, "'secret' as c", "value too long for type"),
        (3, "'secret' as d", "invalid input syntax for type uuid"),
    ):
        changed = [*values]
        changed[place] = value
        with pytest.raises(SinkError, match=words) as caught:
            sink.write(spark.range(1).selectExpr(*changed), identity(1))
        assert caught.value.code.number == "HF5044" and "secret" not in caught.value.message
    narrow = spark.range(1).selectExpr(*values[:4], "1.2345BD as e", values[5])
    with pytest.raises(SinkError, match=r"e is numeric\(6,3\) in the table"):
        sink.prepare(narrow.schema, begun=False)
    assert sink.last_committed(QUERY).value == 0


def test_bytes_that_are_no_text_are_told(spark: Any, database: str) -> None:
    """By column, without the value; nothing is written."""
    sink = postgres_sink(spark, database)
    batch = spark.range(1).selectExpr("id", "cast(X'41ff42' as string) as name")
    with pytest.raises(SinkError) as caught:
        sink.write(batch, identity(0))
    assert caught.value.code.number == "HF5044"
    assert "for the column name: invalid byte sequence" in caught.value.message
    assert rows_in(database, "select count(*) from readings") == [(0,)]


@pytest.mark.parametrize(
    "expression",
    [
        "date_add(date'1970-01-01', -2147483648)",
        "date_add(date'1970-01-01', 2147483647)",
        "timestamp_micros(-9223372036854775807 - 1)",
        "array(timestamp_micros(-9223372036854775807 - 1))",
    ],
)
def test_what_is_out_of_range_is_told(spark: Any, database: str, expression: str) -> None:
    """By column; PostgreSQL's -infinity is no day and no moment of Spark."""
    sink = postgres_sink(spark, database)
    with pytest.raises(SinkError, match=r"for the column far: .* out of range") as caught:
        sink.write(spark.range(1).selectExpr("id", f"{expression} as far"), identity(0))
    assert caught.value.code.number == "HF5044"
    assert rows_in(database, "select count(*) from readings") == [(0,)]
