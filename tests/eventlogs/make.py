"""Record event logs of real Spark: `python -m tests.eventlogs.make`, from the root of the project.

Each shape runs two batches in a process of its own, and leaves `logs/<shape>.zip`: the log as Spark
wrote it, and the checkpoint of the query without the rows of its state.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LOGS = Path(__file__).parent / "logs"
_EVENTS = 12
_ROLLING = "spark.eventLog.rolling.enabled"


def _totals(session: SparkSession, folder: Path) -> None:
    """Sums per user in windows with a watermark, in update mode, to foreachBatch."""
    from pyspark.sql import functions

    orders = _orders(session, folder).withWatermark("at", "10 minutes")
    window = functions.window("at", "5 minutes")
    totals = orders.where("amount > 0").groupBy(window, "user").agg(functions.sum("amount"))
    writer = totals.writeStream.outputMode("update").foreachBatch(_counted)
    _run(writer, folder)


def _counted(batch: DataFrame, _batch_id: int) -> None:
    batch.count()


def _copied(session: SparkSession, folder: Path) -> None:
    """Rows that pass a filter, to Spark's own files."""
    orders = _orders(session, folder).where("amount > 1").select("user", "amount")
    _run(orders.writeStream.format("parquet").option("path", str(folder / "out")), folder)


def _joined(session: SparkSession, folder: Path) -> None:
    """Two streams, joined within their watermarks, to memory; a second query runs besides."""
    left = _orders(session, folder).withWatermark("at", "1 minute")
    right = session.readStream.format("rate-micro-batch").option("rowsPerBatch", 5).load()
    right = right.selectExpr("timestamp at2", "cast(value as string) user2")
    right = right.withWatermark("at2", "2 minutes")
    both = left.join(right, (left.user == right.user2) & (left.at > right.at2))
    writer = both.writeStream.format("memory").queryName("joined")
    other = _orders(session, folder).writeStream.format("memory").queryName("other")
    query = other.trigger(availableNow=True).start()
    _run(writer, folder)
    query.stop()


SHAPES: dict[str, tuple[Callable[[SparkSession, Path], None], dict[str, str]]] = {
    # What Spark 4 does by itself: a folder of parts, compressed with zstd.
    "totals": (_totals, {"spark.sql.session.timeZone": "Europe/Vienna"}),
    "copied": (_copied, {_ROLLING: "false", "spark.eventLog.compress": "false"}),
    "joined": (_joined, {_ROLLING: "false", "spark.eventLog.compression.codec": "lz4"}),
}


def _orders(session: SparkSession, folder: Path) -> DataFrame:
    stream = session.readStream.schema("user string, amount bigint, at timestamp")
    return stream.option("maxFilesPerTrigger", "1").json(str(folder / "orders"))


def _run(writer: object, folder: Path) -> None:
    checked = writer.option("checkpointLocation", str(folder / "checkpoint"))  # type: ignore[attr-defined]
    checked.trigger(availableNow=True).start().awaitTermination(120)


def record(shape: str, folder: Path) -> None:
    """Run one shape in this process, and pack what it leaves."""
    from pyspark.sql import SparkSession

    run, settings = SHAPES[shape]
    for number in range(2):
        rows = [
            {"user": f"user {one % 3}", "amount": one, "at": f"2026-03-01T10:0{number}:{one:02d}Z"}
            for one in range(_EVENTS)
        ]
        (folder / "orders").mkdir(exist_ok=True)
        text = "\n".join(map(json.dumps, rows))
        (folder / "orders" / f"{number}.json").write_text(text, encoding="utf-8")
    (folder / "events").mkdir()
    builder = SparkSession.builder.master("local[1]").appName(shape)
    fixed = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": (folder / "events").as_uri(),
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    for name, value in {**fixed, **settings}.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    run(session, folder)
    session.stop()
    _pack(shape, folder)


def _pack(shape: str, folder: Path) -> None:
    LOGS.mkdir(exist_ok=True)
    with zipfile.ZipFile(LOGS / f"{shape}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for part in ("events", "checkpoint"):
            for file in sorted((folder / part).rglob("*")):
                name = file.relative_to(folder).as_posix()
                is_rows = "/state/" in name and "_metadata" not in name
                if file.is_file() and not file.name.endswith(".crc") and not is_rows:
                    archive.write(file, name)


if __name__ == "__main__":
    if len(sys.argv) == 2:
        with tempfile.TemporaryDirectory(prefix="eventlogs-") as made:
            record(sys.argv[1], Path(made))
    else:
        for name in SHAPES:
            subprocess.run([sys.executable, "-m", "tests.eventlogs.make", name], check=True)
