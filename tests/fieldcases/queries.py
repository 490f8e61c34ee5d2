"""Cases 24 to 31: the query was changed, and its checkpoint was not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from tests.fieldcases.bench import CaseBench
from tests.fieldcases.case import Starts, case

AS_ROWS = "select user, city, amount from source"
COUNTS = "select user, count(*) as n from source group by user"
SUMS = "select user, sum(amount) as n from source group by user"
MAXIMA = "select user, max(amount) as n from source group by user"
TWO_KEYS = "select user, city, count(*) as n from source group by user, city"
CITIES = "select city, count(*) as n from source group by city"
FILLED = "select {0} as user, count(*) as n from source group by {0}".format("ifnull(user, '')")
UNION = "select * from {} union all select * from {}"

DISTINCT = """
def transform(source):
    return source.dropDuplicates(["user"])
"""


def counted(bench: CaseBench, sql: str = COUNTS) -> None:
    """Run an aggregation over two files."""
    bench.orders(0, 1, expect=False)
    bench.view()
    bench.totals(bench.sql(sql))
    bench.unchanged(sql=sql, output_mode="update")


def changed(
    bench: CaseBench, sql: str, before: str, expected: Counter[str], command: str = "doctor"
) -> Starts:
    """Declare another statement, have it examined, start it; the step is the former one."""
    bench.declare(sql=sql, output_mode="update")
    bench.examine(command)

    def start(statement: str, rows: Counter[str]) -> None:
        bench.orders(2, expect=False)
        bench.view()
        bench.expected = rows
        bench.totals(bench.sql(statement))

    return (lambda: start(sql, expected)), (lambda: start(before, BEFORE[before]))


BEFORE = {
    COUNTS: Counter({"u1 3": 1, "u2 3": 1}),
    FILLED: Counter({"u1 3": 1, "u2 3": 1}),
    SUMS: Counter({"u1 6": 1, "u2 9": 1}),
}
"""What the former statement gives of three files."""


@case(24, "the inputs of a union are swapped")
def union_swapped(bench: CaseBench) -> Starts:
    def run(first: str, second: str) -> None:
        bench.view("left_orders", "left")
        bench.view("right_orders", "right")
        bench.deliver(bench.sql(UNION.format(first, second)))

    bench.orders(0, 1, into="left")
    bench.orders(2, 3, into="right")
    run("left_orders", "right_orders")
    sources = {f"{side}_orders": bench.declared_folder(side) for side in ("left", "right")}
    bench.unchanged(sql=UNION.format("left_orders", "right_orders"), sources=sources)
    bench.declare(sql=UNION.format("right_orders", "left_orders"), sources=sources)
    bench.examine()
    return (lambda: run("right_orders", "left_orders")), (
        lambda: run("left_orders", "right_orders")
    )


@case(25, "a column is added to the key of an aggregation")
def key_added(bench: CaseBench) -> Starts:
    counted(bench)
    return changed(bench, TWO_KEYS, COUNTS, Counter({"u1 c0 2": 1, "u1 c1 1": 1}))


@case(25, "the key of an aggregation is replaced by a column of the same type")
def key_replaced(bench: CaseBench) -> Starts:
    counted(bench)
    return changed(bench, CITIES, COUNTS, Counter({"c0 4": 1, "c1 2": 1}))


@case(26, "an aggregate is replaced by another one of the same type")
def sum_to_max(bench: CaseBench) -> Starts:
    counted(bench, SUMS)
    return changed(bench, MAXIMA, SUMS, Counter({"u1 3": 1, "u2 4": 1}))


@case(27, "an aggregation is replaced by dropDuplicates")
def aggregation_to_deduplication(bench: CaseBench) -> Starts:
    counted(bench)
    (bench.folder / "pipeline.py").write_text(DISTINCT, encoding="utf-8")
    bench.declare(transform="pipeline:transform", output_mode="update")
    bench.examine()

    def start(stream: Callable[[], Any]) -> None:
        bench.orders(2, expect=False)
        bench.view()
        bench.expected = BEFORE[COUNTS]
        bench.totals(stream())

    return (
        lambda: start(lambda: bench.view().dropDuplicates(["user"])),
        lambda: start(lambda: bench.sql(COUNTS)),
    )


@case(28, "a stateful operator is removed")
def operator_removed(bench: CaseBench) -> Starts:
    counted(bench)
    return changed(bench, AS_ROWS, COUNTS, Counter())


@case(29, "a stateful operator is added to a query without state")
def operator_added(bench: CaseBench) -> Starts:
    bench.orders(0, 1)
    bench.view()
    bench.deliver(bench.sql(AS_ROWS))
    bench.unchanged(sql=AS_ROWS)
    bench.declare(sql=COUNTS, output_mode="update")
    bench.orders(2)
    bench.examine()

    def start(statement: str, mode: str) -> None:
        bench.view()
        bench.deliver(bench.sql(statement), mode=mode)

    return (lambda: start(COUNTS, "update")), (lambda: start(AS_ROWS, "append"))


@case(30, "a key of the state that was never null may be null")
def key_may_be_null(bench: CaseBench) -> Starts:
    counted(bench, FILLED)
    return changed(bench, COUNTS, FILLED, BEFORE[COUNTS], "check")


@case(31, "the keys of dropDuplicates are in another order")
def deduplication_keys_reordered(bench: CaseBench) -> Starts:
    bench.orders(0, 1, expect=False)
    bench.totals(bench.view().dropDuplicates(["user", "amount"]))
    declared = DISTINCT.replace('["user"]', '["amount", "user"]')
    (bench.folder / "pipeline.py").write_text(declared, encoding="utf-8")
    bench.declare(transform="pipeline:transform", output_mode="update")
    bench.examine("check")

    def start(keys: list[str]) -> None:
        bench.orders(2, expect=False)
        bench.expected = Counter({"u1 c0 3": 1, "u2 c0 4": 1})
        bench.totals(bench.view().dropDuplicates(keys))

    return (lambda: start(["amount", "user"])), (lambda: start(["user", "amount"]))
