"""Errors as others would paste them: other paths, ids, hosts, logs and languages."""

from __future__ import annotations

FOREIGN: tuple[tuple[str, str], ...] = (
    (
        "batch-does-not-exist",
        "2031-02-03T04:05:06.789Z ip-10-3-4-5 ERROR [stream execution thread for orders_gold "
        "[id = 0f9e8d7c-1111-4222-8333-444455556666]] java.lang.IllegalStateException: batch "
        "113258 doesn\u2019t exist\n\tat org.apache.spark.sql.execution.streaming.HDFSMetadataLog$"
        ".verifyBatchIds(HDFSMetadataLog.scala:612)",
    ),
    (
        "offsets-entry-empty",
        "Hallo zusammen, seit heute früh startet der Job nicht mehr:\n"
        "java.lang.IllegalStateException: Failed to read log file abfss://lake@konto.dfs.core."
        "windows.net/prüf punkte/offsets/88123. Incomplete log file\nWas tun? Danke!",
    ),
    (
        "commit-entry-empty",
        "작업이 실패했습니다: Failed to read log file hdfs://nn1:8020/user/etl/cp/commits/17. "
        "Incomplete log file in the offset commit log",
    ),
    (
        "false-concurrent-update",
        "pyspark.errors.exceptions.captured.StreamingQueryException: [STREAM_FAILED] Query [id = "
        "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee, runId = 11111111-2222-4333-8444-555555555555] "
        "terminated with exception: [CONCURRENT_STREAM_LOG_UPDATE] Concurrent update to the log. "
        "Multiple streaming jobs detected for 90210.",
    ),
    (
        "false-concurrent-update",
        "java.lang.AssertionError: assertion failed: Concurrent update to the commit log. Multiple "
        "streaming jobs detected for 0\n\tat scala.Predef$.assert(Predef.scala:223)",
    ),
    (
        "false-concurrent-queries",
        "Exception in thread main org.apache.spark.SparkConcurrentModificationException: Multiple "
        "streaming queries are concurrently using gs://b-7/cp v2/commits.",
    ),
    (
        "number-of-sources",
        "AssertionError: assertion failed: There are [1] sources in the checkpoint offsets and now "
        "there are [3] sources requested by the query. Cannot continue.",
    ),
    (
        "wrong-base-path",
        "エラー: java.lang.IllegalArgumentException: Wrong basePath s3a://bucket/新しい/in for the "
        "root path: s3a://bucket/古い/in/part-0001.json",
    ),
    (
        "state-delta-missing",
        "Lost task 3.2 in stage 901.0 (TID 77123) (worker-9.cluster.local executor 14): java.lang."
        "IllegalStateException: Error reading delta file wasbs://c@a.blob.core.windows.net/cp/state"
        "/0/199/1.delta of HDFSStateStoreProvider[id = (op=0,part=199),dir = wasbs://…]",
    ),
    (
        "state-file-cut",
        '{"level":"ERROR","msg":"[CANNOT_LOAD_STATE_STORE.UNCATEGORIZED] An error occurred during '
        "loading state. SQLSTATE: 58030\\n\\tat x.y.Z(Z.scala:1)\\nCaused by: java.io.EOFException"
        '\\n\\tat java.base/java.io.DataInputStream.readInt(DataInputStream.java:386)"}',
    ),
    (
        "state-file-missing-rocksdb",
        "[CANNOT_LOAD_STATE_STORE.CANNOT_READ_STREAMING_STATE_FILE] An error occurred during "
        "loading state. Error reading streaming state file of dbfs:/cp/state/0/3/7.changelog does "
        "not exist.",
    ),
    (
        "state-key-schema",
        "Caused by: org.apache.spark.sql.execution.streaming.state.StateSchemaNotCompatible: "
        "Provided schema doesn't match to the schema for existing state! Please note that Spark "
        "allow difference of field name: check count of fields and data type of each field.\n"
        "- Provided key schema: StructType(StructField(clé,LongType,true))",
    ),
    (
        "file-sink-log-missing",
        "java.lang.IllegalStateException: hdfs://prod/out/_spark_metadata/0 doesn't exist when "
        "compacting batch 9 (compactInterval: 10)",
    ),
    (
        "kafka-topic-recreated",
        "java.lang.IllegalStateException: Partition test-topic-0's offset was changed from 500 to "
        "300, some data may have been missed. Some data may have been lost because they are not "
        "available in Kafka any more; either the data was aged out by Kafka or the topic may have "
        "been deleted before all the data in the topic was processed.",
    ),
    (
        "kafka-data-loss",
        "org.apache.kafka.clients.consumer.OffsetOutOfRangeException: Fetch position out of range "
        "{zahlungen-11=4000123}\n\tat org.apache.spark.sql.kafka010.consumer.InternalKafkaConsumer"
        ".fetch(KafkaDataConsumer.scala:92)\nSome data may have been lost because they are not "
        "available in Kafka any more",
    ),
    (
        "delta-source-deleted-rows",
        "com.databricks.sql.transaction.tahoe.DeltaUnsupportedOperationException: "
        "[DELTA_SOURCE_IGNORE_DELETE] Detected deleted data (for example part-00000-77.snappy."
        "parquet) from streaming source at version 31337.",
    ),
    (
        "delta-source-another-table",
        "[DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE] The streaming query was reading from an "
        "unexpected Delta table (id = '9a').\nIt used to read from another Delta table (id = '7b') "
        "according to checkpoint.",
    ),
    (
        "log-version-too-new",
        "Erreur : java.lang.IllegalStateException: Failed to read log file file:/srv/données/"
        "cp/offsets/5. UnsupportedLogVersion: maximum supported log version is v1, but "
        "encountered v2.",
    ),
    (
        "same-query-twice",
        "java.lang.IllegalStateException: Cannot start query with id 01234567-89ab-4cde-8f01-"
        "23456789abcd as another query with same id is already active. Perhaps you are attempting "
        "to restart a query from checkpoint that is already active.",
    ),
    (
        "checkpoint-location-not-given",
        "pyspark.sql.utils.AnalysisException: 'checkpointLocation must be specified either through "
        'option("checkpointLocation", ...) or SparkSession.conf.set("spark.sql.streaming.'
        "checkpointLocation\", ...);'",
    ),
    (
        "rename-of-entry-failed",
        "java.io.IOException: rename from abfss://c@a.dfs.core.windows.net/cp/offsets/.415696."
        "6f1c1e9e-0000-4000-8000-000000000000.tmp to abfss://c@a.dfs.core.windows.net/cp/offsets/"
        "415696 failed.",
    ),
    (
        "iceberg-snapshot-expired",
        "java.lang.IllegalStateException: Cannot load current offset at snapshot "
        "8270633197658268308, the snapshot was expired or removed",
    ),
)
