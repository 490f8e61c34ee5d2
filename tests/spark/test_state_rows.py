"""State that this Spark wrote a moment ago: our rows are those of its own `statestore` source."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyspark import cloudpickle

from holdfast.checkpoint.reading import read_picture
from holdfast.state.reading import open_state
from holdfast.storage.local import LocalReader
from tests.corpus import processors
from tests.corpus.bench import Bench
from tests.corpus.facts import read_rows, reading_options
from tests.corpus.shapes import SHAPES
from tests.corpus.shapes.shape import Shape
from tests.state.states import as_spark_shows, asked_by, rows_of
from tests.state.truth.digests import by_key

pytestmark = pytest.mark.spark

WRITTEN = {
    "aggregation-rocksdb-changelog": 1,
    "join": 4,
    "transform-pandas-timers": 4,
}
"""Shapes of the corpus, and how many stores or state variables each has."""


@pytest.mark.parametrize("name", WRITTEN)
def test_rows_are_those_that_spark_gives(spark: Any, tmp_path: Path, name: str) -> None:
    """Every store, at the newest batch and at an older one."""
    [shape] = [one for one in SHAPES if one.name == name]
    with written(spark, tmp_path, shape) as checkpoint:
        operators = read_rows(spark.read.format("state-metadata").load(str(checkpoint)))
        asked = [one for operator in operators for one in reading_options(operator, "2")]
        assert len(asked) == WRITTEN[name]
        for batch in (newest_batch(checkpoint), 1):
            found = [compare(spark, checkpoint, options, batch) for options in asked]
            assert all(found)


def compare(spark: Any, checkpoint: Path, options: dict[str, str], batch: int) -> int:
    """Read a store both ways, and tell how many rows are the same."""
    source = spark.read.format("statestore").options(**options, batchId=str(batch))
    theirs = read_rows(source.load(str(checkpoint)))
    reader = LocalReader(str(checkpoint), str(checkpoint))
    view = open_state(reader, read_picture(reader), batch=batch, **asked_by(options))
    ours = [as_spark_shows(view, row) for row in rows_of(view)]
    assert by_key(ours) == by_key(theirs)
    return len(ours)


def newest_batch(checkpoint: Path) -> int:
    """Tell the newest committed batch."""
    return max(int(path.name) for path in (checkpoint / "commits").iterdir() if path.suffix == "")


@contextmanager
def written(spark: Any, folder: Path, shape: Shape) -> Iterator[Path]:
    """Let Spark write a shape of the corpus; its settings hold until the end of the block."""
    bench = Bench(spark, folder, folder / "checkpoint", folder)
    # Python workers don't see our folder of tests.
    pickling: Any = cloudpickle
    pickling.register_pickle_by_value(processors)
    bench.set({**shape.settings, "spark.sql.session.timeZone": "UTC"})
    try:
        shape.run(bench)
        yield bench.checkpoint
    finally:
        pickling.unregister_pickle_by_value(processors)
        for key in bench.settings:
            spark.conf.unset(key)
