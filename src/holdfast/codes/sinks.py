"""HF24xx: a checkpoint with what its sink remembers, Holdfast's own ledgers among it."""

from __future__ import annotations

from holdfast.codes.code import Code
from holdfast.wording import pip_line

_ASK_SINK = "compare what the sink holds with the offsets of these batches before the next start"
_NO_OTHER_OUTPUT = (
    "do not copy entries of another output into it: readers do not find the files that they name"
)
_KEEP_BOTH = "keep a checkpoint and its output together: both as they were, or both new"

SINK_CODES: tuple[Code, ...] = (
    Code(
        "HF2401",
        "a new checkpoint writes to an output of an older one",
        "the file sink's log records batch ids, but no query: it counts the new batches with "
        "ids up to its newest as done and discards their rows, without an error",
        (
            "bring back the checkpoint that belongs to this output: holdfast backups TARGET",
            "or use a new checkpoint and a new output directory together",
            "do not give only a new output directory to a checkpoint that has run: the rows of "
            "its batches were thrown away, and it does not read them again",
        ),
    ),
    Code(
        "HF2402",
        "the sink is ahead of the checkpoint",
        "the checkpoint was rolled back, or its newest offsets are gone: Spark would plan these "
        "ids again, and the file sink would discard the rows of these batches",
        (
            "put the newest entries of the checkpoint back from a backup: holdfast backups TARGET",
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
        "batches are committed that are missing from the sink's log: readers through the log do "
        "not see their rows, and Spark will not deliver them again. After the next batch the "
        "log has a gap, and reading the output fails",
        (
            "put the newest entries of _spark_metadata back from a backup",
            "the data files of these batches may still be in the directory: compare before "
            "anything else",
        ),
    ),
    Code(
        "HF2405",
        "the sink discarded batches",
        "the sink's entries of these ids are older than the batches themselves: they belong to an "
        "earlier checkpoint, and the rows of the later batches were never written",
        (
            "stop the query; read these batches again from the source into another place: their "
            "offsets show which data it is",
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
        "the output has no record of batches",
        "for Spark's file sink: its log was deleted, or the output is new. The query continues, "
        "but after its next batch reading the output fails, and the next compaction fails too. "
        "For foreachBatch: nothing keeps a batch that is run again from being written twice",
        (
            "file sink: put _spark_metadata back from a backup of this output",
            _NO_OTHER_OUTPUT,
            "foreachBatch: keep the batch id with the rows, in one transaction",
        ),
    ),
    Code(
        "HF2248",
        "the Delta table that earlier batches were written to does not exist",
        "a committed batch is never delivered again: a table created now would begin with the next "
        "batch, and every row before it is missing",
        (
            "put the table back, with its _delta_log, from a backup",
            "or correct the sink's path, if it was changed by mistake",
        ),
    ),
    Code(
        "HF2408",
        "an entry of the sink's log cannot be read",
        "readers of the output stop at it, and so does Spark when it compacts",
        ("put the file back byte-identical from a backup",),
    ),
    Code(
        "HF2411",
        "the Delta table is ahead of the checkpoint",
        "the table has later batches of this query id: Delta skips a batch that it knows "
        "('Skipping already complete epoch', at INFO), so that the rows of the next batches "
        "with these ids are lost",
        (
            "put the newest entries of the checkpoint back from a backup: holdfast backups TARGET",
            "RESTORE and DELETE do not undo transaction identifiers: do not rely on them",
        ),
    ),
    Code(
        "HF2412",
        "the Delta table does not know this query id",
        "Delta recognizes repeated batches by the query id: under a new one everything that is "
        "read again is appended again",
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
        "batches are committed that are not in the table under this query id: the table was "
        "created again or restored from an older copy, and Spark will not deliver them again",
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
        "versions that were cleaned up are in a checkpoint of the log, which is Parquet; where "
        "it is missing, damaged or unreadable, the batches that the table has of this query are "
        "not known for certain",
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
        "one is a copy of the other. Each alone continues correctly; both on one sink make each "
        "other's batches look done, and rows are lost without an error",
        (
            "run only the one with the newer batches (holdfast diff ONE OTHER); keep the other as "
            "a backup, out of every job's reach",
            "do not run the older one on the same sink: it plans batches that the sink has, and "
            "their rows are lost",
        ),
    ),
    Code(
        "HF2422",
        "two jobs write to one directory",
        "Spark's file sink keeps one log per directory, with batch ids and no query: the second "
        "job's batches count as done and are discarded",
        (
            "before its first batch: give each job an output directory of its own",
            "a job that wrote there as the second one: a new output and a new checkpoint together",
        ),
    ),
    Code(
        "HF2431",
        "the sink could not be read",
        "whether checkpoint and sink fit together is unknown",
        ("run as the user that runs the job, or give this user read access to the output",),
    ),
)


_BACKUP = "put the newest entries of the checkpoint back from a backup: holdfast backups TARGET"
_MISSING_MANIFESTS = (
    "put the missing manifests back next to the output, and leave the newer ones as they are"
)

OWN_LEDGER_CODES: tuple[Code, ...] = (
    Code(
        "HF2441",
        "the sink's ledger is ahead of the checkpoint",
        "the checkpoint was rolled back, or its newest offsets are gone: Spark would plan these "
        "ids again with other data. `holdfast run` refuses the start (HF3005)",
        (_BACKUP, "let no other program start the query meanwhile"),
    ),
    Code(
        "HF2442",
        "the checkpoint is ahead of the sink's ledger",
        "batches are committed that are not in the sink under this query id: it was created "
        "again or restored from an older copy, and Spark will not deliver them again. `holdfast "
        "run` refuses the start (HF3006)",
        ("compare what the sink holds with the offsets of these batches before the next start",),
    ),
    Code(
        "HF2443",
        "the sink's ledger does not know this query id",
        "repeated batches are recognized by the query id: under a new one everything that is "
        "read again is written again",
        (
            "if the checkpoint was deleted: restore it from a backup (holdfast backups TARGET)",
            "do not write the id that the sink knows into a new checkpoint: it would plan batches "
            "that the sink has, and `holdfast run` refuses it",
            "if the checkpoint is new on purpose: give the job a name and an output of its own",
        ),
    ),
    Code(
        "HF2451",
        "a committed batch is not published to its last file",
        "its manifest is written, and some of its files are still in staging: a reader that "
        "lists the directory sees a part of the batch",
        ("start the job again: what is committed is published first, nothing is computed again",),
    ),
    Code(
        "HF2452",
        "files that a manifest names are gone",
        "the batch was published, and readers of the directory miss these rows now. A retention "
        "job that removes old files leaves the same trace",
        (
            "where no retention job did it: bring the files back from a copy of the output",
            "keep other programs away from the output directory",
        ),
    ),
    Code(
        "HF2453",
        "a published file is not the one that was committed",
        "its size differs from the manifest's: somebody wrote or cut it, and readers see other "
        "rows than the batch had",
        (
            "bring the file back from a copy of the output",
            "keep other programs away from the output directory",
        ),
    ),
    Code(
        "HF2454",
        "there are files in the output directory that no manifest names",
        "readers that list the directory read them as rows, and no batch of this sink wrote them",
        (
            "find out who wrote them; if another writer did, move them to a place outside of the "
            "output",
            "do not move them where a manifest is missing or unreadable (HF2455, HF2456): they may "
            "be the rows of that batch",
            "give every writer a directory of its own",
        ),
    ),
    Code(
        "HF2455",
        "a manifest cannot be read",
        "whether the sink has this batch, and with which files, is unknown without it; the job "
        "stops when it needs to know (HF5023)",
        ("bring the file back as it was", "or use the newer version of Holdfast that wrote it"),
    ),
    Code(
        "HF2456",
        "the manifests of a query have a gap",
        "every batch has a manifest, also an empty one: a missing one was lost, and its rows with "
        "it unless its files are still published",
        (_MISSING_MANIFESTS, "compare the rows of the batches around the gap with the source"),
    ),
    Code(
        "HF2457",
        "there is something in staging that no attempt of this sink left",
        "it is never published and never removed; it only takes room",
        ("find out who wrote it; staging belongs to the sink alone",),
    ),
    Code(
        "HF2458",
        "batches of the sink were rewound or cleared",
        "a rewind or clear that was not finished leaves files that readers of the directory may "
        "still see. A driver that came late leaves void manifests, which do not count",
        (
            "if it is not finished, start the job again: it is finished before anything is written",
            "void manifests need nothing: the next rewind or clear removes them",
        ),
    ),
    Code(
        "HF2459",
        "an attempt left files in staging",
        "a driver was killed before it committed the batch. They are invisible to readers, and go "
        "when the batch is committed",
        ("nothing has to be done: the next commit of this batch removes them",),
    ),
)
