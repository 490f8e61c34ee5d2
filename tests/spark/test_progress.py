"""What is made of Spark's reports; what Spark really reports is seen by the runs."""

from __future__ import annotations

from typing import Any

from holdfast.records.run import OperatorState, SourceLag, SourceProgress
from holdfast.spark.progress import Notes, behind

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


def notes() -> Notes:
    return Notes((SourceProgress("orders", "kafka"),), lambda batch_id: batch_id == 5)


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


def test_what_spark_measured_in_the_newest_batch_is_kept() -> None:
    taken = notes()
    assert taken.measures is None
    operator = {"operatorName": "stateStoreSave", "numRowsTotal": 12, "memoryUsedBytes": 4096}
    newest = {"orders": {"0": 17, "1": 9}}
    taken.take({**report(4, endOffset=KAFKA, latestOffset=newest), "stateOperators": [operator]})
    measures = taken.measures
    assert measures is not None and measures.batch_id == 4
    assert measures.phase_seconds == {"triggerExecution": 0.12}
    assert measures.state == (OperatorState(0, "stateStoreSave", 12, 4096),)
    assert measures.lag == (SourceLag("orders", 10, "records"),)
    taken.take(report(4))
    assert taken.measures is measures, "nothing happened"
    taken.take(report(5, endOffset=KAFKA, latestOffset=KAFKA))
    assert taken.measures is not None
    assert (taken.measures.state, taken.measures.lag) == ((), (SourceLag("orders", 0, "records"),))


def test_a_source_s_own_metrics_say_what_it_has_left() -> None:
    taken = notes()
    own = {"numFilesOutstanding": "3", "numBytesOutstanding": "512", "avgOffsetsBehind": "1.5"}
    taken.take(report(4, metrics=own))
    assert taken.measures is not None
    assert taken.measures.lag == (
        SourceLag("orders", 3, "files"),
        SourceLag("orders", 512, "bytes"),
    )
    taken.take(report(5, metrics={"numFilesOutstanding": "many"}))
    assert taken.measures.lag == ()
