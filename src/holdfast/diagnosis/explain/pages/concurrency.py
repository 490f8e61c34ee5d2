"""Pages: two writers on one checkpoint, true or false."""

from __future__ import annotations

from holdfast.diagnosis.explain.pages.page import Page

PAGES: tuple[Page, ...] = (
    Page(
        "false-concurrent-update",
        "a log entry was there already when Spark wrote it",
        "Spark ran a batch, wanted to write its entry, and found one. Either a second driver works "
        "on this checkpoint, or, far more often after a repair by hand, an offsets entry was lost "
        "while its commit stayed, and the query collides with its own past. In both cases the sink "
        "has got the batch once more.",
        (
            "Hunting for a second job for hours: look at the folder first.",
            "Removing the commit that is in the way: measured, the file sink then loses rows (6 of "
            "7) and an append in foreachBatch doubles them (9 for 7).",
        ),
        (
            "`holdfast inspect CHECKPOINT`: HF2203 means a commit without offsets; put that "
            "offsets entry back byte-identical from a backup.",
            "If the folder is whole, there really are two drivers: stop one, and look in the sink "
            "for the batch that both delivered.",
        ),
        conditions=("CONCURRENT_STREAM_LOG_UPDATE",),
        fragments=(
            "Concurrent update to the commit log. Multiple streaming jobs detected for #",
            "Concurrent update to the log. Multiple streaming jobs detected for #",
        ),
        codes=("HF2203", "HF2208"),
    ),
    Page(
        "false-concurrent-queries",
        "the file of a log entry could not be created because something is in its way",
        "Spark says that several queries use the folder. That may be; but a checksum such as "
        "`.7.crc` that was left when its file was removed blocks the rename just as well, and then "
        "the batch is already in the sink.",
        (
            "Moving the query to another checkpoint, as is often answered: it starts from nothing.",
            "Taking away more entries by hand: each leaves its own checksum behind.",
        ),
        (
            "`holdfast inspect CHECKPOINT`: HF2210 names what is in the way.",
            "Put the file back that belonged to the checksum, from a backup; the two belong "
            "together.",
            "If nothing is in the way, stop the second driver.",
        ),
        conditions=("_LEGACY_ERROR_TEMP_2207",),
        fragments=("Multiple streaming queries are concurrently using",),
        codes=("HF2210", "HF2211"),
    ),
    Page(
        "same-query-twice",
        "this query is already running in the same application",
        "A query with the same id, that is the same checkpoint, is active. With "
        "`stopActiveRunOnRestart=true`, the default, the first one would be stopped silently.",
        (
            "Copying the checkpoint for the second one: both bear one identity, and each makes the "
            "other's batches look done.",
        ),
        (
            "Start it once; stop and await the former run before the next.",
            "Give a really different query its own checkpoint and its own output.",
        ),
        conditions=("CONCURRENT_QUERY",),
        fragments=("as another query with same id is already active",),
        codes=(
            "HF1109",
            "HF2421",
        ),
    ),
    Page(
        "same-name-twice",
        "a query with this name is already active",
        "Names of queries are unique in a session. The checkpoint has no part in it.",
        ("Dropping the name: then nobody can tell the queries apart in logs and metrics.",),
        ("Give each query its own name, or stop the first and await its end.",),
        fragments=("as a query with that name is already active in this SparkSession",),
        unseen="it is refused before a checkpoint is touched",
    ),
    Page(
        "delta-concurrent-transaction",
        "another writer used the same transaction id of a Delta table",
        "Two drivers of one query, or two queries with one `txnAppId`, committed at the same time. "
        "Delta let one through, and this one stopped before it wrote anything.",
        ("Retrying with another `txnVersion` or a random `txnAppId`: the batch is then in twice.",),
        (
            "Find the second driver and stop it; start the query again: a batch that the table "
            "already holds is skipped.",
        ),
        conditions=("DELTA_CONCURRENT_TRANSACTION",),
        fragments=("ConcurrentTransactionException",),
        codes=(
            "HF1109",
            "HF2421",
            "HF2422",
        ),
    ),
    Page(
        "delta-concurrent-write",
        "another writer changed the Delta table while this batch was written",
        "Delta noticed that the batch read files, metadata or a protocol which a concurrent MERGE, "
        "UPDATE, DELETE, OPTIMIZE or ALTER changed meanwhile, and rejected the commit. Nothing of "
        "the batch is in the table. The batch has no commit in the checkpoint: the next start runs "
        "it again with the same offsets.",
        (
            "Catching the exception in foreachBatch and going on: Spark then commits a batch that "
            "is not in the table, and its rows are lost.",
            "Retrying an append in foreachBatch without `txnAppId` and `txnVersion`: if the first "
            "attempt did commit, the rows are doubled.",
        ),
        (
            "Start the query again. A job of Holdfast's Delta sink retries conflicts by itself.",
            "Keep writers apart: partition the table, put the partition columns into the MERGE "
            "condition with literal values, and run OPTIMIZE while the stream is idle.",
            "For `MetadataChangedException` and `ProtocolChangedException`: change schema and "
            "properties while the stream is stopped.",
        ),
        conditions=(
            "DELTA_CONCURRENT_APPEND",
            "DELTA_CONCURRENT_DELETE_READ",
            "DELTA_CONCURRENT_DELETE_DELETE",
            "DELTA_CONCURRENT_WRITE",
            "DELTA_METADATA_CHANGED",
            "DELTA_PROTOCOL_CHANGED",
        ),
        fragments=(
            "ConcurrentAppendException",
            "ConcurrentDeleteReadException",
            "ConcurrentDeleteDeleteException",
            "ConcurrentWriteException",
            "MetadataChangedException",
            "ProtocolChangedException",
        ),
        unseen="other writers of a table are not in the checkpoint",
    ),
)
