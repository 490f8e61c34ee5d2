"""Facts told from a plan against the checkpoint that the same frame then writes on real Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas
import pytest
from pyspark.sql import functions

from holdfast import inspect
from holdfast.format.state.operators import decode_operator
from holdfast.format.state.schema import columns, decode_state_schema
from holdfast.spark.facts import MOST_TEXT, plan_facts
from tests.corpus.loading import sample
from tests.corpus.processors import PandasVariables
from tests.corpus.python_source import Numbers

pytestmark = pytest.mark.spark

SCHEMA = "key string, at timestamp, value long"
ENDING = {"spark.sql.streaming.noDataMicroBatches.enabled": "false"}

Make = Callable[[Any, Any], Any]
"""Makes a frame of two streams."""


def timed(frame: Any) -> Any:
    """Give a stream its watermark."""
    return frame.withWatermark("at", "1 minute")


def outer(left: Any, right: Any) -> Any:
    """Join with a bound in time."""
    near = "l.key = r.key and l.at between r.at and r.at + interval 1 minute"
    condition = functions.expr(near)
    return timed(left).alias("l").join(timed(right).alias("r"), condition, "left_outer")


def chained(left: Any, _: Any) -> Any:
    """Give an aggregation of an aggregation."""
    minutes = timed(left).groupBy(functions.window("at", "1 minute"), "key").count()
    hours = functions.window(functions.window_time("window"), "1 hour")
    return minutes.groupBy(hours).agg(functions.sum("count"))


def counting(
    key: tuple[Any, ...], frames: Iterator[pandas.DataFrame], state: Any
) -> Iterator[pandas.DataFrame]:
    """Count the rows of a key."""
    state.update((sum(len(frame) for frame in frames),))
    yield pandas.DataFrame({"key": [key[0]]})


def deduplicated_windows(left: Any, _: Any) -> Any:
    """Give an aggregation over a deduplication."""
    once = timed(left).dropDuplicates(["key", "at"])
    return once.groupBy(functions.window("at", "1 minute")).count()


SHAPES: dict[str, tuple[str, Make]] = {
    "stateless": ("append", lambda left, _: left.where("value > 0")),
    "aggregation": ("update", lambda left, _: left.groupBy("key").count()),
    "sorted": ("complete", lambda left, _: left.groupBy("key").count().orderBy("key").limit(1)),
    "approximate": (
        "update",
        lambda left, _: left.groupBy("key").agg(functions.approx_count_distinct("value")),
    ),
    "windowed": (
        "append",
        lambda left, _: timed(left).groupBy(functions.window("at", "1 minute")).count(),
    ),
    "chained": ("append", chained),
    "deduplicated": ("append", lambda left, _: left.dropDuplicates(["key"])),
    "deduplicated-windows": ("append", deduplicated_windows),
    "within-watermark": (
        "append",
        lambda left, _: timed(left).dropDuplicatesWithinWatermark(["key"]),
    ),
    "inner-join": ("append", lambda left, right: left.join(right, "key")),
    "outer-join": ("append", outer),
    "session": (
        "append",
        lambda left, _: (
            timed(left).groupBy(functions.session_window("at", "1 minute"), "key").count()
        ),
    ),
    "limit": ("append", lambda left, _: left.limit(3)),
    "pandas": (
        "update",
        lambda left, _: left.groupBy("key").applyInPandasWithState(
            counting, "key string", "seen long", "update", "NoTimeout"
        ),
    ),
    "union": (
        "append",
        lambda left, right: left.dropDuplicates(["key"]).union(right.limit(2)),
    ),
    "self-union": ("append", lambda left, _: left.union(left)),
    "self-join": ("append", lambda left, _: left.alias("l").join(left.alias("r"), "key")),
}


@pytest.fixture(scope="module")
def streams(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    """Two streams of files with one row each; no batches without data."""
    found = []
    for name in ("left", "right"):
        folder = tmp_path_factory.mktemp(name)
        row = '{"key":"a","at":"2026-01-01T00:00:00Z","value":1}'
        (folder / "one.json").write_text(row, encoding="utf-8")
        found.append(spark.readStream.schema(SCHEMA).json(str(folder)))
    return found[0], found[1]


@pytest.fixture(autouse=True)
def ending(spark: Any) -> Iterator[None]:
    """Let every query end after the batch with data."""
    for name, value in ENDING.items():
        spark.conf.set(name, value)
    yield
    for name in ENDING:
        spark.conf.unset(name)


def run_once(frame: Any, mode: str, checkpoint: Path) -> None:
    """Run what is available into nothing."""
    writer = frame.writeStream.format("noop").outputMode(mode).trigger(availableNow=True)
    query = writer.option("checkpointLocation", str(checkpoint)).start()
    query.awaitTermination()


@pytest.mark.parametrize("name", SHAPES)
def test_the_checkpoint_holds_what_was_told(
    name: str, streams: tuple[Any, Any], tmp_path: Path
) -> None:
    """Kinds of sources in order, names of operators in the order of their ids."""
    mode, make = SHAPES[name]
    frame = make(*streams)
    told = plan_facts(frame, {}, mode)
    run_once(frame, mode, tmp_path / "checkpoint")
    found = inspect(tmp_path / "checkpoint").result
    assert told.sources == tuple(source.kind for source in found.sources)
    assert told.operators == tuple(operator.name for operator in found.operators)
    assert [operator.id for operator in found.operators] == list(range(len(found.operators)))
    assert told.query is not None and told.query.operators is not None
    assert told.query.unknown == ()
    assert [stored(operator.stores) for operator in told.query.operators] == [
        written(operator.stores) for operator in found.operators
    ]


def stored(stores: Any) -> dict[str, Any]:
    """Give the schemas that were told, by the names of the stores."""
    return {
        store.name: tuple(
            [(one.name, one.type, one.nullable) for one in side]
            for side in (store.keys, store.values)
        )
        for store in stores
    }


def written(stores: Any) -> dict[str, Any]:
    """Give the schemas in a checkpoint, by the names of the stores."""
    return {
        store.name: tuple(
            [(one.name, one.type_text, one.nullable) for one in side]
            for side in (store.key_schema, store.value_schema)
        )
        for store in stores
    }


def test_a_stateful_processor_is_named_as_its_metadata_does(streams: tuple[Any, Any]) -> None:
    """Planned only: its name is compared with a checkpoint of the corpus."""
    grouped = streams[0].groupBy("key")
    frame = grouped.transformWithStateInPandas(
        PandasVariables(), "key string, total long", "Update", "None"
    )
    recorded = sample("transform-pandas", "4.2.1").files()
    (metadata,) = (
        data
        for path, data in recorded.items()
        if path.startswith("state/0/_metadata/v2/") and not path.endswith(".crc")
    )
    told = plan_facts(frame, {}, "update")
    assert told.operators == (decode_operator(metadata).name,)
    assert told.query is not None and told.query.operators is not None
    assert told.query.unknown == () and told.query.statics == ()
    (operator,) = told.query.operators
    assert operator.functions == ("tests.corpus.processors:PandasVariables",)
    assert [one.kind for one in told.query.functions] == ["state"]
    (schema,) = (
        decode_state_schema(data)
        for path, data in recorded.items()
        if "/_stateSchema/" in path and not path.endswith(".crc")
    )
    assert stored(operator.stores) == {
        family.name: tuple(
            [(one.name, one.type_text, one.nullable) for one in columns(text)]
            for text in (family.key_json, family.value_json)
        )
        for family in schema.families
    }


def test_every_kind_of_source_is_named(spark: Any, tmp_path: Path) -> None:
    """By the provider, whatever its options; a Delta table by path and by name."""
    spark.range(1).write.format("delta").save(str(tmp_path / "table"))
    spark.sql(f"create table facts_of_a_table using delta location '{tmp_path / 'table'}'")
    spark.dataSource.register(Numbers)
    kafka = {"subscribe": "t", "kafka.bootstrap.servers": "127.0.0.1:1"}

    def stream(format_: str, **options: str) -> Any:
        return spark.readStream.format(format_).options(**options)

    frames = {
        "delta": (
            stream("delta").load(str(tmp_path / "table")),
            spark.readStream.table("facts_of_a_table"),
        ),
        "kafka": (stream("kafka", **kafka).load(),),
        "rate": (stream("rate").load(),),
        "rate-micro-batch": (stream("rate-micro-batch", rowsPerBatch="1").load(),),
        "socket": (stream("socket", host="127.0.0.1", port="1").load(),),
        "file": (stream("text").load(str(tmp_path)),),
        "python": (stream(Numbers.name()).load(),),
    }
    for kind, given in frames.items():
        for frame in given:
            assert plan_facts(frame, {"a.py": "1"}).sources == (kind,)
    spark.sql("drop table facts_of_a_table")


def test_the_text_is_bounded_stable_and_without_secrets(spark: Any) -> None:
    """Kafka's options stand in a plan, and so do addresses of objects."""
    jaas = 'org.apache.kafka.Login required username="me" password="hunter2secret";'
    kafka = spark.readStream.format("kafka").option("subscribe", "t")
    kafka = kafka.option("kafka.bootstrap.servers", "127.0.0.1:1")
    kafka = kafka.option("kafka.ssl.keystore.password", "opensesame99")
    frame = kafka.option("kafka.sasl.jaas.config", jaas).load()
    told = plan_facts(frame, {"a.py": "1"})
    assert "hunter2secret" not in told.text and "opensesame99" not in told.text
    assert "KafkaSourceProvider" in told.text and "@" not in told.text
    assert told.code == {"a.py": "1"}
    for number in range(150):
        frame = frame.withColumn(f"column_with_a_long_name_{number}", functions.lit(number))
    assert len(plan_facts(frame, {}).text) == MOST_TEXT


def test_operators_that_can_not_be_told_are_none(
    streams: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Spark that is built in another way is not taken for a query without state."""
    monkeypatch.setattr(
        "holdfast.spark.facts.plan.planning._STREAMING", "org.apache.spark.elsewhere"
    )
    told = plan_facts(streams[0].groupBy("key").count(), {})
    assert told.operators is None
    assert told.query is not None and told.query.operators is None
    assert any("stateful operators" in one for one in told.query.unknown)
