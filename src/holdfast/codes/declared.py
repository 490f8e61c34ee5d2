"""HF234x, HF2357 to HF2376: a checkpoint with its records, declared job and sources."""

from __future__ import annotations

from holdfast.codes.code import Code

_ASK_SINK = "ask the sink which batch it holds: holdfast evidence TARGET --sink PATH"

RECORDED_CODES: tuple[Code, ...] = (
    Code(
        "HF2341",
        "the checkpoint is of another query than its records",
        "somebody put another checkpoint here, or Spark began a new one: the sink knows the old "
        "query id, and accepts everything that the new one delivers as new rows. The records "
        "are not used",
        (
            "do not start the job before it is known where the recorded checkpoint went",
            "holdfast backups TARGET   (a backup of the recorded one may be kept)",
        ),
    ),
    Code(
        "HF2342",
        "the checkpoint has fewer batches than its records",
        "it was rolled back or emptied, or lost an entry: the next start plans new batches "
        "under ids that may be in the sink, so that rows are skipped or duplicated",
        (
            "do not start the job",
            "holdfast backups TARGET   (bring the newest state back, if a backup has it)",
            _ASK_SINK,
        ),
    ),
    Code(
        "HF2343",
        "the records of this checkpoint belong to another job",
        "a checkpoint belongs to one job permanently: a second job on it would continue where "
        "the first one ended, and each would stop or corrupt the other",
        (
            "if the job was only renamed: keep its old name",
            "a job of its own needs a checkpoint and an output of its own",
        ),
    ),
    Code(
        "HF2344",
        "a driver runs on this checkpoint now",
        "the checkpoint changes while it is read; the lease keeps a second driver away",
        ("wait until it ends, or stop it, before anything is changed here",),
    ),
    Code(
        "HF2345",
        "the last run did not end cleanly",
        "it has no final record, and its processes are gone; the next start runs a batch that "
        "it had planned again",
        ("holdfast inspect TARGET   (shows what the next start does)",),
    ),
    Code(
        "HF2346",
        "the last run failed",
        "the job is down until somebody looks; the next start fails for the same cause, unless "
        "it is gone",
        ("holdfast explain CODE   (with the code or the error class of the failure)",),
    ),
    Code(
        "HF2347",
        "the checkpoint and its records were copied or moved here",
        "if the original still exists, both have one query id: started on one sink, each takes "
        "the other's batches for its own",
        ("make sure that the other place is never started again",),
    ),
    Code(
        "HF2348",
        "batches were committed that no recorded run delivered",
        "the query was started without Holdfast: neither the lease nor the record of its offsets "
        "protected those batches",
        (
            "find out who started it, and let `holdfast run` start it alone",
            _ASK_SINK,
        ),
    ),
    Code(
        "HF2350",
        "a plan took batches back, and the job has not run since",
        "the sink lost these batches on purpose; the next start plans them again, with what the "
        "sources have then",
        ("holdfast journal TARGET shows who did it, and from which plan",),
    ),
    Code(
        "HF2352",
        "state of a batch was written after a plan took the batch back",
        "a task of a killed driver went on. A later start loads a snapshot of it in place of the "
        "state that the new batches wrote, and results are wrong without an error",
        (
            "make sure that no executor of the old driver is left, then remove these files: "
            "holdfast plan clean TARGET",
        ),
    ),
)


DECLARED_CHANGE_CODES: tuple[Code, ...] = (
    Code(
        "HF2357",
        "the output mode changed since the last run",
        "Spark does not store the output mode and accepts the new one silently. Rows that are "
        "already in the sink stay as the old mode wrote them: from now on the sink gets whole "
        "results (complete), changed rows (update) or final rows (append)",
        ("check that the sink can take rows of both modes",),
    ),
    Code(
        "HF2358",
        "a start option has no effect: the checkpoint decides where to read on",
        "Spark reads startingOffsets, startingVersion and similar options only when a query has no "
        "checkpoint. After that it continues from the stored offsets and ignores the option",
        ("declare the option as it was, so that nobody relies on the new value",),
    ),
    Code(
        "HF2359",
        "Spark or its jars changed since the last run",
        "a new jar or a newer Spark release does not need a new checkpoint: newer releases read "
        "the checkpoints of older ones. An older release may not be able to read what a newer one "
        "wrote",
        ("start the job with its checkpoint; a new one would lose the position and the state",),
    ),
    Code(
        "HF2361",
        "the sources are in another order than in the checkpoint",
        "Spark assigns the stored offsets by position. It gives each source the offsets of another "
        "one: files are read again and their rows are duplicated, or the query fails",
        ("write the sources in the query in the order of the checkpoint",),
    ),
    Code(
        "HF2362",
        "the declared query has other stateful operators than the checkpoint",
        "Spark 4 stops with STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA or "
        "STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY. Spark 3.5 reads the state of another "
        "operator as its own",
        ("declare the operators that the checkpoint has state of",),
    ),
    Code(
        "HF2363",
        "the declared query groups by other columns than the state",
        "Spark stops with STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE where number or types differ. "
        "Where only the names differ it starts, and mixes the values of different keys",
        ("declare the columns that the state was written with",),
    ),
    Code(
        "HF2364",
        "the declared query has other aggregates than the state",
        "Spark compares types, not functions: with equal types it starts without an error and "
        "continues, for example, a maximum from stored sums. Otherwise it stops with "
        "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE",
        ("declare the aggregates that the state was written with",),
    ),
    Code(
        "HF2365",
        "the kind of sink changed since the last run",
        "Spark does not store the sink and accepts another one silently. Committed batches stay in "
        "the old sink only, and a pending batch may be in both",
        ("compare the declared sink with the one of the last run before the start",),
    ),
    Code(
        "HF2371",
        "a batch is pending, and the sink cannot recognize it",
        "the batch was planned and not committed. Spark runs it again at the next start: if the "
        "last run had already written its rows, they are in the sink twice after that",
        ("check whether the rows of the batch are in the sink: holdfast inspect TARGET",),
    ),
    Code(
        "HF2372",
        "a job streams a Delta table in which another job changes rows",
        "a Delta stream reads commits that add rows. The first commit of the upstream job that "
        "changes or replaces a row stops the query with DELTA_SOURCE_TABLE_IGNORE_CHANGES, and "
        "every start after that as well",
        (
            "add `skipChangeCommits: true` to the options of the source, if the job needs only "
            "commits that add rows",
            "if the upserts only insert rows, start despite it: holdfast run JOB --accept "
            "changing-source",
        ),
        exit_status=30,
    ),
    Code(
        "HF2373",
        "a job does not see every change of the Delta table that it streams",
        "skipChangeCommits skips a commit that changes rows as a whole, also the new rows in it; "
        "ignoreChanges delivers unchanged rows of the same files again. The job does not fail, but "
        "its output differs from the table",
        ("compare what the job needs with what the option leaves out or repeats",),
    ),
    Code(
        "HF2374",
        "a source reads another path than in the last run",
        "the stored offsets are of the old path. Spark assigns them to the new one: it fails, or "
        "it reads everything at the new path, and what was not yet read at the old one is missing",
        ("declare the path that was read before",),
        exit_status=30,
    ),
    Code(
        "HF2375",
        "an option of a source or sink looks misspelled",
        "Spark ignores an option that the format does not know. What it should do does not happen, "
        "and nothing says so: a limit per batch is not applied, a start begins elsewhere",
        ("write the option as the message spells it",),
    ),
    Code(
        "HF2376",
        "the key of an upsert sink is coarser than the groups of the aggregation",
        "each batch writes the groups that changed. Two groups with the same key are one row in "
        "the sink: it has the values of the group that changed last, and nothing reports the other",
        ("declare every column that the query groups by in the key of the sink",),
    ),
)


SOURCE_OFFSET_CODES: tuple[Code, ...] = (
    Code(
        "HF2366",
        "the Delta source is another table than the one that was read",
        "the table was dropped and created again, or another path is declared. Delta stops with "
        "DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE, because its versions mean other rows",
        ("declare the path of the table that was read before",),
    ),
    Code(
        "HF2367",
        "the Delta source no longer has the versions that come next",
        "the log was cleaned below the stored version (delta.logRetentionDuration). Delta stops "
        "because a commit file is missing; with failOnDataLoss=false it skips rows silently",
        ("put the missing files of _delta_log back from a copy of the table",),
    ),
    Code(
        "HF2368",
        "a source could not be checked for what it still has",
        "whether the stored offsets still exist is unknown, not confirmed",
        ("run holdfast doctor TARGET where the source can be reached",),
    ),
    Code(
        "HF2369",
        "Kafka no longer has the stored offsets",
        "records expired before they were read, or the topic was created again with fewer records. "
        "Spark stops with KAFKA_DATA_LOSS; with failOnDataLoss=false it skips records silently. "
        "After an unclean change of the leader a broker may show fewer records for a while",
        ("ask again after some minutes: holdfast doctor TARGET",),
    ),
    Code(
        "HF2370",
        "a Kafka topic was created again since the last batch",
        "the first record of the topic is newer than the last batch, yet the checkpoint is past "
        "it. Spark starts without an error and never reads the records before the stored offset",
        ("compare when the topic was created with the last batch: holdfast inspect TARGET",),
    ),
)
