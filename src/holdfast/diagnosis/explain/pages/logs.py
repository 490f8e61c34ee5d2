"""Pages: the offsets and commits logs, their gaps and damaged entries."""

from __future__ import annotations

from holdfast.diagnosis.explain.pages import Page

PAGES: tuple[Page, ...] = (
    Page(
        "batch-does-not-exist",
        "an entry that Spark needs of a log is missing",
        "Spark needs the two newest entries of `offsets/` to know where a batch begins and ends, "
        "and a file source needs the entries of its own log under `sources/`. One of them was lost "
        "or removed. With async progress tracking the ids have gaps by nature, and a start without "
        "it stops here as well.",
        (
            "Spark's own log line advises to delete offsets by hand until two neighbours remain: "
            "measured with the file sink that lost rows (6 of 7), because the batch was planned "
            "again with an id that the sink already knew.",
            "A fresh checkpoint throws away position, state and query id at once, for one file.",
        ),
        (
            "`holdfast inspect CHECKPOINT` names the missing file; put it back byte-identical from "
            "a backup, or from a copy that versioning of the storage still holds.",
            "If the query ran with async progress tracking: start it with that option again and an "
            "interval of 0 for two batches, then without it.",
        ),
        fragments=(
            "IllegalStateException: batch # doesn't exist",
            "batch # doesn't exist",
            "requirement failed: Previous batch # not found in offset log",
        ),
        codes=(
            "HF2204",
            "HF2205",
            "HF2206",
            "HF2216",
            "HF2331",
        ),
    ),
    Page(
        "offsets-entry-empty",
        "the newest offsets entry has no bytes",
        "The plan of the newest batch was created but its content never arrived: a full disk, a "
        "lost write or a copy that broke off. Offsets are written before the sink is called, so "
        "without a commit of the same id that batch never reached the sink.",
        (
            "`Delete the checkpoint` is the usual answer; only this one plan is damaged, and "
            "everything else would be lost with it.",
            "Filling the file with the content of its neighbour makes Spark run another range "
            "under this id.",
        ),
        (
            "Put the entry back byte-identical from a backup or the storage's versions.",
            "Look whether `commits/` or the sink knows the same id (`holdfast inspect`, then the "
            "sink's own log). If either does, only the original bytes are safe.",
            "Look for the cause: free space, quotas, and jobs that copy into this folder.",
        ),
        fragments=(
            "Failed to read log file <path>/offsets/#. Incomplete log file",
            "/offsets/#. Incomplete log file",
            "IllegalStateException: Incomplete log file",
        ),
        codes=("HF2101",),
    ),
    Page(
        "commit-entry-empty",
        "the newest commit has no bytes",
        "The commit entry of the newest batch is empty. The batch is probably in the sink, but "
        "Spark cannot prove it.",
        (
            "Removing the empty commit re-runs the batch with the same offsets: right for a sink "
            "that knows batch ids, duplicated rows in a foreachBatch append. Do not do it before "
            "you have checked the sink.",
            "Writing a commit by hand declares a batch done that may not be.",
        ),
        (
            "Put the commit back byte-identical from a backup.",
            "Without a copy, ask the sink's own record (Delta's transaction, `_spark_metadata`, "
            "your ledger table) whether it has this batch, and keep that answer with the ticket.",
        ),
        fragments=("Incomplete log file in the offset commit log",),
        codes=("HF2101",),
    ),
    Page(
        "log-version-line",
        "the first line of a log entry is not a version",
        "Every entry begins with a line such as `v1`. This one begins with something else: it was "
        "truncated, overwritten with zeros, edited, or saved with a byte order mark or different "
        "line endings by an editor.",
        (
            "Adding the line by hand hides that the rest of the file may be damaged too.",
            "Editing entries in a text editor is how byte order marks get in.",
        ),
        (
            "`holdfast inspect CHECKPOINT` shows which entry it is and what it holds.",
            "Put that file back byte-identical from a backup.",
        ),
        conditions=("MALFORMED_LOG_FILE",),
        fragments=("Log file was malformed: failed to read correct log version from",),
        codes=("HF2102", "HF2117"),
    ),
    Page(
        "log-version-too-new",
        "a newer Spark wrote this log entry",
        "The entry has a log version that this Spark cannot read: the job was started with an "
        "older Spark than before, or query evolution or state checkpoint format 2 was switched on "
        "meanwhile. Nothing is damaged.",
        (
            "Changing the version number in the file makes the old Spark misread its content.",
            "A fresh checkpoint is not needed: going back to the newer Spark is enough.",
        ),
        (
            "Start the query with the Spark that ran it last, or a newer one.",
            "Find out which deployment started the older one; "
            "`holdfast inspect CHECKPOINT` shows what wrote the files.",
        ),
        conditions=("INVALID_LOG_VERSION", "INVALID_LOG_VERSION.MAX_SUPPORTED_VERSION"),
        fragments=("UnsupportedLogVersion: maximum supported log version is v#",),
        codes=(
            "HF2103",
            "HF2232",
            "HF2313",
        ),
    ),
    Page(
        "log-version-differs",
        "a commit has a different state checkpoint format than the session",
        "Spark 4.0 and 4.1 read only commits of the version that "
        "`spark.sql.streaming.stateStore.checkpointFormatVersion` selects; the setting is not "
        "pinned by the checkpoint. Version 2 commits hold the ids of state files.",
        (
            "Rewriting `v2` to `v1` drops the ids without which state of format 2 cannot be found.",
            "Switching the setting back and forth leaves a log of both versions.",
        ),
        (
            "Set `spark.sql.streaming.stateStore.checkpointFormatVersion` to what the commits say "
            "(`holdfast inspect` shows the versions) and start again.",
            "From 4.3 on the newest commit decides and the setting no longer matters.",
        ),
        conditions=("INVALID_LOG_VERSION.EXACT_MATCH_VERSION",),
        codes=("HF2232", "HF2103"),
    ),
    Page(
        "offsets-entry-not-json",
        "an offsets entry cannot be parsed",
        "The newest entry of `offsets/` has JSON that is truncated, misses a field or is of "
        "another source. Spark's message names no file. It is a damaged file, or the kind of "
        "source was changed in the code so that the old offset no longer fits.",
        (
            "Guessing offsets and writing them in makes Spark run another range under a known id.",
            "Searching the data for bad JSON: the records are not meant, the checkpoint is.",
        ),
        (
            "`holdfast inspect CHECKPOINT` names the file and the field.",
            "If the source was changed from one kind to another, take that change back.",
            "Else put the file back byte-identical from a backup.",
        ),
        fragments=(
            "com.fasterxml.jackson … OffsetSeq",
            "org.json#s.MappingException … OffsetSeq",
            "MappingException: No usable value for logOffset",
            "MappingException: Did not find value which can be converted into long",
            "MappingException: Do not know how to convert J … into long",
            "com.fasterxml.jackson … MicroBatchExecution.populateStartOffsets",
            "org.json#s.MappingException … FileStreamSourceOffset",
            "com.fasterxml.jackson … FileStreamSourceOffset",
            "com.fasterxml.jackson … SerializedOffset",
            'FileStreamSourceOffset.logOffset()" because the return value of … is null',
        ),
        codes=("HF2105", "HF2106", "HF2107", "HF2241"),
    ),
    Page(
        "log-entry-not-text",
        "a log entry is not UTF-8",
        "Bytes in an entry of a log are not text: it was overwritten, encrypted, compressed or "
        "damaged in place.",
        (
            "Converting the file with a tool changes bytes that may still be right.",
            "Restarting again and again: Spark reads the same bytes each time.",
        ),
        (
            "`holdfast inspect CHECKPOINT` shows which file it is.",
            "Put it back byte-identical from a backup, and check the disk or the copy job.",
        ),
        fragments=("java.nio.charset.MalformedInputException: Input length = # … streaming",),
        codes=("HF2104",),
    ),
    Page(
        "offsets-entry-without-settings",
        "an offsets entry lacks its line of settings",
        "The second line of an offsets entry holds the watermark, the batch's time and the pinned "
        "settings. It is empty or null here, and Spark stumbles over it with an error that names "
        "its own variables only.",
        (
            "Copying the line of another batch gives this one a wrong watermark and time.",
            "Reporting it as a bug of Spark: the file is damaged.",
        ),
        ("Put the entry back byte-identical from a backup; `holdfast inspect` names it.",),
        fragments=(
            "requirement failed: Batch # metadata not found",
            "VERSION_# offset log requires metadata",
            'OffsetSeqMetadata … conf()" because "metadata',
            'MicroBatchExecution.watermarkTracker()" is null',
        ),
        codes=("HF2237", "HF2106"),
    ),
    Page(
        "commit-entry-null",
        "a commit holds null where its content belongs",
        "The newest commit exists but is `null`, so Spark cannot read the next watermark or the "
        "ids of state files from it.",
        (
            "Replacing null by `{}` resets the watermark of the next batch to zero.",
            "Removing this commit runs the batch a second time into the sink.",
        ),
        ("Put the commit back byte-identical from a backup.",),
        fragments=('CommitMetadata … because "commitMetadata" is null',),
        codes=("HF2106", "HF2237"),
    ),
    Page(
        "offset-map-format",
        "a line of a version 2 offsets entry is not `source: offset`",
        "Offset log version 2, which named sources use, holds one `name:offset` line for each "
        "source. One line is blank or has no colon; an editor that adds a newline is enough.",
        (
            "Opening and saving the file once more: editors are what put the line there.",
            "Going back to version 1 by hand loses which offset belongs to which source.",
        ),
        ("Put the entry back byte-identical from a backup.",),
        fragments=("Invalid OffsetMap format",),
        codes=("HF2106", "HF2110"),
    ),
    Page(
        "log-entry-file-missing",
        "a file has the name of a log entry, but not exactly",
        "Spark lists a log, takes every name that is a number, and then opens the number's plain "
        "name. A file such as `007` or a copy made by hand makes it look for one that is "
        "not there.",
        (
            "Creating the file that Spark reports as missing: it would become the newest plan of "
            "the query.",
            "Renaming entries so that the numbers look right.",
        ),
        (
            "`holdfast inspect CHECKPOINT` lists names that no Spark writes (HF2213). An "
            "entry that "
            "was renamed gets its own name back; a copy goes back to where it came from.",
            "Find the tool or the person that writes into this folder.",
        ),
        fragments=(
            "FileNotFoundException: File <path>/offsets/# does not exist",
            "FileNotFoundException: File file:<path>/offsets/# does not exist",
            "/offsets/# does not exist",
            "/commits/# does not exist",
        ),
        codes=("HF2213", "HF2212"),
    ),
    Page(
        "offsets-gone-commits-kept",
        "there are commits but no offsets",
        "Spark found commits but no plan of any batch, and fails with a bare assertion. The "
        "directory `offsets/` was emptied or is not the one that belongs to these commits.",
        (
            "Emptying `commits/` too makes the query begin at batch 0, ids that the sink knows: "
            "the file sink then throws the new rows away silently, others get them twice.",
            "Turning the check off only moves the failure behind the sink.",
        ),
        (
            "Put `offsets/` back from a backup.",
            "Look for a clean-up job or a lifecycle rule over the checkpoint's folder.",
        ),
        fragments=(
            "AssertionError: assertion failed at scala.Predef$.assert at "
            "org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution",
        ),
        codes=("HF2208", "HF2203"),
    ),
    Page(
        "number-of-sources",
        "the number of sources differs between the query and the checkpoint",
        "Offsets are stored by position, one for each occurrence of a source in the plan. The code "
        "now has more or fewer: one was added, or one table is read in several branches where it "
        "was read once.",
        (
            "Adding or cutting lines of the offsets entry by hand: the wrong line then belongs to "
            "the wrong source, and Spark does not notice.",
            "Swapping the inputs of a union to make it start: no error, and all is read again.",
        ),
        (
            "Take the change back, or read each source once and branch after it.",
            "Run the added source as a query of its own, with its own checkpoint and output.",
            "For new queries on 4.2 and later: named sources make adding and dropping legal.",
        ),
        fragments=(
            "There are [#] sources in the checkpoint offsets and now there are [#] sources "
            "requested by the query",
        ),
        codes=(
            "HF2214",
            "HF2323",
        ),
    ),
)
