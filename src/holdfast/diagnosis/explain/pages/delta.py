"""Pages: Delta tables as source and sink."""

from __future__ import annotations

from holdfast.diagnosis.explain.pages import Page

_TABLE = "it needs the table's own log; `holdfast inspect` shows the stored version to compare with"

PAGES: tuple[Page, ...] = (
    Page(
        "delta-source-deleted-rows",
        "rows were deleted from a Delta table that a stream reads",
        "A stream takes a table as a log that only grows. A delete that removes whole files stops "
        "every start from now on: clearing an upstream output breaks what reads it.",
        (
            "A fresh checkpoint: the whole table is delivered once more under a new identity.",
            "`ignoreChanges`, which delivers unchanged rows of rewritten files again.",
        ),
        (
            "Decide whether the deletion matters downstream. If not, start with "
            "`ignoreDeletes=true` or, on newer Delta, `skipChangeCommits=true`.",
            "If it does, read the table's change data feed instead, in a query of its own.",
        ),
        conditions=("DELTA_SOURCE_IGNORE_DELETE",),
        fragments=("Detected deleted data … from streaming source",),
        unseen=_TABLE,
    ),
    Page(
        "delta-source-changed-rows",
        "rows were updated in a Delta table that a stream reads",
        "An UPDATE, MERGE or overwrite rewrote files that the stream has delivered already.",
        (
            "`ignoreChanges=true` without a key downstream: untouched rows of the same files are "
            "delivered again.",
            "`skipChangeCommits=true` where the changed values are needed: they never arrive.",
        ),
        (
            "Where downstream must follow changes: change data feed, with an upsert by key.",
            "Where it must not: `skipChangeCommits=true`, written down as a decision.",
        ),
        conditions=("DELTA_SOURCE_TABLE_IGNORE_CHANGES",),
        fragments=(
            "Detected a data update … in the source table at version #",
            "Detected a data update",
        ),
        unseen=_TABLE,
    ),
    Page(
        "delta-source-another-table",
        "the Delta table is not the one that the checkpoint has read",
        "The checkpoint has the table's id, and the table at this path has a different one: it "
        "was dropped and recreated, or the path was changed.",
        (
            "Writing the new id into the offsets: versions of the old table mean nothing in the "
            "new one.",
        ),
        (
            "If the old table still exists, point the query to it.",
            "Else run a new query with its own checkpoint and `startingVersion`, after comparing "
            "which rows the old one has delivered already.",
        ),
        conditions=("DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE",),
        fragments=("was reading from an unexpected Delta table",),
        unseen=_TABLE,
    ),
    Page(
        "delta-source-schema-changed",
        "the schema of a Delta table changed while a stream read it",
        "Delta stops the query on purpose at the first version with the new schema, so that the "
        "code can be adapted. For added columns the next start continues by itself.",
        (
            "A fresh checkpoint: it is not needed, and delivers the table again.",
            "`schemaTrackingLocation` inside another query's checkpoint.",
        ),
        (
            "Start again. If the query is stateful, see first that the new column does not change "
            "its state.",
            "For renamed or dropped columns use a `schemaTrackingLocation` below this checkpoint.",
        ),
        conditions=(
            "DELTA_SCHEMA_CHANGED",
            "DELTA_SCHEMA_CHANGED_WITH_VERSION",
            "DELTA_SCHEMA_CHANGED_WITH_STARTING_OPTIONS",
            "DELTA_STREAMING_METADATA_EVOLUTION",
            "DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE",
            "DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE_USE_SCHEMA_LOG",
            "DELTA_STREAMING_CANNOT_CONTINUE_PROCESSING_POST_SCHEMA_EVOLUTION",
            "DELTA_STREAMING_SCHEMA_MISMATCH_ON_RESTART",
        ),
        fragments=(
            "Detected schema change … streaming",
            "assertion failed: Invalid batch: … DeltaSource",
        ),
        unseen=_TABLE,
    ),
    Page(
        "delta-source-log-cleaned",
        "versions that the stream still needs were cleaned out of the Delta log",
        "The query paused longer than the table keeps its log or its files: VACUUM or log "
        "retention went past the stored version.",
        (
            "`failOnDataLoss=false`: the versions in between are skipped without a count.",
            "Starting at the newest version in a new checkpoint without loading the gap.",
        ),
        (
            "Find which versions are missing, and load their rows from the table itself by a batch "
            "with a key, once.",
            "Then start once with `failOnDataLoss=false`, and raise the table's "
            "`delta.logRetentionDuration` above the longest pause.",
        ),
        conditions=(
            "DELTA_LOG_FILE_NOT_FOUND_FOR_STREAMING_SOURCE",
            "DELTA_STREAMING_TRAILING_COMMIT_MISSING",
            "DELTA_VERSIONS_NOT_CONTIGUOUS",
            "DELTA_LOG_FILE_NOT_FOUND",
            "DELTA_MISSING_FILES_UNEXPECTED_VERSION",
        ),
        fragments=(
            "The stream from your Delta table was expecting to process data from version #",
        ),
        unseen=_TABLE,
    ),
    Page(
        "delta-log-truncated",
        "the log of a Delta table begins after the version that is needed",
        "Entries or checkpoints of `_delta_log` are gone: deleted by hand or by a lifecycle rule "
        "of the storage, or cleaned by retention. The state of the table at that version cannot "
        "be built any more; its data files may all be there.",
        (
            "Deleting the rest of `_delta_log` and writing the table again from its files: removed "
            "and replaced rows come back.",
            "Another checkpoint for the stream: the table is what cannot be read.",
        ),
        (
            "Put the missing entries of `_delta_log` back from a copy or from the versions that "
            "the object store keeps.",
            "If the newest version can still be read, it is the stream that asks for an old one: "
            "load the gap by a batch with a key, then let a new query with its own checkpoint and "
            "output begin at a version that is there.",
            "Take `_delta_log` out of every lifecycle rule, and raise "
            "`delta.logRetentionDuration` above the longest pause.",
        ),
        conditions=("DELTA_TRUNCATED_TRANSACTION_LOG",),
        fragments=("Unable to reconstruct state at version # as the transaction log has been",),
        unseen=_TABLE,
    ),
    Page(
        "delta-log-not-created",
        "the directory of a Delta table's log could not be created",
        "Spark made no `_delta_log` below the table's path. Nearly always write access to the "
        "directory is missing; a file may also be in its place. Nothing of the batch was written.",
        ("Creating `_delta_log` by hand as another user: Spark cannot write into it either.",),
        (
            "Give the user that runs the job write access to the table's path and the folder above "
            "it, then start again.",
        ),
        conditions=("DELTA_CANNOT_CREATE_LOG_PATH",),
        unseen="whether a place can be written is seen at the first write",
    ),
    Page(
        "delta-starting-version",
        "the starting version or time of a Delta stream is outside the table's log",
        "`startingVersion` or `startingTimestamp` names something that is not there yet "
        "or no more. "
        "They count at the first start only.",
        ("Changing them to move a query that already ran: the checkpoint wins.",),
        ("Choose a version between the first and the last one that `DESCRIBE HISTORY` shows.",),
        conditions=(
            "DELTA_VERSION_NOT_FOUND",
            "DELTA_TIMESTAMP_GREATER_THAN_COMMIT",
            "DELTA_STARTING_VERSION_AND_TIMESTAMP_BOTH_SET",
        ),
        fragments=("Cannot time travel Delta table to version #",),
        unseen=_TABLE,
    ),
    Page(
        "delta-sink-schema",
        "the rows of a stream do not fit the Delta table that it writes",
        "A column is new, missing or of another type. Nothing of the batch was written; it will be "
        "re-run.",
        (
            "`overwriteSchema`: it replaces the table's schema for every reader.",
            "Catching the error in foreachBatch: the batch would count as delivered.",
        ),
        (
            "Cast in the query to the table's types, or widen the table by `ALTER TABLE`.",
            "For added columns `mergeSchema=true`, where readers can take it.",
        ),
        conditions=(
            "DELTA_FAILED_TO_MERGE_FIELDS",
            "DELTA_METADATA_MISMATCH",
        ),
        fragments=("A schema mismatch detected when writing to the Delta table",),
        unseen=_TABLE,
    ),
    Page(
        "delta-sink-mode",
        "the Delta sink does not know this output mode",
        "It appends, or rewrites the whole table in complete mode; updates by key it "
        "leaves to you.",
        ("Append mode over an aggregation without watermark, to get past the message.",),
        (
            "Use foreachBatch with `MERGE` by key, with `txnAppId` and `txnVersion` so that a "
            "repeated batch is skipped; make sure that no key is twice in a batch.",
        ),
        conditions=("DELTA_UNSUPPORTED_OUTPUT_MODE",),
        fragments=("Data source delta does not support Update output mode",),
        unseen="it is refused before a checkpoint is written",
    ),
    Page(
        "delta-source-not-a-table",
        "there is no Delta table at the source's path",
        "The path is empty, not yet written, misspelled, or holds plain Parquet files.",
        (
            "Making an empty table there to get started: its id is then what the checkpoint "
            "remembers, and the real one is refused later.",
        ),
        ("Check the path; let the job that writes the table run first.",),
        conditions=("DELTA_SCHEMA_NOT_SET", "DELTA_TABLE_NOT_FOUND", "DELTA_MISSING_DELTA_TABLE"),
        fragments=(
            "is not a Delta table. … readStream",
            "Table schema is not set. Write data into",
        ),
        unseen=_TABLE,
    ),
    Page(
        "delta-async-progress",
        "this sink does not allow async progress tracking",
        "With async tracking some batches leave no plan behind and are planned again; sinks that "
        "rely on batch ids, Delta and foreachBatch among them, refuse it.",
        ("Writing through another sink that does not refuse it, into the same table.",),
        ("Switch `asyncProgressTrackingEnabled` off for this query.",),
        fragments=("does not support async progress tracking",),
        codes=(
            "HF2206",
            "HF2331",
        ),
    ),
    Page(
        "iceberg-snapshot-expired",
        "the Iceberg snapshot at the stream's position was expired",
        "Snapshots were expired faster than the query read them; with available-now the first "
        "offset in `sources/0` can be the expired one although the present one is fine.",
        ("Starting at the newest snapshot in a fresh checkpoint: all in between is lost.",),
        (
            "Load the rows between the stored and the oldest kept snapshot by a batch with a key.",
            "Keep snapshots longer than the longest pause.",
        ),
        fragments=(
            "Cannot load current offset at snapshot #, the snapshot was expired or removed",
        ),
        unseen="only Iceberg's own metadata knows",
    ),
)
