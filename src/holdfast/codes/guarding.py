"""HF30xx: what a start is refused or warned for, before it happens."""

from __future__ import annotations

from holdfast.codes.code import Code

GUARD_CODES: tuple[Code, ...] = (
    Code(
        "HF3001",
        "Spark would fail on this checkpoint",
        "the start would end in an error, and may reach the sink before that",
        ("holdfast doctor TARGET", "holdfast backups TARGET"),
        exit_status=30,
    ),
    Code(
        "HF3002",
        "the job has another number of sources than its checkpoint",
        "Spark assigns offsets to sources by position: a source would continue with the offsets "
        "of another one, or the start would fail",
        (
            "put the sources back as they were",
            "or give the changed job a name, a checkpoint and a sink of its own",
        ),
        exit_status=30,
    ),
    Code(
        "HF3003",
        "a source of the job is of another kind than the one in its checkpoint",
        "the new source cannot use the stored offset: the start fails, or reads elsewhere",
        (
            "put the source back, or the sources back into their order",
            "or give the changed job a name, a checkpoint and a sink of its own",
        ),
        exit_status=30,
    ),
    Code(
        "HF3004",
        "the job has other stateful operators than its checkpoint",
        "Spark finds state by an operator's position: it refuses to start, or fills one "
        "operator with the state of another",
        (
            "put the transform back as it was",
            "or give the changed job a name, a checkpoint and a sink of its own",
        ),
        exit_status=30,
    ),
    Code(
        "HF3005",
        "the sink is ahead of the checkpoint",
        "the sink has batches whose ids this checkpoint would plan again: the sink skips them, "
        "and their rows are lost",
        (
            "holdfast backups TARGET     (put the newer checkpoint back)",
            "or start over as a new job: another name, with it a new checkpoint, and an empty "
            "sink; it reads its sources from the beginning",
            "do not give only the sink a new place: this checkpoint does not deliver its committed "
            "batches again, so a start on an empty sink is refused (HF3013)",
        ),
        exit_status=30,
    ),
    Code(
        "HF3006",
        "the sink is behind the checkpoint",
        "the checkpoint counts batches as delivered that are not in the sink: their rows are "
        "missing from it, and continuing never brings them back",
        (
            "put the sink back to the state that belongs to this checkpoint",
            "or, if the rows are gone on purpose: holdfast run JOB --accept sink-behind",
        ),
        exit_status=30,
    ),
    Code(
        "HF3007",
        "the sink has batches of another query, and this checkpoint is new",
        "a job whose checkpoint was lost or moved starts from the beginning and delivers "
        "everything a second time",
        (
            "holdfast backups TARGET     (put the old checkpoint back)",
            "or, where several jobs write this sink on purpose: holdfast run JOB --accept "
            "shared-sink",
        ),
        exit_status=30,
    ),
    Code(
        "HF3008",
        "the checkpoint pins another value of a setting than the declared one",
        "Spark continues with the value of the checkpoint and ignores the declared one",
        ("write the checkpoint's value into the project, so that both say the same",),
        exit_status=30,
    ),
    Code(
        "HF3009",
        "a batch is pending, and the sink does not know whether it has it",
        "Spark runs the batch again: if it was already delivered, its rows would be there "
        "twice; if it is skipped but was not delivered, they would be missing",
        (
            "look into the sink, then state it: holdfast run JOB --pending delivered, or "
            "--pending not-delivered",
        ),
        exit_status=31,
    ),
    Code(
        "HF3010",
        "a statement about a pending batch does not fit the checkpoint",
        "a statement applies to one batch with its recorded offsets only",
        ("holdfast inspect TARGET     (which batch is pending)",),
        exit_status=40,
    ),
    Code(
        "HF3011",
        "the plan of the query could not be compared with the checkpoint",
        "only Spark would notice a changed operator, if at all",
        ("compare the job with the code that last ran on this checkpoint",),
        exit_status=31,
    ),
    Code(
        "HF3012",
        "the path of a job's checkpoint cannot be recorded in the project's directory",
        "a path that changes by accident is not noticed at the next start",
        (
            "run the job once where the directory can be written, and keep "
            ".holdfast/checkpoints.json",
        ),
        exit_status=30,
    ),
    Code(
        "HF3013",
        "the output that earlier batches were delivered to is gone",
        "the checkpoint never delivers a committed batch again: the sink would begin with the next "
        "batch, and every row before it is missing",
        (
            "put the output back, from a copy that was made after the last run ended",
            "or correct the sink's path, table or search_path, if it was changed by mistake",
            "or, if it was emptied on purpose: holdfast run JOB --accept empty-sink",
        ),
        exit_status=30,
    ),
    Code(
        "HF3014",
        "the sink has rows, but no batch of this query, which has delivered batches before",
        "the rows are not the ones that earlier batches delivered: those would be missing, and new "
        "rows would be mixed with rows of another writer",
        (
            "correct the sink's path, table or search_path, so that it names the former output",
            "or put the former output back, with its log or ledger, from a backup",
            "or name a new, empty sink and accept it: holdfast run JOB --accept empty-sink",
        ),
        exit_status=30,
    ),
    Code(
        "HF3015",
        "the sink does not report which batches it has",
        "whether earlier batches are still in the sink is unknown: rows could be lost or "
        "duplicated",
        (
            "fix what keeps the sink's log or ledger from being read",
            "holdfast doctor TARGET",
        ),
        exit_status=31,
    ),
    Code(
        "HF3016",
        "the table was created again since the last run",
        "its log or ledger has the committed batches, as after a dump and restore; rows that "
        "were delivered after the copy was made would be missing",
        ("check that the copy was made after the last run ended",),
        exit_status=31,
    ),
    Code(
        "HF3017",
        "rows of earlier batches are missing from the output",
        "somebody compacted, moved, expired or deleted them; the ledger still has their "
        "batches, so Spark does not deliver them again",
        (
            "holdfast doctor TARGET --verify     (compare every file with the manifests)",
            "find out whether the table was dropped and created again",
        ),
        exit_status=31,
    ),
    Code(
        "HF3018",
        "the table no longer remembers the batches of this query",
        "it drops the identifiers of a query that has not written for a time: whether it has "
        "every committed batch cannot be compared",
        (
            "check that the newest rows are in the table",
            "unset delta.setTransactionRetentionDuration, or make it longer than any pause",
        ),
        exit_status=31,
    ),
    Code(
        "HF3019",
        "the output of a job in mode complete is gone",
        "nothing is lost: each batch replaces the whole output. Until the next batch with new rows "
        "is written, readers find nothing there",
        ("if the sink's path or table was changed by mistake, correct it before the next start",),
        exit_status=31,
    ),
    Code(
        "HF3020",
        "the rows of the sink could not be read",
        "whether the table still has the rows of earlier batches is unknown; its ledger is "
        "readable and was compared with the checkpoint",
        ("grant SELECT on the table to the role that writes it, so that an empty one is noticed",),
        exit_status=31,
    ),
    Code(
        "HF3021",
        "Spark's own sink cannot continue a table that was rewound or cleared",
        "Delta never forgets a batch id of a query, so Holdfast continues the query under another "
        "application id. Spark's own sink would use the old one: Delta skips every batch that it "
        "writes, and the rows are lost",
        ("leave out `native: true`: Holdfast's own Delta sink knows the new application id",),
        exit_status=30,
    ),
    Code(
        "HF3022",
        "Spark's file sink has no log of the batches that are committed",
        "with a log that begins in the middle, reading the output fails after the next batch, and "
        "the next compaction stops the query (BATCH_METADATA_NOT_FOUND)",
        (
            "correct the sink's path, if it was changed by mistake",
            "or put _spark_metadata back from a backup of this output",
            "or leave out `native: true` and give the sink a new directory: Holdfast's own file "
            "sink begins with the next batch",
        ),
        exit_status=30,
    ),
    Code(
        "HF3023",
        "the output will not have the batches that are already committed",
        "the checkpoint never delivers a committed batch again. The rows of these batches stay "
        "where they were written before, and this output begins with the next batch",
        (
            "keep the former output, and read both together",
            "or, to have everything in one place while the source still has all of its data, give "
            "the job a name, a checkpoint and a sink of its own",
        ),
        exit_status=31,
    ),
    Code(
        "HF3024",
        "what is in Spark's own sink cannot be determined",
        "this sink keeps no record of batches that Holdfast reads. A pending batch is run again, "
        "as Spark does without Holdfast: if the sink already has its rows and does not recognize "
        "the batch, they are in it twice",
        ("check whether the rows of the pending batch are in the sink: holdfast inspect TARGET",),
        exit_status=31,
    ),
    Code(
        "HF3025",
        "the checkpoint lost batches that recorded runs delivered",
        "the checkpoint was deleted, emptied or replaced by an older copy, and the sink cannot "
        "recognise batches it already has: the next start would deliver their rows a second time",
        (
            "holdfast backups TARGET     (restore the newest backup of the checkpoint)",
            "or, to start over with an empty output: holdfast plan reset JOB --output clear",
            "or, if the output was emptied too and the job is to start over: holdfast run JOB "
            "--accept new-checkpoint",
        ),
        exit_status=30,
    ),
    Code(
        "HF3026",
        "the records of earlier runs cannot be read, and the sink has no batch of this query",
        "whether the output of committed batches is gone is unknown: the sink could begin with the "
        "next batch, and every row before it be missing",
        (
            "if a newer Holdfast wrote the records: start the job with that version",
            "look at the record that is named: was it cut by a full disk, or edited?",
        ),
        exit_status=31,
    ),
    Code(
        "HF3027",
        "the sink has a batch with other offsets than the checkpoint",
        "an offsets entry was edited, or the checkpoint is a copy that continued differently: "
        "the batches that it counts as delivered are not those in the sink, so a start would "
        "lose or duplicate rows",
        (
            "move the checkpoint elsewhere as evidence, then restore the backup that has the "
            "sink's newest batch: holdfast backups TARGET",
            "or start over as a new job: another name, with it a new checkpoint, and an empty "
            "sink; it reads its sources from the beginning",
        ),
        exit_status=30,
    ),
    Code(
        "HF3028",
        "a job on a cluster has its output or its checkpoint on a local path",
        "each executor writes to that path on its own disk: no reader finds all rows, and state "
        "that an executor wrote is missing at the next start",
        (
            "declare an output and a checkpoint that all machines share: an object store or HDFS",
            "or, if the path is the same network mount on every machine: holdfast run JOB --accept "
            "shared-mount",
        ),
        exit_status=30,
    ),
    Code(
        "HF3029",
        "another job reads an output that begins again empty",
        "a Delta source stops at a table that was created again, because its versions mean other "
        "rows. A file source continues with the new files and keeps what it read before",
        ("holdfast doctor TARGET     (for each job that is named)",),
        exit_status=31,
    ),
    Code(
        "HF3031",
        "the job is retired",
        "its checkpoint is archived: a start would begin with batch 0 and deliver rows a second "
        "time that are in the output already",
        (
            "if it is to run again where it ended: holdfast undo TARGET",
            "holdfast journal TARGET shows who retired it and where the checkpoint is kept",
        ),
        exit_status=30,
    ),
    Code(
        "HF3032",
        "a reset gave the job a new output, and the former one is still declared",
        "the new query begins with batch 0: in the former output, which was kept, its rows would "
        "be there twice",
        (
            "declare the output that the message names in holdfast.yaml",
            "or take the reset back: holdfast undo TARGET",
        ),
        exit_status=30,
    ),
    Code(
        "HF3033",
        "a reset set starting offsets for the query of a program",
        "the program sets its starting options itself: the new query would begin elsewhere than "
        "the reset decided",
        (
            "take the reset back: holdfast undo TARGET",
            "or start the job from holdfast.yaml: holdfast run JOB",
        ),
        exit_status=30,
    ),
    Code(
        "HF3034",
        "the batch that runs again needs a file that the source no longer has",
        "Spark lists the files of the batch once more and leaves out what is gone, without an "
        "error: the batch would be committed without the rows of that file. Only "
        "spark.sql.files.ignoreMissingFiles: true in spark.conf says that they may be missing",
        ("put the file back under its old path, byte-identical, then start again",),
        exit_status=30,
    ),
)
