"""Which Spark a run recorded, where the files can be of that release."""

from __future__ import annotations

from holdfast.checkpoint.releases import RELEASES
from holdfast.checkpoint.writer import SparkVersion
from holdfast.records.run import Run

RECORDED = "recorded"


def recorded_version(run: Run | None, by_files: SparkVersion | None) -> SparkVersion | None:
    """Give the recorded release; None where the files are another's, which left no record."""
    if run is None:
        return None
    release = ".".join(run.versions.spark.split(".")[:2])
    if by_files is not None and release in RELEASES and not _within(release, by_files):
        return None
    return SparkVersion(run.versions.spark, release, release, RECORDED)


def _within(release: str, bounds: SparkVersion) -> bool:
    if bounds.low is None:
        return False
    low, high = (RELEASES.index(one) if one in RELEASES else 0 for one in (bounds.low, bounds.high))
    return low <= RELEASES.index(release) <= high
