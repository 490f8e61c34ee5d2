"""Cases 70 and 75: logs of files that only grow, as large as doctor warns of.

Long paths make a log large with few files; the entries are Spark's own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.diagnosis.doctor.trials.bench import FIRST_MODIFIED
from tests.fieldcases.bench import CaseBench
from tests.fieldcases.case import Starts, case

BATCHES = 2
FILES_PER_BATCH = 4_400
VALUES = "select value from source"


def deep(folder: Path, levels: int) -> Path:
    """Make a folder with a path of 246 characters per level; Linux allows 4,096 in all."""
    below = folder.joinpath(*("x" * 245,) * levels)
    below.mkdir(parents=True)
    return below


@contextmanager
def compacting_early(bench: CaseBench, log: str) -> Iterator[None]:
    """Have a log compacted with every second batch, and files listed by few tasks."""
    settings = {f"spark.sql.streaming.{log}.log.compactInterval": "2",
                "spark.sql.sources.parallelPartitionDiscovery.parallelism": "4"}  # fmt: skip
    for name, value in settings.items():
        bench.spark.conf.set(name, value)
    try:
        yield
    finally:
        for name in settings:
            bench.spark.conf.unset(name)


def lines(folder: Path, first: int, count: int) -> list[str]:
    """Write files of one row each, and return the rows."""
    rows = [f"{number:06}" for number in range(first, first + count)]
    for number, row in enumerate(rows, start=first):
        file = folder / f"{row}.txt"
        file.write_text(f"{row}\n", encoding="utf-8")
        os.utime(file, (FIRST_MODIFIED + number // count,) * 2)
    return rows


def megabytes(folder: Path) -> str:
    """Say how large the newest compact file of a log is."""
    newest = max(folder.glob("*.compact"), key=lambda file: int(file.stem))
    return f"{newest.name} has {newest.stat().st_size / 1_048_576:.0f} MB"


@case(70, "a file source has read thousands of files with long paths")
def source_log_grown(bench: CaseBench) -> Starts:
    place = deep(bench.folder / "in", levels=16)
    job = {"sql": VALUES, "source": {"format": "text", "path": str(place)}}

    def run() -> None:
        reader = bench.spark.readStream.format("text")
        with compacting_early(bench, "fileSource"):
            bench.deliver(reader.option("maxFilesPerTrigger", FILES_PER_BATCH).load(str(place)))

    bench.expected.update(lines(place, 0, BATCHES * FILES_PER_BATCH))
    run()
    bench.declare(**job)
    bench.examine(keep=False)
    bench.expected.update(lines(place, BATCHES * FILES_PER_BATCH, 1))

    def start() -> None:
        run()
        bench.note = megabytes(bench.folder / "checkpoint/sources/0")

    return start, None


@case(75, "a file sink has written thousands of files with long paths")
def sink_log_grown(bench: CaseBench) -> Starts:
    out = deep(bench.folder / "out", levels=15)
    (bench.folder / "in").mkdir()
    job = {"sql": VALUES, "source": {"format": "text", "path": "./in"}}

    def batch(number: int, count: int) -> None:
        rows = [f"{number}-{one}" for one in range(count)]
        file = bench.folder / f"in/{number}.txt"
        file.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
        os.utime(file, (FIRST_MODIFIED + number,) * 2)
        bench.expected.update(rows)

    def run() -> None:
        stream = bench.lines().selectExpr("value", "value as part")
        writer = stream.writeStream.format("csv").partitionBy("part").option("path", str(out))
        with compacting_early(bench, "fileSink"):
            bench.run(writer)
        bench.delivered.clear()
        bench.delivered.update(_read(bench, out))

    for number in range(BATCHES):
        batch(number, FILES_PER_BATCH)
    run()
    bench.declare(**job, sink={"format": "csv", "path": str(out), "native": True})
    bench.examine(keep=False)
    batch(BATCHES, 1)

    def start() -> None:
        run()
        bench.note = megabytes(out / "_spark_metadata")

    return start, None


def _read(bench: CaseBench, out: Path) -> Any:
    reader = bench.spark.read.format("csv").schema("value string, part string")
    rows = reader.load(str(out)).select("value").collect()
    return [row[0] for row in rows]
