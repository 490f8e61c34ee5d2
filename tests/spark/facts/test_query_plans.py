"""Facts told from a plan against the checkpoint that the same frame then writes on real Spark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import functions

from holdfast.format.state.operators import decode_operator
from holdfast.format.state.schema import columns, decode_state_schema
from holdfast.spark.facts import MOST_TEXT, plan_facts, query_facts
from holdfast.spark.facts.plan.planning import loaded_type, streaming_type
from holdfast.spark.facts.settings import MEANING, PINNED, settings_of
from tests.corpus.loading import sample
from tests.corpus.processors import PandasVariables
from tests.corpus.python_source import Numbers
from tests.spark.facts.shapes import (
    ENDING,
    SHAPES,
    planned_and_written,
    planned_stores,
    two_streams,
)

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def streams(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    """Two streams of files with one row each; no batches without data."""
    return two_streams(spark, tmp_path_factory.mktemp("streams"))


@pytest.fixture(autouse=True)
def ending(spark: Any) -> Iterator[None]:
    """Let every query end after the batch with data."""
    for name, value in ENDING.items():
        spark.conf.set(name, value)
    yield
    for name in ENDING:
        spark.conf.unset(name)


@pytest.mark.parametrize("name", SHAPES)
def test_the_checkpoint_has_what_was_planned(
    name: str, streams: tuple[Any, Any], tmp_path: Path
) -> None:
    """Kinds of sources in order, operators in the order of their ids, schemas of their stores."""
    planned, written = planned_and_written(name, streams, tmp_path / "checkpoint")
    assert planned == written


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
    assert planned_stores(operator.stores) == {
        family.name: [
            [[one.name, one.type_text, one.nullable] for one in columns(text)]
            for text in (family.key_json, family.value_json)
        ]
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
    for remembered in (streaming_type, loaded_type):
        remembered.cache_clear()
    told = plan_facts(streams[0].groupBy("key").count(), {})
    assert told.operators is None
    assert told.query is not None and told.query.operators is None
    assert any("stateful operators" in one for one in told.query.unknown)


def test_settings_are_those_that_spark_would_use(spark: Any) -> None:
    """Set ones and defaults, each as Spark itself gives it."""
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    session.conf.set("spark.sql.legacy.timeParserPolicy", "LEGACY")
    java = session._jsparkSession
    found = settings_of(session.sparkContext._jvm, java)
    shown = {name: java.conf().getOption(name).toString() for name in (*PINNED, *MEANING)}
    wanted = {name: one[5:-1] for name, one in shown.items() if one != "None"}
    assert found == wanted | {"spark.sql.legacy.timeParserPolicy": "LEGACY"}
    assert found["spark.sql.session.timeZone"] == "Asia/Tokyo"


def test_the_code_of_a_python_source_is_a_fact(spark: Any) -> None:
    """Another reader gives other rows under the same name and schema."""

    class OtherNumbers(Numbers):
        def schema(self) -> Any:
            return super().schema()

    found = []
    for source in (Numbers, OtherNumbers, Numbers):
        spark.dataSource.register(source)
        facts = query_facts(spark.readStream.format(Numbers.name()).load())
        (function,) = facts.functions
        assert function.kind == "source"
        assert not [one for one in facts.unknown if "Python" in one]
        found.append(function.parts)
    assert found[0] == found[2] != found[1]


def test_a_broadcast_value_is_a_fact(spark: Any, streams: tuple[Any, Any]) -> None:
    """The function is read although its variable is loaded in workers alone."""
    found = []
    for rate in (2, 3, 2):
        rates = spark.sparkContext.broadcast({"a": rate})
        times = functions.udf(lambda key, rates=rates: rates.value.get(key, 1), "long")
        facts = query_facts(streams[0].select(times("key").alias("n")))
        assert not [one for one in facts.unknown if "Python" in one]
        (function,) = facts.functions
        assert function.unfollowed == ()
        found.append(function.parts)
    assert found[0] == found[2] != found[1]


def test_a_share_of_the_rows_is_a_fact(spark: Any, streams: tuple[Any, Any]) -> None:
    """Its seed is not: Spark draws one at each start."""
    first, second, again = (
        query_facts(streams[0].sample(share)).steps for share in (0.5, 0.1, 0.5)
    )
    assert first == again != second
