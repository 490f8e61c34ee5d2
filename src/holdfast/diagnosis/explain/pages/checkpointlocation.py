"""Pages: where the checkpoint lies, and how its files are reached."""

from __future__ import annotations

from holdfast.diagnosis.explain.pages.page import Page

PAGES: tuple[Page, ...] = (
    Page(
        "checkpoint-location-not-given",
        "the query has no checkpoint location",
        "This sink can't run without a checkpoint and none was named. Other sinks take a temporary "
        "folder instead, which is worse: such a query starts from nothing each time.",
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
        "this sink can't continue from a checkpoint",
        "Console, memory in append mode and some test sinks keep nothing that a second start could "
        "join, so Spark refuses a checkpoint that already has batches.",
        (
            "Spark's text says to delete the folder; if another query with a real sink uses that "
            "folder too, its progress goes with it.",
        ),
        (
            "See whose checkpoint it is: `holdfast inspect CHECKPOINT`.",
            "Give the trial query a folder of its own, or none; in production use a sink that "
            "keeps what it wrote.",
        ),
        conditions=("_LEGACY_ERROR_TEMP_1299",),
        fragments=("This query does not support recovering from checkpoint location",),
        unseen="it lies in the choice of sink, which the folder does not tell",
    ),
    Page(
        "checkpoint-path-escaped",
        "an old Spark kept the checkpoint under an escaped name",
        "Spark 2 escaped blanks and signs in the checkpoint's path three times. A newer one looks "
        "at the plain path, finds the twin with `%252520` or the like, and refuses to start.",
        (
            "`spark.sql.streaming.checkpoint.escapedPathCheck.enabled=false` starts from nothing "
            "beside the old progress.",
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
        "the class that writes checkpoint files can't be loaded",
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
        "Spark writes an entry under a temporary name and renames it. The storage refused: another "
        "writer, an object store whose renames are not atomic, or an interrupted connection. The "
        "plan or the receipt of this batch is not there; the batch may be in the sink.",
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
            "Opening the folder to everybody, or copying it to where one may write: two copies "
            "then claim one identity.",
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
