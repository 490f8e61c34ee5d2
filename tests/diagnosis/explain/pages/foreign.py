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
    ("state-delta-missing", "File does not exist: hdfs://nn/ckpt/state/0/1/345.delta"),
    (
        "state-delta-missing",
        "Caused by: java.io.FileNotFoundException: File does not exist: /user/etl/cp/state/0/17/"
        "left-keyWithIndexToValue/345.delta\n\tat org.apache.hadoop.hdfs.server.namenode."
        "INodeFile.valueOf(INodeFile.java:86)",
    ),
    (
        "state-delta-missing",
        "java.io.FileNotFoundException: No such file or directory: s3a://b/cp/state/1/0/9.delta",
    ),
    (
        "state-snapshot-missing",
        "java.io.FileNotFoundException: File file:/mnt/cp/state/0/1/345.snapshot does not exist",
    ),
    ("state-snapshot-missing", "File does not exist: hdfs://nn:8020/cp/state/0/1/345.snapshot"),
    ("state-file-missing-rocksdb", "File does not exist: hdfs://nn/ckpt/state/0/1/345.zip"),
    (
        "state-file-missing-rocksdb",
        "java.io.FileNotFoundException: No such file or directory: s3a://b/cp/state/0/1/"
        "345_6b1c5f0e-6a0d-4c7a-9d0e-2f7f0a2c9d11.zip",
    ),
    (
        "state-file-missing-rocksdb",
        "java.io.FileNotFoundException: File file:/cp/state/0/1/8_6b1c5f0e-6a0d-4c7a-9d0e-"
        "2f7f0a2c9d11.changelog does not exist",
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

LOG_LINES: tuple[tuple[str, str], ...] = (
    (
        "listed-file-gone",
        "org.apache.spark.SparkFileNotFoundException: File file:/data/dim/part-00000-c000.snappy."
        "parquet does not exist. It is possible the underlying files have been updated. You can "
        "explicitly invalidate the cache in Spark by running 'REFRESH TABLE tableName' command in "
        "SQL or by recreating the Dataset/DataFrame involved.",
    ),
    (
        "listed-file-gone",
        "Caused by: org.apache.spark.SparkFileNotFoundException: No such file or directory: s3a://"
        "lake/dim/part-00003.snappy.parquet",
    ),
    (
        "futures-timed-out",
        "java.util.concurrent.TimeoutException: Futures timed out after [300 seconds]\n\tat scala."
        "concurrent.impl.Promise$DefaultPromise.ready(Promise.scala:259)\n\tat org.apache.spark."
        "util.ThreadUtils$.awaitResult(ThreadUtils.scala:293)",
    ),
    (
        "futures-timed-out",
        "org.apache.spark.SparkException: Exception thrown in awaitResult: \nCaused by: java.util."
        "concurrent.TimeoutException: Futures timed out after [300 seconds]",
    ),
    (
        "futures-timed-out",
        "org.apache.spark.rpc.RpcTimeoutException: Futures timed out after [120 seconds]. This "
        "timeout is controlled by spark.rpc.askTimeout",
    ),
    (
        "futures-timed-out",
        "ERROR ApplicationMaster: Uncaught exception: java.util.concurrent.TimeoutException: "
        "Futures timed out after [100000 milliseconds]",
    ),
    (
        "database-refuses-connections",
        "org.postgresql.util.PSQLException: Connection to localhost:5432 refused. Check that the "
        "hostname and port are correct and that the postmaster is accepting TCP/IP connections."
        "\nCaused by: java.net.ConnectException: Connection refused",
    ),
    (
        "database-refuses-connections",
        'psycopg.OperationalError: connection failed: connection to server at "127.0.0.1", port '
        "5432 failed: Connection refused\n\tIs the server running on that host and accepting "
        "TCP/IP connections?",
    ),
    (
        "database-refuses-connections",
        "com.mysql.cj.jdbc.exceptions.CommunicationsException: Communications link failure\n\nThe "
        "last packet sent successfully to the server was 0 milliseconds ago.\nCaused by: java.net."
        "ConnectException: Connection refused",
    ),
    (
        "database-refuses-connections",
        "com.microsoft.sqlserver.jdbc.SQLServerException: The TCP/IP connection to the host db1, "
        'port 1433 has failed. Error: "Connection refused. Verify the connection properties.',
    ),
    (
        "host-unknown",
        "java.lang.IllegalArgumentException: java.net.UnknownHostException: nameservice1",
    ),
    ("host-unknown", "java.net.UnknownHostException: kafka-0.kafka: Name or service not known"),
    (
        "too-many-open-files",
        "java.io.FileNotFoundException: /data/state/0/7/3.delta (Too many open files)",
    ),
    (
        "kafka-record-too-large",
        "org.apache.kafka.common.errors.RecordTooLargeException: The message is 1048762 bytes when "
        "serialized which is larger than 1048576, which is the value of the max.request.size "
        "configuration.",
    ),
    (
        "batches-fall-behind",
        "26/11/18 03:12:44 WARN ProcessingTimeExecutor: Current batch is falling behind. The "
        "trigger interval is {10000} milliseconds, but spent {23754} milliseconds",
    ),
    (
        "heap-out-of-memory",
        "26/11/17 03:12:44 ERROR Executor: Exception in task 3.0 in stage 88.0 (TID 1207)\n"
        "java.lang.OutOfMemoryError: Java heap space",
    ),
    (
        "heap-out-of-memory",
        "java.lang.OutOfMemoryError: Java heap space\n\tat org.apache.spark.sql.execution.streaming"
        ".state.HDFSBackedStateStoreProvider.loadMap(HDFSBackedStateStoreProvider.scala:512)",
    ),
    ("garbage-collection-limit", "java.lang.OutOfMemoryError: GC overhead limit exceeded"),
    (
        "native-threads-exhausted",
        "java.lang.OutOfMemoryError: unable to create native thread: possibly out of memory or "
        "process/resource limits reached",
    ),
    (
        "container-killed-by-yarn",
        "ExecutorLostFailure (executor 7 exited caused by one of the running tasks) Reason: "
        "Container killed by YARN for exceeding memory limits. 9.3 GB of 9 GB physical memory "
        "used. Consider boosting spark.yarn.executor.memoryOverhead.",
    ),
    (
        "container-killed-by-yarn",
        "ExecutorLostFailure (executor 12 exited caused by one of the running tasks) Reason: "
        "Container killed by YARN for exceeding physical memory limits. 5.5 GB of 5.5 GB physical "
        "memory used. Consider boosting spark.executor.memoryOverhead.",
    ),
    (
        "killed-by-sigkill",
        "ExecutorLostFailure (executor 3 exited caused by one of the running tasks) Reason: \n"
        "The executor with id 3 exited with exit code 137(SIGKILL, possible container OOM).",
    ),
    ("killed-by-sigkill", "    State: Terminated\n      Reason: OOMKilled\n      Exit Code: 137"),
    (
        "killed-by-sigkill",
        "Reason: Container from a bad node: container_1700000000000_0001_01_000007 on host: n3. "
        "Exit status: 137. Diagnostics: Container killed on request. Exit code is 137",
    ),
    (
        "killed-by-sigkill",
        "[12345.6] Out of memory: Killed process 4711 (java) total-vm:9000kB, anon-rss:8000kB",
    ),
    (
        "executor-lost",
        "ExecutorLostFailure (executor 4 exited unrelated to the running tasks) Reason: Executor "
        "decommission: worker decommissioned because of kill request from HTTP endpoint",
    ),
    (
        "executor-lost",
        "Job aborted due to stage failure: Task 5 in stage 12.0 failed 4 times, most recent "
        "failure: Lost task 5.3 in stage 12.0 (TID 99) (10.0.0.7 executor 9): ExecutorLostFailure "
        "(executor 9 exited caused by one of the running tasks) Reason: Remote RPC client "
        "disassociated. Likely due to containers exceeding thresholds, or network issues.",
    ),
    (
        "executor-lost",
        "WARN HeartbeatReceiver: Removing executor 2 with no recent heartbeats\nReason: Executor "
        "heartbeat timed out after 128839 ms",
    ),
    (
        "shuffle-fetch-failed",
        "FetchFailed(BlockManagerId(2, worker-2, 37015, None), shuffleId=4, mapIndex=1, mapId=9, "
        "reduceId=6, message=\norg.apache.spark.shuffle.FetchFailedException: Failed to connect "
        "to worker-2/10.0.0.9:7337",
    ),
    (
        "context-shut-down",
        "org.apache.spark.SparkException: Job 41 cancelled because SparkContext was shut down",
    ),
    (
        "context-shut-down",
        "Stage 17 cancelled because SparkContext was shut down",
    ),
    (
        "task-not-serializable",
        "org.apache.spark.SparkException: Task not serializable\n\tat org.apache.spark.util."
        "SparkClosureCleaner$.clean(SparkClosureCleaner.scala:45)\nCaused by: java.io."
        "NotSerializableException: com.acme.Connection",
    ),
    ("disk-full", "java.io.IOException: No space left on device"),
    (
        "disk-full",
        "ERROR DiskBlockObjectWriter: Uncaught exception while reverting partial writes to file "
        "/mnt/spark/blockmgr-1/temp_shuffle_2\njava.io.FileNotFoundException: No space left on "
        "device",
    ),
    (
        "python-worker-died",
        "Lost task 0.3 in stage 4.0 (TID 7) (10.0.0.7 executor 1): org.apache.spark."
        "SparkException: Python worker exited unexpectedly (crashed)",
    ),
    (
        "address-in-use",
        "java.net.BindException: Address already in use: Service 'sparkDriver' failed after 16 "
        "retries (starting from 7077)!",
    ),
    (
        "address-in-use",
        "java.net.BindException: Cannot assign requested address: Service 'sparkDriver' failed "
        "after 16 retries (on a random free port)!",
    ),
    (
        "no-resources",
        "WARN TaskSchedulerImpl: Initial job has not accepted any resources; check your cluster UI "
        "to ensure that workers are registered and have sufficient resources",
    ),
    (
        "result-too-large",
        "Job aborted due to stage failure: Total size of serialized results of 12 tasks (1033.3 "
        "MiB) is bigger than spark.driver.maxResultSize (1024.0 MiB)",
    ),
    ("too-many-open-files", "java.io.IOException: Too many open files"),
    (
        "token-expired",
        "org.apache.hadoop.security.token.SecretManager$InvalidToken: token (token for etl: "
        "HDFS_DELEGATION_TOKEN owner=etl@CORP, renewer=yarn) can't be found in cache",
    ),
    (
        "storage-throttled",
        "software.amazon.awssdk.services.s3.model.S3Exception: Please reduce your request rate. "
        "(Service: S3, Status Code: 503, Request ID: X)",
    ),
    (
        "storage-connections",
        "com.amazonaws.SdkClientException: Unable to execute HTTP request: Timeout waiting for "
        "connection from pool",
    ),
    (
        "broadcast-timed-out",
        "Could not execute broadcast in 300 secs. You can increase the timeout",
    ),
    (
        "filesystem-class-missing",
        "java.lang.RuntimeException: java.lang.ClassNotFoundException: Class org.apache.hadoop.fs."
        "s3a.S3AFileSystem not found",
    ),
    (
        "filesystem-class-missing",
        'org.apache.hadoop.fs.UnsupportedFileSystemException: No FileSystem for scheme "gs"',
    ),
    ("jdbc-driver-missing", "java.sql.SQLException: No suitable driver"),
    ("jdbc-driver-missing", "java.lang.ClassNotFoundException: org.postgresql.Driver"),
    (
        "connector-missing",
        "org.apache.spark.sql.AnalysisException: Failed to find data source: kafka.",
    ),
    ("connector-missing", "java.lang.ClassNotFoundException: Failed to find data source: delta."),
    (
        "class-missing",
        "java.lang.NoClassDefFoundError: org/apache/kafka/common/serialization/ByteArraySerializer",
    ),
    (
        "class-missing",
        "java.lang.ClassNotFoundException: com.acme.orders.Main\n\tat java.base/java.net."
        "URLClassLoader.findClass(URLClassLoader.java:445)\n\tat org.apache.spark.deploy."
        "SparkSubmit.runMain(SparkSubmit.scala:968)",
    ),
    (
        "class-versions-clash",
        "java.lang.NoSuchMethodError: 'scala.collection.mutable.WrappedArray scala.Predef$."
        "wrapRefArray(java.lang.Object[])'",
    ),
    (
        "kafka-data-loss",
        "org.apache.kafka.clients.consumer.OffsetOutOfRangeException: Fetch position "
        "FetchPosition{offset=900} is out of range for partition orders-4",
    ),
    (
        "kafka-data-loss",
        "OffsetOutOfRangeException: Offsets out of range with no configured reset policy for "
        "partitions: {orders-4=900}",
    ),
    (
        "kafka-no-answer",
        "org.apache.kafka.common.errors.TimeoutException: Timed out waiting for a node "
        "assignment. Call: describeTopics",
    ),
    (
        "kafka-no-answer",
        "WARN NetworkClient: [AdminClient clientId=adminclient-1] Connection to node -1 "
        "(broker-1/10.0.0.4:9092) could not be established. Node may not be available.",
    ),
    (
        "delta-concurrent-write",
        "io.delta.exceptions.ConcurrentAppendException: Files were added to partition [day=7] by a "
        "concurrent update. Please try the operation again.",
    ),
    (
        "delta-concurrent-write",
        "[DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT] ConcurrentAppendException: Files were added "
        "by a concurrent update.",
    ),
    (
        "delta-concurrent-write",
        "io.delta.exceptions.MetadataChangedException: The metadata of the Delta table has been "
        "changed by a concurrent update.",
    ),
    (
        "source-files-gone",
        "org.apache.spark.SparkException: [FAILED_READ_FILE.FILE_NOT_EXIST] Encountered "
        "error while reading file hdfs://nn/in/a.json. File does not exist. It is "
        "possible the underlying files have been updated. You can explicitly invalidate "
        "the cache in Spark by running 'REFRESH TABLE tableName' command in SQL or by "
        "recreating the Dataset/DataFrame involved. SQLSTATE: KD001",
    ),
    (
        "killed-by-sigkill",
        "ExecutorLostFailure (executor 7 exited caused by one of the running tasks) "
        "Reason: Container from a bad node: container_1700_01_000002 on host: h. Exit "
        "status: 137. Diagnostics: [2031-01-01 00:00:00.000]Container killed on request. "
        "Exit code is 137",
    ),
    ("killed-by-sigkill", "Container killed on request. Exit code is 137"),
    (
        "stopped-by-sigterm",
        "[2024-01-01 00:00:00.000]Container killed on request. Exit code is 143",
    ),
    ("metaspace-out-of-memory", "java.lang.OutOfMemoryError: Metaspace"),
    ("metaspace-out-of-memory", "java.lang.OutOfMemoryError: Compressed class space"),
    (
        "direct-memory-exhausted",
        "java.lang.OutOfMemoryError: Cannot reserve 67108864 bytes of direct buffer "
        "memory (allocated: 1073741824, limit: 1073741824)",
    ),
    ("direct-memory-exhausted", "java.lang.OutOfMemoryError: Direct buffer memory"),
    ("array-too-large", "java.lang.OutOfMemoryError: Requested array size exceeds VM limit"),
    (
        "task-memory-exhausted",
        "org.apache.spark.memory.SparkOutOfMemoryError: [UNABLE_TO_ACQUIRE_MEMORY] Unable"
        " to acquire 65536 bytes of memory, got 0. SQLSTATE: 53200",
    ),
    (
        "kafka-partition-leader",
        "org.apache.kafka.common.errors.TimeoutException: Timeout of 60000ms expired "
        "before the position for partition orders-3 could be determined",
    ),
    (
        "kafka-not-authorized",
        "org.apache.kafka.common.errors.TopicAuthorizationException: Not authorized to "
        "access topics: [orders]",
    ),
    (
        "kafka-not-authorized",
        "org.apache.kafka.common.errors.GroupAuthorizationException: Not authorized to "
        "access group: spark-kafka-source-x",
    ),
    (
        "kafka-login-failed",
        "org.apache.kafka.common.errors.SaslAuthenticationException: Authentication "
        "failed: Invalid username or password",
    ),
    (
        "checkpoint-access-denied",
        "java.nio.file.AccessDeniedException: s3a://bucket/cp/offsets/7: getFileStatus on"
        " s3a://bucket/cp/offsets/7: com.amazonaws.services.s3.model.AmazonS3Exception: "
        "Forbidden (Service: Amazon S3; Status Code: 403; Error Code: 403 Forbidden; "
        "Request ID: X; S3 Extended Request ID: Y), S3 Extended Request ID: Y:403 "
        "Forbidden",
    ),
    (
        "object-store-access-denied",
        "java.nio.file.AccessDeniedException: s3a://bucket/in/part-1.json: open "
        "s3a://bucket/in/part-1.json at 0 on s3a://bucket/in/part-1.json: "
        "software.amazon.awssdk.services.s3.model.S3Exception: Access Denied (Service: "
        "S3, Status Code: 403, Request ID: X):AccessDenied",
    ),
    (
        "hdfs-permission-denied",
        "org.apache.hadoop.security.AccessControlException: Permission denied: user=etl, "
        'access=WRITE, inode="/data/out":hdfs:hdfs:drwxr-xr-x',
    ),
    (
        "folder-not-created",
        "java.io.IOException: Mkdirs failed to create "
        "file:/mnt/out/_temporary/0/_temporary/attempt_202401010000_0001_m_000000_1 "
        "(exists=false, cwd=file:/opt/spark/work/app-1/0)",
    ),
    (
        "delta-log-truncated",
        "org.apache.spark.sql.delta.DeltaFileNotFoundException: "
        "[DELTA_TRUNCATED_TRANSACTION_LOG] "
        "s3a://b/t/_delta_log/00000000000000000000.json: Unable to reconstruct state at "
        "version 12 as the transaction log has been truncated due to manual deletion or "
        "the log retention policy (delta.logRetentionDuration=30 days) and checkpoint "
        "retention policy (delta.checkpointRetentionDuration=2 days)",
    ),
    ("jvm-connection-lost", "py4j.protocol.Py4JNetworkError: Answer from Java side is empty"),
    (
        "jvm-connection-lost",
        "py4j.protocol.Py4JNetworkError: An error occurred while trying to connect to the Java "
        "server (127.0.0.1:38771)",
    ),
    (
        "delta-log-not-created",
        "org.apache.spark.sql.delta.DeltaIOException: [DELTA_CANNOT_CREATE_LOG_PATH] "
        "Cannot create file:/tmp/x/out/_delta_log",
    ),
    (
        "checkpoint-access-denied",
        "java.io.FileNotFoundException: "
        "/mnt/cp/commits/.2.8ddc7230-d86b-40e5-a1d6-f7209c623edc.tmp (Permission denied)",
    ),
    ("checkpoint-access-denied", "java.io.IOException: mkdir of file:/mnt/cp/offsets failed"),
    (
        "source-files-denied",
        "org.apache.spark.SparkException: [FAILED_READ_FILE.FILE_NOT_EXIST] Encountered error "
        "while reading file file:///in/b.json. File does not exist.\nCaused by: java.io."
        "FileNotFoundException: /in/b.json (Permission denied)",
    ),
)
"""The most common lines of driver and executor logs, as Spark's, Kafka's and Delta's sources and
the cluster managers write them; those of YARN and Kubernetes cannot be provoked without one."""

INSIDE: tuple[tuple[str, str], ...] = (
    (
        "broadcast-timed-out",
        "org.apache.spark.SparkException: Could not execute broadcast in 300 secs. You can "
        "increase the timeout for broadcasts\nCaused by: java.util.concurrent.TimeoutException: "
        "Futures timed out after [300 seconds]",
    ),
    (
        "source-files-gone",
        "org.apache.spark.SparkFileNotFoundException: File file:/in/a.json does not exist. It is "
        "possible the underlying files have been updated.\n\tat org.apache.spark.sql.execution."
        "streaming.MicroBatchExecution.runBatch(MicroBatchExecution.scala:700)",
    ),
    (
        "hdfs-state-out-of-memory",
        "[CANNOT_LOAD_STATE_STORE.HDFS_STORE_PROVIDER_OUT_OF_MEMORY] Could not load\nCaused by: "
        "java.lang.OutOfMemoryError: Java heap space",
    ),
    (
        "heap-out-of-memory",
        "[STREAM_FAILED] Query terminated with exception: Java heap space\nCaused by: java.lang."
        "OutOfMemoryError: Java heap space",
    ),
    (
        "state-delta-missing",
        "Job aborted: Lost task 3.2 (executor 14): ExecutorLostFailure (executor 14 exited caused "
        "by one of the running tasks)\nCaused by: java.lang.IllegalStateException: Error reading "
        "delta file s3a://b/cp/state/0/1/7.delta of HDFSStateStoreProvider[id = (op=0,part=1)]",
    ),
    (
        "state-provider-class",
        "java.lang.ClassNotFoundException: com.acme.Provider\n\tat org.apache.spark.sql.execution."
        "streaming.state.StateStoreProvider$.create(StateStore.scala:1)",
    ),
)
"""A page about the query is found inside of a line about a process, and a line inside a wrapper."""
