"""Pages: Spark's file sink and its log in the output folder."""

from __future__ import annotations

from holdfast.diagnosis.explain.pages.page import Page

PAGES: tuple[Page, ...] = (
    Page(
        "file-sink-log-missing",
        "the file sink's log lacks an entry that compaction needs",
        "`_spark_metadata` lies in the output folder and belongs to one checkpoint. The output was "
        "changed to a new folder, or its log was removed; at the next tenth batch Spark wants to "
        "merge entries that are not there.",
        (
            "Removing `_spark_metadata`, or what is left of it: readers then see files of failed "
            "attempts, and the missing entries stay missing.",
            "A new checkpoint over the old output: its batches have ids that the log already "
            "holds, and all new rows are thrown away without an error (0 of 3 were visible).",
        ),
        (
            "Bring the sink's path back to the folder that belongs to this checkpoint.",
            "Or copy the old `_spark_metadata` entries into the new output, so that the log is "
            "whole; the files that they name stay where they are.",
        ),
        conditions=("BATCH_METADATA_NOT_FOUND",),
        fragments=(
            "/_spark_metadata/# doesn't exist when compacting batch #",
            "/_spark_metadata/#.compact doesn't exist when compacting batch #",
            "/_spark_metadata/# doesn't exist (latestId: #, compactInterval: #)",
        ),
        codes=(
            "HF2403",
            "HF2401",
        ),
    ),
    Page(
        "file-sink-log-escaped",
        "an old Spark kept the file sink's log under an escaped name",
        "Spark 2 escaped blanks and signs in the output's path twice, so `_spark_metadata` lies in "
        "a twin folder. Without it, readers would see files of failed attempts.",
        ("Switching `escapedPathCheck` off: a second log would begin beside the first.",),
        ("Stop the query, and move the twin's `_spark_metadata` into the real output folder.",),
        conditions=("_LEGACY_ERROR_TEMP_2200",),
        fragments=(
            'we detected a possible problem with the location of your "_spark_metadata" directory',
        ),
        unseen="the log lies in the output folder, not in the checkpoint",
    ),
    Page(
        "file-sink-log-unreadable",
        "the file sink's log in the output folder can't be read",
        "An entry of `_spark_metadata` is cut, empty or no text. Every reader of that folder that "
        "goes through Spark fails too.",
        (
            "Removing `_spark_metadata` so that reading works again: failed attempts then show up "
            "as doubled rows, and the query that writes there breaks at its next compaction.",
        ),
        ("Put the entry back byte-identical from a backup of the output folder.",),
        fragments=(
            "/_spark_metadata/#. Incomplete log file",
            "Failed to read log file <path>/_spark_metadata",
            "com.fasterxml.jackson … FileStreamSinkLog",
        ),
        codes=("HF2408",),
    ),
    Page(
        "sink-cannot-stream",
        "this sink can't be written by a stream",
        "The data source has a writer for batches only; JDBC is the usual one.",
        (
            "`append` to it in foreachBatch as it stands: after a crash between write and commit "
            "the batch is in twice.",
        ),
        (
            "Write it in foreachBatch, in one transaction that also stores the batch id, and skip "
            "a batch that is stored already.",
        ),
        conditions=(
            "_LEGACY_ERROR_TEMP_2049",
            "DATA_SOURCE_STREAMING_WRITE_NOT_SUPPORTED",
            "DATA_SOURCE_STREAMING_WRITE_BUILD_NOT_SUPPORTED",
            "_LEGACY_ERROR_TEMP_1190",
            "_LEGACY_ERROR_TEMP_1191",
            "_LEGACY_ERROR_TEMP_1193",
        ),
        fragments=("does not support streamed writing", "doesn't support streaming write"),
        unseen="it is refused before a checkpoint is written",
    ),
    Page(
        "memory-sink-without-name",
        "the memory sink needs a name for its table",
        "It keeps rows in the driver under the query's name. It is for trials: nothing of it "
        "survives a restart.",
        ("Using it in production because it starts so easily.",),
        ("Set `queryName`.",),
        conditions=("_LEGACY_ERROR_TEMP_1194",),
        fragments=("queryName must be specified for memory sink",),
        unseen="it is refused before a checkpoint is written",
    ),
)
