"""Small queries that provocations run, and run again after a damage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
PROVIDER = "spark.sql.streaming.stateStore.providerClass"


def lines(folder: Path, name: str = "in", number: int = 3) -> Path:
    """Write a few files with words."""
    place = folder / name
    place.mkdir(exist_ok=True)
    for at in range(number):
        (place / f"{len(list(place.iterdir()))}-{at}.txt").write_text(f"a\nb{at}\n")
    return place


def texts(spark: Any, place: Path) -> Any:
    """Read the files as a stream, one a batch."""
    return spark.readStream.format("text").option("maxFilesPerTrigger", 1).load(str(place))


def run(
    stream: Any, folder: Path, *, mode: str = "append", sink: str = "noop", **options: str
) -> None:
    """Run a query until its input is used up."""
    writer = stream.writeStream.format(sink).outputMode(mode).trigger(availableNow=True)
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    for key, value in options.items():
        writer = writer.option(key, value)
    writer.start().awaitTermination()


def counted(spark: Any, folder: Path, *, sink: str = "noop") -> None:
    """Run a stateful query once."""
    run(texts(spark, lines(folder)).groupBy("value").count(), folder, mode="update", sink=sink)


def again(spark: Any, folder: Path) -> None:
    """Run the same stateful query with more input."""
    lines(folder)
    run(texts(spark, folder / "in").groupBy("value").count(), folder, mode="update")


def copied(spark: Any, folder: Path) -> None:
    """Run a stateless query once."""
    run(texts(spark, lines(folder)), folder)


def copied_again(spark: Any, folder: Path) -> None:
    """Run the same stateless query with more input."""
    run(texts(spark, lines(folder)), folder)


def remove(path: Path) -> None:
    """Remove a file with the checksum beside it."""
    path.unlink()
    path.with_name(f".{path.name}.crc").unlink(missing_ok=True)


@contextmanager
def having(spark: Any, settings: Mapping[str, str]) -> Iterator[None]:
    """Set some settings of the session for a while."""
    for key, value in settings.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key in settings:
            spark.conf.unset(key)
