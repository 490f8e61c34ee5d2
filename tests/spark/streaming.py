"""Runs a stream to its end with a function for its batches, as a runner does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any


def run_to_end(
    frame: Any, checkpoint: Path, deliver: Callable[[Any, int], None], mode: str = "append"
) -> None:
    """Run all that is available through `deliver`; raises what Spark raises."""
    query = (
        frame.writeStream.foreachBatch(deliver)
        .outputMode(mode)
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    try:
        query.awaitTermination()
    finally:
        query.stop()
