"""State whose files, schema, operators or settings no longer fit."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from tests.diagnosis.explain.pages.provocations.provocation import provokes
from tests.diagnosis.explain.pages.provocations.queries import (
    PROVIDER,
    ROCKSDB,
    again,
    counted,
    lines,
    remove,
    run,
    texts,
)


@provokes("state-delta-missing")
def delta_missing(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    for part in (0, 1):
        remove(folder / f"checkpoint/state/0/{part}/2.delta")
    again(spark, folder)


@provokes("state-file-cut")
def delta_empty(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    for part in (0, 1):
        (folder / f"checkpoint/state/0/{part}/3.delta").write_bytes(b"")
        for name in (".3.delta.crc", "3.delta.crc"):
            (folder / f"checkpoint/state/0/{part}/{name}").unlink(missing_ok=True)
    again(spark, folder)


@provokes("state-file-corrupted")
def delta_garbage(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    for part in (0, 1):
        (folder / f"checkpoint/state/0/{part}/3.delta").write_bytes(bytes(range(200)))
        for name in (".3.delta.crc", "3.delta.crc"):
            (folder / f"checkpoint/state/0/{part}/{name}").unlink(missing_ok=True)
    again(spark, folder)


@provokes("state-file-checksum", since="4.1", until="4.1")
def delta_flipped(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    for part in (0, 1):
        path = folder / f"checkpoint/state/0/{part}/3.delta"
        content = bytearray(path.read_bytes())
        content[-1] ^= 1
        path.write_bytes(bytes(content))
        path.with_name(".3.delta.crc").unlink(missing_ok=True)
    again(spark, folder)


@provokes("state-folder-missing", since="4.2")
def state_removed(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    shutil.rmtree(folder / "checkpoint/state")
    again(spark, folder)


@provokes("state-file-missing-rocksdb", since="4.0")
def rocksdb_state_removed(spark: Any, folder: Path) -> None:
    spark.conf.set(PROVIDER, ROCKSDB)
    counted(spark, folder)
    for part in (0, 1):
        shutil.rmtree(folder / f"checkpoint/state/0/{part}")
    again(spark, folder)


@provokes("state-zip-unreadable", since="4.0")
def rocksdb_zip_garbage(spark: Any, folder: Path) -> None:
    spark.conf.set(PROVIDER, ROCKSDB)
    counted(spark, folder)
    for part in (0, 1):
        (folder / f"checkpoint/state/0/{part}/3.zip").write_bytes(bytes(range(200)))
        for name in (".3.zip.crc", "3.zip.crc"):
            (folder / f"checkpoint/state/0/{part}/{name}").unlink(missing_ok=True)
    again(spark, folder)


@provokes("state-key-schema", since="4.0")
def key_changed(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    stream = texts(spark, lines(folder)).selectExpr("length(value) as value")
    run(stream.groupBy("value").count(), folder, mode="update")


@provokes("state-row-format")
def key_changed_without_schema(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    shutil.rmtree(folder / "checkpoint/state/0/0/_metadata")
    stream = texts(spark, lines(folder)).selectExpr("length(value) as value")
    run(stream.groupBy("value").count(), folder, mode="update")


@provokes("state-value-schema", since="4.0")
def value_changed(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    stream = texts(spark, lines(folder)).groupBy("value").agg({"value": "max"})
    run(stream, folder, mode="update")


@provokes("state-schema-unreadable", since="4.0")
def schema_empty(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    place = folder / "checkpoint/state/0/0/_metadata"
    (place / "schema").write_bytes(b"")
    (place / ".schema.crc").unlink(missing_ok=True)
    again(spark, folder)


@provokes("operators-changed", since="4.0")
def operator_changed(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    run(texts(spark, lines(folder)).dropDuplicates(["value"]), folder)


@provokes("unfinished-repartition", since="4.2")
def repartition_left(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    newest = folder / "checkpoint/offsets"
    text = (newest / "2").read_text()
    (newest / "3").write_text(text.replace('partitions":"2"', 'partitions":"5"'))
    again(spark, folder)


@provokes("state-provider-class")
def provider_unknown(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    path = folder / "checkpoint/offsets/2"
    path.write_text(path.read_text().replace("HDFSBackedStateStoreProvider", "Missing"))
    again(spark, folder)


@provokes("state-provider-class")
def provider_is_none(spark: Any, folder: Path) -> None:
    spark.conf.set(PROVIDER, "java.lang.String")
    counted(spark, folder)


@provokes("pinned-partitions-unusable")
def partitions_word(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    path = folder / "checkpoint/offsets/2"
    path.write_text(path.read_text().replace('partitions":"2"', 'partitions":"two"'))
    again(spark, folder)


@provokes("state-checkpoint-ids", since="4.0")
def format_two_on_hdfs(spark: Any, folder: Path) -> None:
    spark.conf.set("spark.sql.streaming.stateStore.checkpointFormatVersion", "2")
    counted(spark, folder)


@provokes("state-commit-failed", since="4.2", until="4.2")
def format_switched(spark: Any, folder: Path) -> None:
    spark.conf.set(PROVIDER, ROCKSDB)
    counted(spark, folder)
    spark.conf.set("spark.sql.streaming.stateStore.checkpointFormatVersion", "2")
    again(spark, folder)


@provokes("log-version-differs", since="4.0", until="4.1")
def format_switched_early(spark: Any, folder: Path) -> None:
    format_switched(spark, folder)


@provokes("state-partition-beyond-ids", since="4.2")
def partitions_beyond_ids(spark: Any, folder: Path) -> None:
    spark.conf.set(PROVIDER, ROCKSDB)
    spark.conf.set("spark.sql.streaming.stateStore.checkpointFormatVersion", "2")
    counted(spark, folder)
    path = folder / "checkpoint/offsets/2"
    path.write_text(path.read_text().replace('partitions":"2"', 'partitions":"3"'))
    again(spark, folder)


@provokes("repartition-refused", since="4.2")
def repartition_hdfs(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    spark._streamingCheckpointManager.repartition(str(folder / "checkpoint"), 5)


@provokes("repartition-abandoned", since="4.2")
def repartition_back(spark: Any, folder: Path) -> None:
    try:
        repartition_hdfs(spark, folder)
    finally:
        spark._streamingCheckpointManager.repartition(str(folder / "checkpoint"), 2)
