"""Cases 23 to 39: the code or a setting was changed, and the checkpoint was not."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tests.fieldcases.play.playing import play
from tests.fieldcases.play.stage import SCHEMA, Rows, Stage, UnplayableError, named, passed_on

UPSERTED = {"format": "delta", "path": "./lake/orders", "mode": "upsert", "key": ["k"]}
SUMS = "select sum(n) as n, k from source group by k"
MAXIMA = "select max(n) as n, k from source group by k"
PARITIES = "select sum(n) as n, cast(n % 2 as string) as k from source group by n % 2"
UNION = "select n, k from {} union all select n, k from {}"
ROCKS = {
    "spark.sql.streaming.stateStore.providerClass":
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
}  # fmt: skip
FILLED = "select sum(n) as n, coalesce(k, '') as k from source group by coalesce(k, '')"
DISTINCT = '''"""What the job became."""


def transform(source):
    return source.dropDuplicates({}).selectExpr("{} as n", "k")
'''


def summed(numbers: list[int]) -> Rows:
    """Return the rows of the sums per key."""
    found: Counter[str] = Counter()
    for number in numbers:
        found[f"k{number % 3}"] += number
    return Counter((total, key) for key, total in found.items())


def totals(stage: Stage, sql: str = SUMS, **job: Any) -> None:
    """Let an aggregation deliver some batches."""
    stage.play(sql=sql, output_mode="update", sink=UPSERTED, **job)
    stage.right = summed


def start_over(stage: Stage) -> None:
    """Ask whether the changed code may continue, and apply the plan that the refusal names."""
    found = stage.check()
    for code in found:
        try:
            text = named(found, code, "holdfast plan reset")
        except UnplayableError:
            continue
        stage.apply(text)
        return
    raise UnplayableError(f"no plan is named: {found}")


@play(23, how="the query reads two sources more than before")
def sources_added(stage: Stage) -> None:
    stage.play()
    folder = stage.job["source"]
    (stage.folder / "more").mkdir()
    more = {**folder, "path": "./more"}
    sources = {"first": folder, "second": more, "third": more}
    stage.declare(source=None, sources=sources, sql="select n, k from first union all "
                  "select n, k from second union all select n, k from third")  # fmt: skip
    start_over(stage)


@play(24, how="the inputs of a union are swapped")
def union_swapped(stage: Stage) -> None:
    folder = {"format": "json", "schema": SCHEMA, "options": {"maxFilesPerTrigger": 1}}
    sources = {"left": {**folder, "path": "./in"}, "right": {**folder, "path": "./right"}}
    stage.declare(source=None, sources=sources, sql=UNION.format("left", "right"))
    stage.arrive(3)
    stage.arrive(2, into="right")
    stage.run_before()
    swapped = {"right": sources["right"], "left": sources["left"]}
    stage.declare(sources=swapped, sql=UNION.format("right", "left"))
    start_over(stage)


@play(25, how="the key of an aggregation is replaced by one of another type")
def key_replaced(stage: Stage) -> None:
    totals(stage)
    stage.declare(sql=PARITIES)
    stage.right = lambda numbers: Counter(
        (sum(one for one in numbers if one % 2 == rest), str(rest)) for rest in (0, 1)
    )
    start_over(stage)


@play(26, how="an aggregate is replaced by another one of the same type")
def sum_to_max(stage: Stage) -> None:
    totals(stage)
    stage.declare(sql=MAXIMA)
    stage.right = lambda numbers: Counter(
        (max(one for one in numbers if one % 3 == rest), f"k{rest}") for rest in range(3)
    )
    start_over(stage)


@play(27, how="an aggregation is replaced by dropDuplicates")
def aggregation_to_deduplication(stage: Stage) -> None:
    totals(stage)
    (stage.folder / "pipeline.py").write_text(DISTINCT.format(["k"], "0 * n"), encoding="utf-8")
    stage.declare(sql=None, transform="pipeline:transform", output_mode="append",
                  sink={"format": "delta", "path": "./lake/orders"})  # fmt: skip
    stage.right = lambda _: Counter((0, f"k{rest}") for rest in range(3))
    start_over(stage)


@play(28, how="a stateful operator is removed")
def operator_removed(stage: Stage) -> None:
    totals(stage)
    stage.declare(sql="select n, k from source", output_mode="append",
                  sink={"format": "delta", "path": "./lake/orders"})  # fmt: skip
    stage.right = passed_on
    start_over(stage)


@play(29, how="a stateful operator is added to a query without state")
def operator_added(stage: Stage) -> None:
    stage.play()
    stage.declare(sql=SUMS, output_mode="update", sink=UPSERTED)
    stage.right = summed
    start_over(stage)


@play(30, how="a key of the state that was never null may be null")
def key_may_be_null(stage: Stage) -> None:
    totals(stage, FILLED)
    stage.declare(sql=SUMS)
    start_over(stage)


@play(31, how="the keys of dropDuplicates are in another order")
def deduplication_keys_reordered(stage: Stage) -> None:
    # A module of another name: this process has imported the first.
    for module, keys in (("pipeline", ["n", "k"]), ("changed", ["k", "n"])):
        code = DISTINCT.format(keys, "n")
        (stage.folder / f"{module}.py").write_text(code, encoding="utf-8")
    stage.play(sql=None, transform="pipeline:transform")
    stage.declare(transform="changed:transform")
    start_over(stage)


@play(32, how="spark.sql.shuffle.partitions is changed, and the checkpoint keeps the former number")
def partitions_changed(stage: Stage) -> None:
    totals(stage)
    stage.declare(conf={"spark.sql.shuffle.partitions": "3"})
    stage.plan_of("HF2322")


@play(33, how="the provider of the state store is changed, and the checkpoint keeps the former one")
def provider_changed(stage: Stage) -> None:
    totals(stage)
    stage.declare(conf=ROCKS)
    stage.plan_of("HF2322")


@play(34, how="the output mode is changed from update to complete")
def output_mode_changed(stage: Stage) -> None:
    totals(stage)
    sink = {"format": "delta", "path": "./lake/orders", "mode": "complete"}
    stage.declare(output_mode="complete", sink=sink)
    stage.plan_of("HF2357")


@play(35, how="the files are in another directory, and the former one is gone")
def folder_changed(stage: Stage) -> None:
    stage.play()
    (stage.folder / "in").rename(stage.folder / "arrived")
    stage.declare(source={**stage.job["source"], "path": "./arrived"})
    stage.plan_of("HF2324")
    (stage.folder / "in").symlink_to(stage.folder / "arrived")


@play(39, how="the rows go to a sink of another kind")
def sink_kind_changed(stage: Stage) -> None:
    stage.play()
    stage.declare(sink={"format": "parquet", "path": "./lake/files"})
    stage.plan_of("HF2365")
