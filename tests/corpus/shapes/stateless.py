"""Jobs without state: what the logs of sources, sinks and batches look like alone."""

from __future__ import annotations

from pyspark.sql import DataFrame

from tests.corpus.bench import Bench
from tests.corpus.shapes.shape import EVERY, OLDEST_AND_NEWEST, Shape


def to_files(bench: Bench, frame: DataFrame) -> None:
    """Runs a stateless job into the file sink."""
    bench.finish(frame.writeStream.format("json").option("path", str(bench.output)))


def stateless(bench: Bench) -> None:
    """Four files, four batches, one file sink."""
    to_files(bench, bench.events(4))


def compacted(bench: Bench) -> None:
    """Enough batches for three compactions of the source log and of the sink log."""
    to_files(bench, bench.events(11))


def restarted(bench: Bench) -> None:
    """Three starts, each with one more file."""
    for number in range(3):
        to_files(bench, bench.events(1, start=number))


def without_data(bench: Bench) -> None:
    """A first start that finds an empty folder."""
    bench.finish(bench.events(0).writeStream.format("noop"))


def odd_path(bench: Bench) -> None:
    """A checkpoint and an input whose names need quoting in a URL."""
    bench.checkpoint = bench.folder / "check point + ü 100% #1 [a]=b"
    frame = bench.events(3, folder="in put + ü #1")
    to_files(bench, frame)


def two_sources(bench: Bench) -> None:
    """Two readers of two folders in one union; the second ends earlier."""
    left, right = bench.events(3, "in"), bench.events(2, "in-2", start=10)
    bench.finish(left.union(right).writeStream.format("noop"))


def self_union(bench: Bench) -> None:
    """The same stream twice in one plan."""
    frame = bench.events(3)
    bench.finish(frame.union(frame).writeStream.format("noop"))


def purged(bench: Bench) -> None:
    """Two batches are retained of nine; purging is synchronous, so nothing lags."""
    to_files(bench, bench.events(9))


COMPACTION = {
    "spark.sql.streaming.fileSource.log.compactInterval": "3",
    "spark.sql.streaming.fileSink.log.compactInterval": "3",
}
PURGE = {
    "spark.sql.streaming.minBatchesToRetain": "2",
    "spark.sql.streaming.asyncLogPurge.enabled": "false",
}
CLEANUP = {
    "spark.sql.streaming.fileSource.log.cleanupDelay": "0",
    "spark.sql.streaming.fileSink.log.cleanupDelay": "0",
}

SHAPES = (
    Shape("stateless", "files to a file sink, 4 batches", stateless, EVERY),
    Shape(
        "stateless-compacted",
        "source and sink logs compacted three times (interval 3)",
        compacted,
        EVERY,
        COMPACTION,
    ),
    Shape("stateless-restarted", "three runs of one query", restarted, OLDEST_AND_NEWEST),
    Shape("fresh", "started once without any input: no batch yet", without_data, EVERY),
    Shape("odd-path", "blanks and odd characters in both paths", odd_path, OLDEST_AND_NEWEST),
    Shape("two-sources", "two file sources in a union", two_sources, EVERY),
    Shape("self-union", "one file source used twice", self_union, EVERY),
    Shape(
        "purged",
        "2 batches retained of 9, logs compacted and cleaned",
        purged,
        EVERY,
        {**PURGE, **COMPACTION, **CLEANUP},
    ),
)
