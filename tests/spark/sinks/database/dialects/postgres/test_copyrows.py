"""Arrow columns as the rows of a binary COPY: a real server gives back what was in them."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any

import psycopg
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.ledgers.database.connection import column_of
from holdfast.spark.sinks.database.dialects.postgres.copyrows import HEADER, TRAILER, copy_rows

DAY = 86_400_000_000
FIRST_DAY, LAST_DAY = -2_440_588, 2_145_042_905
FIRST_MOMENT, LAST_MOMENT = -2_440_588 * DAY, 2**63 - 1
"""PostgreSQL's first; its last one is later than Spark's."""


@dataclass(frozen=True)
class Kind:
    """A type of PostgreSQL with one of Arrow's that is written to it."""

    type: str
    arrow: pyarrow.DataType
    values: st.SearchStrategy[Any]
    read: str = "{0}"
    """How a value is asked for, so that Python can hold it."""

    @property
    def asked(self) -> str:
        """Give the expression that reads an array's elements as well."""
        if not self.type.endswith("[]"):
            return self.read
        each = f"array(select {self.read.format('e')} from unnest({{0}}) with ordinality u(e, n)"
        return f"case when {{0}} is null then null else {each} order by n) end"


def decimals(precision: int, scale: int) -> Kind:
    """Give decimals of every size that fit."""
    digits = st.integers(0, precision).flatmap(lambda n: st.integers(-(10**n) + 1, 10**n - 1))
    values = digits.map(lambda whole: Decimal(whole).scaleb(-scale, Context(prec=38)))
    return Kind(f"numeric({precision},{scale})", pyarrow.decimal128(precision, scale), values)


MOMENTS = st.integers(FIRST_MOMENT, LAST_MOMENT) | st.integers(-(10**15), 2 * 10**15)
MICROS = (
    "(({0}::date - date '1970-01-01') * 86400000000::numeric"
    " + extract(epoch from {0}::time) * 1000000)::numeric(20,0)"
)
"""The seconds of the moment itself are rounded where they are many."""
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
OBJECTS = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**80), 2**80) | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)
SCALARS = (
    Kind("smallint", pyarrow.int8(), st.integers(-128, 127)),
    Kind("smallint", pyarrow.int16(), st.integers(-(2**15), 2**15 - 1)),
    Kind("integer", pyarrow.int32(), st.integers(-(2**31), 2**31 - 1)),
    Kind("bigint", pyarrow.int64(), st.integers(-(2**63), 2**63 - 1)),
    Kind("real", pyarrow.float32(), st.floats(width=32)),
    Kind("double precision", pyarrow.float64(), st.floats()),
    Kind("boolean", pyarrow.bool_(), st.booleans()),
    Kind("date", pyarrow.date32(), st.integers(FIRST_DAY, LAST_DAY), "{0} - date '1970-01-01'"),
    Kind("timestamp with time zone", pyarrow.timestamp("us", "UTC"), MOMENTS, MICROS),
    Kind("timestamp without time zone", pyarrow.timestamp("us"), MOMENTS, MICROS),
    Kind("bytea", pyarrow.binary(), st.binary(max_size=8)),
    Kind("bytea", pyarrow.large_binary(), st.binary(max_size=8)),
    Kind("text", pyarrow.string(), TEXTS),
    Kind("text", pyarrow.large_string(), TEXTS),
    *(decimals(*one) for one in ((1, 0), (4, 4), (9, 2), (19, 18), (28, 5), (38, 0), (38, 38))),
    *(decimals(*one) for one in ((10, 3), (20, 1), (29, 28), (38, 10), (38, 37), (5, -2))),
)
ARRAYS = tuple(
    Kind(f"{one.type}[]", form(one.arrow), st.lists(st.none() | one.values, max_size=3), one.read)
    for one in SCALARS
    for form in (pyarrow.list_, pyarrow.large_list)
)
NUMBER, TEXT = SCALARS[3], SCALARS[12]
KINDS = (*SCALARS, *ARRAYS, Kind("jsonb", pyarrow.string(), OBJECTS.map(json.dumps), "{0}::text"))


@dataclass(frozen=True)
class Column:
    """Values of a kind, and how the Arrow array lies in one that is longer."""

    kind: Kind
    values: tuple[Any, ...]
    before: int = 0

    @property
    def array(self) -> pyarrow.Array:
        """Give the array; its neighbours in memory are the last values."""
        around = self.values[-1:] * self.before
        whole = pyarrow.array([*around, *self.values, *around], self.kind.arrow)
        return whole.slice(self.before, len(self.values))


@st.composite
def tables(draw: st.DrawFn) -> list[Column]:
    """Draw columns of one length: without nulls, with some, or of nulls alone."""
    rows = draw(st.integers(1, 20))
    columns = []
    for kind in draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=8)):
        some = st.none() | kind.values
        values = draw(st.sampled_from((kind.values, some, st.none())))
        drawn = draw(st.lists(values, min_size=rows, max_size=rows))
        columns.append(Column(kind, tuple(drawn), draw(st.integers(0, 9))))
    return columns


def loaded(uri: str, *parts: Sequence[Column]) -> list[tuple[Any, ...]]:
    """Copy some parts of a table in turn; give its rows, each with the number of the attempt."""
    kinds = [column.kind for column in parts[0]]
    made = ", ".join(f"c{place} {kind.type}" for place, kind in enumerate(kinds))
    asked = ", ".join(kind.asked.format(f"c{place}") for place, kind in enumerate(kinds))
    with psycopg.connect(uri, autocommit=True) as connection:
        cursor = connection.cursor()
        cursor.execute("set timezone = 'UTC'")
        cursor.execute(f"create temporary table loaded (attempt bigint, {made})")
        with cursor.copy("copy loaded from stdin with (format binary)") as copy:
            copy.write(HEADER)
            for part in parts:
                arrays = [column.array for column in part]
                copy.write(copy_rows(2**40 + 7, arrays, [kind.type for kind in kinds]))
            copy.write(TRAILER)
        query = f"select attempt, {asked} from loaded order by ctid"
        return connection.cursor(binary=True).execute(query).fetchall()


def written(*parts: Sequence[Column]) -> list[tuple[Any, ...]]:
    """Give the rows that have to be there."""
    return [
        (2**40 + 7, *row)
        for part in parts
        for row in zip(*(column.values for column in part), strict=True)
    ]


def exact(value: Any) -> Any:
    """Give what differs where values do: -0.0 is not 0.0, nan is nan, JSON is what it means."""
    if isinstance(value, list | tuple):
        return [exact(one) for one in value]
    if isinstance(value, float):
        return "nan" if math.isnan(value) else struct.pack("d", value)
    return value


def compare(uri: str, *parts: Sequence[Column]) -> None:
    """See that everything is read as it was written."""
    there, wanted = (_meant(rows, parts[0]) for rows in (loaded(uri, *parts), written(*parts)))
    assert exact(there) == exact(wanted)


def _meant(rows: list[tuple[Any, ...]], columns: Sequence[Column]) -> list[list[Any]]:
    are_json = [False, *(column.kind.type == "jsonb" for column in columns)]
    return [
        [json.loads(one) if is_json and one is not None else one
         for one, is_json in zip(row, are_json, strict=True)]
        for row in rows
    ]  # fmt: skip


@given(tables())
@settings(max_examples=150, deadline=None)
def test_every_value_comes_back(postgres: str, table: list[Column]) -> None:
    """Whatever the neighbours are, and wherever nulls are among them."""
    compare(postgres, table)


SPECIAL: dict[str, tuple[Any, ...]] = {
    "smallint": (-128, 0, 127),
    "integer": (-(2**31), -1, 2**31 - 1),
    "bigint": (-(2**63), -1, 2**63 - 1),
    "boolean": (True, False),
    "real": (math.nan, math.inf, -math.inf, -0.0, 2.0**-149),
    "double precision": (math.nan, math.inf, -math.inf, -0.0, 5e-324),
    "text": ("", "é 🎈", "\\N", "\\.", "a\tb\nc\r", "\uffff"),
    "bytea": (b"", b"\0\xff\xff\xff\xff", bytes(range(256))),
    "date": (FIRST_DAY, LAST_DAY, 0, 10_957, -719_163, -719_469),
    "timestamp with time zone": (FIRST_MOMENT, LAST_MOMENT, -1, 946_684_800_000_000),
    "timestamp without time zone": (FIRST_MOMENT, LAST_MOMENT, -1, 946_684_799_999_999),
    "jsonb": ("null", '{"a": [1.50, null, "\\\\u0000"]}', '""', "[]"),
    "numeric(38,38)": (Decimal("0." + "9" * 38), Decimal("-1E-38"), Decimal("0E-38")),
    "numeric(38,0)": (Decimal("9" * 38), Decimal("-" + "9" * 38), Decimal(10**37), Decimal(0)),
    "numeric(10,3)": (Decimal("-9999999.999"), Decimal("0.001"), Decimal("1000.000")),
    "numeric(4,4)": (Decimal("-0.9999"), Decimal("0.0001")),
    "numeric(1,0)": (Decimal(-9), Decimal(0)),
    "numeric(5,-2)": (Decimal("-9999900"), Decimal("100")),
}

SPECIAL |= {f"{kind}[]": ([], [None], [*some, None], [*some]) for kind, some in SPECIAL.items()}


@pytest.mark.parametrize("nulls", ["none", "some", "all"])
@pytest.mark.parametrize(
    "kind", [one for one in KINDS if one.type in SPECIAL], ids=lambda kind: str(kind.arrow)
)
def test_special_values_come_back(postgres: str, kind: Kind, nulls: str) -> None:
    """Of every type, beside a text and a number, in two parts, from the middle of an array."""
    values = SPECIAL[kind.type]
    if nulls == "some":
        values = (None, *values, None)
    if nulls == "all":
        values = (None,) * 3
    beside = (Column(TEXT, tuple(map(str, values))), Column(NUMBER, (7,) * len(values)))
    part = [beside[0], Column(kind, values, before=3), *beside]
    compare(postgres, part, part)


FAR_DAYS = (
    FIRST_DAY - 1,
    LAST_DAY + 1,
    2**31 - 1,
    *(-(2**31) + more for more in (0, 1, 10_956, 10_957, 10_958)),
)
FAR_MOMENTS = (
    FIRST_MOMENT - 1,
    *(-(2**63) + more for more in (0, 1, 10_957 * DAY - 1, 10_957 * DAY, 10_957 * DAY + 1)),
)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        *(("date", one) for one in FAR_DAYS),
        *(("timestamp with time zone", one) for one in FAR_MOMENTS),
        *(("timestamp without time zone", one) for one in FAR_MOMENTS),
    ],
)
@pytest.mark.parametrize("form", ["{}", "{}[]"])
def test_what_is_out_of_range_is_refused(postgres: str, kind: str, value: int, form: str) -> None:
    """It is neither infinite nor wrapped around; PostgreSQL names the column."""
    found = next(one for one in KINDS if one.type == form.format(kind))
    far = value if form == "{}" else [value]
    with pytest.raises(psycopg.DataError, match="out of range") as caught:
        loaded(postgres, [Column(NUMBER, (1,)), Column(found, (far,))])
    assert column_of(caught.value) == "c1"


def test_no_row_is_no_byte() -> None:
    """Nothing is made of nothing."""
    columns = [pyarrow.array([], kind.arrow) for kind in KINDS]
    assert bytes(copy_rows(7, columns, [kind.type for kind in KINDS])) == b""
