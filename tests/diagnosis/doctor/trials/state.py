"""Trials of state: snapshots, RocksDB's tables, formats and changelogs."""

from __future__ import annotations

import shutil
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.diagnosis.doctor.trials.bench import Bench, remove
from tests.diagnosis.doctor.trials.places import PROVIDER, ROCKSDB
from tests.diagnosis.doctor.trials.trial import tries

STATE = "spark.sql.streaming.stateStore"
FORMAT = f"{STATE}.checkpointFormatVersion"
CHANGELOG = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
_FREQUENT = {CHANGELOG: "true", f"{STATE}.minDeltasForSnapshot": "1"}
"""Changelogs, and a snapshot as soon as the maintenance thread comes by."""
JOIN_FORMAT = "spark.sql.streaming.join.stateFormatVersion"


def counted(bench: Bench, *numbers: int, **settings: str) -> None:
    """Count the values of some more files; each one is a batch."""
    bench.put(*numbers)
    keys = {key.replace("__", "."): value for key, value in settings.items()}
    for key, value in keys.items():
        bench.spark.conf.set(key, value)
    try:
        bench.deliver(bench.lines().groupBy("value").count().select("value"), mode="update")
    finally:
        for key in keys:
            bench.spark.conf.unset(key)


def rocks(bench: Bench, *numbers: int, **more: str) -> None:
    """Count with RocksDB."""
    counted(bench, *numbers, **{PROVIDER: ROCKSDB, **more})


def waited_for(place: Path, pattern: str) -> list[Path]:
    """Wait for what the maintenance thread writes, until it has nothing more to write."""
    found: list[Path] = []
    for _ in range(20):
        time.sleep(1.5)
        before, found = found, sorted(place.glob(pattern))
        if found and found == before:
            return found
    raise TimeoutError(f"no {pattern} came")


def without_checksums(path: Path) -> None:
    """Remove every checksum beside a file, so that its content alone is judged."""
    for name in (f".{path.name}.crc", f"{path.name}.crc", f".{path.name}.crc.crc"):
        path.with_name(name).unlink(missing_ok=True)


def _with_snapshots(bench: Bench, damaged: Callable[[Path], None]) -> None:
    for number in range(8):
        counted(bench, number, **{f"{STATE}.minDeltasForSnapshot": "2"})
    snapshots = waited_for(bench.path("state/0"), "[01]/*.snapshot")
    for snapshot in snapshots:
        damaged(snapshot)
    bench.note = f"damaged: {', '.join(sorted({one.name for one in snapshots}))}"
    counted(bench, 8)


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(bytes(content))


def _flip_silently(path: Path) -> None:
    _flip(path)
    without_checksums(path)


def _empty(path: Path) -> None:
    path.write_bytes(b"")
    without_checksums(path)


@tries("a byte of each snapshot is flipped, the checksums stay")
def snapshot_flipped(bench: Bench) -> None:
    _with_snapshots(bench, _flip)


@tries("a byte of each snapshot is flipped, no checksum tells")
def snapshot_flipped_without_checksums(bench: Bench) -> None:
    _with_snapshots(bench, _flip_silently)


@tries("each snapshot is empty")
def snapshot_empty(bench: Bench) -> None:
    _with_snapshots(bench, _empty)


@tries("a table that the newest RocksDB snapshot needs is removed")
def table_removed(bench: Bench) -> None:
    rocks(bench, 0, 1, 2)
    for table in bench.path("state/0").glob("*/SSTs/*.sst"):
        remove(table)
    rocks(bench, 3)


@tries("a table that the newest RocksDB snapshot needs ends 10 bytes early")
def table_cut(bench: Bench) -> None:
    rocks(bench, 0, 1, 2)
    for table in bench.path("state/0").glob("*/SSTs/*.sst"):
        content = table.read_bytes()
        remove(table)
        table.write_bytes(content[:-10])
    rocks(bench, 3)


@tries("the newest RocksDB snapshot is cut to 200 bytes, without changelogs")
def zip_cut(bench: Bench) -> None:
    rocks(bench, 0, 1, 2)
    for part in (0, 1):
        path = bench.path(f"state/0/{part}/3.zip")
        content = path.read_bytes()
        without_checksums(path)
        path.write_bytes(content[:200])
    rocks(bench, 3)


@tries("the newest RocksDB snapshot is cut to 200 bytes, with changelogs")
def zip_cut_with_changelogs(bench: Bench) -> None:
    rocks(bench, 0, 1, 2, **_FREQUENT)
    zips = waited_for(bench.path("state/0"), "[01]/*.zip")
    for path in zips:
        content = path.read_bytes()
        without_checksums(path)
        path.write_bytes(content[:200])
    bench.note = f"cut: {', '.join(sorted({one.name for one in zips}))}"
    rocks(bench, 3, **_FREQUENT)


@tries("the tables that the newest RocksDB snapshot needs are removed, with changelogs")
def table_removed_with_changelogs(bench: Bench) -> None:
    rocks(bench, 0, 1, 2, **_FREQUENT)
    waited_for(bench.path("state/0"), "[01]/*.zip")
    for table in bench.path("state/0").glob("*/SSTs/*.sst"):
        remove(table)
    rocks(bench, 3, **_FREQUENT)


@tries("the RocksDB snapshots are empty, with changelogs")
def zip_empty_with_changelogs(bench: Bench) -> None:
    rocks(bench, 0, 1, 2, **_FREQUENT)
    for path in waited_for(bench.path("state/0"), "[01]/*.zip"):
        without_checksums(path)
        path.write_bytes(b"")
    rocks(bench, 3, **_FREQUENT)


@tries("a table that no snapshot names lies among the others")
def table_left_over(bench: Bench) -> None:
    rocks(bench, 0, 1)
    place = bench.path(f"state/0/0/SSTs/000099-{uuid.UUID(int=7)}.sst")
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(b"spare")
    rocks(bench, 2)
    bench.note = "it is still there" if place.exists() else "it was removed"


@tries("changelogs are turned on between two starts")
def changelog_turned_on(bench: Bench) -> None:
    rocks(bench, 0, 1)
    rocks(bench, 2, **{CHANGELOG: "true"})


@tries("changelogs are turned off between two starts")
def changelog_turned_off(bench: Bench) -> None:
    rocks(bench, 0, 1, **{CHANGELOG: "true"})
    rocks(bench, 2)


@tries("state checkpoint format 1, then 2", since="4.0")
def format_raised(bench: Bench) -> None:
    rocks(bench, 0, 1)
    rocks(bench, 2, **{FORMAT: "2"})


@tries("state checkpoint format 2, then 1", since="4.0")
def format_lowered(bench: Bench) -> None:
    rocks(bench, 0, 1, **{FORMAT: "2"})
    rocks(bench, 2)


@tries("state checkpoint format 2, and the newest batch is pending", since="4.0")
def format_two_pending(bench: Bench) -> None:
    rocks(bench, 0, 1, 2, **{FORMAT: "2"})
    bench.remove("commits/2")
    bench.delivered -= bench.delivered.__class__({"in-2-a": 1, "in-2-b": 1})
    rocks(bench, 3, **{FORMAT: "2"})


@tries("a whole state file with a checksum file of another attempt beside it", since="4.1")
def checksum_of_another_attempt(bench: Bench) -> None:
    counted(bench, 0, 1, 2)
    swapped = 0
    for part in (0, 1):
        old, new = (bench.path(f"state/0/{part}/{one}.delta.crc") for one in (2, 3))
        if old.exists() and new.exists():
            new.write_bytes(old.read_bytes())
            new.with_name(f".{new.name}.crc").unlink(missing_ok=True)
            swapped += 1
    bench.note = f"{swapped} checksums stand beside the file of another attempt"
    counted(bench, 3)


def joined(bench: Bench, kind: str, **settings: str) -> None:
    """Join two inputs within a minute."""
    for key, value in settings.items():
        bench.spark.conf.set(key, value)
    try:
        sides = []
        for side in ("in", "more"):
            timed = bench.lines(side).selectExpr(
                f"substring_index(value, '-', -2) as {side}_key",
                f"timestamp_seconds(1000) as {side}_at",
            )
            sides.append(timed.withWatermark(f"{side}_at", "1 minute"))
        within = "in_key = more_key and more_at between in_at and in_at + interval 1 minute"
        from pyspark.sql.functions import expr

        bench.deliver(sides[0].join(sides[1], expr(within), kind).select("in_key"))
    finally:
        for key in settings:
            bench.spark.conf.unset(key)


@contextmanager
def _as_in_sparks_tests(bench: Bench) -> Iterator[None]:
    """From 4.1 on only Spark's own tests can make a new join in format 1."""
    system = bench.spark._jvm.java.lang.System
    system.setProperty("spark.testing", "true")
    try:
        yield
    finally:
        system.clearProperty("spark.testing")


def _inner_in_format_one(bench: Bench) -> None:
    bench.put(0, 1)
    bench.put(0, 1, into="more")
    with _as_in_sparks_tests(bench):
        joined(bench, "inner", **{JOIN_FORMAT: "1"})
    bench.put(2)
    bench.put(2, into="more")


@tries("an inner join goes on with state of join format 1")
def inner_join_in_format_one(bench: Bench) -> None:
    _inner_in_format_one(bench)
    joined(bench, "inner", **{JOIN_FORMAT: "1"})
    _expect_keys(bench)


@tries("an outer join starts over state of join format 1")
def outer_join_in_format_one(bench: Bench) -> None:
    _inner_in_format_one(bench)
    joined(bench, "left_outer", **{JOIN_FORMAT: "1"})
    _expect_keys(bench)


def _of_spark_2(bench: Bench, kind: str) -> None:
    """Take away what Spark 2 did not write: the format in the entries, schemas, operators."""
    _inner_in_format_one(bench)
    _rewrite_offsets(bench, f'"{JOIN_FORMAT}":"1",', "")
    for folder in bench.path("state").glob("**/_metadata"):
        shutil.rmtree(folder)
    joined(bench, kind)
    _expect_keys(bench)


@tries("an inner join starts over join state as Spark 2 left it")
def join_of_spark_2_inner(bench: Bench) -> None:
    _of_spark_2(bench, "inner")


@tries("an outer join starts over join state as Spark 2 left it")
def join_of_spark_2_outer(bench: Bench) -> None:
    _of_spark_2(bench, "left_outer")


@tries("an inner join starts over state of format 2, the entries name format 1")
def join_format_lowered(bench: Bench) -> None:
    bench.put(0, 1)
    bench.put(0, 1, into="more")
    joined(bench, "inner")
    _rewrite_offsets(bench, f'"{JOIN_FORMAT}":"2"', f'"{JOIN_FORMAT}":"1"')
    bench.put(2)
    bench.put(2, into="more")
    joined(bench, "inner")
    _expect_keys(bench)


def _rewrite_offsets(bench: Bench, old: str, new: str) -> None:
    for path in bench.path("offsets").glob("[0-9]*"):
        text = path.read_text(encoding="utf-8")
        assert old in text
        remove(path)
        path.write_text(text.replace(old, new), encoding="utf-8")


def _expect_keys(bench: Bench) -> None:
    keys = (f"{number}-{letter}" for number in range(3) for letter in "ab")
    bench.expected = bench.expected.__class__(keys)


@tries("RocksDB, nothing is damaged")
def rocksdb_goes_on(bench: Bench) -> None:
    rocks(bench, 0, 1)
    rocks(bench, 2)


@tries("state checkpoint format 2 at both starts", since="4.0")
def format_two_goes_on(bench: Bench) -> None:
    rocks(bench, 0, 1, **{FORMAT: "2"})
    rocks(bench, 2, **{FORMAT: "2"})


def _transformed(bench: Bench, *numbers: int, checkpoint: str = "checkpoint") -> None:
    """Keep a value per line with transformWithState, which records the paths of its schemas."""
    from tests.diagnosis.doctor.trials.keeping import Keeping

    bench.put(*numbers)
    bench.spark.conf.set(PROVIDER, ROCKSDB)
    try:
        rows = bench.lines().groupBy("value")
        kept = rows.transformWithStateInPandas(Keeping(), "value string", "Update", "None")
        bench.deliver(kept, checkpoint=checkpoint, mode="update")
    finally:
        bench.spark.conf.unset(PROVIDER)


@tries("a checkpoint of transformWithState is moved, so that its recorded schema is gone",
       since="4.0")  # fmt: skip
def transform_moved(bench: Bench) -> None:
    _transformed(bench, 0, 1)
    bench.path("").rename(bench.folder / "moved")
    _transformed(bench, 2, checkpoint="moved")


@tries("a checkpoint of transformWithState is copied, and the first one stays", since="4.0")
def transform_copied(bench: Bench) -> None:
    _transformed(bench, 0, 1)
    shutil.copytree(bench.path(""), bench.folder / "copied")
    _transformed(bench, 2, checkpoint="copied")
