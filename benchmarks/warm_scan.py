"""Reads state in a process that is warm: all of it, and one partition, and tells the seconds.

`python -m benchmarks.warm_scan CHECKPOINT`
"""

from __future__ import annotations

import json
import sys
import time

from holdfast.checkpoint.reading import read_picture
from holdfast.state.reading import open_state
from holdfast.storage.local import LocalReader

WARMING, SCANS = 2, 3


def main(checkpoint: str) -> None:
    """Print the seconds of each scan."""
    ways: dict[str, int | None] = {"whole": None, "partition": 0}
    told = {
        name: [_scan(checkpoint, partition) for _ in range(WARMING + SCANS)][WARMING:]
        for name, partition in ways.items()
    }
    sys.stdout.write(json.dumps(told) + "\n")


def _scan(checkpoint: str, partition: int | None) -> float:
    started = time.perf_counter()
    reader = LocalReader(checkpoint, checkpoint)
    view = open_state(reader, read_picture(reader), partition=partition)
    assert sum(len(batch) for batch in view.batches()) > 0
    return time.perf_counter() - started


if __name__ == "__main__":
    main(sys.argv[1])
