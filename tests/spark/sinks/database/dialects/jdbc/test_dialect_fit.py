"""Which columns of a table take which rows through JDBC, by what drivers tell of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from holdfast.errors import SinkError
from holdfast.jobs.ready import ReadySink
from holdfast.spark.sinks.database.dialects.jdbc.dialect import JdbcDialect
from holdfast.spark.sinks.database.dialects.jdbc.tables import table_name
from holdfast.spark.sinks.database.table import (
    Spelling,
    TableColumn,
    WrittenColumn,
    WrittenTable,
    check_fit,
)
from tests.spark.sinks.deliveries import AT

NUMERIC = 2
TIMESTAMP = 93


def there(
    code: int, type_: str, digits: int = 0, scale: int = 0, *, name: str = "V"
) -> TableColumn:
    """Give a column of a table."""
    return TableColumn(name=name, code=code, type=type_, digits=digits, scale=scale)


def fits(kind: str, made: str, *columns: TableColumn, mode: str = "append") -> bool:
    """Tell whether rows with one column `v` go into a table with these columns."""
    table = WrittenTable(Spelling('"', "upper"), None, "T", columns)
    column = WrittenColumn(name="v", kind=kind, made=made, staged=made, staged_name="c0")
    try:
        check_fit([column], table, JdbcDialect.traits.rules, ReadySink("jdbc", mode, AT))
    except SinkError as error:
        assert (error.code.number, error.at) == ("HF5005", AT)
        return False
    return True


@pytest.mark.parametrize(
    ("kind", "made", "column", "fit"),
    [
        ("int", "INTEGER", there(-5, "BIGINT"), True),
        ("bigint", "BIGINT", there(4, "INTEGER"), False),
        ("bigint", "BIGINT", there(NUMERIC, "NUMERIC", 19), True),
        ("bigint", "BIGINT", there(NUMERIC, "NUMERIC", 18), False),
        ("bigint", "BIGINT", there(NUMERIC, "numeric", 131089), True),
        ("decimal(9,2)", "DECIMAL(9,2)", there(NUMERIC, "NUMERIC", 10, 3), True),
        ("decimal(9,2)", "DECIMAL(9,2)", there(NUMERIC, "NUMERIC", 9, 3), False),
        ("decimal(9,2)", "DECIMAL(9,2)", there(NUMERIC, "NUMERIC", 9, 1), False),
        ("decimal(9,0)", "DECIMAL(9,0)", there(8, "DOUBLE"), False),
        ("double", "DOUBLE PRECISION", there(7, "REAL"), False),
        ("float", "REAL", there(8, "float8"), True),
        ("string", "TEXT", there(1, "CHAR", 9), False),
        ("varchar(9)", "VARCHAR(9)", there(12, "VARCHAR", 9), True),
        ("timestamp", "TIMESTAMP WITH TIME ZONE", there(TIMESTAMP, "timestamptz"), True),
        ("timestamp", "TIMESTAMP WITH TIME ZONE", there(TIMESTAMP, "timestamp"), False),
        ("timestamp", "TIMESTAMP WITH TIME ZONE", there(TIMESTAMP, "timestamp", 29, 6), True),
        ("timestamp", "TIMESTAMP WITH TIME ZONE", there(TIMESTAMP, "timestamp", 26, 3), False),
        ("timestamp", "DATETIME", there(TIMESTAMP, "datetime"), True),
        ("timestamp_ntz", "TIMESTAMP", there(TIMESTAMP, "timestamptz"), False),
        ("timestamp_ntz", "TIMESTAMP", there(TIMESTAMP, "timestamp"), True),
    ],
)
def test_a_column_takes_every_value_or_is_refused(
    kind: str, made: str, column: TableColumn, fit: bool
) -> None:
    """Wider is good; what rounds, cuts off, pads or moves a moment is not."""
    assert fits(kind, made, column) is fit


def test_columns_that_rows_do_not_have() -> None:
    """Null where that can be; an upsert would empty them. Generated ones fill themselves."""
    other = there(4, "INTEGER", name="OTHER")
    must = replace(other, name="MUST", not_null=True)
    counted = replace(must, name="ID", has_default=True)
    generated = replace(must, name="SUM", is_generated=True)
    value = there(4, "INTEGER")
    assert fits("int", "INTEGER", value, other, counted, generated)
    assert not fits("int", "INTEGER", value, must)
    assert not fits("int", "INTEGER", value, other, mode="upsert")
    assert fits("int", "INTEGER", value, generated, mode="upsert")
    assert not fits("int", "INTEGER", replace(value, is_generated=True))


@pytest.mark.parametrize(
    ("written", "folding", "name"),
    [
        ("sales.orders", "upper", ("SALES", "ORDERS")),
        ("Orders", "lower", (None, "orders")),
        ("Orders", "", (None, "Orders")),
        ('sales."Order ""Lines"""', "upper", ("SALES", 'Order "Lines"')),
        ("`Order.Lines`", "lower", (None, "Order.Lines")),
    ],
)
def test_a_name_is_kept_as_the_database_does(
    written: str, folding: str, name: tuple[str | None, str]
) -> None:
    """Only quotes keep letters."""
    assert table_name(written, Spelling('"', folding)) == name


def test_names_are_quoted() -> None:
    """By the driver's word; a quote within is doubled, and where there is none, none is written."""
    assert Spelling('"', "").quoted(None, 'a"b') == '"a""b"'
    assert Spelling("`", "").quoted("s", "t") == "`s`.`t`"
    assert Spelling("", "upper").own("t") == "T"
