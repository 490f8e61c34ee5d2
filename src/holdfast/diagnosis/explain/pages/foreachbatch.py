"""Pages: the user's functions in a stream, and Python beside the JVM."""

from __future__ import annotations

from holdfast.diagnosis.explain.pages.page import Page

PAGES: tuple[Page, ...] = (
    Page(
        "foreach-batch-failed",
        "the function of foreachBatch raised an error",
        "The user's own error stands below. The batch has no commit and will be run again with the "
        "same rows; what the function wrote before it failed is already out.",
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
        unseen="it lies in the function; what it wrote, only the sink knows",
        wraps=True,
    ),
    Page(
        "foreach-failed",
        "the writer of foreach raised an error",
        "A row's function failed in a task. Rows of this batch before it may be out already, and "
        "come again with the re-run.",
        ("Swallowing it for the sake of the stream: nobody then knows which rows are missing.",),
        ("Make `process` repeatable by key, use `open(partition, epoch)` to skip what is done.",),
        conditions=("FOREACH_USER_FUNCTION_ERROR",),
        fragments=("An exception was thrown from the Python worker: … WriterThread.run",),
        unseen="it lies in the writer",
        wraps=True,
    ),
    Page(
        "python-source-failed",
        "a Python data source failed while streaming",
        "The user's reader raised an error in `initialOffset`, `latestOffset`, "
        "`partitions`, `read` "
        "or `commit`. Often its offsets can't be read back after a change of their form.",
        (
            "Returning a new form of offset for an old checkpoint: recorded ones are handed back "
            "as they were.",
            "Dropping data in `commit` that an uncommitted batch still needs.",
        ),
        (
            "Let the reader understand every form of offset that it ever returned.",
            "Start again after mending it: recorded ranges are asked for again.",
        ),
        conditions=("PYTHON_STREAMING_DATA_SOURCE_RUNTIME_ERROR", "PYTHON_DATA_SOURCE_ERROR"),
        codes=("HF2241",),
    ),
    Page(
        "python-runner-start",
        "the Python process beside a stream could not be started",
        "Spark starts a Python process for foreachBatch on Connect, listeners and stateful "
        "functions. It did not come up: another Python, a missing module, no time, or an error in "
        "the processor's `init`.",
        ("Another checkpoint: it was not reached.",),
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
)
