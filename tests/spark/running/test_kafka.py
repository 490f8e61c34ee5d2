"""A job from a real Kafka broker: stopped and started again, each message is read once."""

from __future__ import annotations

import json
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.records.folder import records_of
from holdfast.records.history import History
from holdfast.records.run import Run
from holdfast.storage.location import parse_location
from holdfast.storage.options import StorageSettings
from tests.parts.kafka import create_topic, produce
from tests.spark.running.processes import started, wait_for
from tests.spark.running.projects import Made, table

pytestmark = pytest.mark.spark


def reading(address: str, topic: str, most: int = 2, **more: Any) -> dict[str, Any]:
    """Declare a job from a topic into a Delta table, so many messages a batch."""
    options = {
        "kafka.bootstrap.servers": address,
        "subscribe": topic,
        "startingOffsets": "earliest",
        "maxOffsetsPerTrigger": most,
    }
    return {
        "source": {"format": "kafka", "options": options},
        "sql": "select cast(value as string) as message from source",
        "sink": {"format": "delta", "path": "./lake/messages"},
        **more,
    }


def runs(made: Made) -> tuple[Run, ...]:
    """Give the records, newest first."""
    location = parse_location(str(made.checkpoint("messages")))
    return History(records_of(location, StorageSettings())).runs()


def read_to(run: Run) -> int:
    """Give how many messages lie before the end of a run."""
    (source,) = run.sources
    (partitions,) = json.loads(source.end_offset or "").values()
    return sum(partitions.values())


def test_a_topic_is_read_on_where_the_last_run_ended(
    spark: Any, kafka: str, tmp_path: Path
) -> None:
    """The records say how far; a third run has nothing to read."""
    create_topic(kafka, "read-on")
    made = Made(tmp_path, {"messages": reading(kafka, "read-on")})
    messages = [f"m{number}" for number in range(8)]
    produce(kafka, "read-on", messages[:5])
    first = holdfast.run(project=made.file)
    assert (first.exit_status, first.result.jobs[0].rows) == (0, 5)
    produce(kafka, "read-on", messages[5:])
    second = holdfast.run(project=made.file)
    assert (second.exit_status, second.result.jobs[0].rows) == (0, 3)
    assert holdfast.run(project=made.file).result.jobs[0].batches == 0
    assert table(spark, tmp_path / "lake/messages") == Counter((one,) for one in messages)
    _, newest, oldest = runs(made)
    assert (read_to(oldest), read_to(newest)) == (5, 8)
    assert newest.sources[0].format == "kafka"
    assert newest.sources[0].start_offset == oldest.sources[0].end_offset


def test_a_job_that_lags_says_so_and_is_stopped_between_two_messages(
    spark: Any, kafka: str, tmp_path: Path
) -> None:
    """SIGTERM comes while messages are left; the next run reads those, and no other again."""
    create_topic(kafka, "lagging")
    trigger = {"processing_time": "1 second"}
    made = Made(tmp_path, {"messages": reading(kafka, "lagging", trigger=trigger)})
    messages = [f"m{number}" for number in range(30)]
    produce(kafka, "lagging", messages)
    events = tmp_path / "events"
    with started(tmp_path, "run", "--json", "--events", str(events)) as process:
        wait_for(lambda: len(batches(events)) >= 2, "two batches")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=240)
        assert process.returncode == 143
    told = [str(batch["behind"]) for batch in batches(events)]
    assert told[:2] == ["28 records", "26 records"]
    lag = [one for batch in batches(events) for one in batch["measures"]["lag"]]
    assert lag[0] == {"source": "source", "amount": 28, "unit": "records"}
    some = len(table(spark, tmp_path / "lake/messages"))
    assert 4 <= some < 30
    made = Made(tmp_path, {"messages": reading(kafka, "lagging", most=100)})
    rest = holdfast.run(project=made.file)
    assert (rest.exit_status, rest.result.jobs[0].rows) == (0, 30 - some)
    assert table(spark, tmp_path / "lake/messages") == Counter((one,) for one in messages)


def batches(events: Path) -> list[dict[str, Any]]:
    """Give the batches that the file of events tells, as far as it is written."""
    lines = events.read_text(encoding="utf-8").split("\n")[:-1] if events.exists() else []
    return [event for line in lines if "behind" in (event := json.loads(line))]
