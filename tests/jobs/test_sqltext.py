"""What a query's text says of its sources and joins."""

from __future__ import annotations

import pytest

from holdfast.jobs.sqltext import joins_outer, source_uses

NAMES = ("orders", "clicks")


@pytest.mark.parametrize(
    ("sql", "uses"),
    [
        ("select * from orders", 1),
        ("SELECT * FROM `Orders` o", 1),
        ("select * from orders union all select * from orders union all select * from orders", 3),
        ("select * from orders o join clicks c on o.id = c.id", 2),
        ("select * from orders, clicks where orders.id = clicks.id", 2),
        ("select * from (select id, kind from orders) a left join (clicks) on a.id = clicks.id", 2),
        ("select orders, extract(day from orders) from clicks", 1),
        ("select a is not distinct from orders, trim(both from orders) from clicks", 1),
        ("select 'from orders', \"from orders\" from clicks -- from orders\n/* from orders */", 1),
        ("select * from lake.orders join orders.history using (id)", 0),
        ("select a, count(*) from orders group by a, b with cube", 1),
        ("select * from other", 0),
        ("with o as (select * from orders) select * from o union all select * from o", None),
        ("table orders", None),
        ("select * from stream(orders)", None),
        ("))) from orders", 0),
        ("select * from", 0),
    ],
)
def test_uses_of_sources_are_counted(sql: str, uses: int | None) -> None:
    """Names in texts, comments, columns and other catalogues are none."""
    assert source_uses(sql, NAMES) == uses


@pytest.mark.parametrize(
    ("sql", "outer"),
    [
        ("select * from a join b", False),
        ("select * from a inner join b cross join c", False),
        ("select * from a left join b", True),
        ("select * from a FULL\n OUTER JOIN b", True),
        ("select * from a left semi join b", True),
        ("select * from a natural left join b", True),
        ("select * from a join b left join c", None),
        ("select 'left join' from a", None),
    ],
)
def test_kind_of_the_joins(sql: str, outer: bool | None) -> None:
    """Told only where every join is of one kind."""
    assert joins_outer(sql) is outer
