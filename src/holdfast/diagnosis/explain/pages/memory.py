"""Pages: memory, and errors that the engine calls its own."""

from __future__ import annotations

from holdfast.diagnosis.explain.pages.page import Page

_LOAD = "CANNOT_LOAD_STATE_STORE"

PAGES: tuple[Page, ...] = (
    Page(
        "hdfs-state-out-of-memory",
        "the state of a partition does not fit into the executor's memory",
        "The HDFS-backed provider keeps several versions of all rows on the heap. The files are "
        "intact; there is too little room to load them.",
        (
            "Starting afresh to get a small state: sums, windows and seen keys are lost, and it "
            "grows again.",
            "Raising `spark.sql.shuffle.partitions`: it is pinned and has no effect.",
        ),
        (
            "Give executors more memory, or run fewer tasks at once on each.",
            "Lower `spark.sql.streaming.maxBatchesToRetainInMemory` to 1 or 0.",
            "Look whether a watermark is missing, so that state never ends.",
        ),
        conditions=(f"{_LOAD}.HDFS_STORE_PROVIDER_OUT_OF_MEMORY",),
        unseen="memory belongs to the cluster; `holdfast inspect` shows the size of the state",
    ),
    Page(
        "rocksdb-out-of-memory",
        "RocksDB could not get memory to load a partition",
        "RocksDB lives outside of the heap. Its block caches, write buffers and open files on one "
        "executor are more than the container allows; the files are intact.",
        (
            "Raising the JVM heap: it takes away from exactly what RocksDB needs.",
            "Going back to the HDFS-backed provider: the checkpoint pins RocksDB.",
        ),
        (
            "Raise `spark.executor.memoryOverhead`, and set "
            "`spark.sql.streaming.stateStore.rocksdb.boundedMemoryUsage` to true with a limit.",
        ),
        conditions=(f"{_LOAD}.ROCKSDB_STORE_PROVIDER_OUT_OF_MEMORY",),
        unseen="memory belongs to the cluster, not to the folder",
    ),
    Page(
        "task-memory-exhausted",
        "a task got no memory for a sort, a join or an aggregation",
        "Spark shares the memory for execution among the tasks of an executor, and other tasks "
        "held all of it. The batch that was running has no commit and is run again.",
        (
            "Raising `spark.memory.fraction` close to 1: your own objects then have no room, and "
            "the heap runs out instead.",
        ),
        (
            "Raise `spark.executor.memory`, or run fewer tasks at once on an executor with "
            "`spark.executor.cores`.",
            "Look for skew: one key with most of the rows. Bound later batches with "
            "`maxOffsetsPerTrigger` or `maxFilesPerTrigger`; the failed one keeps its size.",
        ),
        conditions=("UNABLE_TO_ACQUIRE_MEMORY",),
        fragments=("Unable to acquire # bytes of memory, got #",),
        unseen="it depends on the rows of a batch and on the executors",
    ),
    Page(
        "stream-failed",
        "a streaming query ended with an error; the reason is inside",
        "`STREAM_FAILED`, or `StreamingQueryException` with the cause's own message, is wrapped "
        "around whatever stopped a query. By itself it says only which query and which run it was.",
        (
            "Any remedy for `STREAM_FAILED` as such: there is none, since the cause decides.",
            "Restarting in a loop: where the batch reaches the sink before it fails, every round "
            "can deliver it again.",
        ),
        (
            "Paste the whole trace, with each `Caused by`, into `holdfast explain -`.",
            "`holdfast inspect CHECKPOINT` says what the next start will do.",
        ),
        conditions=("STREAM_FAILED",),
        fragments=("=== Streaming Query === Identifier: [id =",),
        unseen="what is inside decides",
        wraps=True,
    ),
    Page(
        "state-out-of-order",
        "a state store was used in an order that it does not allow",
        "A store was read or written after its commit, or by two at once. Spark itself guards "
        "against it: a bug, a killed task that lives on, or a speculative copy.",
        ("Turning on speculation for streaming stages.",),
        (
            "Switch speculation off and start again; the uncommitted batch is re-run.",
            "If it comes back with one driver and no retries, report it with the trace.",
        ),
        conditions=(
            "STATE_STORE_OPERATION_OUT_OF_ORDER",
            "STATE_STORE_INVALID_STAMP",
            "STATE_STORE_INVALID_STATE_MACHINE_TRANSITION",
        ),
        unseen="it is a matter of threads while the query runs",
    ),
    Page(
        "coordinator-missing",
        "Spark's coordinator of state stores is not there",
        "A session that never touched a streaming query reads state, or an executor outlived its "
        "driver. The checkpoint is not the matter.",
        ("Copying the checkpoint to another place and reading it there.",),
        ('Call `spark.streams.active` once before `format("statestore")`, and read again.',),
        fragments=("Cannot find endpoint: … StateStoreCoordinator",),
        unseen="it is a matter of the session",
    ),
)
