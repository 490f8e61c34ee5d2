"""Pages: the file source and its log, Spark's file sink and its log in the output folder."""

from __future__ import annotations

from holdfast.diagnosis.explain.pages import Page

SOURCE_PAGES: tuple[Page, ...] = (
    Page(
        "wrong-base-path",
        "the source's directory is not the one whose files the checkpoint remembers",
        "The last batch is read again from the list of files in `sources/`, and these are outside "
        "the directory that the query now names: the path was changed, the inputs of a union were "
        "swapped, or the data was moved. Where the newest batch was idle, the same change passes "
        "silently.",
        (
            "Replacing the old path in the source log: Spark knows files by their full path and "
            "reads those that are still in the directory once more.",
            "Widening the path until it starts, which takes in other files too.",
        ),
        (
            "Set the path, and the order of the sources, back to what they were.",
            "If the data has to move, let a new query read the new place, with its own checkpoint "
            "and output, from the first file that the old one has not read.",
        ),
        fragments=("Wrong basePath <path> for the root path",),
        codes=(
            "HF2324",
            "HF2323",
        ),
    ),
    Page(
        "source-log-entry-missing",
        "an entry of a file source's log is missing",
        "Under `sources/` the file source remembers which files it has read: one entry for each of "
        "its own steps, every tenth one a `.compact` of all before. One that is needed is gone.",
        (
            "Removing the whole source log: the query then fails, or reads every file again.",
            "Making an empty entry: its files count as unread.",
        ),
        (
            "Put the entry back byte-identical from a backup.",
            "Look for clean-up jobs over the checkpoint.",
        ),
        fragments=(
            "/sources/#/# doesn't exist (latestId: #, compactInterval: #)",
            "/sources/#/#.compact doesn't exist (latestId: #, compactInterval: #)",
            "batches (# … don't exist (startId: Some(#), endId: Some(#))",
        ),
        codes=("HF2216",),
    ),
    Page(
        "source-log-unreadable",
        "an entry of a file source's log cannot be read",
        "Its JSON ends too early or is none: the file was cut or overwritten.",
        ("Completing the last line by hand with a guessed path or time.",),
        (
            "`holdfast inspect CHECKPOINT` names the entry; put it back byte-identical from a "
            "backup.",
        ),
        fragments=(
            "com.fasterxml.jackson … FileStreamSourceLog",
            "com.fasterxml.jackson … CompactibleFileStreamLog",
        ),
        codes=("HF2105", "HF2217"),
    ),
    Page(
        "source-files-gone",
        "files that a planned batch has to read are gone",
        "The batch was planned with a list of files, and they were removed or moved before it was "
        "committed. Its rows are no longer available there.",
        (
            "`spark.sql.files.ignoreMissingFiles=true`: the batch passes without these rows, and "
            "no one notices.",
            "Clean-up by age of a landing directory that a stream reads.",
        ),
        (
            "Put the named files back under their old paths, then start again.",
            "Let Spark archive what it has read with the option `cleanSource` instead.",
        ),
        fragments=(
            "It is possible the underlying files have been updated … MicroBatch",
            "FAILED_READ_FILE.FILE_NOT_EXIST … MicroBatch",
        ),
        conditions=("FAILED_READ_FILE.FILE_NOT_EXIST",),
        codes=("HF2216",),
    ),
    Page(
        "listed-file-gone",
        "a file that Spark listed is gone when a task opens it",
        "Somebody removed, moved or rewrote it in between. It belongs to the source of the stream, "
        "or to a table that the query joins with: a Delta table after VACUUM, a Parquet directory "
        "that another job overwrites. The trace below the message names the batch.",
        (
            "`REFRESH TABLE`, as the message says, for a file of the stream itself: a planned "
            "batch keeps its list of files.",
            "`spark.sql.files.ignoreMissingFiles=true` for good: rows are left out, and no "
            "message says how many.",
        ),
        (
            "`holdfast doctor TARGET` says whether a batch is pending; if it is and the file is of "
            "the stream's source, put the file back under the same path.",
            "If it is of a joined table, start the job again: the table is listed again. Then "
            "have the other job write with Delta, or into a new directory.",
        ),
        fragments=(
            "SparkFileNotFoundException: File <path> does not exist",
            "org.apache.spark.SparkFileNotFoundException",
        ),
        unseen="the files of a batch are opened only when it runs",
        general=True,
    ),
    Page(
        "source-files-denied",
        "a file that a planned batch has to read may not be read",
        "Spark reports such a file as missing; it is there, and access to it was denied: another "
        "owner, a mode or a policy. The batch was planned with it and is run again with it.",
        (
            "`spark.sql.files.ignoreMissingFiles=true`: the batch passes without the rows of the "
            "file, and no one notices.",
            "Moving the file away: the batch that was planned with it then fails for good.",
        ),
        (
            "Give the user that runs the executors read access to the named file, then start "
            "again: the batch is run with the same files.",
            "Let producers write files that this user can read before they move them into the "
            "folder.",
        ),
        fragments=("[FAILED_READ_FILE.FILE_NOT_EXIST] … (Permission denied)",),
        unseen="access to single files is seen when they are read",
    ),
    Page(
        "file-source-without-schema",
        "a file stream needs a schema",
        "Spark does not guess the columns of a stream from the files that happen to be there.",
        (
            "`spark.sql.streaming.schemaInference=true` in production: the schema then depends on "
            "the first files, and a stateful query may change its state's schema at a restart.",
        ),
        ("Give the schema in code, the same one for every start.",),
        conditions=("_LEGACY_ERROR_TEMP_2048",),
        fragments=("Schema must be specified when creating a streaming source DataFrame",),
        unseen="it is refused before a checkpoint is written",
    ),
    Page(
        "clean-source-of-sink",
        "files of a file sink cannot be cleaned up by their reader",
        "The directory is the output of another streaming query; its `_spark_metadata` names "
        "those files, and removing them would break it.",
        ("Removing `_spark_metadata` to get around it: that breaks the other query.",),
        ("Leave `cleanSource` off here, and use the writing sink's `retention` option.",),
        conditions=("_LEGACY_ERROR_TEMP_2261",),
        fragments=(
            "Clean up source files is not supported when reading from the output directory",
        ),
        unseen="it is refused before a checkpoint is written",
    ),
    Page(
        "rate-source-state",
        "the rate-micro-batch source has a start after the stored offset",
        "Its options `startTimestamp` or `rowsPerBatch` were changed while an uncommitted batch "
        "has to be run again.",
        ("Editing the offset: it is compared with the options.",),
        ("Set the source's options back to what they were.",),
        conditions=("MALFORMED_STATE_IN_RATE_PER_MICRO_BATCH_SOURCE",),
        fragments=("assertion failed: startTimestamp(#) > endTimestamp(#)",),
        codes=("HF2241", "HF2215"),
    ),
)


SINK_PAGES: tuple[Page, ...] = (
    Page(
        "file-sink-log-missing",
        "the file sink's log lacks an entry that compaction needs",
        "`_spark_metadata` is in the output directory and belongs to one checkpoint. The output "
        "was changed to a new directory, or its log was removed; at the next tenth batch Spark "
        "wants to merge entries that are not there.",
        (
            "Removing `_spark_metadata`, or what is left of it: readers then see files of failed "
            "attempts, and the missing entries stay missing.",
            "A new checkpoint over the old output: its batches have ids that the log already "
            "holds, and all new rows are discarded without an error (0 of 3 were visible).",
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
        "Spark 2 escaped spaces and special characters in the output's path twice, so "
        "`_spark_metadata` is in a twin directory. Without it, readers would see files of failed "
        "attempts.",
        ("Switching `escapedPathCheck` off: a second log would begin next to the first.",),
        ("Stop the query, and move the twin's `_spark_metadata` into the real output folder.",),
        conditions=("_LEGACY_ERROR_TEMP_2200",),
        fragments=(
            'we detected a possible problem with the location of your "_spark_metadata" directory',
        ),
        unseen="the log is in the output directory, not in the checkpoint",
    ),
    Page(
        "file-sink-log-unreadable",
        "the file sink's log in the output directory cannot be read",
        "An entry of `_spark_metadata` is truncated, empty or not text. Every Spark reader of "
        "that directory fails too.",
        (
            "Removing `_spark_metadata` so that reading works again: failed attempts then show up "
            "as duplicated rows, and the query that writes there breaks at its next compaction.",
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
        "this sink cannot be written by a stream",
        "The data source has a writer for batches only; JDBC is the usual one.",
        (
            "`append` to it in foreachBatch without more: after a crash between write and commit "
            "the batch is written twice.",
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
