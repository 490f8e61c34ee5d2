"""Deduplication, limits and other operators with one plain store."""

from __future__ import annotations

from tests.corpus.bench import Bench
from tests.corpus.inputs import row, write_file
from tests.corpus.shapes.shape import EVERY, NEWEST, ROCKSDB, Shape


def repeated(bench: Bench) -> None:
    """Writes three files in which keys come back."""
    for number in range(3):
        keys = ("alder", "birch", f"new-{number}", "alder")
        rows = [row(key, i, number * 60 + i) for i, key in enumerate(keys)]
        write_file(bench.source, number, rows)


def deduplicate(bench: Bench) -> None:
    """Drops duplicates of a key for ever."""
    repeated(bench)
    bench.finish(bench.events().dropDuplicates(["key"]).writeStream.format("noop"))


def deduplicate_columns(bench: Bench) -> None:
    """Drops duplicates of two columns, one of which has the watermark."""
    repeated(bench)
    frame = bench.events().withWatermark("at", "30 seconds").dropDuplicates(["at", "key"])
    bench.finish(frame.writeStream.format("noop"))


def deduplicate_within(bench: Bench) -> None:
    """Drops duplicates of a key within the watermark."""
    repeated(bench)
    frame = bench.events().withWatermark("at", "30 seconds")
    bench.finish(frame.dropDuplicatesWithinWatermark(["key"]).writeStream.format("noop"))


def limit(bench: Bench) -> None:
    """Stops passing rows after the tenth."""
    bench.finish(bench.events(4).limit(10).writeStream.format("noop"))


SHAPES = (
    Shape("deduplicate", "dropDuplicates on one column", deduplicate, EVERY),
    Shape("deduplicate-columns", "dropDuplicates, watermark", deduplicate_columns, EVERY),
    Shape("deduplicate-within-watermark", "dropDuplicatesWithinWatermark", deduplicate_within),
    Shape("deduplicate-rocksdb", "dropDuplicates, RocksDB", deduplicate, NEWEST, ROCKSDB),
    Shape("limit", "streaming limit", limit, EVERY),
)
