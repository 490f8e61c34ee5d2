"""Checkpoints that one Spark version began and another continued."""

from __future__ import annotations

import json
import shutil
import zipfile

from tests.corpus.bench import Bench
from tests.corpus.inputs import write_batches
from tests.corpus.shapes.aggregations import totals
from tests.corpus.shapes.joins import inner, sides, within_a_minute
from tests.corpus.shapes.shape import CHANGELOG, OLDEST_AND_NEWEST, ROCKSDB, Shape

OLDEST = OLDEST_AND_NEWEST[0]


def upgrade(bench: Bench) -> None:
    """Three batches by the oldest Spark, two more by the newest one."""
    if bench.spark.version == OLDEST:
        run(bench, 0, 3)
        return
    take_over(bench)
    write_batches(bench.source, range(3))
    run(bench, 3, 2)


def upgrade_refused(bench: Bench) -> None:
    """An inner join whose key 3.5 stored as not null; 4.3 calls it nullable and stops."""
    if bench.spark.version == OLDEST:
        inner(bench)
        return
    take_over(bench)
    left, right = sides(bench, 4)
    joined = left.join(right, within_a_minute(), "inner")
    bench.fail(joined.writeStream.format("noop").outputMode("append"))


def run(bench: Bench, start: int, count: int) -> None:
    """Adds batches and runs the totals over them."""
    frame = totals(bench.events(count, start=start))
    bench.finish(frame.writeStream.format("noop").outputMode("update"))


def take_over(bench: Bench) -> None:
    """Unpacks what the oldest Spark left, and remembers what it said."""
    archive = bench.archives / OLDEST / f"{bench.folder.name}.zip"
    bench.folder.mkdir(parents=True)
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(bench.folder)
    facts = json.loads(archive.with_suffix(".json").read_text(encoding="utf-8"))
    bench.runs.extend(facts["runs"])
    shutil.rmtree(bench.folder / "output", ignore_errors=True)


SHAPES = (
    Shape("upgrade", "begun on 3.5, continued on 4.3", upgrade, OLDEST_AND_NEWEST),
    Shape(
        "upgrade-rocksdb",
        "begun on 3.5, continued on 4.3, RocksDB with changelogs",
        upgrade,
        OLDEST_AND_NEWEST,
        {**ROCKSDB, **CHANGELOG},
    ),
    Shape(
        "upgrade-refused",
        "an inner join begun on 3.5, which 4.3 refuses to continue",
        upgrade_refused,
        OLDEST_AND_NEWEST,
    ),
)
