"""State files of a crafted content: sizes, versions and tables that do not fit."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path
from typing import Any

from tests.diagnosis.explain.pages.provocations.provocation import provokes
from tests.diagnosis.explain.pages.provocations.queries import (
    PROVIDER,
    ROCKSDB,
    again,
    counted,
    having,
    lines,
    run,
    texts,
)

STATE = "spark.sql.streaming.stateStore"
LZF = {f"{STATE}.compression.codec": "lzf"}
ROCKS = {PROVIDER: ROCKSDB}
ROW_CHECKSUMS = {
    f"{STATE}.rowChecksum.enabled": "true",
    f"{STATE}.rowChecksum.readVerificationRatio": "1",
}
CHANGELOGS = {**ROCKS, f"{STATE}.rocksdb.changelogCheckpointing.enabled": "true"}


def packed(data: bytes) -> bytes:
    """Frame bytes as LZF does with what it does not compress."""
    return b"ZV\x00" + struct.pack(">H", len(data)) + data


def put(path: Path, data: bytes) -> None:
    """Replace a file, and take away the checksums beside it."""
    for name in (f".{path.name}.crc", f"{path.name}.crc", f".{path.name}.crc.crc"):
        path.with_name(name).unlink(missing_ok=True)
    path.write_bytes(data)


def rezipped(path: Path, change: dict[str, bytes]) -> None:
    """Write a zip again with other content of some entries."""
    with zipfile.ZipFile(path) as old:
        entries = {name: old.read(name) for name in old.namelist()}
    path.unlink()
    with zipfile.ZipFile(path, "w") as new:
        for name, data in {**entries, **change}.items():
            new.writestr(name, data)
    for name in (f".{path.name}.crc", f"{path.name}.crc", f".{path.name}.crc.crc"):
        path.with_name(name).unlink(missing_ok=True)


def parts(folder: Path, pattern: str) -> list[Path]:
    """Give the files of both partitions that fit."""
    return sorted((folder / "checkpoint/state/0").glob(f"[01]/{pattern}"))


@provokes("state-key-size", since="4.0")
def delta_key_size(spark: Any, folder: Path) -> None:
    with having(spark, LZF):
        counted(spark, folder)
        for path in parts(folder, "3.delta"):
            put(path, packed(struct.pack(">i", -5)))
        again(spark, folder)


@provokes("rocksdb-metadata-version", since="4.0")
def rocksdb_metadata_version(spark: Any, folder: Path) -> None:
    with having(spark, ROCKS):
        counted(spark, folder)
        for path in parts(folder, "3.zip"):
            rezipped(path, {"metadata": b"v9\n{}"})
        again(spark, folder)


@provokes("changelog-version", since="4.0")
def changelog_version(spark: Any, folder: Path) -> None:
    with having(spark, {**CHANGELOGS, **LZF}):
        counted(spark, folder)
        for path in parts(folder, "3.changelog"):
            put(path, packed(b"\x00\x02v9"))
        again(spark, folder)


@provokes("rocksdb-file-size", since="4.0")
def rocksdb_table_cut(spark: Any, folder: Path) -> None:
    with having(spark, ROCKS):
        counted(spark, folder)
        for path in parts(folder, "SSTs/*.sst"):
            put(path, path.read_bytes()[:-10])
        again(spark, folder)


@provokes("state-load-failed", since="4.0")
def rocksdb_table_gone(spark: Any, folder: Path) -> None:
    with having(spark, ROCKS):
        counted(spark, folder)
        for path in parts(folder, "SSTs/*.sst"):
            path.unlink()
        again(spark, folder)


@provokes("state-row-checksum", since="4.2", until="4.2")
def row_checksum(spark: Any, folder: Path) -> None:
    with having(spark, {**LZF, **ROW_CHECKSUMS}):
        counted(spark, folder)
        for path in parts(folder, "3.delta"):
            content = bytearray(path.read_bytes())
            content[-20] ^= 0x10
            put(path, bytes(content))
        again(spark, folder)


@provokes("state-commit-validation", since="4.1")
def only_one_partition(spark: Any, folder: Path) -> None:
    def deliver(batch: Any, _batch_id: int) -> None:
        batch.sparkSession.sparkContext.runJob(batch.rdd, list, [0])

    stream = texts(spark, lines(folder)).groupBy("value").count()
    writer = stream.writeStream.foreachBatch(deliver).outputMode("update")
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    writer.trigger(availableNow=True).start().awaitTermination()


@provokes("snapshot-repair-failed", since="4.2")
def changelog_of_another_version(spark: Any, folder: Path) -> None:
    settings = {**CHANGELOGS, f"{STATE}.checkpointFormatVersion": "2", **LZF}
    with having(spark, settings):
        counted(spark, folder)
        for path in parts(folder, "3_*.changelog"):
            older = next(iter(parts(folder, "1_*.changelog")))
            put(path, older.read_bytes())
        again(spark, folder)


@provokes("state-file-missing-rocksdb", since="4.0")
def commit_names_another_id(spark: Any, folder: Path) -> None:
    settings = {**ROCKS, f"{STATE}.checkpointFormatVersion": "2"}
    with having(spark, settings):
        counted(spark, folder)
        newest, before = (folder / f"checkpoint/commits/{one}" for one in (2, 1))
        put(newest, before.read_bytes())
        again(spark, folder)


@provokes("state-collated-key", since="4.0")
def collated_key(spark: Any, folder: Path) -> None:
    stream = texts(spark, lines(folder)).selectExpr("collate(value, 'UTF8_LCASE') as value")
    run(stream.dropDuplicates(["value"]), folder)
