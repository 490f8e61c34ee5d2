"""Runs totals for ever in a process of its own, to be killed by the shape that started it."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.corpus.bench import Bench
from tests.corpus.session import WORKSHOP, start_session
from tests.corpus.shapes.aggregations import totals
from tests.corpus.shapes.sources import five_a_batch


def main(checkpoint: Path) -> None:
    """Starts the query, prints its id, and waits for the end that others decide."""
    spark = start_session()
    bench = Bench(spark, WORKSHOP / checkpoint.parent.name, checkpoint, checkpoint)
    frame = five_a_batch(bench).selectExpr("value % 3 as key", "value")
    query = bench.start(totals(frame).writeStream.format("noop").outputMode("update"))
    print(query.id, flush=True)
    query.awaitTermination()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
