"""Which libraries jobs need, from what they read and write."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.jobs.ready import ReadyJob, ReadySink, ReadySource
from holdfast.running.settings import features_of
from holdfast.storage.location import parse_location
from tests.spark.readyjobs import job, source

HERE = Path("/projects/sensors")
FILES = source("json", "/in")


def with_sink(*sources: ReadySource, **sink: object) -> ReadyJob:
    """Give a job that writes there."""
    written = {"format": "memory", "mode": "append", "at": "holdfast.yaml:11", **sink}
    return replace(job(HERE, *sources), sink=ReadySink(**written))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ready", "features"),
    [
        (job(HERE, FILES), set()),
        (job(HERE, source("rate")), set()),
        (job(HERE, source("delta", "/lake/raw")), {"delta"}),
        (with_sink(FILES, format="delta", path="/lake/raw"), {"delta"}),
        (job(HERE, FILES, source("kafka", name="orders")), {"kafka"}),
        (with_sink(FILES, format="kafka"), {"kafka"}),
        (with_sink(FILES, format="postgres", url="postgresql://db/gold"), set()),
        (with_sink(FILES, format="postgres", url="jdbc:postgresql://db/gold"), set()),
        (with_sink(FILES, format="jdbc", url="jdbc:postgresql://db/gold"), {"postgres"}),
        (with_sink(FILES, format="jdbc", url="jdbc:sqlite:/tmp/gold"), set()),
        (job(HERE, source("jdbc", options={"url": "jdbc:postgresql://db/x"})), {"postgres"}),
        (job(HERE, source("parquet", "s3a://lake/in")), {"s3"}),
        (job(HERE, source("parquet", "S3://lake/in")), {"s3"}),
        (job(HERE, source("parquet", options={"path": "s3a://lake/in"})), {"s3"}),
        (job(HERE, source("parquet", "hdfs://name/s3/in")), set()),
        (with_sink(FILES, format="delta", path="s3://lake/raw"), {"delta", "s3"}),
    ],
)
def test_a_job_needs_what_it_reads_and_writes(ready: ReadyJob, features: set[str]) -> None:
    """Nothing more."""
    assert features_of([ready]) == features


def test_a_checkpoint_on_s3_counts() -> None:
    """However the scheme is spelled."""
    ready = replace(job(HERE, FILES), checkpoint=parse_location("s3a://lake/checkpoints/a"))
    assert features_of([ready]) == {"s3"}


def test_all_jobs_count_together() -> None:
    """One session serves them all."""
    jobs = [job(HERE, source("delta", "/x")), job(HERE, source("kafka"))]
    assert features_of(jobs) == {"delta", "kafka"}
    assert features_of([]) == frozenset()
