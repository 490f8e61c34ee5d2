"""What people suffer around checkpoints, case by case, and what tells it before a start.

Each case is told by checks of `doctor` (their codes), or brought by something that Holdfast is to
have, or can't be told, with the reason.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FieldCase:
    """One case; exactly one of the last three fields says how it is told, or why not."""

    number: int
    symptom: str
    codes: tuple[str, ...] = ()
    """Codes of the checks that tell it."""
    brought_by: str | None = None
    """What will tell it."""
    untold_because: str | None = None
    """Why nothing in the folder, the sink's log and the project can."""


_CHECK = "holdfast check: compares the query's plan with the checkpoint and the record of its runs"
_SOURCE = "asking the source what it still has, and comparing that with the stored offsets"
_LEDGER = "the sinks of holdfast run, which keep the batch in the same transaction as its rows"
_RESET = "holdfast plan reset, which refuses to begin anew without a decision on the output"
_RUNNING = "it arises while the query runs and leaves nothing in the folder before that"
_CONNECTOR = "it is inside of a connector whose own files have no published form"
_NO_SINK = "nothing in a checkpoint names the sink, and this sink's log is no file that we read"


def _told(number: int, symptom: str, *codes: str) -> FieldCase:
    return FieldCase(number, symptom, codes=codes)


def _brought(number: int, symptom: str, by: str) -> FieldCase:
    return FieldCase(number, symptom, brought_by=by)


def _untold(number: int, symptom: str, because: str) -> FieldCase:
    return FieldCase(number, symptom, untold_because=because)


FIELD_CASES: tuple[FieldCase, ...] = (
    _told(1, "batch N doesn't exist: offsets/ has a gap before its newest entry", "HF2204"),
    _told(2, "batch N doesn't exist: a file source's log lacks an entry", "HF2216"),
    _told(3, "Incomplete log file: the newest offsets entry is empty", "HF2101"),
    _told(4, "Incomplete log file in the offset commit log: the newest commit is empty", "HF2101"),
    _told(5, "CONCURRENT_STREAM_LOG_UPDATE with one job: a commit has no offsets", "HF2203"),
    _told(6, "No usable value: the JSON of an offsets entry is damaged", "HF2105"),
    _told(7, "temporary files stop readers that list the folder", "HF2227"),
    _told(8, "rename of an offsets entry failed; the query ended silently", "HF2303"),
    _told(9, "a state file was never renamed, and the next start can't read it", "HF2303"),
    _untold(
        10,
        "failed to rename a state file over an existing one",
        "only Spark before 2.2 fails so, and its files do not differ from those of later ones",
    ),
    _told(11, "left-over temporary state files fill the folder", "HF2227"),
    _told(12, "a folder named like a number in a log", "HF2212"),
    _told(13, "the maximum supported log version is …", "HF2103", "HF2313"),
    _told(14, "a path with blanks or %: an escaped twin holds the progress", "HF2305"),
    _told(15, "metadata is missing: a new query id is made, rows double", "HF2201", "HF2412"),
    _told(16, "the same query started twice in one application stops the first", "HF2344"),
    _told(17, "several scheduled jobs share a checkpoint", "HF1109", "HF2343"),
    _told(18, "multiple streaming queries use one checkpoint", "HF1109", "HF2343"),
    _told(19, "two drivers after a restart of the cluster's operator", "HF2344"),
    _told(20, "the path holds an application id or a date: each start begins anew", "HF2301"),
    _told(21, "no checkpointLocation: a temporary one on a local disk", "HF2302"),
    _told(22, "a copied checkpoint has the same query id", "HF2421", "HF2347"),
    _told(23, "There are [1] sources in the checkpoint offsets and now [3]", "HF2323"),
    _brought(24, "inputs of a union swapped: everything is read again", _CHECK),
    _brought(25, "state key schema not compatible after a changed key", _CHECK),
    _brought(26, "an aggregate changed and kept its type: old and new mix", _CHECK),
    _brought(27, "an aggregation replaced by dropDuplicates", _CHECK),
    _brought(28, "a stateful operator removed", _CHECK),
    _brought(29, "a stateful operator added to a stateless query", _CHECK),
    _brought(30, "nullability flips and the schema check fails", _CHECK),
    _brought(31, "the order of dropDuplicates' keys differs between versions", _CHECK),
    _told(32, "shuffle.partitions changed, no effect", "HF2322"),
    _told(33, "the state store provider changed, no effect", "HF2322"),
    _brought(34, "the output mode changed, accepted silently", _CHECK),
    _told(35, "Wrong basePath: a file source's path changed", "HF2324"),
    _told(36, "a topic renamed or added", "HF2325"),
    _brought(37, "startingOffsets changed, ignored", _CHECK),
    _brought(38, "a new jar is said to need a new checkpoint", _CHECK),
    _brought(39, "the kind of sink changed", _CHECK),
    _told(40, "error reading a delta file: it does not exist", "HF2221"),
    _told(41, "EOFException: an empty or cut delta", "HF2239", "HF2221", "HF2316"),
    _told(42, "a corrupt snapshot blocks a query that deltas could rebuild", "HF2111", "HF2316"),
    _told(43, "RocksDB: mismatch in unique ID on a table file", "HF2312"),
    _told(44, "RocksDB: Sst file size mismatch", "HF2314"),
    _told(45, "RocksDB: a table in use was deleted by another executor", "HF2314"),
    _told(46, "RocksDB: tables that nothing needs grow for ever", "HF2315"),
    _told(47, "RocksDB: a corrupt zip is accepted silently", "HF2314"),
    _told(48, "checksums fail restarts with state checkpoint format 1", "HF2312", "HF2221"),
    _untold(
        49,
        "state checkpoint format 2 fails with a pending batch",
        "no release that was tried fails so: 4.0.0, 4.0.5, 4.1.4 and 4.2.0 go on",
    ),
    _told(50, "the whole state/ is gone", "HF2221"),
    _untold(51, "STATE_STORE_COMMIT_VALIDATION_FAILED: not all partitions ran", _RUNNING),
    _told(52, "an outer join's state of Spark 2 fails on 3", "HF2306"),
    _untold(
        53,
        "Spark's state reader writes into the checkpoint",
        "it is a hazard of reading with Spark; Holdfast reads without it and writes nothing",
    ),
    _brought(54, "Kafka: offset was changed, some data may have been missed", _SOURCE),
    _brought(55, "Kafka: topic made anew and longer already, its first part never read", _SOURCE),
    _brought(56, "Kafka: the latest offset goes back after a hand-over", _SOURCE),
    _untold(57, "AvailableNow: partitions change during the run", _RUNNING),
    _brought(58, "DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE", _SOURCE),
    _brought(59, "the Delta log was cleaned below the stored version", _SOURCE),
    _told(60, "Delta: a crash in a batch without data leads to a full re-read", "HF2307"),
    _brought(61, "Iceberg: the snapshot was expired or removed", _SOURCE),
    _brought(62, "Iceberg: the initial offset's snapshot is expired", _SOURCE),
    _brought(63, "Hudi: the stored instant was cleaned", _SOURCE),
    _untold(64, "Paimon: a restart drops a valid offset", _CONNECTOR),
    _brought(65, "Event Hubs: requested seqNo is less than the received one", _SOURCE),
    _untold(66, "Event Hubs: the initial offset is unreadable on Spark 3", _CONNECTOR),
    _told(67, "Kinesis: shard-commit does not exist", "HF2311"),
    _untold(68, "Neo4j: the connector ignores the checkpoint", _CONNECTOR),
    _told(69, "latestFirst with a limit: old Spark skipped files, now logs never forget", "HF2321"),
    _told(70, "the file source's log grows without end", "HF2304"),
    _told(71, "file sink: a new checkpoint on an old output loses rows", "HF2401"),
    _told(72, "file sink: a rolled back checkpoint loses rows", "HF2402"),
    _told(73, "file sink: an old checkpoint on a new output fails later", "HF2403"),
    _told(74, "file sink: _spark_metadata was deleted", "HF2407"),
    _told(75, "file sink: every tenth batch is slow, the driver runs out of memory", "HF2406"),
    _told(76, "the compaction interval changed", "HF2308"),
    _told(77, "Delta: a fixed txnAppId with a new checkpoint, writes ignored", "HF2413"),
    _told(78, "Delta: rolled back batch ids are skipped", "HF2411"),
    _told(79, "Delta: a new query id appends everything twice", "HF2412"),
    _told(80, "Delta: transaction identifiers expire", "HF2415"),
    _told(81, "foreachBatch append doubles after a crash", "HF2326"),
    _brought(82, "JDBC append doubles", _LEDGER),
    _told(83, "the Kafka sink doubles", "HF2326"),
    _untold(84, "Hudi: a killed run leaves a commit without its data", _NO_SINK),
    _untold(85, "Hudi: the sink is not idempotent in old releases", _NO_SINK),
    _untold(86, "Paimon: a replayed batch is committed twice", _NO_SINK),
    _untold(87, "Hudi Streamer: --checkpoint 0 does nothing", _NO_SINK),
    _told(88, "Elasticsearch: its log in the checkpoint only grows", "HF2310"),
    _brought(89, "a full refresh resets the checkpoint and keeps the old output", _RESET),
    _told(90, "the advice is to delete the checkpoint", "HF2203", "HF2204"),
    _untold(
        91,
        "an agent's advice names files in a wrong form",
        "advice from elsewhere leaves nothing in the folder; explain and doctor give another",
    ),
    _told(92, "object stores: thousands of calls for a small batch", "HF2337"),
    _brought(93, "processed Kafka offsets are invisible to consumer-group tools", _SOURCE),
)
