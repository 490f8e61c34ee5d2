"""Streams the rows once in one way, in a process of its own, as a job that is run by a scheduler.

`python -m benchmarks.sink_cold FOLDER SERVER WAY` prints the seconds from the first planned batch
to the last committed one, by the times of their files, and the processor seconds of the whole
machine from before the stream was started to its end. `rows` in place of a way writes the rows.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from benchmarks.sink_streams import (
    BATCHES,
    Stream,
    stream_of,
    tuned_jdbc,
    ways_to_stream,
    write_rows,
)
from benchmarks.sink_ways import measured, session_of_sinks
from holdfast.spark.session.opening import stop_session

ROWS = 1_000_000
COLD_WAYS = (
    "parquet-ours", "parquet-spark", "delta-ours", "delta-spark",
    "postgres-ours", "postgres-spark", "postgres-tuned",
)  # fmt: skip


def main(folder: Path, server: str, way: str) -> None:
    """Stream once, or write the rows."""
    session = session_of_sinks()
    if way == "rows":
        write_rows(session, folder, ROWS)
    else:
        ways: dict[str, Stream] = {**ways_to_stream(server), "postgres-tuned": tuned_jdbc(server)}
        place = folder / f"{way}-{len(list(folder.iterdir()))}"
        with measured() as passed:
            ways[way](stream_of(session, folder), str(place))
        checkpoint = Path(f"{place}.checkpoint")
        first = (checkpoint / "offsets" / "0").stat().st_mtime
        last = (checkpoint / "commits" / str(BATCHES - 1)).stat().st_mtime
        sys.stdout.write(json.dumps((last - first, passed.processor)) + "\n")
    stop_session(session)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
