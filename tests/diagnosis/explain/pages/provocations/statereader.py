"""Spark's own reader of state, asked for what is not there."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from tests.diagnosis.explain.pages.provocations.provocation import provokes
from tests.diagnosis.explain.pages.provocations.queries import copied, counted, remove


def states(spark: Any, folder: Path, **options: object) -> None:
    """Read state with Spark's own reader."""
    assert spark.streams.active == []
    reader = spark.read.format("statestore")
    for key, value in options.items():
        reader = reader.option(key, str(value))
    reader.load(str(folder / "checkpoint")).collect()


@provokes("state-reader-no-commit", since="4.0")
def state_of_nothing(spark: Any, folder: Path) -> None:
    states(spark, folder)


@provokes("state-reader-option-value", since="4.0")
def state_negative_batch(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    states(spark, folder, batchId=-1)


@provokes("state-reader-conflict", since="4.0")
def state_conflict(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    states(spark, folder, joinSide="left", storeName="right-keyToNumValues")


@provokes("state-reader-option-missing", since="4.0")
def state_option_missing(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    states(spark, folder, readChangeFeed="true")


@provokes("state-reader-offsets-missing", since="4.0")
def state_of_purged_batch(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    remove(folder / "checkpoint/offsets/1")
    states(spark, folder, batchId=1)


@provokes("state-reader-schema", since="4.0")
def state_without_schema(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    shutil.rmtree(folder / "checkpoint/state/0/0/_metadata")
    states(spark, folder)


@provokes("state-reader-schema", since="4.0")
def state_of_stateless(spark: Any, folder: Path) -> None:
    copied(spark, folder)
    states(spark, folder)


@provokes("state-reader-snapshot-partition", since="4.0")
def state_of_partition_beyond(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    states(spark, folder, snapshotStartBatchId=0, snapshotPartitionId=7)


@provokes("state-snapshot-missing", since="4.0")
def state_without_snapshot(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    states(spark, folder, snapshotStartBatchId=0, snapshotPartitionId=0)


@provokes("state-reader-settings-missing", since="4.0")
def state_without_settings(spark: Any, folder: Path) -> None:
    counted(spark, folder)
    path = folder / "checkpoint/offsets/2"
    first, _, *rest = path.read_text().split("\n")
    path.write_text("\n".join([first, "", *rest]))
    states(spark, folder)
