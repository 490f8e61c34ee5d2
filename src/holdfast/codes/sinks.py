"""HF24xx: a checkpoint with what its sink remembers, and several checkpoints together."""

from __future__ import annotations

from holdfast.codes.code import Code

_ASK_SINK = "compare what the sink holds with the offsets of these batches before the next start"
_KEEP_BOTH = "keep a checkpoint and its output together: both as they were, or both new"

SINK_CODES: tuple[Code, ...] = (
    Code(
        "HF2401",
        "a new checkpoint writes to an output of an older one",
        "the file sink's log remembers batch ids, but no query: it takes the new batches with ids "
        "up to its newest for done and throws their rows away, without an error",
        (
            "stop the query; give the new checkpoint a new output folder",
            "or bring back the checkpoint that belongs to this output",
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
            "put the missing entries of _spark_metadata back from a backup or the old output",
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
            "set the sink's option retention, if readers can do without old files",
            "or write to a table format, with a new output and a new checkpoint together",
        ),
    ),
    Code(
        "HF2407",
        "the output holds no memory of batches",
        "for Spark's file sink: its log was deleted, or the output is new. The query goes on, but "
        "after its next batch reading the output fails, and the next compaction fails too. For "
        "foreachBatch: nothing keeps a batch that is run again from being written twice",
        (
            "file sink: put _spark_metadata back from a backup or the old output",
            "foreachBatch: keep the batch id with the rows, in one transaction",
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
            "if metadata was lost or made anew: write the id that the table knows back into it",
            "if the checkpoint is new on purpose: let it begin where the old one ended",
        ),
    ),
    Code(
        "HF2413",
        "a fixed application id in the Delta table is ahead of this checkpoint",
        "foreachBatch with a fixed txnAppId and a new checkpoint: all writes are ignored until the "
        "batch ids pass the old ones, without an error",
        ("use another txnAppId with each new checkpoint, such as one that holds the query id",),
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
        "a batch that is run again after its identifier expired is written twice",
        ("keep the retention longer than the job is ever stopped",),
    ),
    Code(
        "HF2416",
        "a part of the Delta log could not be read",
        "versions that were cleaned away stand in a checkpoint of the log, which is Parquet; where "
        "it is missing, damaged or can't be read, what the table remembers of this query is not "
        "known for certain",
        (
            'where pyarrow is missing: pip install "holdfast[delta]"',
            "ask the table itself: its snapshot's transaction version of the query id",
        ),
    ),
    Code(
        "HF2421",
        "two checkpoints have one query id",
        "one is a copy of the other. Each alone goes on well; both on one sink make each other's "
        "batches look done, and rows are lost without an error",
        ("run only one of them; keep the other as a backup, out of every job's reach",),
    ),
    Code(
        "HF2422",
        "two jobs write to one folder",
        "Spark's file sink keeps one log a folder, with batch ids and no query: the second job's "
        "batches are taken for done and thrown away",
        ("give each job an output folder of its own",),
    ),
    Code(
        "HF2431",
        "the sink could not be read",
        "what can't be seen can't be judged: whether checkpoint and sink fit is unknown",
        ("run as the user that runs the job, or give this user read access to the output",),
    ),
)
