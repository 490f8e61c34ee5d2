"""What is made of Spark's reports; what Spark really reports is seen by the runs."""

from __future__ import annotations

from typing import Any

from holdfast.records.run import Measures, OperatorState, SourceLag, SourceProgress
from holdfast.running.recordkeeping import QueryProgress, behind

KAFKA = {"orders": {"0": 7, "1": 9}}


def report(batch_id: int, **source: Any) -> dict[str, Any]:
    told = {"description": "KafkaV2[Subscribe[orders]]", "startOffset": None, **source}
    return {
        "batchId": batch_id,
        "numInputRows": 3,
        "timestamp": "2026-01-01T00:00:00.000Z",
        "durationMs": {"triggerExecution": 120},
        "sources": [told],
    }


def notes() -> QueryProgress:
    return QueryProgress((SourceProgress("orders", "kafka"),), lambda batch_id: batch_id == 5)


def test_offsets_stay_the_text_that_the_checkpoint_has() -> None:
    taken = notes()
    taken.take(report(4, startOffset=3, endOffset=KAFKA))
    assert taken.sources[0].start_offset == "3"
    assert taken.sources[0].end_offset == '{"orders":{"0":7,"1":9}}'
    taken.take(report(5, startOffset=KAFKA, endOffset="not JSON"))
    assert taken.sources[0].start_offset == "3"
    assert taken.sources[0].end_offset == "not JSON"


def test_a_batch_is_counted_once_and_told_with_its_rows() -> None:
    taken = notes()
    first, again, second = (taken.take(report(batch)) for batch in (4, 4, 5))
    assert first is not None
    assert (first.batch_id, first.rows, first.seconds, first.skipped) == (4, 3, 0.12, False)
    assert again is None
    assert second is not None and second.skipped
    assert (taken.batches, taken.rows, taken.skipped_batches) == (2, 6, 1)


def test_a_source_that_tells_its_newest_offset_tells_how_far_behind_we_are() -> None:
    newest = {"orders": {"0": 17, "1": 9}}
    assert behind(report(4, endOffset=KAFKA, latestOffset=newest), {0: "kafka"}) == "10 records"
    assert behind(report(4, endOffset=KAFKA), {0: "kafka"}) is None
    assert behind(report(4, endOffset="{", latestOffset="}"), {0: "kafka"}) is None


def measured(told: dict[str, Any], taken: QueryProgress | None = None) -> Measures:
    """Return what is measured after a report."""
    taken = taken or notes()
    taken.take(told)
    assert taken.measures is not None
    return taken.measures


def test_what_spark_measured_in_the_newest_batch_is_kept() -> None:
    taken = notes()
    operator = {"operatorName": "stateStoreSave", "numRowsTotal": 12, "memoryUsedBytes": 4096}
    newest = {"orders": {"0": 17, "1": 9}}
    first = report(4, endOffset=KAFKA, latestOffset=newest) | {"stateOperators": [operator]}
    assert measured(first, taken) == Measures(
        4,
        {"triggerExecution": 0.12},
        (OperatorState(0, "stateStoreSave", 12, 4096),),
        (SourceLag("orders", 10, "records"),),
    )
    assert measured(report(4), taken).lag, "nothing happened since"
    up_to_date = measured(report(5, endOffset=KAFKA, latestOffset=KAFKA), taken)
    assert (up_to_date.state, up_to_date.lag) == ((), (SourceLag("orders", 0, "records"),))


def test_a_source_s_own_metrics_say_what_it_has_left() -> None:
    own = {"numFilesOutstanding": "3", "numBytesOutstanding": "512", "avgOffsetsBehind": "1.5"}
    files, size = SourceLag("orders", 3, "files"), SourceLag("orders", 512, "bytes")
    assert measured(report(4, metrics=own)).lag == (files, size)
    assert measured(report(4, metrics={"numFilesOutstanding": "many"})).lag == ()
