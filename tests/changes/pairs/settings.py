"""Changes of settings, those that a checkpoint pins and others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pyspark.sql import functions as F  # noqa: N812

from tests.changes.bench import ROCKSDB
from tests.changes.inputs import BOTH_FIRST, BOTH_SECOND
from tests.changes.pair import LATER, Pair, Query, grouped, updating
from tests.changes.pairs import joins

STREAMING = "spark.sql.streaming"
STATE = f"{STREAMING}.stateStore"
PROVIDER = f"{STATE}.providerClass"
HDFS = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
COUNTS = updating(lambda b: b.orders().groupBy("user").count())
ROWS = Query(lambda b: b.orders().select("user", "amount"))
DAYS = updating(lambda b: b.orders().groupBy(F.to_date(F.expr("t + interval 10 hours"))).count())
NUMBERS = updating(
    lambda b: (
        b.orders().groupBy(F.expr("cast(coalesce(cast(amount as string), '0') as int)")).count()
    )
)
CLOSED = Query(
    lambda b: b.orders().withWatermark("t", "3 minutes").groupBy(F.window("t", "5 minutes")).count()
)


def setting(
    name: str, key: str, before: str | None, after: str | None, query: Query = COUNTS, **others: Any
) -> Pair:
    """Return a pair whose one change is a setting; None leaves Spark's own value."""
    old, new = ({} if value is None else {key: value} for value in (before, after))
    both = {PROVIDER: ROCKSDB} if others.pop("rocksdb", False) else {}
    how = f"{key.removeprefix('spark.sql.')}: {_shown(before)} → {_shown(after)}"
    return Pair(name, how, replace(query, settings={**both, **old}),
                replace(query, settings={**both, **new}), **others)  # fmt: skip


def _shown(value: str | None) -> str:
    return "default" if value is None else value.rpartition(".")[2] if "org." in value else value


JOINED: dict[str, Any] = {"first": BOTH_FIRST, "second": BOTH_SECOND}
STATELESS: dict[str, Any] = {"query": ROWS, "right": LATER}

PAIRS = grouped(
    "settings",
    (
        setting("shuffle-partitions", "spark.sql.shuffle.partitions", "2", "3"),
        setting(
            "shuffle-partitions-stateless", "spark.sql.shuffle.partitions", "2", "3", **STATELESS
        ),
        setting("provider", PROVIDER, HDFS, ROCKSDB),
        setting("provider-back", PROVIDER, ROCKSDB, HDFS),
        setting("codec", f"{STATE}.compression.codec", "lz4", "zstd"),
        setting("aggregation-format", f"{STREAMING}.aggregation.stateFormatVersion", "2", "1"),
        setting(
            "join-format", f"{STREAMING}.join.stateFormatVersion", "2", "1", joins.INNER, **JOINED
        ),
        setting(
            "watermark-policy",
            f"{STREAMING}.multipleWatermarkPolicy",
            "min",
            "max",
            joins.OUTER,
            **JOINED,
        ),
        setting("rocksdb-format", f"{STATE}.rocksdb.formatVersion", "5", "4", rocksdb=True),
        setting("encoding", f"{STATE}.encodingFormat", "unsaferow", "avro", rocksdb=True),
        setting("row-checksum", f"{STATE}.rowChecksum.enabled", "false", "true"),
        setting(
            "strict-distribution",
            f"{STREAMING}.statefulOperator.useStrictDistribution",
            "true",
            "false",
        ),
        setting("checkpoint-format-2", f"{STATE}.checkpointFormatVersion", "1", "2", rocksdb=True),
        setting("checkpoint-format-1", f"{STATE}.checkpointFormatVersion", "2", "1", rocksdb=True),
        setting(
            "changelog-on",
            f"{STATE}.rocksdb.changelogCheckpointing.enabled",
            "false",
            "true",
            rocksdb=True,
            harmless=True,
        ),
        setting(
            "changelog-off",
            f"{STATE}.rocksdb.changelogCheckpointing.enabled",
            "true",
            "false",
            rocksdb=True,
            harmless=True,
        ),
        setting("batches-to-retain", f"{STREAMING}.minBatchesToRetain", "100", "2", harmless=True),
        setting("time-zone-of-days", "spark.sql.session.timeZone", "UTC", "America/New_York", DAYS),
        setting(
            "time-zone-unused",
            "spark.sql.session.timeZone",
            "UTC",
            "America/New_York",
            harmless=True,
        ),
        setting(
            "time-zone-of-rows",
            "spark.sql.session.timeZone",
            "UTC",
            "America/New_York",
            Query(lambda b: b.orders().selectExpr("user", "date_format(t, 'HH:mm') as hour")),
            right=LATER,
        ),
        setting("ansi-off", "spark.sql.ansi.enabled", "true", "false", NUMBERS),
        setting("ansi-on", "spark.sql.ansi.enabled", "false", "true", NUMBERS),
        setting("ansi-unused", "spark.sql.ansi.enabled", "true", "false", harmless=True),
        setting("case-sensitive", "spark.sql.caseSensitive", "false", "true", harmless=True),
        setting("adaptive", "spark.sql.adaptive.enabled", "true", "false", harmless=True),
        setting(
            "no-data-batches-off",
            f"{STREAMING}.noDataMicroBatches.enabled",
            "true",
            "false",
            CLOSED,
        ),
        setting(
            "code-generation-off", "spark.sql.codegen.wholeStage", "true", "false", harmless=True
        ),
        setting(
            "batch-files-recorded-longer",
            f"{STREAMING}.fileSource.log.compactInterval",
            "10",
            "3",
            **STATELESS,
            harmless=True,
        ),
        Pair(
            "schema-check-off",
            "the key changes from user to amount, with stateSchemaCheck=false",
            COUNTS,
            updating(
                lambda b: b.orders().groupBy("amount").count(),
                settings={f"{STATE}.stateSchemaCheck": "false"},
            ),
        ),
        Pair(
            "rocksdb-count-unchanged",
            "nothing, on RocksDB",
            replace(COUNTS, settings={PROVIDER: ROCKSDB}),
            replace(COUNTS, settings={PROVIDER: ROCKSDB}),
            harmless=True,
        ),
    ),
)
