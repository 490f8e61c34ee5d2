"""Delta tables as source and as sink."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from threading import Thread
from typing import Any

from tests.diagnosis.explain.pages.provocations.provocation import provokes
from tests.diagnosis.explain.pages.provocations.queries import lines, run, texts


def table(spark: Any, folder: Path, *, times: int = 3) -> str:
    """Make a Delta table with a few versions."""
    place = str(folder / "table")
    for _ in range(times):
        spark.range(5).write.format("delta").mode("append").save(place)
    return place


def deltas(spark: Any, place: str, **options: str) -> Any:
    """Read a Delta table as a stream."""
    reader = spark.readStream.format("delta")
    for key, value in options.items():
        reader = reader.option(key, value)
    return reader.load(place)


@provokes("delta-source-deleted-rows", needs_jars=True)
def delta_rows_deleted(spark: Any, folder: Path) -> None:
    place = table(spark, folder)
    run(deltas(spark, place), folder)
    spark.sql(f"delete from delta.`{place}`")
    run(deltas(spark, place), folder)


@provokes("delta-source-changed-rows", needs_jars=True)
def delta_rows_updated(spark: Any, folder: Path) -> None:
    place = table(spark, folder)
    run(deltas(spark, place), folder)
    spark.sql(f"update delta.`{place}` set id = 9 where id = 1")
    run(deltas(spark, place), folder)


@provokes("delta-source-another-table", needs_jars=True)
def delta_recreated(spark: Any, folder: Path) -> None:
    place = table(spark, folder)
    run(deltas(spark, place), folder)
    shutil.rmtree(place)
    table(spark, folder, times=5)
    run(deltas(spark, place), folder)


@provokes("delta-source-schema-changed", needs_jars=True)
def delta_schema_changed(spark: Any, folder: Path) -> None:
    place = table(spark, folder)
    run(deltas(spark, place), folder)
    stream = deltas(spark, place)
    spark.sql(f"alter table delta.`{place}` add columns (more string)")
    spark.sql(f"insert into delta.`{place}` values (1, 'a')")
    run(stream, folder)


@provokes("delta-source-log-cleaned", needs_jars=True)
def delta_log_cleaned(spark: Any, folder: Path) -> None:
    place = table(spark, folder)
    run(deltas(spark, place, maxFilesPerTrigger="1", startingVersion="0"), folder)
    table(spark, folder, times=12)
    for path in (folder / "table/_delta_log").glob("0*.json"):
        if int(path.stem) < 8:
            path.unlink()
            path.with_name(f".{path.name}.crc").unlink(missing_ok=True)
    run(deltas(spark, place, maxFilesPerTrigger="1", startingVersion="0"), folder)


@provokes("delta-starting-version", needs_jars=True)
def delta_starting_version(spark: Any, folder: Path) -> None:
    run(deltas(spark, table(spark, folder), startingVersion="77"), folder)


@provokes("delta-sink-schema", needs_jars=True)
def delta_sink_schema(spark: Any, folder: Path) -> None:
    place = table(spark, folder)
    run(texts(spark, lines(folder)), folder, sink="delta", path=place)


@provokes("delta-sink-mode", needs_jars=True)
def delta_sink_mode(spark: Any, folder: Path) -> None:
    stream = texts(spark, lines(folder)).groupBy("value").count()
    run(stream, folder, mode="update", sink="delta", path=str(folder / "out"))


@provokes("delta-source-not-a-table", needs_jars=True)
def delta_no_table(spark: Any, folder: Path) -> None:
    run(deltas(spark, str(folder / "nowhere")), folder)


@provokes("delta-async-progress", needs_jars=True)
def delta_asynchronously(spark: Any, folder: Path) -> None:
    stream = deltas(spark, table(spark, folder))
    writer = stream.writeStream.format("delta").option("asyncProgressTrackingEnabled", "true")
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    writer.option("path", str(folder / "out")).start().awaitTermination()


@provokes("delta-concurrent-transaction", needs_jars=True)
def delta_same_identifier_twice(spark: Any, folder: Path) -> None:
    place = table(spark, folder, times=1)

    def write(column: str, mode: str = "append") -> None:
        rows = spark.range(1).selectExpr(f"{column} as id")
        writer = rows.write.format("delta").mode(mode).option("txnAppId", "orders-job")
        writer.option("txnVersion", "7").save(place)

    slow = "cast(java_method('java.lang.Thread', 'sleep', 6000L) is null as bigint) + id"
    errors: list[Exception] = []

    def write_slowly() -> None:
        try:
            write(slow)
        except Exception as error:  # noqa: BLE001  (it is what we came for)
            errors.append(error)

    thread = Thread(target=write_slowly)
    thread.start()
    time.sleep(3)
    write("id")
    thread.join()
    raise errors[0]
