"""Backfill of a range of times: the plan keeps the offsets or versions that they mean."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.diagnosis.inspection import sources
from tests.parts.kafka import create_topic, produce, remove_before
from tests.parts.ports import free_port
from tests.spark.running.upserts import Stream

pytestmark = pytest.mark.spark

DAY_MS = 1_767_225_600_000
FROM, TO = "2026-01-01T00:00Z", "2026-01-02T00:00Z"


def hours_after(value: str) -> int:
    """Return the time of a record: as many hours after `FROM` as its value."""
    return DAY_MS + int(value) * 3_600_000


def kafka_stream(kafka: str, topic: str, folder: Path) -> Stream:
    """Return a stream that read a record per hour, in two partitions, with the wrong code."""
    # The broker would remove records that are older than a week.
    create_topic(kafka, topic, partitions=2, retention_ms="-1")
    for partition in (0, 1):
        values = [str(one) for one in range(-4 + partition, 56, 2)]
        produce(kafka, topic, values, partition=partition, timestamps=hours_after)
    options = {
        "kafka.bootstrap.servers": kafka, "subscribe": topic, "startingOffsets": "earliest",
    }  # fmt: skip
    read = "cast(cast(value as string) as long) as n, offset as at"
    wrong = f"select {read}, 'wrong' as value from source"
    stream = Stream(folder, "delta", source={"format": "kafka", "options": options}, sql=wrong)
    stream.run()
    stream.correct(wrong.replace("wrong", "right"))
    return stream


def test_times_of_kafka_records(spark: Any, kafka: str, tmp_path: Path) -> None:
    """Those of one day, in both partitions; what arrives after the plan moves no end of it.

    A record of hour 7 that arrives late is not of the day's offsets: it is behind those of hour 55.
    """
    stream = kafka_stream(kafka, "timed", tmp_path / "p")
    plan = stream.plan(FROM, TO, batches=2)
    asked = plan.request.options
    assert json.loads(asked["from"]) == {"timed": {"0": 2, "1": 2}}
    assert json.loads(asked["to"]) == {"timed": {"0": 14, "1": 14}}
    assert (asked["from_time"], asked["to_time"]) == (FROM, TO)
    assert plan.effects.source == "24 records of 2 partitions are read again"
    assert any(asked["from"] in one and FROM in one for one in plan.notes)
    assert stream.plan(FROM, TO, batches=2) == plan

    produce(kafka, "timed", ["7"], partition=0, timestamps=hours_after)
    stream.run()
    assert stream.apply(plan) == "applied"
    values = {one[0]: one[2] for one in stream.rows(spark)}
    assert [one for one, value in values.items() if value == "right"] == [*range(24)]

    # An end that no record had reached when the plan was made is the newest record of then.
    open_end = stream.plan("2026-01-03T00:00Z", "2030-01-01T00:00Z")
    produce(kafka, "timed", ["100"], partition=1, timestamps=hours_after)
    stream.run()
    assert stream.apply(open_end) == "applied"
    assert open_end.effects.source == "9 records of 2 partitions are read again"
    values = {one[0]: one[2] for one in stream.rows(spark)}
    assert {one for one, value in values.items() if value == "wrong"} == {
        *range(-4, 0), *range(24, 48)
    }  # fmt: skip
    stream.healthy()
    assert stream.refusal(lambda: stream.plan("2026-06-01T00:00Z", TO)) == "HF1001"
    none = "2026-06-01T00:00Z", "2026-06-02T00:00Z"
    assert stream.refusal(lambda: stream.plan(*none)) == "HF4601"


def test_records_that_kafka_removed(
    spark: Any, kafka: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part of the range may be gone; its rest is named, and is a range of its own."""
    stream = kafka_stream(kafka, "shortened", tmp_path / "p")
    plan = stream.plan(FROM, TO)
    remove_before(kafka, "shortened", 1, 5)
    assert stream.refusal(lambda: stream.apply(plan)) == "HF4612"
    with pytest.raises(holdfast.HoldfastError) as caught:
        stream.plan(FROM, TO)
    assert caught.value.code.number == "HF4612"
    assert "shortened partition 1 no longer has the records before offset 5" in caught.value.message
    left = next(one for one in caught.value.next_steps if "--from" in one)
    first, last = '{"shortened": {"0": 2, "1": 5}}', '{"shortened": {"0": 14, "1": 14}}'
    assert left.endswith(f" job --from '{first}' --to '{last}'")
    assert stream.apply(stream.plan(first, last)) == "applied"
    right = {one[0] for one in stream.rows(spark) if one[2] == "right"}
    assert right == {*range(0, 24, 2), *range(7, 24, 2)}
    # Removed records before one that is older than the range were not of it.
    assert stream.plan("2026-01-01T08:00Z", TO).effects.source.startswith("16 records")

    monkeypatch.setattr(sources, "ASKED_SECONDS", 0.5)
    text = stream.file.read_text(encoding="utf-8")
    stream.file.write_text(text.replace(kafka, f"127.0.0.1:{free_port()}"), encoding="utf-8")
    assert stream.refusal(lambda: stream.plan(FROM, TO)) == "HF4603"


def test_times_of_delta_versions(spark: Any, tmp_path: Path) -> None:
    """Of a table whose commits say when they were made, and of its plain log."""
    place = str(tmp_path / "p/raw")

    def add(*rows: tuple[int, int, str]) -> None:
        frame = spark.createDataFrame(list(rows), "n long, at long, value string")
        writer = frame.write.format("delta").mode("append")
        writer.option("delta.enableInCommitTimestamps", "true").save(place)

    add((0, 10, "zero"))
    stream = Stream(tmp_path / "p", "delta", source={"format": "delta", "path": "./raw"})
    stream.run()
    for number in range(1, 6):
        add((number, 10, f"v{number}"))
    stream.run()
    stream.correct()
    history = spark.sql(f"describe history delta.`{place}`").collect()
    moments = {one.version: one.timestamp.astimezone().isoformat() for one in history}
    plan = stream.plan(moments[2], moments[4])
    assert (plan.request.options["from"], plan.request.options["to"]) == ("2", "4")
    assert plan.effects.source == "versions 2 to 4 are read again"
    assert stream.apply(plan) == "applied"
    last = stream.plan(moments[5], "2030-01-01T00:00Z")
    add((6, 10, "v6"))
    stream.run()
    assert stream.apply(last) == "applied"
    assert last.effects.source == "version 5 is read again"
    assert [one[2] for one in stream.rows(spark)] == [
        "wrong zero", "wrong v1", "V2", "V3", "V4", "V5", "V6",
    ]  # fmt: skip
    stream.healthy()
    early = "2020-01-01T00:00Z", "2020-01-02T00:00Z"
    assert stream.refusal(lambda: stream.plan(*early)) == "HF4601"
