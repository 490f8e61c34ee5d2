"""One text for one table."""

from __future__ import annotations

import pytest

from holdfast.jobs.endpoints import table_identity

SAME = [
    ("postgresql://h/db", "gold"),
    ("postgres://user:pass@H:5432/db", "public.gold"),
    ("jdbc:postgresql://h/db?user=u&password=p", '"gold"'),
    ("postgresql://u:p%40ss@h/db?sslmode=require", "GOLD"),
    ("postgresql:///db?host=h", "gold"),
]


@pytest.mark.parametrize(("url", "table"), SAME)
def test_spellings_of_one_table(url: str, table: str) -> None:
    assert table_identity(url, table) == table_identity(*SAME[0])


@pytest.mark.parametrize(
    ("url", "table"),
    [
        ("postgresql://h/db", "silver"),
        ("postgresql://h/other", "gold"),
        ("postgresql://h:5433/db", "gold"),
        ("postgresql://h2/db", "gold"),
        ("postgresql://h/db", "archive.gold"),
        ("jdbc:mysql://h/db", "gold"),
        ("${env:URL}", "gold"),
    ],
)
def test_other_tables(url: str, table: str) -> None:
    assert table_identity(url, table) != table_identity(*SAME[0])


def test_another_database_without_user_and_options() -> None:
    one = table_identity("jdbc:mysql://u:opensesame@H/db?password=opensesame", "t")
    assert one == table_identity("jdbc:mysql://h/db", "t")
    assert "opensesame" not in one
    assert "opensesame" not in table_identity("jdbc:sqlserver://h;password=opensesame", "t")


def test_what_is_filled_in_later_is_equal_where_the_text_is() -> None:
    assert table_identity("${env:A}", "t") == table_identity("${env:A}", "t")
    assert table_identity("${env:A}", "t") != table_identity("${env:B}", "t")
