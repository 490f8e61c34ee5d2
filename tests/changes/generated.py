"""Queries and changes that nobody chose: drawn at random, with a fixed seed.

They are held out. Rules are written with the other groups; whoever writes a rule does not look at
these records, so that they show what the rules are worth on queries that they were not made for.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

from pyspark.sql import functions as F  # noqa: N812

from tests.changes.inputs import BOTH_FIRST, BOTH_SECOND, FIRST, SECOND
from tests.changes.loading import GENERATED_GROUP
from tests.changes.pair import ABOVE, ALL, LATER, Pair, Query

SEED = 4_217_060_033
COUNT = 44
HARMLESS_SHARE = 0.4

CONDITIONS = ("amount > 2", "amount > 4", "weight < 65", "city = 'x'", "user <> 'b'", "price > 1")
KEYS = ("user", "city", "upper(user)", "amount % 3", "weight div 40", "concat(city, user)")
FUNCTIONS = ("count(1)", "sum(amount)", "sum(weight)", "max(amount)", "min(weight)", "max(price)",
             "sum(price)", "max(city)", "count(city)")  # fmt: skip
JOIN_CONDITIONS = ("amount < weight * 200", "weight > 2", "amount > 1", "lc < rc")
JOIN_COLUMNS = ("lu", "lc", "amount", "ru", "rc", "weight")
PLAIN_COLUMNS = ("user", "city", "amount", "weight", "amount + weight", "upper(city)", "price * 2")


@dataclass(frozen=True)
class Shape:
    """A query: filter, then an operator or none, then a filter and a projection."""

    core: str
    where: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    on: tuple[str, ...] = ()
    having: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    style: str = "frame"

    def query(self) -> Query:
        """Return the query; an aggregation updates a table with its keys."""
        build = self._sql if self.style == "sql" else self._frame
        if self.core == "aggregation":
            return Query(build, "update", tuple(range(len(self.keys))))
        return Query(build)

    def _frame(self, bench: Any) -> Any:
        rows = bench.orders()
        if self.style == "steps":
            for condition in self.where:
                rows = rows.filter(F.expr(condition))
        elif self.where:
            rows = rows.where(" and ".join(self.where))
        return self._core(bench, rows).selectExpr(*self.columns)

    def _core(self, bench: Any, rows: Any) -> Any:
        if self.core == "aggregation":
            named = [F.expr(one).alias(f"f{at}") for at, one in enumerate(self.functions)]
            rows = rows.groupBy(*(F.expr(key).alias(f"k{at}") for at, key in enumerate(self.keys)))
            rows = rows.agg(*named)
        elif self.core == "deduplication":
            rows = rows.selectExpr(*(f"{key} as k{at}" for at, key in enumerate(self.keys)))
            rows = rows.dropDuplicates()
        elif self.core == "join":
            left = rows.selectExpr("user as lu", "city as lc", "amount")
            right = bench.orders("other").selectExpr("user as ru", "city as rc", "weight")
            rows = left.join(right, F.expr(" and ".join(self.on)))
        return rows.where(" and ".join(self.having)) if self.having else rows

    def _sql(self, bench: Any) -> Any:
        spark = bench.view()
        bench.view("others", "other") if self.core == "join" else None
        where = f" where {' and '.join(self.where)}" if self.where else ""
        keys = ", ".join(f"{key} as k{at}" for at, key in enumerate(self.keys))
        named = ", ".join(f"{one} as f{at}" for at, one in enumerate(self.functions))
        inner = {
            "aggregation": f"select {keys}, {named} from orders{where}"
            f" group by {', '.join(self.keys)}",
            "deduplication": f"select {keys} from orders{where}",
            "join": "select * from (select user as lu, city as lc, amount from orders"
            f"{where}) join (select user as ru, city as rc, weight from others)"
            f" on {' and '.join(self.on)}",
            "none": f"select * from orders{where}",
        }[self.core]
        if self.core == "deduplication":
            # Spark makes an aggregation of `select distinct`, which append mode refuses.
            rows = spark.sql(inner).dropDuplicates()
            rows = rows.where(" and ".join(self.having)) if self.having else rows
            return rows.selectExpr(*self.columns)
        having = f" where {' and '.join(self.having)}" if self.having else ""
        return spark.sql(f"select {', '.join(self.columns)} from ({inner}){having}")


Mutation = Callable[[Shape, random.Random], Shape]


def drawn_shape(draw: random.Random) -> Shape:
    """Return a query at random."""
    core = draw.choice(("aggregation", "aggregation", "deduplication", "join", "none"))
    where = tuple(draw.sample(CONDITIONS, draw.randint(0, 2)))
    style = draw.choice(("frame", "sql"))
    if core == "aggregation":
        keys = tuple(draw.sample(KEYS, draw.randint(1, 2)))
        functions = tuple(draw.sample(FUNCTIONS, draw.randint(1, 3)))
        return Shape(core, where, keys, functions, columns=_named(keys, functions), style=style)
    if core == "deduplication":
        keys = tuple(draw.sample(KEYS, draw.randint(1, 3)))
        return Shape(core, where, keys, columns=_named(keys, ()), style=style)
    if core == "join":
        on = ("lu = ru", *draw.sample(JOIN_CONDITIONS, draw.randint(0, 2)))
        columns = ("lu", *draw.sample(JOIN_COLUMNS[1:], draw.randint(2, 5)))
        return Shape(core, where, on=on, columns=columns, style=style)
    columns = tuple(draw.sample(PLAIN_COLUMNS, draw.randint(1, 4)))
    return Shape(core, where, columns=columns, style=style)


def _named(keys: tuple[str, ...], functions: tuple[str, ...]) -> tuple[str, ...]:
    return (*(f"k{at}" for at in range(len(keys))), *(f"f{at}" for at in range(len(functions))))


def _other(known: tuple[str, ...], used: tuple[str, ...], draw: random.Random) -> str:
    return draw.choice([one for one in known if one not in used])


def _exchanged(some: tuple[str, ...], new: str, draw: random.Random) -> tuple[str, ...]:
    at = draw.randrange(len(some))
    return (*some[:at], new, *some[at + 1 :])


def other_filter(shape: Shape, draw: random.Random) -> Shape:
    """Exchange, add or remove a condition below the operator."""
    new = _other(CONDITIONS, shape.where, draw)
    if not shape.where:
        return replace(shape, where=(new,))
    return replace(shape, where=draw.choice(((*shape.where, new), shape.where[1:],
                                             _exchanged(shape.where, new, draw))))  # fmt: skip


def other_key(shape: Shape, draw: random.Random) -> Shape:
    """Exchange a key."""
    return replace(shape, keys=_exchanged(shape.keys, _other(KEYS, shape.keys, draw), draw))


def reordered_keys(shape: Shape, draw: random.Random) -> Shape:
    """Turn the keys round, and their columns with them."""
    return replace(shape, keys=shape.keys[::-1])


def other_function(shape: Shape, draw: random.Random) -> Shape:
    """Exchange a function."""
    new = _other(FUNCTIONS, shape.functions, draw)
    return replace(shape, functions=_exchanged(shape.functions, new, draw))


def another_function(shape: Shape, draw: random.Random) -> Shape:
    """Add a function."""
    functions = (*shape.functions, _other(FUNCTIONS, shape.functions, draw))
    return replace(shape, functions=functions, columns=_named(shape.keys, functions))


def reordered_functions(shape: Shape, draw: random.Random) -> Shape:
    """Turn the functions round."""
    return replace(shape, functions=shape.functions[::-1])


def other_join_condition(shape: Shape, draw: random.Random) -> Shape:
    """Add a condition to a join, or take one away."""
    if len(shape.on) > 1 and draw.random() < 0.5:
        return replace(shape, on=shape.on[:-1])
    return replace(shape, on=(*shape.on, _other(JOIN_CONDITIONS, shape.on, draw)))


def other_join_key(shape: Shape, draw: random.Random) -> Shape:
    """Join over another column."""
    new = draw.choice(("lc = rc", "upper(lu) = ru", "lu = ru and lc = rc"))
    return replace(shape, on=(new, *shape.on[1:]))


def filter_above(shape: Shape, draw: random.Random) -> Shape:
    """Add a filter above the operator."""
    return replace(shape, having=(f"{shape.columns[0]} is not null", f"{shape.columns[-1]} <> '2'"))


def other_column(shape: Shape, draw: random.Random) -> Shape:
    """Compute another last column above everything, or take it away."""
    if shape.core == "none" and len(shape.columns) > 1 and draw.random() < 0.5:
        return replace(shape, columns=shape.columns[:-1])
    return replace(shape, columns=(*shape.columns[:-1], f"concat({shape.columns[-1]}, '!')"))


def other_style(shape: Shape, draw: random.Random) -> Shape:
    """Write the same in SQL instead of DataFrame calls, or the other way round."""
    return replace(shape, style="frame" if shape.style == "sql" else "sql")


def in_steps(shape: Shape, draw: random.Random) -> Shape:
    """Write one filter as several, in another order."""
    return replace(shape, where=shape.where[::-1], style="steps")


def turned_condition(shape: Shape, draw: random.Random) -> Shape:
    """Write one condition the other way round."""
    return replace(shape, where=tuple(f"not (not ({one}))" for one in shape.where))


def renamed_columns(shape: Shape, draw: random.Random) -> Shape:
    """Give the columns of the output other names."""
    return replace(shape, columns=tuple(f"{one} as c{at}" for at, one in enumerate(shape.columns)))


def turned_join(shape: Shape, draw: random.Random) -> Shape:
    """Write the conditions of a join in another order, and its key turned round."""
    return replace(shape, on=(*shape.on[1:], "ru = lu"))


BELOW: tuple[tuple[Mutation, str], ...] = (
    (other_filter, "aggregation deduplication join none"),
    (other_key, "aggregation deduplication"),
    (reordered_keys, "aggregation deduplication"),
    (other_function, "aggregation"),
    (another_function, "aggregation"),
    (reordered_functions, "aggregation"),
    (other_join_condition, "join"),
    (other_join_key, "join"),
)
OVER: tuple[tuple[Mutation, str], ...] = (
    (filter_above, "aggregation deduplication join"),
    (other_column, "aggregation join none"),
)
SAME: tuple[tuple[Mutation, str], ...] = (
    (other_style, "aggregation deduplication join none"),
    (in_steps, "aggregation deduplication join none"),
    (turned_condition, "aggregation deduplication join none"),
    (renamed_columns, "aggregation deduplication join none"),
    (turned_join, "join"),
)


def _changed(shape: Shape, harmless: bool, draw: random.Random) -> tuple[str, Shape, str] | None:
    """Return a mutation's name, what it makes of a query, and which answer is right."""
    known = SAME if harmless else (*BELOW, *OVER)
    fitting = [one for one in known if shape.core in one[1].split()]
    mutation, cores = draw.choice(fitting)
    after = mutation(shape, draw)
    if after == shape:
        return None
    if shape.core == "none":
        return mutation.__name__, after, LATER
    return mutation.__name__, after, ABOVE if (mutation, cores) in OVER else ALL


def _described(name: str, before: Shape, after: Shape) -> str:
    changed = [one.name for one in fields(Shape)
               if getattr(before, one.name) != getattr(after, one.name)]  # fmt: skip
    parts = [f"{one}: {_text(getattr(before, one))} → {_text(getattr(after, one))}"
             for one in changed]  # fmt: skip
    return f"{name.replace('_', ' ')} of {before.core}; {'; '.join(parts)}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ", ".join(value) or "none"


def drawn(seed: int, count: int) -> tuple[Pair, ...]:
    """Return as many changes as asked for, the same ones for the same seed."""
    draw = random.Random(seed)
    pairs: list[Pair] = []
    while len(pairs) < count:
        shape, harmless = drawn_shape(draw), draw.random() < HARMLESS_SHARE
        found = _changed(shape, harmless, draw)
        if found is None:
            continue
        name, after, right = found
        joined = shape.core == "join"
        pairs.append(
            Pair(
                f"generated-{len(pairs):02}",
                _described(name, shape, after),
                shape.query(),
                after.query(),
                right=right,
                harmless=harmless,
                meant=name == "other_filter" and shape.core != "none",
                group=GENERATED_GROUP,
                first=BOTH_FIRST if joined else FIRST,
                second=BOTH_SECOND if joined else SECOND,
            )
        )
    return tuple(pairs)


GENERATED = drawn(SEED, COUNT)
