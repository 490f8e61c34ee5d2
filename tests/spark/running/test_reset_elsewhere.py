"""Reset on real Spark to a new output, and to other offsets of a Kafka topic."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import holdfast
from tests.parts.kafka import create_topic, produce
from tests.parts.postgres import fresh_database
from tests.spark.running import shapes
from tests.spark.running.projects import Made, table
from tests.spark.running.test_kafka import reading
from tests.spark.running.test_reset import declare, refusal, reset, run, shaped

pytestmark = pytest.mark.spark

SINKS = {
    "delta-complete": "totals",
    "delta-upsert": "totals",
    "postgres-upsert": "totals",
    "parquet-append": "numbered",
}
"""With the shape that fits the mode."""
PIPELINE = '''"""A sum for each message of a topic."""

from pyspark.sql import functions as f


def sums(source):
    read = source.selectExpr("cast(value as string) as k", "offset as n")
    return read.groupBy("k").agg(f.count("n").alias("count"), f.max("n").alias("last"))
'''


@pytest.mark.whole
@pytest.mark.parametrize("sink", SINKS)
def test_a_new_output_gets_every_row_and_the_old_one_keeps_its_own(
    spark: Any, tmp_path: Path, postgres: str, sink: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = fresh_database(postgres) if "postgres" in sink else ""
    made = shaped(tmp_path / "made", SINKS[sink], sink, url)
    for _ in range(2):
        made.arrive(4)
        assert run(made) == (0, [])
    before = shapes.rows(spark, made, sink, url)
    place = "second" if "postgres" in sink else "./lake/second"
    reset(made, "job", f"keep-new:{place}")
    assert run(made) == (30, ["HF3032"])
    declare(made, "job", **({"table": place} if "postgres" in sink else {"path": place}))
    made.arrive(5)
    for _ in range(2):
        assert run(made) == (0, [])
    assert shapes.rows(spark, made, sink, url) == before
    monkeypatch.setattr(shapes, "TABLE", "second")
    after = shapes.rows(spark, made, sink, url)
    twin_url = fresh_database(postgres) if "postgres" in sink else ""
    monkeypatch.setattr(shapes, "TABLE", "written")
    twin = shaped(tmp_path / "twin", SINKS[sink], sink, twin_url)
    # With their times: Spark takes files in the order of those.
    shutil.copytree(made.folder / "in", twin.folder / "in")
    assert run(twin) == (0, [])
    assert after == shapes.rows(spark, twin, sink, twin_url) != before


@pytest.mark.parametrize("mode", ["upsert", pytest.param("complete", marks=pytest.mark.whole)])
def test_a_query_with_state_reads_a_topic_again(
    spark: Any, kafka: str, tmp_path: Path, mode: str
) -> None:
    """Its sums begin with the first record that it is to read: nothing of the old state is left."""
    topic = f"sums-{tmp_path.name}"
    create_topic(kafka, topic, partitions=1)
    job = reading(kafka, topic, most=3, transform="sums:sums")
    del job["sql"]
    job["sink"] |= {"mode": mode} | ({"key": ["k"]} if mode == "upsert" else {})
    made = Made(tmp_path, {"messages": job})
    (tmp_path / "sums.py").write_text(PIPELINE, encoding="utf-8")
    sent = [*"abacabadab"]
    produce(kafka, topic, sent)
    assert run(made) == (0, [])
    assert table(spark, tmp_path / "lake/messages") == sums(sent)
    for given, first in (("earliest", 0), (json.dumps({topic: {"0": 4}}), 4)):
        reset(made, "messages", starting_offsets=given)
        assert run(made) == (0, [])
        assert table(spark, tmp_path / "lake/messages") == sums(sent, first), given
    produce(kafka, topic, [*"cab"])
    for _ in range(2):
        assert run(made) == (0, [])
    assert table(spark, tmp_path / "lake/messages") == sums([*sent, *"cab"], 4)
    found = holdfast.doctor("messages", project=made.file).findings
    assert [(one.code, one.message) for one in found if one.severity.value != "info"] == []


def sums(sent: list[str], first: int = 0) -> Counter[Any]:
    """Return how often each message comes from an offset on, and where last."""
    last = {one: at for at, one in enumerate(sent) if at >= first}
    return Counter((one, sent[first:].count(one), at) for one, at in last.items())


def messages(numbers: Iterable[int]) -> list[str]:
    """Name the messages of a topic by their offsets."""
    return [f"m{number}" for number in numbers]


def test_the_new_query_reads_a_topic_from_the_given_offsets(
    spark: Any, kafka: str, tmp_path: Path
) -> None:
    """Only its first run: what the job declares is said again to none that has offsets."""
    topic = f"begin-{tmp_path.name}"
    create_topic(kafka, topic, partitions=1)
    made = Made(tmp_path, {"messages": reading(kafka, topic)})
    produce(kafka, topic, messages(range(6)))
    assert run(made) == (0, [])
    for given, first in ((json.dumps({topic: {"0": 4}}), 4), ("earliest", 0), ("latest", 6)):
        reset(made, "messages", starting_offsets=given)
        assert run(made) == (0, [])
        assert written(spark, made) == Counter(messages(range(first, 6))), given
    produce(kafka, topic, messages(range(6, 9)))
    for _ in range(2):
        assert run(made) == (0, [])
    assert written(spark, made) == Counter(messages(range(6, 9)))
    for unfit in ('{"startingVersion": 1}', "6", "[]", json.dumps({topic: {"0": "4"}})):
        assert refusal(made, "messages", starting_offsets=unfit) == "HF4643"


def written(spark: Any, made: Made) -> Counter[str]:
    """Return the messages in the table, each with how often it is there."""
    folder = made.folder / "lake/messages"
    if not (folder / "_delta_log").is_dir():
        return Counter()
    return Counter({row[0]: count for row, count in table(spark, folder).items()})
