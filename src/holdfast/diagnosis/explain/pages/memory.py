"""Pages: memory of processes and of state, and errors that the engine calls its own."""

from __future__ import annotations

from holdfast.diagnosis.explain.pages import Page

_LOAD = "CANNOT_LOAD_STATE_STORE"

RERUN = (
    "The batch that was running has no commit: the next start runs it again with the same offsets."
)
_CLUSTER = "memory and machines belong to the cluster, not to the checkpoint"
_STATE_MEMORY = (
    "If a state store is in the trace, compare the size of the state in `holdfast inspect "
    "CHECKPOINT` with the memory of the executors, and check that the query has a watermark."
)

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
        unseen="memory belongs to the cluster, not to the checkpoint",
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
        "around the error that stopped a query. By itself it says only which query and which run "
        "it was.",
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

PROCESS_PAGES: tuple[Page, ...] = (
    Page(
        "heap-out-of-memory",
        "the heap of the driver or of an executor is too small",
        "A JVM could not allocate an object. In the driver the usual causes are `collect()` or "
        "`toPandas()` in foreachBatch, a large broadcast, or a file source with very many files; "
        "in an executor, large partitions or the state of the HDFS-backed provider, which keeps "
        f"several versions on the heap. {RERUN}",
        (
            "Starting with an empty checkpoint to shrink the state: position, sums and seen keys "
            "are lost, and the state grows again.",
            "Restarting in a loop with the same memory: the same batch fails each time, and an "
            "output without batch ids gets a part of it each time.",
        ),
        (
            "Read in the trace which JVM it was: a task on an executor, or the driver's thread "
            "`stream execution thread`.",
            "Raise `spark.executor.memory` or `spark.driver.memory`, or run fewer tasks at once "
            "with `spark.executor.cores`.",
            "Bound the next batches with `maxOffsetsPerTrigger` or `maxFilesPerTrigger`. The "
            "failed batch keeps its size: it was planned already.",
            _STATE_MEMORY,
        ),
        fragments=("OutOfMemoryError: Java heap space", "OutOfMemoryError - Java heap space"),
        unseen=_CLUSTER,
        general=True,
    ),
    Page(
        "garbage-collection-limit",
        "the JVM spent nearly all its time in garbage collection",
        "The heap is almost full, and collecting frees next to nothing, so the JVM gives up "
        f"before the heap is really exhausted. {RERUN}",
        (
            "Switching the limit off with `-XX:-UseGCOverheadLimit`: the same process then hangs "
            "for minutes and loses its heartbeats.",
        ),
        (
            "Treat it as a heap that is too small: raise `spark.executor.memory` or "
            "`spark.driver.memory`, whichever JVM the trace is from.",
            "In the driver, look for growing lists, such as progress reports kept by a listener.",
        ),
        fragments=("OutOfMemoryError: GC overhead limit exceeded",),
        unseen="how full a heap is shows only while the query runs",
        general=True,
    ),
    Page(
        "metaspace-out-of-memory",
        "the memory for loaded classes is full",
        "The JVM keeps classes outside of the heap, up to `-XX:MaxMetaspaceSize`. Code that Spark "
        "generates per query, jars that are added again and again, and sessions that are never "
        f"stopped fill it. {RERUN}",
        ("Raising `spark.executor.memory` or `spark.driver.memory`: classes are not on the heap.",),
        (
            "Raise `-XX:MaxMetaspaceSize` in `spark.driver.extraJavaOptions` or "
            "`spark.executor.extraJavaOptions`, whichever JVM the trace is from, and the "
            "container's overhead with it.",
            "If it fills again, look for queries that are built again in every batch: a new "
            "expression per batch is a new class per batch.",
        ),
        fragments=(
            "OutOfMemoryError: Metaspace",
            "OutOfMemoryError - Metaspace",
            "OutOfMemoryError: Compressed class space",
        ),
        unseen=_CLUSTER,
        general=True,
    ),
    Page(
        "direct-memory-exhausted",
        "the memory for network and file buffers outside of the heap is full",
        "Netty, shuffle transfers and file readers use direct buffers, up to "
        f"`-XX:MaxDirectMemorySize`, which is the size of the heap unless it is set. {RERUN}",
        (
            "Raising only the heap inside the same container: the buffers then have less room "
            "than before.",
        ),
        (
            "Raise `-XX:MaxDirectMemorySize` in `spark.executor.extraJavaOptions` or "
            "`spark.driver.extraJavaOptions`, and `spark.executor.memoryOverhead` or "
            "`spark.driver.memoryOverhead` by the same amount.",
            "Fetch less at once: lower `spark.reducer.maxSizeInFlight`, or use more, smaller "
            "shuffle partitions in a new query.",
        ),
        fragments=(
            "OutOfMemoryError: Cannot reserve # bytes of direct buffer memory",
            "OutOfMemoryError: Direct buffer memory",
            "OutOfDirectMemoryError: failed to allocate",
        ),
        unseen="buffers belong to the processes that run the query",
        general=True,
    ),
    Page(
        "array-too-large",
        "one value or buffer is larger than a Java array can be",
        "An array holds at most about 2 billion elements, however large the heap is. One row, one "
        "collected list, one broadcast or one serialized result is beyond that. "
        f"{RERUN}",
        ("More memory: the limit is the JVM's, not the machine's.",),
        (
            "Find the value in the trace: `collect_list` over a whole key, a huge string or binary "
            "column, `collect()` of a large result, or a broadcast of a large table.",
            "Split it: aggregate without collecting, write instead of collecting, and bound the "
            "next batches with `maxOffsetsPerTrigger` or `maxFilesPerTrigger`.",
        ),
        fragments=(
            "OutOfMemoryError: Requested array size exceeds VM limit",
            "OutOfMemoryError: Required array size too large",
        ),
        unseen="it depends on the rows of a batch",
        general=True,
    ),
    Page(
        "native-threads-exhausted",
        "the operating system refused a new thread",
        "The limit of processes for this user or container (`ulimit -u`, `pids.max`) is reached. "
        f"It is called out of memory, but the heap is not the cause. {RERUN}",
        ("Raising the heap: every thread needs memory outside of it, so it gets worse.",),
        (
            "Raise the limit of processes of the user or of the container.",
            "Count the queries and pools that one driver runs: each adds threads.",
        ),
        fragments=(
            "OutOfMemoryError: unable to create native thread",
            "OutOfMemoryError: unable to create new native thread",
        ),
        unseen="limits of the operating system are not in a checkpoint",
        general=True,
    ),
    Page(
        "container-killed-by-yarn",
        "YARN killed a container because it used more memory than it may",
        "The JVM's heap, Python workers, RocksDB and network buffers together were more than "
        "heap plus overhead. Nothing in the JVM had a chance to write an error. "
        f"{RERUN}",
        (
            "Switching off YARN's memory checks: the node then runs out of memory and kills "
            "processes of others.",
            "Raising only the heap: Python and RocksDB live outside of it.",
        ),
        (
            "Raise `spark.executor.memoryOverhead`, or `spark.driver.memoryOverhead` if the "
            "driver's container was killed.",
            "With RocksDB state, set "
            "`spark.sql.streaming.stateStore.rocksdb.boundedMemoryUsage=true` and a limit; with "
            "Python functions, set `spark.executor.pyspark.memory`.",
        ),
        fragments=(
            "Container killed by YARN for exceeding memory limits",
            "Container killed by YARN for exceeding physical memory limits",
            "Container killed by YARN for exceeding virtual memory limits",
            "is running beyond physical memory limits",
            "beyond the 'PHYSICAL' memory limit",
        ),
        unseen="only YARN knows its limits",
        general=True,
    ),
    Page(
        "killed-by-sigkill",
        "a process was killed with SIGKILL (status 137), nearly always for its memory",
        "137 is 128 + 9. The kernel's OOM killer, Kubernetes (`OOMKilled`) or a node manager ended "
        f"the driver or an executor without warning, so its own log ends in mid-air. {RERUN}",
        (
            "Searching the log of the killed process for an error: it could not write one.",
            "Starting with a new checkpoint: the files were written whole or not at all, and the "
            "old one continues.",
        ),
        (
            "Confirm it: `dmesg` on the machine, or `kubectl describe pod` (Reason: OOMKilled).",
            "Raise the container's limit together with `spark.executor.memoryOverhead` or "
            "`spark.driver.memoryOverhead`; raising only the heap makes it worse.",
            "If the driver was killed: `holdfast status` shows the pending batch; start the job "
            "again as it is.",
        ),
        fragments=(
            "exit code 137",
            "exited with exit code 137",
            "exit code: 137",
            "exit code is 137",
            "Container killed on request. Exit code is 137",
            "Exit Code: 137",
            "exitCode: 137",
            "exitCode=137",
            "exit status 137",
            "Exit status: 137",
            "exited with code 137",
            "with status 137",
            "OOMKilled",
            "Out of memory: Killed process",
            "oom-kill:constraint=",
        ),
        unseen="a limit of the container or of the machine is not in a checkpoint",
        general=True,
    ),
)
