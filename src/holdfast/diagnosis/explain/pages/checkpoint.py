"""Pages: the checkpoint as a whole: the query id in `metadata`, its location, two writers on it."""

from __future__ import annotations

from holdfast.diagnosis.explain.pages import Page

METADATA_PAGES: tuple[Page, ...] = (
    Page(
        "metadata-file-missing",
        "the file with the query id is missing",
        "`metadata` is gone while the logs hold batches. Its id is what sinks such as Delta know "
        "the query by. Spark before 4.2 starts silently with a new id; from 4.2 on it refuses.",
        (
            "`spark.sql.streaming.checkpoint.verifyMetadataExists.enabled=false` gives the query a "
            "new id, and a repeated batch is delivered twice.",
            "Spark's own text offers a new checkpoint directory: that loses the position too.",
        ),
        (
            "Put `metadata` back from a backup.",
            "The id is also in the sink's own log (Delta: the transaction's application id) "
            "and in old driver logs: write the file with exactly that id, but only if offsets/ has "
            "the newest batch that the sink has under it.",
            "Do not write it into a checkpoint that lacks that batch: Spark plans the batch again, "
            "and Delta drops its rows without an error.",
        ),
        conditions=("STREAMING_CHECKPOINT_MISSING_METADATA_FILE",),
        codes=("HF2201",),
    ),
    Page(
        "metadata-file-unreadable",
        "the file with the query id cannot be read",
        "`metadata` is empty, truncated or does not contain an id. Spark fails in `start()` with "
        "an error of its JSON or UUID parser that names no file.",
        (
            "Removing the file: older Sparks then invent a new id without a word.",
            "Writing a fresh random id: the sink treats it as a different query.",
        ),
        (
            "Put the file back from a backup, or write it with the id that the sink's own log or "
            "old driver logs show.",
            "`holdfast inspect CHECKPOINT` says what is wrong with it.",
        ),
        fragments=(
            "com.fasterxml.jackson … StreamMetadata",
            "com.fasterxml.jackson … org.apache.spark.sql.execution.streaming.StreamMetadata$.read",
            "org.json#s.MappingException … StreamMetadata",
            "IllegalArgumentException: Invalid UUID string: … StreamExecution",
            "Invalid UUID string: … java.util.UUID.fromString … streaming",
            "Error reading stream metadata from",
        ),
        codes=("HF2202", "HF2101", "HF2105"),
    ),
    Page(
        "logs-lost-but-not-empty",
        "a query that would begin at batch 0 found remains of an older one",
        "There are no offsets, so Spark would begin at batch 0, but `offsets/`, `commits/` or "
        "`state/` still holds files. Spark before 4.1 would have started over the old state.",
        (
            "Spark's text says to delete the files: then the query reads its source again under "
            "ids that the sink has seen.",
            "`spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart=false` mixes the old state "
            "into the new query.",
        ),
        (
            "Find out what became of `offsets/` and put it back from a backup.",
            "If this really is a new query, give it a directory that was never used, and an output "
            "of its own.",
        ),
        conditions=("STATE_STORE_CHECKPOINT_LOCATION_NOT_EMPTY",),
        codes=("HF2208", "HF2209"),
    ),
)


LOCATION_PAGES: tuple[Page, ...] = (
    Page(
        "checkpoint-location-not-given",
        "the query has no checkpoint location",
        "This sink cannot run without a checkpoint and none was named. Other sinks take a "
        "temporary directory instead, which is worse: such a query starts from batch 0 each time.",
        (
            "A path with a date, a run id or an application id in it: every start is then the "
            "first one.",
            "`/tmp`: it is emptied, and it is not shared with the next driver.",
        ),
        (
            "Set the option `checkpointLocation` to one fixed path on durable storage, one for "
            "each query, for ever.",
        ),
        conditions=("_LEGACY_ERROR_TEMP_1298",),
        fragments=("checkpointLocation must be specified either through option",),
        codes=(
            "HF1108",
            "HF1109",
            "HF2301",
            "HF2302",
        ),
    ),
    Page(
        "recovery-not-supported",
        "this sink cannot continue from a checkpoint",
        "Console, memory in append mode and some test sinks keep nothing that a second start "
        "could continue, so Spark refuses a checkpoint that already has batches.",
        (
            "Spark's text says to delete the directory; if another query with a real sink uses "
            "that directory too, its progress is lost too.",
        ),
        (
            "See whose checkpoint it is: `holdfast inspect CHECKPOINT`.",
            "Give the trial query a folder of its own, or none; in production use a sink that "
            "keeps what it wrote.",
        ),
        conditions=("_LEGACY_ERROR_TEMP_1299",),
        fragments=("This query does not support recovering from checkpoint location",),
        unseen="it depends on the sink, which the checkpoint does not show",
    ),
    Page(
        "checkpoint-path-escaped",
        "an old Spark kept the checkpoint under an escaped name",
        "Spark 2 escaped blanks and signs in the checkpoint's path three times. A newer one looks "
        "at the plain path, finds the twin with `%252520` or the like, and refuses to start.",
        (
            "`spark.sql.streaming.checkpoint.escapedPathCheck.enabled=false` starts from batch 0 "
            "next to the old progress.",
        ),
        (
            "Stop the query and move the whole escaped folder to the path that the job names, "
            "after a verified copy; compare both with `holdfast diff`.",
        ),
        conditions=("_LEGACY_ERROR_TEMP_2263",),
        fragments=("we detected a possible problem with the location of your checkpoint",),
        codes=("HF2305",),
    ),
    Page(
        "file-manager-class",
        "the class that writes checkpoint files cannot be loaded",
        "`spark.sql.streaming.checkpointFileManagerClass` names a class that is not on the class "
        "path or does not fit the storage. Nothing was read or written yet.",
        (
            "Taking the setting away on an object store: the default there emulates renames, and "
            "entries can be seen half done.",
        ),
        (
            "Add the jar that holds the class to the driver and the executors, in the version of "
            "this Spark.",
            "Compare with the deployment that ran last.",
        ),
        conditions=("CANNOT_LOAD_CHECKPOINT_FILE_MANAGER",),
        fragments=(
            "ClassNotFoundException … CheckpointFileManager$.create",
            "Could not use FileContext API for managing Structured Streaming",
        ),
        unseen="the setting is the session's and not in the checkpoint",
    ),
    Page(
        "rename-of-entry-failed",
        "a log entry could not be renamed into place",
        "Spark writes an entry under a temporary name and renames it. The storage refused: "
        "another writer, an object store whose renames are not atomic, or an interrupted "
        "connection. The plan or the commit of this batch is missing; the batch may be in the "
        "sink.",
        (
            "Renaming the temporary file by hand: it may be half written.",
            "Starting a second driver to see whether it works there.",
        ),
        (
            "Make sure that one driver alone uses the checkpoint, then start the same query again: "
            "a batch without commit is run again with its recorded offsets.",
            "On object stores use a checkpoint file manager that was made for them.",
        ),
        fragments=(
            "java.io.IOException: rename from <path>",
            "java.io.IOException: Failed to rename <path>",
            "Failed to rename temp file <path>",
        ),
        codes=(
            "HF2227",
            "HF2210",
            "HF2303",
            "HF2337",
        ),
    ),
    Page(
        "checkpoint-access-denied",
        "Spark may not write into the checkpoint",
        "The storage denies access to a log of the checkpoint: another user, an expired token or a "
        "policy. What was written before stays valid.",
        (
            "Making the directory writable for everyone, or copying it to a writable location: "
            "two copies then claim one identity.",
        ),
        (
            "Give the job's own user write access to the whole folder, and start it again.",
            "`holdfast inspect CHECKPOINT` with the same credentials shows what can be read.",
        ),
        fragments=(
            "AccessControlException … <path>/offsets",
            "AccessControlException … <path>/commits",
            "AccessDeniedException: … <path>/offsets",
            "AccessDeniedException: … <path>/commits",
            "(Permission denied) … CheckpointFileManager",
            "<path>/offsets/.#.<id>.tmp (Permission denied)",
            "<path>/commits/.#.<id>.tmp (Permission denied)",
            "<path>/sources/#/.#.<id>.tmp (Permission denied)",
            "<path>/metadata (Permission denied)",
            "mkdir of <path>/offsets failed",
            "mkdir of <path>/commits failed",
            "mkdir of <path>/sources/# failed",
            "mkdir of <path>/state/# failed",
        ),
        codes=("HF7002", "HF7008"),
    ),
)


CONCURRENCY_PAGES: tuple[Page, ...] = (
    Page(
        "false-concurrent-update",
        "a log entry was there already when Spark wrote it",
        "Spark ran a batch, wanted to write its entry, and found one. Either a second driver works "
        "on this checkpoint, or, far more often after a repair by hand, an offsets entry was lost "
        "while its commit stayed, and the query collides with its own past. In both cases the sink "
        "has got the batch once more.",
        (
            "Searching for a second job for hours: look at the checkpoint first.",
            "Removing the commit that blocks it: measured, the file sink then loses rows (6 of 7) "
            "and an append in foreachBatch duplicates them (9 for 7).",
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
        "Spark says that several queries use the checkpoint. That is possible; but a checksum "
        "such as `.7.crc` that was left when its file was removed blocks the rename just as well, "
        "and then the batch is already in the sink.",
        (
            "Moving the query to another checkpoint, as is often advised: it starts from batch 0.",
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
        ("Removing the name: the queries can then not be distinguished in logs and metrics.",),
        ("Give each query its own name, or stop the first and await its end.",),
        fragments=("as a query with that name is already active in this SparkSession",),
        unseen="it is refused before a checkpoint is touched",
    ),
    Page(
        "delta-concurrent-transaction",
        "another writer used the same transaction id of a Delta table",
        "Two drivers of one query, or two queries with one `txnAppId`, committed at the same time. "
        "Delta let one through, and this one stopped before it wrote anything.",
        (
            (
                "Retrying with another `txnVersion` or a random `txnAppId`: the batch is then in "
                "the table twice."
            ),
        ),
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
            "attempt did commit, the rows are duplicated.",
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
