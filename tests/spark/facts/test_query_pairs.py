"""Pairs of queries: those that do the same have equal facts, those that do not have other facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas
import pytest
from pyspark.sql import functions as f
from pyspark.sql.functions import udf
from pyspark.sql.pandas.functions import pandas_udf

from holdfast.records.facts import QueryFacts, fingerprint
from holdfast.spark.facts import query_facts

pytestmark = pytest.mark.spark

Make = Callable[["Streams"], Any]
SCHEMA = "key string, at timestamp, value long, other long, items array<long>, token string"


class Streams:
    """What the queries of a pair are made of."""

    def __init__(self, spark: Any, folder: Path) -> None:
        self.spark = spark
        self.folder = folder
        for name in ("left", "right", "static"):
            (folder / name).mkdir()
        (folder / "static" / "one.json").write_text('{"key":"a","name":"A"}', encoding="utf-8")

    def stream(self, name: str, **options: str) -> Any:
        reader = self.spark.readStream.schema(SCHEMA).options(**options)
        return reader.json(str(self.folder / name))

    @property
    def left(self) -> Any:
        return self.stream("left")

    @property
    def right(self) -> Any:
        return self.stream("right")

    @property
    def timed(self) -> Any:
        return self.left.withWatermark("at", "1 minute")

    @property
    def static(self) -> Any:
        return self.spark.read.schema("key string, name string").json(str(self.folder / "static"))

    def sql(self, text: str) -> Any:
        """Run SQL over views of the streams."""
        self.left.createOrReplaceTempView("pair_left")
        self.right.createOrReplaceTempView("pair_right")
        self.timed.createOrReplaceTempView("pair_timed")
        return self.spark.sql(text)

    def joined(self, condition: str, kind: str = "inner", delay: str = "1 minute") -> Any:
        """Join both streams as l and r."""
        left = self.left.withWatermark("at", delay).alias("l")
        right = self.right.withWatermark("at", delay).alias("r")
        return left.join(right, f.expr(condition), kind)


@pytest.fixture(scope="module")
def streams(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Streams:
    return Streams(spark, tmp_path_factory.mktemp("pairs"))


def facts_of(frame: Any) -> QueryFacts:
    """Give the facts of a frame in the mode that it can be planned with."""
    plan = frame._jdf.queryExecution().analyzed().toString()
    updating = "Aggregate" in plan and "EventTimeWatermark" not in plan
    return query_facts(frame, "update" if updating or "WithState" in plan else "append")


def made_with_renamed_variables(s: Streams) -> Any:
    rows = s.left
    only = rows.where(f.col("value") > 1)
    return only.groupBy("key").count()


def tax(x: int) -> int:
    return x * 3


def tax_again(x: int) -> int:
    return x * 4


def counting(key: Any, frames: Iterator[Any], state: Any) -> Iterator[Any]:
    state.update((1,))
    yield pandas.DataFrame({"key": [key[0]]})


def with_state(s: Streams, timeout: str = "NoTimeout", schema: str = "seen long") -> Any:
    grouped = s.left.groupBy("key")
    return grouped.applyInPandasWithState(counting, "key string", schema, "update", timeout)


NEAR = "l.key = r.key and l.at >= r.at and l.at <= r.at + interval 1 minute"

SAME: dict[str, tuple[Make, Make]] = {
    "renamed variables": (
        lambda s: s.left.where("value > 1").groupBy("key").count(),
        made_with_renamed_variables,
    ),
    "SQL and DataFrame": (
        lambda s: s.sql("select key, count(*) count from pair_left where value > 1 group by key"),
        made_with_renamed_variables,
    ),
    "SQL with a common table expression": (
        lambda s: s.sql(
            "with some as (select key, value as v from pair_left) "
            "select key, count(1) as count from some where v > 1 group by key"
        ),
        made_with_renamed_variables,
    ),
    "a > b and b < a": (
        lambda s: s.left.where("value > other"),
        lambda s: s.left.where("other < value"),
    ),
    "a constant on either side": (
        lambda s: s.left.where("value >= 5"),
        lambda s: s.left.where(f.lit(5) <= f.col("value")),
    ),
    "constants of another width": (
        lambda s: s.left.where("value > 5"),
        lambda s: s.left.where("value > 5L"),
    ),
    "sums either way round": (
        lambda s: s.left.select((f.col("value") + f.col("other")).alias("x")),
        lambda s: s.left.select((f.col("other") + f.col("value")).alias("x")),
    ),
    "conditions in another order": (
        lambda s: s.left.where("value > 1 and key = 'a'"),
        lambda s: s.left.where("key = 'a'").where("value > 1"),
    ),
    "IN lists in another order": (
        lambda s: s.left.where("key in ('a', 'b')"),
        lambda s: s.left.where(f.col("key").isin("b", "a")),
    ),
    "between and its comparisons": (
        lambda s: s.left.where("value between 1 and 3"),
        lambda s: s.left.where("value >= 1 and value <= 3"),
    ),
    "unused aliases": (
        lambda s: s.left.groupBy("key").agg(f.sum("value").alias("s")),
        lambda s: (
            s.left.selectExpr("key", "value as v", "other as o")
            .groupBy("key")
            .agg(f.sum("v").alias("total"))
            .withColumnRenamed("total", "s")
        ),
    ),
    "independent columns in another order": (
        lambda s: s.left.select("key", "value", "other").groupBy("key").agg(f.max("value")),
        lambda s: s.left.select("other", "value", "key").groupBy("key").agg(f.max("value")),
    ),
    "columns added at once and one by one": (
        lambda s: s.left.select("*", f.expr("value + 1 as x"), f.expr("value + 2 as y")),
        lambda s: s.left.withColumn("x", f.expr("value + 1")).withColumn("y", f.expr("value + 2")),
    ),
    "windows in SQL": (
        lambda s: s.timed.groupBy(f.window("at", "10 minutes"), "key").count(),
        lambda s: s.sql(
            "select window, key, count(1) as count from pair_timed "
            "group by window(at, '10 minutes'), key"
        ),
    ),
    "durations in other units": (
        lambda s: s.timed.groupBy(f.window("at", "1 hour", "30 minutes")).count(),
        lambda s: s.timed.groupBy(f.window("at", "60 minutes", "1800 seconds")).count(),
    ),
    "session windows": (
        lambda s: s.timed.groupBy(f.session_window("at", "5 minutes"), "key").count(),
        lambda s: s.timed.groupBy(f.session_window(f.col("at"), "5 minutes"), f.col("key")).count(),
    ),
    "watermarks in other units": (
        lambda s: s.left.withWatermark("at", "1 minute").dropDuplicates(["key", "at"]),
        lambda s: s.left.withWatermark("at", "60 seconds").dropDuplicates(["key", "at"]),
    ),
    "joins with other aliases": (
        lambda s: s.joined(NEAR),
        lambda s: (
            s.left.withWatermark("at", "1 minute")
            .alias("a")
            .join(
                s.right.withWatermark("at", "1 minute").alias("b"),
                f.expr("b.key = a.key and b.at <= a.at and a.at <= b.at + interval 60 seconds"),
            )
        ),
    ),
    "a function that is defined twice": (
        lambda s: s.left.select(udf(tax, "long")("value").alias("x")),
        lambda s: s.left.select(udf(tax, "long")("value").alias("x")),
    ),
    "lambdas with other names": (
        lambda s: s.left.select(f.transform("items", lambda one: one + 1).alias("x")),
        lambda s: s.left.select(f.transform("items", lambda each: each + 1).alias("x")),
    ),
    "the functions nvl and coalesce": (
        lambda s: s.left.selectExpr("nvl(value, 0L) as x"),
        lambda s: s.left.select(f.coalesce("value", f.lit(0).cast("long")).alias("x")),
    ),
    "tables that are no streams": (
        lambda s: s.left.join(s.static, "key"),
        lambda s: s.left.join(f.broadcast(s.static), "key"),
    ),
    "functions with state": (with_state, with_state),
}

DIFFERENT: dict[str, tuple[Make, Make, str]] = {
    "sum and max": (
        lambda s: s.left.groupBy("key").agg(f.sum("value").alias("x")),
        lambda s: s.left.groupBy("key").agg(f.max("value").alias("x")),
        "operators",
    ),
    "swapped aggregates": (
        lambda s: s.left.groupBy("key").agg(f.sum("value").alias("a"), f.sum("other").alias("b")),
        lambda s: s.left.groupBy("key").agg(f.sum("other").alias("a"), f.sum("value").alias("b")),
        "operators",
    ),
    "aggregates in another order": (
        lambda s: s.left.groupBy("key").agg(f.sum("value"), f.count("other")),
        lambda s: s.left.groupBy("key").agg(f.count("other"), f.sum("value")),
        "operators",
    ),
    "an aggregate of another column": (
        lambda s: s.left.groupBy("key").agg(f.sum("value").alias("x")),
        lambda s: s.left.groupBy("key").agg(f.sum("other").alias("x")),
        "operators",
    ),
    "an aggregate with a filter": (
        lambda s: s.left.groupBy("key").agg(f.expr("sum(value) as x")),
        lambda s: s.left.groupBy("key").agg(f.expr("sum(value) filter (where other > 1) as x")),
        "operators",
    ),
    "another constant in an aggregate": (
        lambda s: s.left.groupBy("key").agg(f.sum(f.expr("value * 2")).alias("x")),
        lambda s: s.left.groupBy("key").agg(f.sum(f.expr("value * 3")).alias("x")),
        "operators",
    ),
    "another key": (
        lambda s: s.left.groupBy("value").count(),
        lambda s: s.left.groupBy("other").count(),
        "operators",
    ),
    "a function around the key": (
        lambda s: s.left.groupBy("key").count(),
        lambda s: s.left.groupBy(f.upper("key").alias("key")).count(),
        "operators",
    ),
    "keys in another order": (
        lambda s: s.left.groupBy("value", "other").count(),
        lambda s: s.left.groupBy("other", "value").count(),
        "operators",
    ),
    "another filter below the state": (
        lambda s: s.left.where("value > 1").groupBy("key").count(),
        lambda s: s.left.where("value > 2").groupBy("key").count(),
        "operators",
    ),
    "another filter above the state": (
        lambda s: s.left.groupBy("key").count().where("count > 1"),
        lambda s: s.left.groupBy("key").count().where("count > 2"),
        "steps",
    ),
    "another comparison": (
        lambda s: s.left.where("value > 1"),
        lambda s: s.left.where("value >= 1"),
        "steps",
    ),
    "another column in a filter": (
        lambda s: s.left.where("value > 1"),
        lambda s: s.left.where("other > 1"),
        "steps",
    ),
    "a difference the other way round": (
        lambda s: s.left.selectExpr("value - other as x"),
        lambda s: s.left.selectExpr("other - value as x"),
        "steps",
    ),
    "a cast that may fail": (
        lambda s: s.left.selectExpr("cast(key as long) as x"),
        lambda s: s.left.selectExpr("try_cast(key as long) as x"),
        "steps",
    ),
    "options of a function": (
        lambda s: s.left.select(f.from_json("key", "a long", {"mode": "PERMISSIVE"}).alias("x")),
        lambda s: s.left.select(f.from_json("key", "a long", {"mode": "FAILFAST"}).alias("x")),
        "steps",
    ),
    "an element by another number": (
        lambda s: s.left.select(f.col("items")[0].alias("x")),
        lambda s: s.left.select(f.col("items")[1].alias("x")),
        "steps",
    ),
    "exploded another way": (
        lambda s: s.left.select("key", f.explode("items").alias("x")).groupBy("key").count(),
        lambda s: s.left.select("key", f.explode_outer("items").alias("x")).groupBy("key").count(),
        "operators",
    ),
    "the length of a window": (
        lambda s: s.timed.groupBy(f.window("at", "1 minute")).count(),
        lambda s: s.timed.groupBy(f.window("at", "2 minutes")).count(),
        "operators",
    ),
    "the slide of a window": (
        lambda s: s.timed.groupBy(f.window("at", "10 minutes", "5 minutes")).count(),
        lambda s: s.timed.groupBy(f.window("at", "10 minutes", "2 minutes")).count(),
        "operators",
    ),
    "the start of a window": (
        lambda s: s.timed.groupBy(f.window("at", "10 minutes")).count(),
        lambda s: s.timed.groupBy(f.window("at", "10 minutes", "10 minutes", "1 minute")).count(),
        "operators",
    ),
    "the gap of a session": (
        lambda s: s.timed.groupBy(f.session_window("at", "5 minutes"), "key").count(),
        lambda s: s.timed.groupBy(f.session_window("at", "6 minutes"), "key").count(),
        "operators",
    ),
    "the delay of a watermark": (
        lambda s: s.left.withWatermark("at", "1 minute").dropDuplicates(["key", "at"]),
        lambda s: s.left.withWatermark("at", "2 minutes").dropDuplicates(["key", "at"]),
        "watermarks",
    ),
    "deduplicated by another column": (
        lambda s: s.left.dropDuplicates(["value"]),
        lambda s: s.left.dropDuplicates(["other"]),
        "operators",
    ),
    "the type of a join": (
        lambda s: s.joined(NEAR, "left_outer"),
        lambda s: s.joined(NEAR, "right_outer"),
        "operators",
    ),
    "the range of a join": (
        lambda s: s.joined(NEAR),
        lambda s: s.joined(NEAR.replace("1 minute", "2 minutes")),
        "operators",
    ),
    "the key of a join": (
        lambda s: s.joined("l.value = r.value"),
        lambda s: s.joined("l.other = r.other"),
        "operators",
    ),
    "what a join stores": (
        lambda s: s.left.selectExpr("key", "value * 2 as v").join(s.right.select("key"), "key"),
        lambda s: s.left.selectExpr("key", "value * 3 as v").join(s.right.select("key"), "key"),
        "operators",
    ),
    "sources in another order": (
        lambda s: s.left.union(s.right),
        lambda s: s.right.union(s.left),
        "sources",
    ),
    "an option of a source": (
        lambda s: s.left,
        lambda s: s.stream("left", multiLine="true"),
        "sources",
    ),
    "the limit": (lambda s: s.left.limit(3), lambda s: s.left.limit(4), "operators"),
    "the body of a function": (
        lambda s: s.left.select(udf(tax, "long")("value").alias("x")),
        lambda s: s.left.select(udf(tax_again, "long")("value").alias("x")),
        "functions",
    ),
    "the time out of a state": (
        with_state,
        lambda s: with_state(s, "ProcessingTimeTimeout"),
        "operators",
    ),
    "the schema of a state": (
        with_state,
        lambda s: with_state(s, schema="seen int"),
        "operators",
    ),
    "another type of static join": (
        lambda s: s.left.join(s.static, "key"),
        lambda s: s.left.join(s.static, "key", "left_outer"),
        "steps",
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_equal_queries_have_equal_facts(name: str, streams: Streams) -> None:
    """Whatever their columns are called, and in whatever order they are given."""
    first, second = (facts_of(make(streams)) for make in SAME[name])
    assert first.unknown == () == second.unknown
    ordered = [replace(one, output=()) for one in (first, second)]
    assert ordered[0] == ordered[1]
    assert fingerprint(ordered[0]) == fingerprint(ordered[1])


@pytest.mark.parametrize("name", DIFFERENT)
def test_other_queries_have_other_facts(name: str, streams: Streams) -> None:
    """In the part that the change concerns."""
    *makes, part = DIFFERENT[name]
    first, second = (facts_of(make(streams)) for make in makes)
    assert first.operators is not None and second.operators is not None
    assert getattr(first, part) != getattr(second, part)
    assert fingerprint(first) != fingerprint(second)
    assert first.unknown == () == second.unknown


def test_a_static_table_that_changed(streams: Streams) -> None:
    """By its files, or by the version of a Delta table."""
    before = facts_of(streams.left.join(streams.static, "key"))
    (streams.folder / "static" / "two.json").write_text('{"key":"b","name":"B"}', encoding="utf-8")
    after = facts_of(streams.left.join(streams.static, "key"))
    assert [one.name for one in before.statics] == [one.name for one in after.statics]
    assert before.statics != after.statics and before.statics[0].content is not None
    table = str(streams.folder / "table")
    streams.spark.range(3).write.format("delta").save(table)

    def joined() -> QueryFacts:
        ids = streams.spark.read.format("delta").load(table)
        left = streams.left
        return facts_of(left.join(ids, ids.id == left.value))

    first, again = joined(), joined()
    assert first.statics == again.statics
    assert "version 0" in str(first.statics[0].content)
    streams.spark.range(4).write.format("delta").mode("append").save(table)
    assert "version 1" in str(joined().statics[0].content)


def test_secrets_are_digests(streams: Streams, spark: Any) -> None:
    """In options, and in constants that a column for secrets is compared with."""
    kafka = spark.readStream.format("kafka").option("subscribe", "t")
    kafka = kafka.option("kafka.bootstrap.servers", "127.0.0.1:1")
    frame = kafka.option("kafka.ssl.keystore.password", "opensesame99").load()
    told = query_facts(frame.where("value = cast('x' as binary)"))
    assert "opensesame99" not in repr(told)
    assert told.sources[0].identity == {"subscribe": "t"}
    assert told.sources[0].options["kafka.ssl.keystore.password"].startswith("sha256:")
    first = facts_of(streams.left.where("token = 'hunter2hunter2'"))
    other = facts_of(streams.left.where("token = 'hunter3hunter3'"))
    assert "hunter" not in repr(first) and first.steps != other.steps


def doubled(values: pandas.Series) -> pandas.Series:
    return values * 2


def test_functions_are_named_with_their_kinds(streams: Streams) -> None:
    """With the place, and with those that are no part of the plan."""
    make: Any = pandas_udf
    frame = streams.left.select(
        make(doubled, "long")("value").alias("a"), udf(tax, "long")("value").alias("b")
    )
    told = query_facts(frame, functions=[("transform", made_with_renamed_variables)])
    module = made_with_renamed_variables.__module__
    assert [(one.name, one.kind) for one in told.functions] == [
        (f"{module}:made_with_renamed_variables", "transform"),
        (f"{module}:doubled", "pandas"),
        (f"{module}:tax", "udf"),
    ]
    assert all(str(one.place).startswith(__file__) for one in told.functions)
