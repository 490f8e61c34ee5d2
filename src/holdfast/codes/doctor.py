"""HF23xx: a checkpoint with its place and its project; and all that the doctor adds."""

from __future__ import annotations

from holdfast.codes.code import Code
from holdfast.codes.declared import DECLARED_CHANGE_CODES, RECORDED_CODES, SOURCE_OFFSET_CODES
from holdfast.codes.sinks import OWN_LEDGER_CODES, SINK_CODES

PLACE_CODES: tuple[Code, ...] = (
    Code(
        "HF2301",
        "the checkpoint's path looks like it changes on every start",
        "a date, a random id or an application's id in the path changes with the next submission: "
        "the query would begin again, and deliver again what it delivered before",
        ("give the query one fixed path permanently; adopt this one as it is",),
    ),
    Code(
        "HF2302",
        "the checkpoint or the output is in a temporary directory",
        "such directories are emptied at a reboot or by a clean-up, and a query without a "
        "checkpointLocation gets another one at its next start: progress and state are lost",
        (
            "name a lasting checkpointLocation, and bring this checkpoint there while nothing runs",
            "do not move a checkpoint of transformWithState: its schema files are recorded under "
            "the old path, and the start fails (HF2225)",
        ),
    ),
    Code(
        "HF2303",
        "a file was written but never renamed to its final name",
        "Spark writes under a temporary name and renames; the rename did not happen, or had no "
        "effect on this storage. Nothing reads the left-over",
        (
            "where the entry is still missing: look at the driver's log for a failed rename",
            "on an object store: compare spark.sql.streaming.checkpointFileManagerClass with what "
            "its vendor names",
        ),
    ),
    Code(
        "HF2304",
        "a file source's log has grown large",
        "it keeps every file ever read: each compaction rewrites it, and each start reads all "
        "of it into the driver's memory",
        (
            "give the driver enough memory for it; the log itself does not shrink, whatever "
            "cleanSource and maxFileAge are set to",
        ),
    ),
    Code(
        "HF2305",
        "an escaped twin of this path exists",
        "Spark 2 kept a path with blanks or % under a name that it had escaped three times, "
        "each directory of the path alike; a later release that finds such a directory stops: "
        "'we detected a possible problem with the location of your checkpoint'",
        (
            "find out which of the two has the newer batches: holdfast diff ONE OTHER",
            "bring the one with the progress to the path that the query names, and the other to a "
            "place of its own, while nothing runs",
        ),
    ),
    Code(
        "HF2306",
        "a stream-stream join keeps its state in format 1",
        "an inner join continues with it. Every release since Spark 3.0 refuses any other join "
        "over it when it plans the batch: 'stream-stream … join with state format version 1', "
        "because such a row does not say whether it was matched. From 4.1 on an inner join is "
        "refused too where the state has no schema files ('Unsupported schema writer version: 1')",
        (
            "keep the join an inner one",
            "or start the outer join with a new checkpoint and a new output together: it reads its "
            "sources from the beginning",
        ),
    ),
    Code(
        "HF2307",
        "a batch without new data of a Delta source is pending",
        "old releases of Delta computed the next offset wrongly after a crash in such a batch, and "
        "read almost the whole table again",
        (
            "start with a current release of Delta",
            "watch the first batch after the start: holdfast inspect shows what it takes",
        ),
    ),
    Code(
        "HF2308",
        "the compaction interval of a log changed",
        "Spark derives the interval from the compact files that are there, so current releases "
        "continue correctly; before 2.1 a wrong file was taken for a compact one",
        ("nothing needs to be done",),
    ),
    Code(
        "HF2309",
        "many changes of state follow the newest snapshot",
        "each load replays all of them. Snapshots are written by a background task of a running "
        "executor: a job that ends within a minute never gets to it",
        ("shorten spark.sql.streaming.stateStore.maintenanceInterval, or let one run last longer",),
    ),
    Code(
        "HF2310",
        "a connector keeps a log in the checkpoint that only grows",
        "every batch adds to it and nothing removes from it; listing gets slower with the months",
        ("see the connector's options for cleaning its log",),
    ),
    Code(
        "HF2311",
        "a Kinesis source lacks the shards of its newest batch",
        "the connector reads sources/…/shard-commit of the last batch to continue, and fails "
        "without it",
        ("put the missing file back byte-identical from a backup",),
    ),
    Code(
        "HF2312",
        "the release that wrote this has a known fault with such checkpoints",
        "a fault of the engine, not of this checkpoint: it shows after a crash or a task's retry",
        ("find out which release of Spark has the fix, before the next incident",),
    ),
    Code(
        "HF2313",
        "only recent releases of Spark read these logs",
        "an older release stops with a message about the maximum supported log version",
        ("do not start this query with an older Spark",),
    ),
    Code(
        "HF2314",
        "a RocksDB snapshot does not match the tables next to it",
        "Spark opens the snapshot and loads the tables that it names; a snapshot that cannot be "
        "opened, and a table that is missing or has another size, make the next start fail",
        (
            "put back what the message names, a table or the snapshot (.zip) itself, "
            "byte-identical from a backup: holdfast backups TARGET",
            "check which is wrong where a table has another size: it may be the snapshot",
            "with changelogs on, Spark 4.2 and later fall back to an older snapshot by themselves: "
            "do not start it with an earlier one",
        ),
    ),
    Code(
        "HF2315",
        "there are RocksDB tables here that no snapshot needs",
        "retried tasks leave them, and Spark removes them only when they are older than every "
        "table in use: they cost space, nothing else",
        ("nothing needs to be done",),
    ),
    Code(
        "HF2316",
        "a state file cannot be decoded",
        "each version of the state is a snapshot and every change since then: where one of "
        "these files is damaged, no version that builds on it can be loaded, and a start that "
        "needs one fails. Older versions, and those since a later intact snapshot, are not "
        "affected",
        (
            "put the file back byte-identical from a backup: holdfast backups TARGET",
            "see what is still there: holdfast state TARGET --batch B, with a batch that the "
            "message names",
            "do not remove the file: Spark 4.2 and later pass a damaged snapshot over by "
            "themselves, and nothing replaces a delta or changelog",
        ),
    ),
    Code(
        "HF2317",
        "partitions of the state end at different versions",
        "a committed batch has written a version in every partition of every store: here a part of "
        "a copy is older, or files were lost. Spark loads one version everywhere, and fails where "
        "it is missing",
        ("put the missing files back byte-identical from a backup or the original",),
    ),
    Code(
        "HF2318",
        "rows of the state do not fit their schema file",
        "Spark reads rows by the schema of the query, which it compares with this file alone: with "
        "another file the check passes, and rows are read as what they are not",
        (
            "put the schema file, or the state files, back byte-identical from a backup",
            "do not start the query before: it would write such rows back",
        ),
    ),
    Code(
        "HF2319",
        "state grows, and no watermark ever removes from it",
        "without a watermark Spark keeps every key permanently: memory, the time of each start "
        "and the size of each snapshot keep growing",
        (
            "see which keys there are: holdfast state TARGET --summary",
            "a watermark, or dropDuplicatesWithinWatermark, bounds it; that is a change of the "
            "query: try it on a copy first",
        ),
    ),
    Code(
        "HF2320",
        "state files that the next start loads were not read",
        "damage inside of them would not be seen. Without --verify the doctor reads the state "
        "that the next start loads up to 64 MB and for up to 2 s, and checks the rest by name "
        "and size alone",
        ("holdfast doctor TARGET --verify     (decodes every state file)",),
    ),
    Code(
        "HF2321",
        "the newest files come first, and only some of them",
        "with latestFirst and a limit per batch Spark ignores maxFileAge: every file is read in "
        "the end, but the source's log can never drop one, and keeps growing. Before Spark 2.2, "
        "files that fell behind were never read",
        (
            "after every file that is there was read: take latestFirst away, before the log has "
            "grown",
            "do not take latestFirst or the limit away before: files older than maxFileAge that "
            "were not read yet are then never read",
        ),
    ),
    Code(
        "HF2322",
        "a declared setting has no effect: the checkpoint pins another value",
        "Spark reads these settings from the newest offsets entry and ignores the session's, "
        "with only a warning in the log",
        (
            "declare what is pinned, so that nobody relies on the other value",
            "a change of partitions needs an offline repartition of the state",
        ),
    ),
    Code(
        "HF2323",
        "the declared sources are not those of the checkpoint",
        "Spark matches sources by number and position: it stops with 'There are [x] sources in "
        "the checkpoint offsets', or gives a source the offsets of another one",
        ("give the job the sources that the checkpoint knows, in their order",),
    ),
    Code(
        "HF2324",
        "a file source is declared to read another directory than before",
        "Spark stops with 'Wrong basePath' where the newest batch has files; where it has none, "
        "or two inputs of a union are swapped, it reads everything again without a warning",
        ("declare the directory that was read before, at the same position",),
    ),
    Code(
        "HF2325",
        "a Kafka source is declared to read other topics than before",
        "topics that are gone end in KAFKA_DATA_LOSS.PARTITIONS_DELETED; new ones begin at their "
        "first record, whatever startingOffsets says",
        (
            "declare the topics that the checkpoint knows",
            "do not start it with other topics, not even once: Spark plans a batch of theirs, and "
            "then fails with the former topics as well",
            "a topic may be added to them: it is read from its first record",
        ),
    ),
    Code(
        "HF2326",
        "the sink does not know batches",
        "after a crash between the write and the commit Spark runs the batch again, and such a "
        "sink accepts its rows a second time: at-least-once, by design",
        (
            "make the rows idempotent downstream by a key, or use a sink that keeps the batch id "
            "in the same transaction",
        ),
    ),
    Code(
        "HF2327",
        "lost data of a source is skipped",
        "with failOnDataLoss=false, records that expired or belonged to a topic that was "
        "created again are skipped with only a warning in the log",
        ("set failOnDataLoss to true: the query then stops where data is missing",),
    ),
    Code(
        "HF2349",
        "the project does not set the state store provider of the checkpoint",
        "Spark reads the provider from the newest offsets entry, so this checkpoint continues "
        "with it. A new checkpoint of the same job gets Spark's default, and settings of the "
        "provider itself (rocksdb.*) are not pinned",
        ("compare the settings of the job with what the message says",),
    ),
    Code(
        "HF2351",
        "there is no checkpoint at this path",
        "the path is misspelled, the checkpoint was deleted, or the query was never started. A "
        "query that is started here begins at batch 0 under a new query id; the other findings "
        "show what that means for the sink",
        ("compare the path with checkpointLocation in the job's code",),
    ),
    Code(
        "HF2331",
        "async progress tracking is on",
        "entries are written at most once per interval, not with each batch: latency falls, and "
        "after a crash all batches since the last entry are planned again. Only sinks that do "
        "not know batches allow it, so nothing is exactly-once here",
        (
            "keep it where latency matters more than doubles",
            "before it is turned off: run two batches with "
            "asyncProgressTrackingCheckpointIntervalMs at 0",
        ),
    ),
    Code(
        "HF2332",
        "how RocksDB state is written: whole snapshots or changelogs",
        "a snapshot with every batch uploads more and commits slower; changelogs upload only what "
        "changed, and a load replays them. Exactly-once is the same with both",
        (
            "rocksdb.changelogCheckpointing.enabled can be turned on or off between any two "
            "starts; turn it on where state is large and batches are short",
        ),
    ),
    Code(
        "HF2333",
        "which state checkpoint format is in use",
        "with format 2 the commit names the very files of its state, so that a retried task's "
        "left-over is never read; format 1 knows files by their version alone. Exactly-once in the "
        "sink is the same with both",
        (
            "do not change spark.sql.streaming.stateStore.checkpointFormatVersion on a checkpoint "
            "that has batches: 4.0 to 4.2 stop, 4.3 ignores it. Choose 2 for new RocksDB queries "
            "on 4.3",
        ),
    ),
    Code(
        "HF2334",
        "how many batches are retained",
        "minBatchesToRetain decides how far back state and logs reach, and so how far a query can "
        "be rolled back; each kept batch costs files, for state in every partition",
        (
            "keep the default of 100 unless listing or storage hurts; below 10 nothing older than "
            "a bad deployment is left",
        ),
    ),
    Code(
        "HF2335",
        "how often state is written as a snapshot",
        "a load replays the changes since the newest snapshot: rarer snapshots cost less while "
        "running and more at a start. Exactly-once is not affected",
        (
            "change spark.sql.streaming.stateStore.minDeltasForSnapshot where starts are slow, not "
            "where batches are",
        ),
    ),
    Code(
        "HF2336",
        "how often logs of files are compacted",
        "once per interval, Spark rewrites the whole log; a longer interval makes that rarer, "
        "and a start reads more files. Spark keeps to the interval that it finds",
        ("leave it: Spark keeps to the interval that it finds",),
    ),
    Code(
        "HF2337",
        "the checkpoint is on an object store",
        "a rename there is a copy and a removal: thousands of calls for a small batch, and not "
        "atomic. Spark's entries need an atomic create; S3 committers (magic, staging) are for "
        "data files of batch jobs and do nothing for a checkpoint. A file manager made for S3, "
        "org.apache.spark.internal.io.cloud.AbortableStreamBasedCheckpointFileManager, is in the "
        "jar spark-hadoop-cloud, which pip's pyspark does not include",
        (
            "compare spark.sql.streaming.checkpointFileManagerClass with what the vendor of your "
            "storage names",
        ),
    ),
)

DOCTOR_CODES: tuple[Code, ...] = (
    *PLACE_CODES,
    *RECORDED_CODES,
    *DECLARED_CHANGE_CODES,
    *SOURCE_OFFSET_CODES,
    *SINK_CODES,
    *OWN_LEDGER_CODES,
)
