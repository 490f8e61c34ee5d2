"""Every page about an error of Spark, in one tuple, by subject."""

from __future__ import annotations

from holdfast.diagnosis.explain.pages import (
    access,
    checkpointlocation,
    classpath,
    cluster,
    concurrency,
    delta,
    evolution,
    filesink,
    filesource,
    foreachbatch,
    kafka,
    logs,
    memory,
    metadata,
    refusals,
    rocksdb,
    statereader,
    staterows,
    stateschema,
    statestore,
)
from holdfast.diagnosis.explain.pages.page import Page

SUBJECTS: dict[str, tuple[Page, ...]] = {
    "The logs of a checkpoint": logs.PAGES,
    "The query id and an empty checkpoint": metadata.PAGES,
    "Where the checkpoint lies": checkpointlocation.PAGES,
    "Two writers": concurrency.PAGES,
    "Loading and storing state": statestore.PAGES,
    "RocksDB state": rocksdb.PAGES,
    "The schema of the state": stateschema.PAGES,
    "Rows in the state": staterows.PAGES,
    "Evolution, repartitioning, real-time mode": evolution.PAGES,
    "Kafka": kafka.PAGES,
    "Delta and Iceberg": delta.PAGES,
    "File source": filesource.PAGES,
    "File sink": filesink.PAGES,
    "Functions and Python": foreachbatch.PAGES,
    "Queries that Spark refuses": refusals.PAGES,
    "Spark's reader of state": statereader.PAGES,
    "Memory, and what is wrapped around": memory.PAGES,
    "Driver, executors and cluster": cluster.PAGES,
    "Access": access.PAGES,
    "Jars": classpath.PAGES,
}

PAGES: tuple[Page, ...] = tuple(page for pages in SUBJECTS.values() for page in pages)
