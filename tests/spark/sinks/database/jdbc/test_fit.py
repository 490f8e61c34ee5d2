"""Which columns of a table take which rows through JDBC, by what drivers tell of them."""

from __future__ import annotations

import pytest

from holdfast.errors import SinkError
from holdfast.jobs.ready import ReadySink
from holdfast.spark.sinks.database.jdbc.fit import check_fit
from holdfast.spark.sinks.database.jdbc.names import Names, TableName, table_name
from holdfast.spark.sinks.database.jdbc.table import Target, ThereColumn
from holdfast.spark.sinks.database.jdbc.types import JdbcColumn
from tests.spark.sinks.deliveries import AT

NUMERIC = 2
TIMESTAMP = 93


def there(
    code: int, type_: str, digits: int = 0, scale: int = 0, *, name: str = "V"
) -> ThereColumn:
    """Give a column of a table."""
    return ThereColumn(name, code, type_, digits, scale, False, False, False)


def fits(kind: str, made: str, *columns: ThereColumn, mode: str = "append") -> bool:
    """Tell whether rows with one column `v` go into a table with these columns."""
    target = Target(Names('"', "upper"), TableName(None, "T"), columns)
    try:
        check_fit([JdbcColumn("v", kind, made, made)], target, ReadySink("jdbc", mode, AT))
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
    kind: str, made: str, column: ThereColumn, fit: bool
) -> None:
    """Wider is good; what rounds, cuts off, pads or moves a moment is not."""
    assert fits(kind, made, column) is fit


def test_columns_that_rows_do_not_have() -> None:
    """Null where that can be; an upsert would empty them. Generated ones fill themselves."""
    other = there(4, "INTEGER", name="OTHER")
    must = ThereColumn("MUST", 4, "INTEGER", 0, 0, True, False, False)
    counted = ThereColumn("ID", 4, "INTEGER", 0, 0, True, True, False)
    generated = ThereColumn("SUM", 4, "INTEGER", 0, 0, True, False, True)
    value = there(4, "INTEGER")
    assert fits("int", "INTEGER", value, other, counted, generated)
    assert not fits("int", "INTEGER", value, must)
    assert not fits("int", "INTEGER", value, other, mode="upsert")
    assert fits("int", "INTEGER", value, generated, mode="upsert")
    assert not fits("int", "INTEGER", ThereColumn("V", 4, "INTEGER", 0, 0, False, False, True))


@pytest.mark.parametrize(
    ("written", "folding", "name"),
    [
        ("sales.orders", "upper", TableName("SALES", "ORDERS")),
        ("Orders", "lower", TableName(None, "orders")),
        ("Orders", "", TableName(None, "Orders")),
        ('sales."Order ""Lines"""', "upper", TableName("SALES", 'Order "Lines"')),
        ("`Order.Lines`", "lower", TableName(None, "Order.Lines")),
    ],
)
def test_a_name_is_kept_as_the_database_does(written: str, folding: str, name: TableName) -> None:
    """Only quotes keep letters."""
    assert table_name(written, Names('"', folding)) == name


def test_names_are_quoted() -> None:
    """By the driver's word; a quote within is doubled, and where there is none, none is written."""
    assert Names('"', "").quoted(None, 'a"b') == '"a""b"'
    assert Names("`", "").quoted("s", "t") == "`s`.`t`"
    assert Names("", "upper").own("t") == "T"
