"""Every way to write where a table is, and what is refused."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from psycopg.conninfo import conninfo_to_dict

from holdfast.errors import SinkError
from holdfast.ledgers.database.connection import postgres_address

AT = "holdfast.yaml:11"


def connection(url: str, **options: str) -> dict[str, Any]:
    """Give what libpq connects with."""
    return dict(conninfo_to_dict(postgres_address(url, "t", options, AT).conninfo))


@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        (
            "postgresql://u:p%40ss@db:5433/gold?sslmode=verify-full",
            {"user": "u", "password": "p@ss", "host": "db", "port": "5433", "dbname": "gold",
             "sslmode": "verify-full"},
        ),
        ("jdbc:postgresql:gold", {"host": "localhost", "dbname": "gold"}),
        (
            "jdbc:postgresql://a,b:6432/my%20db?user=u&password=p&ssl=true&ApplicationName=x"
            "&currentSchema=sales&reWriteBatchedInserts=true&connectTimeout=9&tcpKeepAlive=true",
            {"host": "a,b", "port": "5432,6432", "dbname": "my db", "user": "u", "password": "p",
             "sslmode": "verify-full", "application_name": "x", "options": "-csearch_path=sales",
             "connect_timeout": "9", "keepalives": "1"},
        ),
        ("postgresql:///gold?service=prod&passfile=/etc/pass",
         {"dbname": "gold", "service": "prod", "passfile": "/etc/pass"}),
    ],
)  # fmt: skip
def test_a_url_is_translated(url: str, wanted: dict[str, str]) -> None:
    """Nothing is left out, nothing added."""
    assert connection(url) == wanted


def test_options_are_parameters_too() -> None:
    """They win over the url."""
    told = connection("postgresql://db/gold?sslmode=prefer", sslmode="require", user="u")
    assert told == {"host": "db", "dbname": "gold", "sslmode": "require", "user": "u"}


@pytest.mark.parametrize(
    ("table", "schema", "name"),
    [
        ("Orders", None, "orders"),
        ('sales."Order Lines"', "sales", "Order Lines"),
        ('"a.b"."c""d"', "a.b", 'c"d'),
        ("größe_1$", None, "größe_1$"),
    ],
)
def test_a_table_is_named_as_in_sql(table: str, schema: str | None, name: str) -> None:
    """Only what is quoted keeps its capital letters, dots and blanks."""
    address = postgres_address("postgresql://db/gold", table, {}, AT)
    assert (address.schema, address.table) == (schema, name)
    assert address.shown == f"postgresql://db/gold {table}"


@pytest.mark.parametrize(
    ("url", "table", "words"),
    [
        ("postgresql://db/gold", "a.b.c", "not a valid table name"),
        ("postgresql://db/gold", "order lines", "not a valid table name"),
        ("postgresql://db/gold", "a.", "not a valid table name"),
        ("postgresql://db/gold", "x" * 64, "longer than the 63 bytes"),
        ("jdbc:postgresql://db/gold?socketFactory=x", "t", "parameter socketFactory"),
        ("postgresql://u:hunter-two-2 x@db/gold?nosuch=1", "t", "url or an option"),
    ],
)
def test_what_is_no_address_is_refused(url: str, table: str, words: str) -> None:
    """At its place, and without the password."""
    with pytest.raises(SinkError, match=words) as caught:
        postgres_address(url, table, {}, AT)
    assert (caught.value.code.number, caught.value.at) == ("HF5002", AT)
    assert "hunter" not in str(caught.value)


def test_a_missing_library_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """With how to get it."""
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(SinkError) as caught:
        postgres_address("postgresql://db/gold", "t", {}, AT)
    assert caught.value.code.number == "HF5040"
    assert ".[postgres]" in caught.value.next_steps[0]
