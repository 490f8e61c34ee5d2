"""Runs for the tests of records, every field filled."""

from __future__ import annotations

from holdfast.records.run import (
    BatchNote,
    Ended,
    Failure,
    PlanFacts,
    Run,
    SinkFacts,
    SourceProgress,
    Versions,
)


def some_run(generation: int = 1) -> Run:
    """Give a run that failed in its third batch."""
    return Run(
        job="orders",
        project="shop",
        checkpoint="file:///base/orders",
        generation=generation,
        versions=Versions("0.1.0", "4.2.0", "17.0.1", "3.11.7"),
        started_at="2026-03-01T10:00:00.000Z",
        query_id="5f0f3d3c-43d6-4a4e-8a39-5b6f2e6f8a11",
        run_id="0d9f1f6e-6d4b-4a61-9f38-0c9f1a0f7f22",
        settings={"spark.sql.shuffle.partitions": "8"},
        sources=(
            SourceProgress("in", "kafka", "KafkaV2[Subscribe[tokens]]", None, '{"tokens":{"0":5}}'),
        ),
        sink=SinkFacts(
            "delta",
            "file:///lake/orders",
            "append",
            "exactly-once",
            place="file:///lake/orders",
            incarnation="0f0a4b1d-8a52-4d0b-9d0e-0c3b1f7f4d11",
            held=6,
            since=4,
        ),
        output_mode="append",
        trigger="available-now",
        state_store_provider="rocksdb",
        plan=PlanFacts(("kafka",), ("dedupe",), "Project [a#1]", {"tokens.py": "ab" * 32}),
        batches=3,
        rows=12,
        skipped_batches=1,
        first_batch=4,
        last_batch=6,
        recent=(BatchNote(6, 4, "2026-03-01T10:00:03.000Z", 1.5, skipped=True),),
        updated_at="2026-03-01T10:00:04.000Z",
        ended_at="2026-03-01T10:00:05.000Z",
        seconds=5.0,
        ended=Ended.FAILED,
        failure=Failure("DIVIDE_BY_ZERO", "HF5301", "a division by zero", "pipeline.py:12"),
        taken_over="job orders, somebody on far-away (process 7), since then",
        accepted=("empty-sink",),
    )
