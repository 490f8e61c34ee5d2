"""Pages: plans that Spark refuses to stream, the user's functions in a stream, and Python beside
the JVM."""

from __future__ import annotations

from holdfast.diagnosis.explain.pages import Page

_PLAN = "it is refused when the query is planned, before a checkpoint is written"

REFUSAL_PAGES: tuple[Page, ...] = (
    Page(
        "output-mode-unknown",
        "there is no such output mode",
        "Spark knows append, update and complete.",
        ("Trying the three in turn on a running checkpoint: Spark does not record the mode.",),
        ("Write one of the three; for an upsert use update mode and a merge in foreachBatch.",),
        conditions=("STREAMING_OUTPUT_MODE.INVALID",),
        fragments=("Unknown output mode … Accepted output modes are",),
        unseen=_PLAN,
    ),
    Page(
        "output-mode-of-sink",
        "the sink does not take this output mode",
        "File sinks append only: a file that is written cannot be changed by a later batch.",
        (
            "Complete mode into files through foreachBatch with overwrite: a crash in between "
            "leaves no output at all.",
        ),
        ("Use append with a watermark, or a sink that can merge by key.",),
        conditions=("STREAMING_OUTPUT_MODE.UNSUPPORTED_DATASOURCE",),
        fragments=(
            "Data source … does not support Update output mode",
            "Data source … does not support Complete output mode",
        ),
        unseen=_PLAN,
    ),
    Page(
        "append-without-watermark",
        "append mode needs a watermark here",
        "In append mode a row is written once and never changed; an aggregation can do so only "
        "when a watermark says that no more rows will come for it.",
        (
            "A watermark on a column of processing time, only to get past this: late rows are "
            "then dropped by the clock of the restart.",
            "Complete mode over an unbounded key: the state never ends.",
        ),
        ("Add `withWatermark` on the event time and group by a window of it; or use update mode.",),
        conditions=("UNSUPPORTED_STREAMING_OPERATOR_WITHOUT_WATERMARK",),
        fragments=(
            "Append output mode not supported when there are streaming aggregations on streaming "
            "DataFrames/DataSets without watermark",
            "[STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION] … without watermark on streaming",
        ),
        unseen=_PLAN,
    ),
    Page(
        "complete-without-aggregation",
        "this output mode does not fit the operations of the query",
        "Complete mode needs an aggregation whose whole result can be kept; other modes exclude "
        "some operators in turn. The message names the operation.",
        ("Adding a dummy aggregation: its state keeps every row permanently.",),
        ("Use append for a query without aggregation, update where rows change.",),
        conditions=("STREAMING_OUTPUT_MODE", "STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION"),
        fragments=("Complete output mode not supported when there are no streaming aggregations",),
        unseen=_PLAN,
    ),
    Page(
        "outer-join-without-watermark",
        "an outer join of two streams needs watermarks and a bound in time",
        "Spark must know when a row can no longer find a partner, to put it out with nulls.",
        ("Changing the join's type later on the same checkpoint: mostly unnoticed, and wrong.",),
        ("Give both sides a watermark, and the join a condition on both event times.",),
        fragments=(
            "join between two streaming DataFrame/Datasets is not supported without a watermark",
        ),
        unseen=_PLAN,
    ),
    Page(
        "join-without-equality",
        "streams can be joined by equal keys only",
        "State of a join is found by its key; without an equality there is none.",
        ("A constant as key: all state in one partition.",),
        ("Add an equality, such as a bucket of time, beside the range.",),
        conditions=("_LEGACY_ERROR_TEMP_1181",),
        fragments=("Stream-stream join without equality predicate is not supported",),
        unseen=_PLAN,
    ),
    Page(
        "sort-in-stream",
        "a stream cannot be sorted",
        "There is no last row to wait for. Sorting works on an aggregation in complete mode.",
        ("Sorting inside foreachBatch and believing that batches are in order among them.",),
        ("Order by when reading the output.",),
        fragments=("Sorting is not supported on streaming DataFrames/Datasets",),
        unseen=_PLAN,
    ),
    Page(
        "distinct-aggregation",
        "distinct aggregates are not supported in a stream",
        "Spark would have to keep every value ever seen for each group.",
        ("`dropDuplicates` before it without a watermark: that state never ends either.",),
        ("Use `approx_count_distinct`, or `dropDuplicatesWithinWatermark` before counting.",),
        fragments=("Distinct aggregations are not supported on streaming DataFrames/Datasets",),
        unseen=_PLAN,
    ),
    Page(
        "window-function-in-stream",
        "window functions over rows are not supported in a stream",
        "`row_number`, `lag` and the like need all rows of a partition at once.",
        ("Using them in foreachBatch and taking the result for one over all batches.",),
        ("Use `window()` over event time, or state of your own with transformWithState.",),
        conditions=("NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING",),
        fragments=("Non-time-based windows are not supported on streaming",),
        unseen=_PLAN,
    ),
    Page(
        "event-time-type",
        "the column of a watermark is not a top-level timestamp",
        "Event time must be a timestamp, or a window of one, and a column of its own.",
        ("Casting texts without a fixed format and zone: rows with null are never late.",),
        ("Parse it into a timestamp column first, then call `withWatermark` on that column.",),
        conditions=("EVENT_TIME_IS_NOT_ON_TIMESTAMP_TYPE", "EVENT_TIME_MUST_BE_TOP_LEVEL_COLUMN"),
        unseen=_PLAN,
    ),
    Page(
        "watermark-missing",
        "an event time is used without a watermark, or with two",
        "The operation needs exactly one watermark on its way; it found none, or a second one that "
        "redefines the first.",
        (
            "The legacy setting that allows redefinition: several stateful operators are then "
            "computed with one wrong watermark.",
        ),
        ("Define one watermark for each source, right after reading it.",),
        conditions=(
            "CANNOT_ASSIGN_EVENT_TIME_COLUMN_WITHOUT_WATERMARK",
            "_LEGACY_ERROR_TEMP_3076",
            "_LEGACY_ERROR_TEMP_3077",
        ),
        fragments=(
            "Redefining watermark is disallowed",
            "More than one event time columns are available",
        ),
        unseen=_PLAN,
    ),
    Page(
        "watermark-clause",
        "the WATERMARK clause of a SQL query is not understood",
        "It takes one column with a name of its own.",
        ("Leaving the clause out: state then grows without end.",),
        ("Name the expression: `WATERMARK expr AS name DELAY OF …`, with one alias.",),
        conditions=(
            "CANNOT_USE_MULTI_ALIASES_IN_WATERMARK_CLAUSE",
            "REQUIRES_EXPLICIT_NAME_IN_WATERMARK_CLAUSE",
        ),
        unseen=_PLAN,
    ),
    Page(
        "read-a-stream-like-a-table",
        "a stream was used like a table",
        "`collect`, `show`, `count`, `write` and the like need an end; a stream has none.",
        ("Reading the source as a batch next to the stream: the two see different data.",),
        ("Start it with `writeStream`, and use the batch inside of foreachBatch.",),
        conditions=("CALL_ON_STREAMING_DATASET_UNSUPPORTED",),
        fragments=("Queries with streaming sources must be executed with writeStream.start()",),
        unseen=_PLAN,
    ),
    Page(
        "write-a-table-like-a-stream",
        "a table was used like a stream",
        "`writeStream` needs a DataFrame that comes from `readStream`, and a view or a union must "
        "be streaming on all sides.",
        ("Writing batches in a loop instead: then nothing remembers what was delivered.",),
        ("Read the source with `readStream`.",),
        conditions=(
            "WRITE_STREAM_NOT_ALLOWED",
            "NOT_STREAMING_DATASET",
            "INCOMPATIBLE_BATCH_VIEW_READ",
            "INCOMPATIBLE_STREAMING_VIEW_READ",
            "_LEGACY_ERROR_TEMP_1008",
            "_LEGACY_ERROR_TEMP_1018",
        ),
        unseen=_PLAN,
    ),
    Page(
        "trigger-not-supported",
        "a source or sink does not support this kind of trigger",
        "Continuous and micro-batch execution need different abilities, and not every source or "
        "sink has both.",
        ("Continuous mode over a micro-batch checkpoint: its ids mean epochs, not batches.",),
        ("Use a processing-time or available-now trigger.",),
        conditions=(
            "_LEGACY_ERROR_TEMP_1114",
            "_LEGACY_ERROR_TEMP_1195",
            "_LEGACY_ERROR_TEMP_1338",
            "_LEGACY_ERROR_TEMP_2209",
            "DATA_SOURCE_CONTINUOUS_SCAN_NOT_SUPPORTED",
            "DATA_SOURCE_MICRO_BATCH_SCAN_NOT_SUPPORTED",
        ),
        fragments=(
            "is not supported with continuous trigger",
            "Unknown type of trigger: ContinuousTrigger(#)",
            "does not support microbatch processing",
            "do not have a common supported execution mode",
        ),
        unseen=_PLAN,
    ),
    Page(
        "operation-not-streamed",
        "an operation is not supported on streams",
        "Pivot, grouped pandas aggregates and global session windows have no incremental form.",
        ("Collecting all rows into one group's state.",),
        ("Do it when reading the output, or inside of foreachBatch for one batch alone.",),
        conditions=(
            "_LEGACY_ERROR_TEMP_3063",
            "_LEGACY_ERROR_TEMP_3067",
            "_LEGACY_ERROR_TEMP_3068",
        ),
        fragments=(
            "pivot is not supported on a streaming",
            "Streaming aggregation doesn't support group aggregate pandas UDF",
            "Global aggregation with session window in streaming query is not supported",
        ),
        unseen=_PLAN,
    ),
    Page(
        "sequential-union",
        "a sequential union is not where or what it may be",
        "It reads one source to its end and then the next; it must be at the top of the plan, "
        "over streams, without state below it.",
        ("Replacing it by an ordinary union on the same checkpoint: offsets do not fit.",),
        ("Apply stateful operations after it, and do not nest it.",),
        conditions=(
            "NESTED_SEQUENTIAL_STREAMING_UNION",
            "STATEFUL_CHILDREN_NOT_SUPPORTED_IN_SEQUENTIAL_STREAMING_UNION",
        ),
        unseen=_PLAN,
    ),
)


FUNCTION_PAGES: tuple[Page, ...] = (
    Page(
        "foreach-batch-failed",
        "the function of foreachBatch raised an error",
        "The user's own error follows below. The batch has no commit and will be run again with "
        "the same rows; what the function wrote before it failed is already in the sink.",
        (
            "Catching the error and returning: the batch counts as delivered and its rows "
            "are lost.",
            "Retrying inside with an append: what was written before is then in twice.",
        ),
        (
            "Mend the cause, and start again: the batch is re-run.",
            "Write in one transaction with the batch id, and skip a batch that the sink holds.",
        ),
        conditions=("FOREACH_BATCH_USER_FUNCTION_ERROR",),
        fragments=("An exception was raised by the Python Proxy. Return Message: … _call_proxy",),
        unseen="it is in the function; only the sink knows what it wrote",
        wraps=True,
    ),
    Page(
        "foreach-failed",
        "the writer of foreach raised an error",
        "A row's function failed in a task. Rows of this batch before it may be out already, and "
        "come again with the re-run.",
        (
            (
                "Ignoring the error so that the stream continues: it is then unknown which rows "
                "are missing."
            ),
        ),
        ("Make `process` repeatable by key, use `open(partition, epoch)` to skip what is done.",),
        conditions=("FOREACH_USER_FUNCTION_ERROR",),
        fragments=("An exception was thrown from the Python worker: … WriterThread.run",),
        unseen="it is in the writer",
        wraps=True,
    ),
    Page(
        "python-source-failed",
        "a Python data source failed while streaming",
        "The user's reader raised an error in `initialOffset`, `latestOffset`, `partitions`, "
        "`read` or `commit`. Often its offsets cannot be read back after a change of their form.",
        (
            "Returning a new form of offset for an old checkpoint: recorded ones are handed back "
            "as they were.",
            "Dropping data in `commit` that an uncommitted batch still needs.",
        ),
        (
            "Let the reader understand every form of offset that it ever returned.",
            "Start again after fixing it: recorded ranges are asked for again.",
        ),
        conditions=("PYTHON_STREAMING_DATA_SOURCE_RUNTIME_ERROR", "PYTHON_DATA_SOURCE_ERROR"),
        codes=("HF2241",),
    ),
    Page(
        "python-runner-start",
        "the Python process of a stream could not be started",
        "Spark starts a Python process for foreachBatch on Connect, listeners and stateful "
        "functions. It did not start: another Python, a missing module, no time, or an error in "
        "the processor's `init`.",
        ("Another checkpoint: it was never read.",),
        ("Run the named Python on the driver by hand with the same modules; then start again.",),
        conditions=(
            "STREAMING_PYTHON_RUNNER_INITIALIZATION_FAILURE",
            "STREAMING_PYTHON_RUNNER_INITIALIZATION_COMMUNICATION_FAILURE",
            "STREAMING_PYTHON_RUNNER_INITIALIZATION_TIMEOUT_FAILURE",
        ),
        unseen="it is a matter of the deployment",
        wraps=True,
    ),
    Page(
        "listener-failed",
        "a listener of streaming queries could not be registered",
        "Its class is missing or its constructor failed. No query was touched.",
        ("Switching off all listeners for good: progress is then unseen.",),
        ("Mend `spark.sql.streaming.streamingQueryListeners`, or add its jar.",),
        conditions=("_LEGACY_ERROR_TEMP_2131",),
        fragments=("Exception when registering StreamingQueryListener",),
        unseen="it is a matter of the deployment",
    ),
    Page(
        "batches-fall-behind",
        "a batch took longer than the interval of its trigger",
        "A warning, not an error: the next batch starts as soon as this one has ended. Nothing is "
        "lost; the query lags if batches stay longer than the interval, or if the source gets rows "
        "faster than they are processed.",
        (
            'A new checkpoint "to catch up": the backlog is skipped or read again from the '
            "beginning.",
        ),
        (
            "Compare the phases of a batch (`durationMs` of its progress): `addBatch` is the "
            "query, `walCommit` and `commitOffsets` are the checkpoint's storage.",
            "Bound what a batch reads (`maxOffsetsPerTrigger`, `maxFilesPerTrigger`), add cores, "
            "or take a longer interval.",
        ),
        fragments=("Current batch is falling behind",),
        unseen="it is known when batches run",
    ),
)
