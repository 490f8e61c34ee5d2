"""HF24xx: a checkpoint with what its sink remembers, and several checkpoints together."""

from __future__ import annotations

from holdfast.codes.code import Code
from holdfast.installing import pip_line

_ASK_SINK = "compare what the sink holds with the offsets of these batches before the next start"
_NO_OTHER_OUTPUT = (
    "do not copy entries of another output into it: readers do not find the files that they name"
)
_KEEP_BOTH = "keep a checkpoint and its output together: both as they were, or both new"

SINK_CODES: tuple[Code, ...] = (
    Code(
        "HF2401",
        "a new checkpoint writes to an output of an older one",
        "the file sink's log remembers batch ids, but no query: it takes the new batches with ids "
        "up to its newest for done and throws their rows away, without an error",
        (
            "bring back the checkpoint that belongs to this output",
            "or use a new checkpoint and a new output folder together",
            "do not give only a new output folder to a checkpoint that has run: the rows of its "
            "batches were thrown away, and it does not read them again",
        ),
    ),
    Code(
        "HF2402",
        "the sink is ahead of the checkpoint",
        "the checkpoint was rolled back, or its newest offsets are gone: Spark would plan these "
        "ids anew, and the file sink would throw away whatever they then hold",
        (
            "put the newest entries of the checkpoint back from a backup",
            _ASK_SINK,
        ),
    ),
    Code(
        "HF2403",
        "the file sink's log lacks entries",
        "Spark stops at the next compaction with BATCH_METADATA_NOT_FOUND (before 4.0: 'doesn't "
        "exist when compacting batch'), hours later perhaps; spark.read on the output fails now. "
        "An old checkpoint on a new output looks like this, and a log that was deleted",
        (
            "put the missing entries of _spark_metadata back from a backup of this output",
            _NO_OTHER_OUTPUT,
            _KEEP_BOTH,
        ),
    ),
    Code(
        "HF2404",
        "the checkpoint is ahead of the sink",
        "batches are committed that the sink's log does not hold: readers through the log do not "
        "see their rows, and Spark will not deliver them again. After the next batch the log has a "
        "gap, and reading the output fails",
        (
            "put the newest entries of _spark_metadata back from a backup",
            "the data files of these batches may still lie in the folder: compare before anything "
            "else",
        ),
    ),
    Code(
        "HF2405",
        "batches were thrown away by the sink",
        "the sink's entries of these ids are older than the batches themselves: they belong to an "
        "earlier checkpoint, and the rows of the later batches were never written",
        (
            "stop the query; read these batches again from the source into another place: their "
            "offsets tell which data it is",
            _KEEP_BOTH,
        ),
    ),
    Code(
        "HF2406",
        "the file sink's log has grown large",
        "every compaction reads and writes all of it in the driver: each tenth batch is slow, and "
        "at some size the driver runs out of memory",
        (
            "write to a table format, with a new output and a new checkpoint together",
            "do not set the sink's option retention unless readers can do without old files: they "
            "disappear from every reader",
        ),
    ),
    Code(
        "HF2407",
        "the output holds no memory of batches",
        "for Spark's file sink: its log was deleted, or the output is new. The query goes on, but "
        "after its next batch reading the output fails, and the next compaction fails too. For "
        "foreachBatch: nothing keeps a batch that is run again from being written twice",
        (
            "file sink: put _spark_metadata back from a backup of this output",
            _NO_OTHER_OUTPUT,
            "foreachBatch: keep the batch id with the rows, in one transaction",
        ),
    ),
    Code(
        "HF2248",
        "the Delta table that earlier batches were written to is not there",
        "a committed batch is never delivered again: a table created now would begin with the next "
        "batch, and every row before it is missing",
        (
            "put the table back, with its _delta_log, from a backup",
            "or correct the sink's path, if it was changed by mistake",
        ),
    ),
    Code(
        "HF2408",
        "an entry of the sink's log can't be read",
        "readers of the output stop at it, and so does Spark when it compacts",
        ("put the file back byte-identical from a backup",),
    ),
    Code(
        "HF2411",
        "the Delta table is ahead of the checkpoint",
        "the table holds later batches of this query id: Delta skips a batch that it knows ("
        "'Skipping already complete epoch', at INFO), so that whatever the ids are planned with "
        "next is lost",
        (
            "put the newest entries of the checkpoint back from a backup",
            "RESTORE and DELETE do not take transaction identifiers back: do not rely on them",
        ),
    ),
    Code(
        "HF2412",
        "the Delta table does not know this query id",
        "Delta tells repeated batches by the query id: under a new one everything that is read "
        "again is appended again",
        (
            "if the checkpoint was deleted: restore it from a backup (holdfast backups TARGET)",
            "do not write the id that the table knows into a new checkpoint: Spark would plan "
            "batches that the table has under that id, and Delta drops their rows without an error",
            "if another job writes this table too, and this checkpoint is new on purpose: nothing",
        ),
    ),
    Code(
        "HF2413",
        "a fixed application id in the Delta table is ahead of this checkpoint",
        "foreachBatch with a fixed txnAppId and a new checkpoint: all writes are ignored until the "
        "batch ids pass the old ones, without an error",
        (
            "if the checkpoint was lost: restore it from a backup (holdfast backups TARGET)",
            "if it is new on purpose and reads only data that the table does not have: use another "
            "txnAppId from its first batch on, such as one that holds the query id",
            "do not use another txnAppId to read the same data again: every row is then written "
            "twice",
        ),
    ),
    Code(
        "HF2414",
        "the checkpoint is ahead of the Delta table",
        "batches are committed that the table does not hold under this query id: the table was "
        "made anew or brought back from an older copy, and Spark will not deliver them again",
        (_ASK_SINK,),
    ),
    Code(
        "HF2415",
        "the Delta table forgets transaction identifiers",
        "Delta skips a batch only while its identifier is younger than the table's "
        "delta.setTransactionRetentionDuration; a batch that runs again later is written twice",
        ("keep the retention longer than the job is ever stopped",),
    ),
    Code(
        "HF2416",
        "a part of the Delta log could not be read",
        "versions that were cleaned away stand in a checkpoint of the log, which is Parquet; where "
        "it is missing, damaged or can't be read, what the table remembers of this query is not "
        "known for certain",
        (
            f"where pyarrow is missing: {pip_line('delta')}",
            "ask the table itself: its snapshot's transaction version of the query id",
        ),
    ),
    Code(
        "HF2417",
        "a Delta table has the same batches under two query ids",
        "a checkpoint that is deleted gets another query id at the next start, reads its source "
        "again and appends everything a second time: Delta knows repeated batches by the query id "
        "alone. Two jobs that append to one table from different sources look alike; that is a "
        "note where the job was started with --accept shared-sink",
        (
            "find out whether another job wrote the other batches on purpose",
            "look for rows that are there twice: the evidence names the batches, and DESCRIBE "
            "HISTORY of the table their versions (queryId and epochId)",
        ),
    ),
    Code(
        "HF2418",
        "a Delta table ignored committed batches",
        "the table had these batch ids of this query before they were planned: the checkpoint was "
        "rolled back, or begun again under the same id. Delta skipped the later rows without an "
        "error, and Spark does not deliver them again",
        (
            "compare the table with the offsets of these batches, which say which data it is: "
            "holdfast inspect TARGET",
        ),
    ),
    Code(
        "HF2421",
        "two checkpoints have one query id",
        "one is a copy of the other. Each alone goes on well; both on one sink make each other's "
        "batches look done, and rows are lost without an error",
        (
            "run only the one with the newer batches (holdfast diff ONE OTHER); keep the other as "
            "a backup, out of every job's reach",
            "do not run the older one on the same sink: it plans batches that the sink has, and "
            "their rows are lost",
        ),
    ),
    Code(
        "HF2422",
        "two jobs write to one folder",
        "Spark's file sink keeps one log a folder, with batch ids and no query: the second job's "
        "batches are taken for done and thrown away",
        (
            "before its first batch: give each job an output folder of its own",
            "a job that wrote there as the second one: a new output and a new checkpoint together",
        ),
    ),
    Code(
        "HF2431",
        "the sink could not be read",
        "what can't be seen can't be judged: whether checkpoint and sink fit is unknown",
        ("run as the user that runs the job, or give this user read access to the output",),
    ),
)
