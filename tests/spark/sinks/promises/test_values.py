"""Every value is read back as it was written: by readers that know nothing of Spark.

What a format can't hold is listed here, and refused before a query starts.
"""

from __future__ import annotations

import csv
import datetime
import json
from decimal import Decimal
from typing import Any

import pytest

from tests.parts.postgres import rows_in
from tests.spark.sinks.deliveries import identity
from tests.spark.sinks.plainreading import TABLE
from tests.spark.sinks.promises.delivering import Tried, refused, subjects_with

pytestmark = pytest.mark.spark

UTC = datetime.timezone.utc
BEFORE_1970 = datetime.datetime(1931, 5, 6, 7, 8, 9, 123000, UTC)
WITH_ZONE = datetime.datetime(
    2026, 10, 25, 2, 30, tzinfo=datetime.timezone(datetime.timedelta(hours=5, minutes=45))
)
AMOUNT = Decimal("-12345678901234567890.123456789")
TEXT = 'é 🎈 "q" it\'s\\ ,;\t1'
PLAIN = "n long, k string, amount decimal(38,9), day date, at timestamp, flag boolean"
LONG_AGO = datetime.date(1582, 10, 4)
AGO_IN_ORC = datetime.date(1600, 2, 29)
"""Spark writes earlier days to ORC by the Julian calendar; other readers shift them by ten days."""
NESTED = "list array<int>, map map<string,long>, inner struct<a:int,b:string>"
NESTED_ROW = ([1, None, 3], {"ü": 1}, (None, "x"))
QUOTED = ("x.y", "it's", "select", "Ünï", 'q"q')

_SPACED = "an amount"


def rows_for(file_format: str) -> list[tuple[Any, ...]]:
    """Give rows with values at the borders of what the format holds."""
    day = AGO_IN_ORC if file_format == "orc" else LONG_AGO
    return [
        (1, TEXT, AMOUNT, day, BEFORE_1970, True),
        (2, "", Decimal("0.000000001"), datetime.date(9999, 12, 31), WITH_ZONE, False),
        (3, None, None, None, None, None),
    ]


def written(tried: Tried, batch: Any) -> list[dict[str, Any]]:
    """Deliver a batch, and read it as a list of rows by name, sorted by `n`."""
    sink = tried.subject.opened(tried.spark, tried.place, partition_by=(), batch_column=None)
    sink.prepare(batch.schema, begun=False)
    assert not sink.write(batch, identity(0)).skipped
    return sorted(_READERS[tried.subject.format](tried), key=lambda row: int(row["n"]))


def _by_pyarrow(tried: Tried) -> list[dict[str, Any]]:
    import pyarrow.dataset

    found = pyarrow.dataset.dataset(tried.place.output, format=tried.subject.format)
    rows: list[dict[str, Any]] = found.to_table().to_pylist(maps_as_pydicts="strict")
    return rows


def _by_deltalake(tried: Tried) -> list[dict[str, Any]]:
    from deltalake import DeltaTable

    table = DeltaTable(str(tried.place.output)).to_pyarrow_table()
    rows: list[dict[str, Any]] = table.to_pylist(maps_as_pydicts="strict")
    return rows


def _by_json(tried: Tried) -> list[dict[str, Any]]:
    return [
        json.loads(line, parse_float=Decimal)
        for path in tried.place.output.iterdir()
        for line in path.read_text(encoding="utf-8").splitlines()
    ]


def _by_csv(tried: Tried) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for path in tried.place.output.iterdir():
        with path.open(encoding="utf-8", newline="") as file:
            rows += csv.DictReader(file, escapechar="\\", doublequote=False)
    return rows


def _by_psycopg(tried: Tried) -> list[dict[str, Any]]:
    rows = rows_in(tried.place.database, f"select to_jsonb({TABLE}) from {TABLE}")
    names = list(rows[0][0])
    chosen = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
    found = rows_in(tried.place.database, f"select {chosen} from {TABLE}")
    return [dict(zip(names, row, strict=True)) for row in found]


_READERS = {
    "delta": _by_deltalake,
    "parquet": _by_pyarrow,
    "orc": _by_pyarrow,
    "json": _by_json,
    "csv": _by_csv,
    "postgres": _by_psycopg,
}


def moment(value: Any) -> datetime.datetime | None:
    """Give a moment as a reader told it, in UTC; a text without a zone is one that has none."""
    if value is None or value == "":
        return None
    read = datetime.datetime.fromisoformat(value) if isinstance(value, str) else value
    return read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)


valued = subjects_with(lambda one: one.mode == "append" and one.format in _READERS)


@pytest.fixture
def in_utc(tried: Tried) -> Any:
    """Let Spark spell moments in UTC, as readers of text and of ORC take them."""
    before = tried.spark.conf.get("spark.sql.session.timeZone")
    tried.spark.conf.set("spark.sql.session.timeZone", "UTC")
    yield
    tried.spark.conf.set("spark.sql.session.timeZone", before)


@valued
@pytest.mark.usefixtures("in_utc")
def test_plain_values_come_back(tried: Tried) -> None:
    """Nulls, Unicode, decimals of 38 digits, dates and moments long ago and with a zone."""
    rows = rows_for(tried.subject.format)
    batch = tried.spark.createDataFrame(rows, PLAIN).repartition(2)
    found = written(tried, batch)
    text = tried.subject.format == "csv"
    for row, (n, k, amount, day, at, flag) in zip(found, rows, strict=True):
        assert int(row["n"]) == n
        assert (row.get("k") or None) == (k or None)
        assert (Decimal(row["amount"]) if row.get("amount") else None) == amount
        assert str(row.get("day") or "") == str(day or "")
        assert moment(row.get("at")) == (at and at.astimezone(UTC))
        assert (row["flag"] if text else row.get("flag")) == (
            str("" if flag is None else flag).lower() if text else flag
        )


@valued
def test_nested_values_come_back(tried: Tried) -> None:
    """Lists, maps and structures; a text of commas refuses them."""
    batch = tried.spark.createDataFrame([(1, *NESTED_ROW)], f"n long, {NESTED}")
    if tried.subject.format == "csv":
        sink = tried.opened()
        assert refused(lambda: sink.prepare(batch.schema, begun=False)) == "HF5005"
        return
    (row,) = written(tried, batch)
    inner = {name: value for name, value in row["inner"].items() if value is not None}
    assert (row["list"], row["map"], inner) == ([1, None, 3], {"ü": 1}, {"b": "x"})


@valued
def test_names_that_need_quoting_come_back(tried: Tried) -> None:
    """Dots, quotes, words of SQL, letters beyond ASCII; Delta refuses a space, told before."""
    names = QUOTED if tried.subject.format == "delta" else (*QUOTED, _SPACED)
    quoted = ", ".join(f"`{name}` int" for name in names)
    batch = tried.spark.createDataFrame([(1, *range(len(names)))], f"n long, {quoted}")
    (row,) = written(tried, batch)
    assert {name: int(row[name]) for name in names} == {
        name: place for place, name in enumerate(names)
    }
    if tried.subject.format == "delta":
        spaced = tried.spark.createDataFrame([(1, 2)], f"n long, `{_SPACED}` int")
        fresh = Tried(tried.spark, tried.subject, tried.place)
        assert refused(lambda: fresh.opened().prepare(spaced.schema, begun=False)) == "HF5005"
