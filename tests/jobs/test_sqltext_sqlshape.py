"""What is certain of a declared SQL statement, and what is not."""

from __future__ import annotations

import pytest

from holdfast.jobs.queryshape import UNCERTAIN, QueryShape
from holdfast.jobs.sqltext import sql_shape

ONE = ("source",)
STATELESS = QueryShape(ONE, ())


def grouped(keys: set[str] | None, buffers: set[str] | None) -> QueryShape:
    """Make the shape of an aggregation."""
    return QueryShape(
        ONE,
        ("stateStoreSave",),
        None if keys is None else frozenset(keys),
        None if buffers is None else frozenset(buffers),
    )


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("select * from source", STATELESS),
        ("SELECT upper(name) AS n FROM `source` WHERE a IN (1, 2) -- group by x", STATELESS),
        ("select 'group by x, count(*)' as t from source /* limit 3 */;", STATELESS),
        ("select user, count(*) as n from source group by user", grouped({"user"}, {"count"})),
        ("select s.A, avg(b) from source s group by s.A, B", grouped({"a", "b"}, {"sum", "count"})),
        ("select max(amount) from source", grouped(set(), {"max"})),
        ("select count(*) n from source group by `my key` having n > 1",
         grouped({"my key"}, {"count"})),
    ],
)  # fmt: skip
def test_plain_statements_have_a_shape(text: str, shape: QueryShape) -> None:
    """Comments, texts and quoted names are no words of the statement."""
    assert sql_shape(text, ONE) == shape


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        # The key is an expression, or the name of one.
        ("select count(*) from source group by upper(a)", grouped(None, {"count"})),
        ("select 'x' as a, count(*) from source group by a", grouped(None, {"count"})),
        ("select lower(b) a, count(*) from source group by a", grouped(None, {"count"})),
        ("select a, count(*) from source group by 1", grouped(None, {"count"})),
        ("select a, count(*) from source group by all", grouped(None, {"count"})),
        ("select a, mine(b) from source group by a", grouped({"a"}, None)),
        # What a function does is not known.
        ("select mine(a) from source", QueryShape(ONE)),
        ("select session_window(t, '1 hour'), count(*) from source group by "
         "session_window(t, '1 hour')", QueryShape(ONE)),
    ],
)  # fmt: skip
def test_a_part_may_be_uncertain(text: str, shape: QueryShape) -> None:
    """The rest of the shape is still certain."""
    assert sql_shape(text, ONE) == shape


@pytest.mark.parametrize(
    "text",
    [
        "with a as (select * from source) select * from a",
        "select * from (select * from source)",
        "select distinct a from source",
        "select a, row_number() over (order by b) from source",
        "select a from source union select b from source",
        "select a from source limit 3",
        "select a from other",
        "select a from lake.source",
        "select a from source, source",
        "",
    ],
)
def test_other_statements_have_none(text: str) -> None:
    """Silence is better than a guess."""
    assert sql_shape(text, ONE) == UNCERTAIN


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("select * from B union all select * from A", ("b", "a")),
        ("select * from a join b on a.x = b.x", ("a", "b")),
        ("select * from b, a where a.x = b.x", ("b", "a")),
        ("select * from a union all select * from b union all select * from a", None),
        ("select * from a", None),
    ],
)
def test_sources_have_an_order_where_each_is_read_once(
    text: str, order: tuple[str, ...] | None
) -> None:
    """Which operators several sources lead to is left to Spark."""
    assert sql_shape(text, ("a", "b")) == QueryShape(order)
