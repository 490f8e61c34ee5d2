"""HF50xx: sinks that can't or mustn't be written."""

from __future__ import annotations

from holdfast.codes.code import Code
from holdfast.wording import pip_line

_SINK = 50

SINK_WRITING_CODES: tuple[Code, ...] = (
    Code(
        "HF5001",
        "this version does not write that sink",
        "a sink is supported only if every batch arrives once, or if it states that it does not "
        "guarantee that; this one is not supported yet",
        (
            "use `format: delta`, which takes every batch exactly once",
            "or `format: custom` with a function of your own, which is given the batch's identity",
            "or add `native: true`: Spark's own sink writes, with what that sink promises",
        ),
        _SINK,
    ),
    Code(
        "HF5002",
        "the sink's declaration is incomplete or contradictory",
        "something that it needs is missing, or contradicts exactly-once delivery",
        ("correct the sink in the project file",),
        _SINK,
    ),
    Code(
        "HF5003",
        "the sink has this batch with other offsets",
        "the same batch id was delivered before with other data: the checkpoint was rolled "
        "back, or another driver planned the id again. Writing the batch would lose or "
        "duplicate rows, and so would skipping it",
        (
            "put the checkpoint's newest entries back from a backup: holdfast backups TARGET",
            "keep every other driver away from this checkpoint and its copies",
        ),
        _SINK,
    ),
    Code(
        "HF5004",
        "the sink is closed for this query",
        "the job was given a new identity, and its old one was closed: everything written under "
        "the old one is skipped, permanently",
        ("stop this driver: the job continues under its new identity",),
        _SINK,
    ),
    Code(
        "HF5005",
        "the rows do not fit the sink",
        "the first batch would fail, or columns would be dropped or left empty unnoticed",
        (
            "let the transform give the columns that the table has",
            "or let the table grow: `options: {mergeSchema: true}` adds columns",
        ),
        _SINK,
    ),
    Code(
        "HF5006",
        "the sink's directory contains something else",
        "files that are not the sink's own would become part of the output, or be hidden by it",
        ("give the sink a directory of its own",),
        _SINK,
    ),
    Code(
        "HF5007",
        "several rows of one key are in one batch",
        "an upsert keeps one row per key: which of them is kept would be random, and a key that "
        "is new to the table would be inserted twice",
        (
            "name the column that decides: `order_by`, the row with the greatest value wins",
            "or let the transform give one row per key",
        ),
        _SINK,
    ),
    Code(
        "HF5008",
        "rows without a key are in the batch",
        "null equals nothing: such a row would be inserted again each time it arrives",
        ("let the transform fill the key columns, or drop or set apart the rows without",),
        _SINK,
    ),
    Code(
        "HF5009",
        "it cannot be determined what the sink has",
        "whether it has a batch with the same offsets is unknown: writing blindly could lose or "
        "duplicate rows",
        (
            "run as a user that can read the output",
            "give the storage's address and credentials in the project file: `storage:`",
        ),
        _SINK,
    ),
    Code(
        "HF5010",
        "other writers prevented the commit of the batch",
        "every attempt conflicted with a commit of another writer to the same rows; nothing of "
        "the batch was written",
        (
            "start the job again: the batch is run again with its offsets",
            "keep large rewrites of the table apart from the job",
        ),
        _SINK,
    ),
    Code(
        "HF5011",
        "the batches in the sink cannot be removed",
        "removing some of them would also remove rows that stay, or leave rows that should go",
        ("give the job a new output",),
        _SINK,
    ),
    Code(
        "HF5012",
        "Spark has no sink of this format",
        "the name is misspelled, the library that brings the sink is not on Spark's class path, or "
        "Spark cannot write a stream to this format; nothing was started",
        (
            "correct `format`, or leave out `native: true` for a sink of Holdfast's own",
            "or add the library: `spark: {jars: [...]}` in the project file",
        ),
        _SINK,
    ),
    Code(
        "HF5020",
        "the directory belongs to Spark's own file sink",
        "with `_spark_metadata` in it, Spark's readers ignore every file that this log does not "
        "name, so that rows written by Holdfast would be invisible to them",
        (
            "add `native: true`: Spark's own file sink continues to write the directory, under "
            "Holdfast's lease, guards and records",
            "or give the sink a directory of its own: it begins with the next batch, and the "
            "former directory keeps the earlier ones (docs/how-to/move-from-sparks-file-sink.md)",
        ),
        _SINK,
    ),
    Code(
        "HF5021",
        "this storage cannot replace a whole directory",
        "mode complete replaces the old directory with a new one by a rename; file by file, "
        "readers would see a mixture of two versions",
        ("use `format: delta`, whose tables can be replaced on every storage",),
        _SINK,
    ),
    Code(
        "HF5022",
        "files of a committed batch are gone or changed",
        "according to its manifest the batch is written, and its files are missing or changed: "
        "continuing would leave rows out, and writing them again could duplicate others",
        (
            "bring the directory `.holdfast` next to the output back as it was, then start again",
            "keep other programs away from the output directory and from `.holdfast` next to it",
        ),
        _SINK,
    ),
    Code(
        "HF5023",
        "a manifest cannot be read",
        "whether the sink has a batch, and with which offsets, is unknown without it",
        (
            "look whether a newer version of Holdfast wrote it, and use that one",
            "or bring the file back as it was",
        ),
        _SINK,
    ),
    Code(
        "HF5024",
        "the sink has newer batches, but not this one",
        "the checkpoint is behind the output, and it is unknown whether the rows of this batch "
        "were written before: they could be duplicated",
        (
            "put the checkpoint's newest entries back from a backup: holdfast backups TARGET",
            "or give the job a name, a checkpoint and a directory of its own",
        ),
        _SINK,
    ),
    Code(
        "HF5025",
        "the sink was rewound or cleared while this driver ran",
        "the sink was rewound or cleared under a newer lease. A batch of an older driver is "
        "refused, however late it comes: its rows would be there twice",
        (
            "start the job again: it takes a lease with a newer generation than the sink knows, "
            "and continues from what the sink has",
        ),
        _SINK,
    ),
    Code(
        "HF5026",
        "a newer driver has written to the sink",
        "a process that rewinds or clears a sink must have the newest lease; otherwise batches "
        "would be removed under the job that is writing them. Nothing was changed",
        ("stop the job, then repeat the command: it takes a new lease",),
        _SINK,
    ),
    Code(
        "HF5027",
        "the output was removed while the job ran",
        "the directory or the table is gone, or another table has its name: the rows of earlier "
        "batches are missing, and Spark does not deliver them again. A new output would have "
        "only the batches from now on. Nothing of this batch was written",
        (
            "put the output back as it was, from a backup, then start the job again",
            "or start the job as it is: the start compares the output with the earlier runs, and "
            "refuses it (HF3013) unless you accept an empty one",
        ),
        _SINK,
    ),
    Code(
        "HF5028",
        "the manifests of the output would not be shared",
        "the output is a mount of its own, and its manifests and staging are next to it, in the "
        "container alone: the next container does not know which batches are in the output, and a "
        "driver that wakes up late in the former one would publish a batch a second time",
        (
            "mount the directory around the output instead of the output itself",
            "or mount a directory for its manifests, too, in every container that runs the job",
        ),
        _SINK,
    ),
    Code(
        "HF5040",
        "PostgreSQL's Python library is missing",
        "a postgres sink is written with psycopg, on the driver and on every executor",
        (f"install it wherever Spark runs Python: {pip_line('postgres')}",),
        _SINK,
    ),
    Code(
        "HF5041",
        "PostgreSQL is unreachable",
        "the connection failed or broke, or the server rejected what it was sent; nothing of "
        "the batch was written, or all of it with its row in the ledger: the next start checks",
        (
            "see to it that the server runs and has room, and that driver and executors reach it",
            "start the job again: the batch is run again with its offsets",
        ),
        _SINK,
    ),
    Code(
        "HF5042",
        "a newer driver has taken the table over",
        "a later generation of this job committed or rewound batches; a batch of an older "
        "driver could be another version of what is there, or one that was rewound",
        (
            "stop this driver: another one runs the job now",
            "if no other driver is running, start the job again: it takes a lease with a newer "
            "generation than the ledger knows",
        ),
        _SINK,
    ),
    Code(
        "HF5043",
        "the rows have a character that PostgreSQL cannot store",
        "text and JSON in PostgreSQL cannot contain the character NUL (U+0000); nothing was "
        "written",
        (
            "let the transform remove it: translate(column, char(0), '')",
            "or write the column as binary",
        ),
        _SINK,
    ),
    Code(
        "HF5044",
        "PostgreSQL refused the batch",
        "a value, a constraint of the table, a right of the user or a full disk did not allow it; "
        "nothing of the batch was written",
        (
            "let the transform give rows that the table takes, or alter the table",
            "the user has to create tables in the schema, and to read and write this one",
            "where the server has no room, make some, and start the job again",
        ),
        _SINK,
    ),
    Code(
        "HF5045",
        "staged rows are lost",
        "the server restarted between the loading of the batch and its commit, which empties "
        "staging tables; nothing of the batch was written",
        ("start the job again: the batch is run again with its offsets",),
        _SINK,
    ),
    Code(
        "HF5046",
        "the ledger has a gap where this batch should be",
        "the ledger has a newer batch of this query but no row for this one, and did not prune it; "
        "whether its rows are in the table is unknown, so nothing was written",
        (
            "find out whether the rows of this batch are in the table: a ledger row was "
            "deleted, or a driver of an older Holdfast committed after a rewind",
        ),
        _SINK,
    ),
    Code(
        "HF5047",
        "the table was cleared while this driver was running",
        "the rows of this driver belong to what was cleared; committing them now would put them "
        "back among the rows of the new run. Nothing was written",
        (
            "stop this driver if another one runs the job now",
            "otherwise start the job again: the batch runs again with its recorded offsets",
        ),
        _SINK,
    ),
    Code(
        "HF5048",
        "the time zone of the table's timestamps would change",
        "a column of type `timestamp` without time zone holds wall-clock times of one zone; with "
        "another zone, old and new rows could no longer be compared. Nothing was written",
        (
            "start the job with the time zone that the ledger names: set -Duser.timezone for "
            "driver and executors (spark.driver.extraJavaOptions and "
            "spark.executor.extraJavaOptions)",
            "or alter the column to `timestamp with time zone`, which needs no zone",
        ),
        _SINK,
    ),
    Code(
        "HF5090",
        "a newer driver has recorded batches in the ledger",
        "the function's ledger has a batch of a later generation of this job; a batch of an "
        "older driver could be another version of what is there",
        (
            "stop this driver: another one runs the job now",
            "if no other driver is running, start the job again: it takes a lease with a newer "
            "generation than the ledger knows",
        ),
        _SINK,
    ),
    Code(
        "HF5091",
        "an entry of the ledger cannot be read",
        "whether the function has delivered a batch, and with which offsets, is unknown without it",
        (
            "look whether a newer version of Holdfast wrote it, and use that one",
            "or bring the file back as it was",
        ),
        _SINK,
    ),
    Code(
        "HF5060",
        "a rewind or clear of the table is not finished",
        "its process is still running, was killed, or failed. Until it is finished it is "
        "unknown which batches the table has",
        (
            "repeat the rewind or clear: it finishes what was begun",
            "see docs/reference/delta-identity.md for what the table's log records about it",
        ),
        _SINK,
    ),
    Code(
        "HF5061",
        "batches before this one were removed by a rewind",
        "the table was rewound, and the checkpoint was not: the batches in between would be "
        "missing permanently",
        ("stop this driver, where another one runs the job now",),
        _SINK,
    ),
    Code(
        "HF5062",
        "a newer driver has rewound the table",
        "a later generation of this job rewound the batches; a batch of an older driver was "
        "planned before that, and could be there twice",
        (
            "stop this driver: another one runs the job now",
            "if the records next to the checkpoint were lost and no other driver runs, see "
            "docs/reference/delta-identity.md for how to continue the count of generations",
        ),
        _SINK,
    ),
    Code(
        "HF5063",
        "rows of newer batches were removed by a late rewind",
        "a rewind was suspended and finished only after another one had finished and a new "
        "driver had written; batches came after it, so it cannot be undone without losing their "
        "rows",
        ("stop the job: the table lacks the rows of the version that is named",),
        _SINK,
    ),
    Code(
        "HF5070",
        "the database's JDBC driver is missing",
        "the table is written through JDBC, and no jar of the Spark session has a driver that "
        "accepts the sink's url",
        (
            "name the driver's jar in the project file: `spark: {jars: [./driver.jar]}`, which is "
            "Spark's `spark.jars`",
            "where the jar does not announce its driver, name the class: `options: {driver: …}`",
        ),
        _SINK,
    ),
    Code(
        "HF5071",
        "the database is unreachable",
        "the connection failed or broke; nothing of the batch was written, or all of it with "
        "its row in the ledger: the next start checks",
        (
            "see to it that the server runs and that driver and executors reach it",
            "start the job again: the batch is run again with its offsets",
        ),
        _SINK,
    ),
    Code(
        "HF5072",
        "the database refused the batch",
        "a value, a constraint of the table, a right of the user or a full disk did not allow "
        "it, or it does not support what the sink needs; nothing of the batch was written",
        (
            "let the transform give rows that the table takes, or alter the table",
            "the user has to create tables in the schema, and to read and write this one",
            "where the table cannot be made on demand, create it yourself with the rows' columns",
            "where the server has no room, make some, and start the job again",
        ),
        _SINK,
    ),
    Code(
        "HF5073",
        "staged rows are lost",
        "fewer rows are in the staging table than Spark loaded; nothing of the batch was written",
        (
            "start the job again: the batch is run again with its offsets",
            "keep other programs away from the tables `holdfast_staging_…`",
        ),
        _SINK,
    ),
)
