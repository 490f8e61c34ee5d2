"""Queries, batches and plans that an event log of real Spark has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast.format.eventlogs import decode_events
from tests.eventlogs.loading import query_of

START = b'{"Event":"SparkListenerLogStart","Spark Version":"4.2.0"}'


def progress(batch: int, *phases: str) -> bytes:
    event = {
        "Event": "org.apache.spark.sql.streaming.StreamingQueryListener$QueryProgressEvent",
        "progress": {
            "id": "q", "name": None, "batchId": batch, "durationMs": dict.fromkeys(phases, 1),
            "sources": [], "sink": {"description": "MemorySink"}, "stateOperators": [],
        },
    }  # fmt: skip
    return json.dumps(event).encode()


def test_a_query_with_state(tmp_path: Path) -> None:
    log, query = query_of("totals", tmp_path)
    assert (log.spark, log.application) == ("4.2.0", "totals")
    assert (query.first_batch, query.last_batch) == (0, 1)
    (source,) = query.sources
    assert source.startswith("FileStreamSource[file:/")
    assert (query.sink, query.operators) == ("ForeachBatchSink", ("stateStoreSave",))
    assert query.settings["spark.sql.session.timeZone"] == "Europe/Vienna"
    assert query.settings["spark.sql.shuffle.partitions"] == "2"
    assert query.plan is not None
    names = [one.name for one in query.plan.walk()]
    assert "StateStoreSave" in names, "the plan of the batch, and not of what its sink counts"
    assert "== Physical Plan ==" in query.plan_text


def test_a_query_without_state(tmp_path: Path) -> None:
    _, query = query_of("copied", tmp_path)
    assert (query.operators, query.last_batch) == ((), 1)
    assert query.sink is not None and query.sink.startswith("FileSink[file:/")


def test_two_queries_of_one_application_are_kept_apart(tmp_path: Path) -> None:
    log, joined = query_of("joined", tmp_path)
    assert [one.name for one in log.queries] == ["other", "joined"]
    assert (log.queries[0].operators, joined.operators) == ((), ("symmetricHashJoin",))
    assert [one.partition("[")[0] for one in joined.sources] == [
        "FileStreamSource", "RatePerMicroBatchStream",
    ]  # fmt: skip


def test_a_query_that_waits_has_run_no_batch() -> None:
    """Its progress names the batch that comes next."""
    log = decode_events([START, progress(3, "addBatch"), progress(4, "triggerExecution")])
    assert [one.last_batch for one in log.queries] == [3]


def test_a_cut_last_line_is_passed_over() -> None:
    log = decode_events([START, progress(3, "addBatch"), progress(4, "addBatch")[:200]])
    assert [one.last_batch for one in log.queries] == [3]


@pytest.mark.parametrize(
    "lines",
    [[], [b"not json"], [progress(3, "addBatch")], [START, progress(3)[:200], progress(4)]],
    ids=["empty", "text", "no start", "torn in the middle"],
)
def test_what_is_no_event_log_is_refused(lines: list[bytes]) -> None:
    with pytest.raises(ValueError, match=r"JSON|Spark"):
        decode_events(lines)
