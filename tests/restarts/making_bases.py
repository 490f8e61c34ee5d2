"""Makes the base checkpoints with real Spark and packs them."""

import shutil
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.restarts.archive import read_folder, write_zip
from tests.restarts.bases import Base
from tests.restarts.edits import Files, numbers
from tests.restarts.observing import wait_until
from tests.restarts.queries import (
    Places,
    Sink,
    start,
    start_asynchronously,
    write_inputs,
)

_ATTEMPTS = 5
_SECONDS = 60


def make_base(spark: SparkSession, base: Base, root: Path, packed: Path) -> Files:
    """Runs the query of a base on the first files and packs the checkpoint that it leaves."""
    write_inputs(root, base.batches)
    places = Places(root, f"run-base-{base.name}")
    for _ in range(_ATTEMPTS):
        shutil.rmtree(places.checkpoint.parent, ignore_errors=True)
        _run(spark, base, places)
        files = read_folder(places.checkpoint, places.output)
        if _as_wanted(base, files):
            write_zip(files, packed)
            shutil.rmtree(places.checkpoint.parent)
            return files
    raise RuntimeError(f"{base.name}: the checkpoint is not as wanted: {sorted(files)}")


def _run(spark: SparkSession, base: Base, places: Places) -> None:
    if base.source == "rate-micro-batch":
        _run_asynchronously(spark, base, places)
        return
    sink = Sink(raise_at=base.batches - 1 if base.pending else None)
    query = start(spark, base, places, sink)
    try:
        query.awaitTermination(_SECONDS)
    except (PySparkException, Py4JError):
        if not base.pending:
            raise


def _run_asynchronously(spark: SparkSession, base: Base, places: Places) -> None:
    query = start_asynchronously(spark, base, places)

    def settled() -> bool:
        # Temporary files come and go while the query runs, so names alone are read here.
        paths = places.checkpoint.glob("*/*")
        return _as_wanted(base, {p.relative_to(places.checkpoint).as_posix(): b"" for p in paths})

    wait_until(settled, 10)
    query.stop()


def _as_wanted(base: Base, files: Files) -> bool:
    offsets, commits = numbers(files, "offsets"), numbers(files, "commits")
    if base.source == "rate-micro-batch":
        return len(offsets) >= 5 and offsets == commits and offsets[-1] - offsets[-2] > 1
    expected = list(range(base.batches))
    return offsets == expected and commits == expected[: -1 if base.pending else None]
