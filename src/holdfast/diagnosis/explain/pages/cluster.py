"""Pages: lines of driver and executor logs that are about processes, machines and the cluster.

They are general: a page about the checkpoint, the state or a source says more wherever one fits.
"""

from __future__ import annotations

from holdfast.diagnosis.explain.pages import Page
from holdfast.diagnosis.explain.pages.memory import RERUN

PAGES: tuple[Page, ...] = (
    Page(
        "stopped-by-sigterm",
        "a process was stopped with SIGTERM (status 143)",
        "143 is 128 + 15. YARN, Kubernetes or an operator ended the driver or an executor on "
        "request: preemption, a drained node, a container above its limit, `yarn application "
        f"-kill`. {RERUN}",
        (
            "Raising memory before the reason is known: preemption and drained nodes end in the "
            "same status.",
        ),
        (
            "Read the lines before it in the container's diagnostics, and the log of the node "
            "manager or the events of the pod: they name who asked.",
            "If it was for memory, raise `spark.executor.memoryOverhead`; if it was preempted, "
            "give the application a queue that is not preempted, at least for the driver.",
            "If the driver was stopped, start the job again as it is.",
        ),
        fragments=(
            "Container killed on request. Exit code is 143",
            "exit code 143",
            "exit code: 143",
            "Exit Code: 143",
            "exitCode: 143",
            "Exit status: 143",
            "exited with code 143",
        ),
        unseen="only the cluster knows what ended the process",
        general=True,
    ),
    Page(
        "executor-lost",
        "the driver lost an executor while it ran tasks",
        "The executor ended, or did not answer for longer than `spark.network.timeout`: killed "
        "for its memory, preempted, evicted, or in a long garbage collection. Spark runs its "
        "tasks elsewhere; after `spark.task.maxFailures` losses the query fails.",
        (
            "Raising `spark.task.maxFailures` first: it hides why executors are lost.",
            "Turning on speculation: two copies of a task then write at once.",
        ),
        (
            "Read the reason at the end of the line, then the executor's own log and the "
            "cluster's events (`kubectl describe pod`, YARN's node manager).",
            "If it was memory, raise `spark.executor.memoryOverhead`; if it was preemption, keep "
            "the driver on stable machines and let executors come back.",
            "If the query failed, start it again: the batch without a commit is run again.",
        ),
        fragments=(
            "ExecutorLostFailure",
            "Remote RPC client disassociated",
            "Executor heartbeat timed out after",
            "ERROR TaskSchedulerImpl: Lost executor",
        ),
        unseen="executors come and go while the query runs",
        general=True,
    ),
    Page(
        "shuffle-fetch-failed",
        "a task could not fetch shuffle data from another executor",
        "The executor that had written the data is gone, overloaded or unreachable. Spark repeats "
        "the stage; only repeated losses fail the query. The shuffle data is temporary and has "
        "nothing to do with the checkpoint.",
        ("Clearing directories of Spark by hand while the application runs.",),
        (
            "Find out why the other executor was lost; its log says more than this line.",
            "Give executors more memory, or fewer and smaller partitions per task; an external "
            "shuffle service keeps data of lost executors readable.",
            "If the query failed, start it again as it is.",
        ),
        fragments=(
            "org.apache.spark.shuffle.FetchFailedException",
            "FetchFailed(BlockManagerId(",
            "MetadataFetchFailedException: Missing an output location for shuffle",
        ),
        unseen="shuffle data exists only while the query runs",
        general=True,
    ),
    Page(
        "context-shut-down",
        "Spark was stopped while a batch was running",
        "Something stopped the SparkContext: the program called `spark.stop()`, its main thread "
        "ended, the driver got SIGTERM, or the cluster ended the application. This line is the "
        "consequence, not the cause. The batch without a commit is run again by the next start.",
        (
            "Treating the stage that the line names as the culprit: it only happened to run.",
            "Calling `spark.stop()` at the end of a program that does not wait for its queries.",
        ),
        (
            "Look further up in the driver's log for the first error, or for `Invoking stop() from "
            "shutdown hook`.",
            "Let the program wait with `query.awaitTermination()`, and stop queries with "
            "`query.stop()` before the session.",
        ),
        fragments=(
            "cancelled because SparkContext was shut down",
            "Cannot call methods on a stopped SparkContext",
        ),
        unseen="it happens to a running program",
        general=True,
    ),
    Page(
        "task-not-serializable",
        "a function refers to something that cannot be sent to executors",
        "Functions run on executors, and everything they refer to is serialized: a session, a "
        "connection or a lock cannot be. Nothing was read or written.",
        ("Making the session or the connection global: executors do not have it either.",),
        (
            "Create connections inside of the function, per partition.",
            "Use the session only in the driver: in foreachBatch itself, not in a UDF or in "
            "`foreach`. The batch has its own: `batch.sparkSession`.",
        ),
        fragments=(
            "org.apache.spark.SparkException: Task not serializable",
            "reference SparkContext from a broadcast variable, action, or transformation",
            "_pickle.PicklingError: Could not serialize object",
        ),
        unseen="only the code of the job shows it",
        general=True,
    ),
    Page(
        "disk-full",
        "a disk is full",
        "A local disk of an executor (`spark.local.dir`: shuffle, spilled rows, RocksDB's working "
        "copies), the driver's, or the storage of the checkpoint has no space left. A log entry "
        "is written under a temporary name first, so a half-written one does not count.",
        (
            "Making room by removing files of the checkpoint: old entries and state files may "
            "still be needed.",
        ),
        (
            "Find the full disk: the path in the trace, `df` on the machine that it names.",
            "Make room or enlarge it, point `spark.local.dir` at a larger disk, then start again: "
            "the batch without a commit is run again.",
            "`holdfast inspect CHECKPOINT` shows what the checkpoint itself takes.",
        ),
        fragments=("No space left on device",),
        unseen="free space is not in a checkpoint",
        general=True,
    ),
    Page(
        "python-worker-died",
        "a Python process that ran your function ended without an exception",
        "Killed for its memory, crashed in a native library, or ended by `os._exit`. Spark sees "
        "only that the connection closed. " + RERUN,
        ("Catching exceptions in the function: none is raised when a process is killed.",),
        (
            "Set `spark.python.worker.faulthandler.enabled=true` to get the Python stack of a "
            "crash in a native library.",
            "Look for `oom-kill` in `dmesg`; then raise `spark.executor.memoryOverhead` or set "
            "`spark.executor.pyspark.memory`.",
            "Run the function over one batch outside of Spark.",
        ),
        fragments=(
            "Python worker exited unexpectedly",
            "Python worker died",
            "EOFError … Python worker",
        ),
        unseen="only the running function shows it",
        general=True,
    ),
    Page(
        "jvm-connection-lost",
        "Python lost the connection to Spark's JVM",
        "The driver's JVM ended or was killed in the middle of a call, so Python gets an empty "
        f"answer. Why it ended is not in this line. {RERUN}",
        (
            "Calling again in the same Python process: the session is gone with its JVM.",
            "Retrying in a loop around the failed call: an output without batch ids may get the "
            "same rows again.",
        ),
        (
            "Look for the JVM's own last words: `java.lang.OutOfMemoryError` or `hs_err_pid*.log` "
            "in the working directory, `dmesg` for the kernel's OOM killer.",
            "Raise `spark.driver.memory`, or collect less into the driver, if it was memory; then "
            "start a new Python process and the same query.",
        ),
        fragments=(
            "Py4JNetworkError: Answer from Java side is empty",
            'Py4JNetworkError("Answer from Java side is empty")',
            "Answer from Java side is empty",
            "py4j.protocol.Py4JNetworkError: Error while sending or receiving",
            "An error occurred while trying to connect to the Java server",
        ),
        unseen="it happens to the process, not to the checkpoint",
        general=True,
    ),
    Page(
        "address-in-use",
        "a port or an address that Spark wants is not available",
        "Another process has the port, or the host name of this machine leads to an address that "
        "it does not have (a VPN, a container, a stale `/etc/hosts`). Spark did not start; the "
        "checkpoint was not touched.",
        (
            "Ending every Java process on the machine: one of them may be the driver that holds "
            "this checkpoint.",
        ),
        (
            "For `Address already in use`: let Spark choose (`spark.driver.port=0`, the default), "
            "or raise `spark.port.maxRetries`.",
            "For `Cannot assign requested address`: set `spark.driver.bindAddress`, or the "
            "environment variable `SPARK_LOCAL_IP`, to an address of this machine.",
            "`holdfast status` shows whether another driver runs this job.",
        ),
        fragments=(
            "java.net.BindException: … Address already in use",
            "java.net.BindException: … Cannot assign requested address",
            "could not bind on a random free port",
        ),
        unseen="ports belong to the machine",
        general=True,
    ),
    Page(
        "no-resources",
        "the cluster gives the application no executors",
        "The query waits, and nothing fails: no worker has enough free cores or memory for one "
        "executor, or workers cannot reach the driver. Nothing was read or written.",
        ("Killing the driver again and again: each new one waits in the same queue.",),
        (
            "Compare `spark.executor.memory` plus overhead and `spark.executor.cores` with what "
            "one worker offers.",
            "Check that workers can reach the driver's address (`spark.driver.host`).",
        ),
        fragments=(
            "Initial job has not accepted any resources",
            "All masters are unresponsive! Giving up",
        ),
        unseen="free resources belong to the cluster",
        general=True,
    ),
    Page(
        "result-too-large",
        "the driver collected more than it may",
        "`collect()`, `toPandas()` or a broadcast in foreachBatch brings the rows of a whole batch "
        "to the driver. " + RERUN,
        ("Setting `spark.driver.maxResultSize=0`: the driver then runs out of heap instead.",),
        (
            "Write the batch with a DataFrame writer, or use `foreachPartition`, instead of "
            "collecting it.",
            "Bound batches with `maxOffsetsPerTrigger` or `maxFilesPerTrigger`; the batch that "
            "failed keeps its size, so raise `spark.driver.maxResultSize` for that one.",
        ),
        fragments=("is bigger than spark.driver.maxResultSize",),
        unseen="only the code of the job shows what it collects",
        general=True,
    ),
    Page(
        "too-many-open-files",
        "the limit of open files is reached",
        "RocksDB, shuffles and connections each hold files; the limit of the user or the container "
        "(`ulimit -n`) is too low for them, or the function of a sink leaks connections. " + RERUN,
        ("Fewer partitions by changing a pinned setting: it has no effect on a checkpoint.",),
        (
            "Raise the limit (`ulimit -n`, `LimitNOFILE` of systemd) on every machine.",
            "Set `spark.sql.streaming.stateStore.rocksdb.maxOpenFiles` where RocksDB holds most.",
        ),
        fragments=("Too many open files",),
        unseen="limits belong to the machine",
        general=True,
    ),
    Page(
        "token-expired",
        "a Kerberos delegation token ran out",
        "A long-running application must renew its tokens before they end, which needs a keytab. "
        + RERUN,
        ("Restarting every few days by hand: the batch in flight fails each time.",),
        (
            "Start with `spark.kerberos.principal` and `spark.kerberos.keytab`, so that Spark "
            "renews its tokens.",
        ),
        fragments=(
            "HDFS_DELEGATION_TOKEN … can't be found in cache",
            "HDFS_DELEGATION_TOKEN … is expired",
        ),
        unseen="tokens are not in a checkpoint",
        general=True,
    ),
    Page(
        "storage-throttled",
        "the object store answers too many requests with a refusal",
        "S3 answers 503 `Slow Down` when one prefix gets too many requests: many small files, many "
        "state partitions, short triggers. The client retries, then the task fails. " + RERUN,
        ("A new checkpoint under another prefix: the position and the state are lost with it.",),
        (
            "Use longer triggers, fewer small files and changelog checkpointing, which writes "
            "less per batch.",
            "Raise `fs.s3a.retry.limit` and `fs.s3a.attempts.maximum` to ride out peaks.",
        ),
        fragments=(
            "Please reduce your request rate. (Service: … Status Code: #",
            "SlowDown: Please reduce your request rate",
            "Slow Down (Service: … Status Code: #",
        ),
        unseen="only the storage knows its load",
        general=True,
    ),
    Page(
        "storage-connections",
        "the pool of connections to the object store is exhausted",
        "More files are open or requested at once than S3A has connections; often streams that "
        "are never closed, or many tasks in one executor. " + RERUN,
        ("Raising timeouts: a waiting client still gets no connection.",),
        ("Raise `fs.s3a.connection.maximum` above the number of threads that read and write.",),
        fragments=("Timeout waiting for connection from pool",),
        unseen="connections exist only while the query runs",
        general=True,
    ),
    Page(
        "broadcast-timed-out",
        "a broadcast join did not get its small side in time",
        "The side to broadcast took longer than `spark.sql.broadcastTimeout`, mostly because it is "
        "not small, or because the cluster is busy. " + RERUN,
        ("Raising the timeout to hours: the driver also needs the memory for that side.",),
        (
            "Set `spark.sql.autoBroadcastJoinThreshold=-1`, or make the side smaller before the "
            "join.",
        ),
        fragments=(
            "Could not execute broadcast in # secs",
            "Cannot broadcast the table that is larger than",
        ),
        unseen="it depends on the data of a batch",
        general=True,
    ),
    Page(
        "futures-timed-out",
        "one part of Spark waited too long for an answer of another",
        "The number says which wait it was: 300 seconds is a broadcast join "
        "(`spark.sql.broadcastTimeout`), 120 seconds a call between driver and executors "
        "(`spark.rpc.askTimeout`, `spark.network.timeout`), 100000 milliseconds YARN's wait for "
        "the driver program to create its session (`spark.yarn.am.waitTime`). " + RERUN,
        (
            "Raising every timeout: a driver that collects garbage or has lost its executors "
            "answers no later either.",
        ),
        (
            "Read the first `Caused by` below it and the lines before it: a lost executor or a "
            "long garbage collection is the cause, the timeout the consequence.",
            "For a broadcast, make the side smaller or set "
            "`spark.sql.autoBroadcastJoinThreshold=-1`.",
            "In YARN cluster mode, create the SparkSession before any long preparation.",
        ),
        fragments=(
            "Futures timed out after [# seconds]",
            "Futures timed out after [# milliseconds]",
        ),
        unseen="how long an answer takes is known only while the query runs",
        general=True,
    ),
    Page(
        "database-refuses-connections",
        "the database does not accept connections at this address",
        "Nothing listens on that host and port as seen from the machine that connects: the server "
        "is down or restarting, the host or port is wrong, or a firewall is in between. Tasks "
        "connect from the executors, where `localhost` is another machine than the driver's. "
        + RERUN,
        (
            "Retrying with a new checkpoint: it reads the source from the beginning, and delivers "
            "rows that the database has already.",
        ),
        (
            "Connect by hand from the machine of the driver and of an executor, with the host and "
            "port of the message, for example `pg_isready -h HOST -p PORT`.",
            "Correct the url of the sink, or start the server, then start the job again as it is.",
        ),
        fragments=(
            "Connection to … refused. Check that the hostname and port are correct",
            "connection to server at … failed: Connection refused",
            "Communications link failure … Connection refused",
            "Socket fail to connect to host",
            "The TCP/IP connection to the host … has failed",
            "The Network Adapter could not establish the connection",
        ),
        unseen="whether a server accepts connections is known only when somebody connects",
        general=True,
    ),
)
