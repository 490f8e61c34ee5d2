"""What people suffer around checkpoints, case by case, and what reports it before a start.

Each case is reported by a command, with codes, or brought by something that Holdfast is to have, or
cannot be reported, with the reason. What was executed are the names of recorded starts of real
Spark: `4.3.0/stateless/offset-empty` is of tests/restarts, `4.3.0/another-path` of
tests/diagnosis/doctor/trials, and those of cases that were made with `holdfast` beside them are of
tests/fieldcases.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FieldCase:
    """One case; it has a command, or `brought_by`, or `untold_because`."""

    number: int
    symptom: str
    codes: tuple[str, ...] = ()
    """Codes of the checks that report it."""
    command: str | None = None
    """The command that reports it before the start."""
    needs: str = ""
    """What the command has to know besides the checkpoint."""
    limits: str = ""
    """Where it reports no more than a part of such cases."""
    executed: tuple[str, ...] = ()
    """Recorded starts of real Spark in this situation."""
    not_executed: str = ""
    """Why there is none."""
    refused: str = ""
    """The code with which `holdfast run` refuses to start then, where `doctor` does not forbid it
    or cannot know who starts."""
    brought_by: str | None = None
    """What will report it."""
    untold_because: str | None = None
    """Why nothing in the folder, the sink's log and the project can."""

    @property
    def releases(self) -> tuple[str, ...]:
        """The releases of Spark that it was executed with, in their order."""
        return tuple(sorted({name.partition("/")[0] for name in self.executed}))


_SOURCE = "asking the source what it still has, and comparing that with the stored offsets"
_RUNNING = "it arises while the query runs and leaves nothing in the checkpoint before that"
_CONNECTOR = "it is inside a connector whose own files have no published format"
_NO_SINK = "nothing in a checkpoint names the sink, and Holdfast does not read this sink's log"

_SINK = "the sink: --sink or a project file"
_PROJECT = "a project file"
_PROJECT_AND_SINK = "a project file and the sink"
_PROJECT_AND_RECORD = "a project file and the record of a run"
_PROJECT_OR_RECORD = "a project file or the record of a run"
_PROJECT_AND_SOURCE = "a project file and the broker"
_SOURCE_PATH = "the table: a project file or the record of a run"
_PLANNED = "the job with Spark, which plans its query"
_RECORD = "the records of Holdfast"

_DECLARED_SOURCES = "declared sources only"
_PLAIN_SQL = "declared SQL without subqueries that reads each source once"
_PLAIN_QUERY = "declared SQL without subqueries, or a transform that is one chain of calls"
_RECORDED_RUNS = "only runs that Holdfast recorded"
_PLAINTEXT = "only brokers without TLS and SASL, and one cluster per job"
_RECREATED = "as for case 54, and only if the timestamps of the records are correct"
_HELD = "only if Holdfast started the first driver"
_SHARED = "only jobs of one project file, or a checkpoint whose last run Holdfast recorded"


def _told(
    number: int,
    symptom: str,
    *codes: str,
    needs: str = "",
    limits: str = "",
    executed: tuple[str, ...] = (),
    not_executed: str = "",
    refused: str = "",
) -> FieldCase:
    return FieldCase(
        number=number,
        symptom=symptom,
        codes=codes,
        command="doctor",
        needs=needs,
        limits=limits,
        executed=executed,
        not_executed=not_executed,
        refused=refused,
    )


def _checked(
    number: int, symptom: str, *codes: str, limits: str = "", executed: tuple[str, ...] = ()
) -> FieldCase:
    """Return a case that only the planned query shows."""
    return FieldCase(
        number=number,
        symptom=symptom,
        codes=codes,
        command="check",
        needs=_PLANNED,
        limits=limits,
        executed=executed,
    )


def _brought(number: int, symptom: str, by: str) -> FieldCase:
    return FieldCase(number, symptom, brought_by=by)


def _untold(number: int, symptom: str, because: str) -> FieldCase:
    return FieldCase(number, symptom, untold_because=because)


FIELD_CASES: tuple[FieldCase, ...] = (
    _told(1, "batch N doesn't exist: offsets/ has a gap before its newest entry", "HF2204",
          executed=("4.3.0/stateless/second-newest-offset-missing",)),
    _told(2, "batch N doesn't exist: an entry of a file source's log is missing", "HF2216",
          executed=("4.3.0/stateless/source-newest-missing",)),
    _told(3, "Incomplete log file: the newest offsets entry is empty", "HF2101",
          executed=("4.3.0/stateless/offset-empty",)),
    _told(4, "Incomplete log file in the offset commit log: the newest commit is empty", "HF2101",
          executed=("4.3.0/stateless/commit-empty",)),
    _told(5, "CONCURRENT_STREAM_LOG_UPDATE with one job: a commit has no offsets", "HF2203",
          executed=("4.3.0/stateless/newest-offset-missing",)),
    _told(6, "No usable value: the JSON of an offsets entry is damaged", "HF2105",
          executed=("4.3.0/stateless/offset-cut-in-source",)),
    _told(7, "temporary files stop readers that list the directory", "HF2227",
          executed=("4.3.0/stateless/temporary-left",)),
    _told(8, "rename of an offsets entry failed; the query ended silently", "HF2303",
          executed=("4.3.0/stateless/temporary-left",)),
    _told(9, "a state file was never renamed, and the next start cannot read it", "HF2303",
          executed=("4.3.0/aggregation/state-newest-missing",)),
    _untold(10, "failed to rename a state file over an existing one",
            "only Spark before 2.2 fails like this, and its files do not differ from those of "
            "later releases"),
    _told(11, "left-over temporary state files fill the directory", "HF2227",
          executed=("4.3.0/stateless/temporary-left",)),
    _told(12, "a directory named like a number in a log", "HF2212",
          limits="older releases only: 3.5 and later ignore the directory",
          executed=("3.5.9/stateless/directory-ahead-in-offsets",
          "4.3.0/stateless/directory-ahead-in-offsets")),
    _told(13, "the maximum supported log version is …", "HF2103", "HF2313",
          executed=("4.1.4/stateless/offset-version-2", "4.3.0/offsets-v2/none",
          "4.3.0/stateless/offset-version-9")),
    _told(14, "a path with spaces or %: an escaped twin has the progress", "HF2305",
          limits="the layout of Spark 2 only", executed=("4.2.0/escaped-twin-of-parent",
          "4.3.0/escaped-twin-of-old-spark")),
    _told(15, "metadata is missing: a new query id is created, rows are duplicated", "HF2201",
          "HF2412", needs=_SINK, executed=("4.1.4/stateless/metadata-missing", "4.2.0/delta-new-id",
          "4.2.0/delta-new-id-and-pending", "4.3.0/stateless/metadata-missing")),
    _told(16, "the same query started twice in one application stops the first", "HF2344",
          needs=_RECORD, limits=_HELD, executed=("4.2.0/started-twice",), refused="HF2601"),
    _told(17, "several scheduled jobs share a checkpoint", "HF1109", "HF2343", needs=_PROJECT,
          limits=_SHARED, executed=("4.2.0/jobs-on-one-checkpoint",), refused="HF1118"),
    _told(18, "multiple streaming queries use one checkpoint", "HF1109", "HF2343", needs=_PROJECT,
          limits=_SHARED, executed=("4.2.0/another-query",), refused="HF1118"),
    _told(19, "two drivers after a restart of the cluster's operator", "HF2344", needs=_RECORD,
          limits=_HELD, executed=("4.2.0/second-driver-in-a-batch",), refused="HF2601"),
    _told(20, "the path contains an application id or a date: each start begins at batch 0",
          "HF2301", executed=("4.3.0/another-path",)),
    _told(21, "no checkpointLocation: a temporary one on a local disk", "HF2302",
          executed=("4.3.0/no-path",)),
    _told(22, "a copied checkpoint has the same query id", "HF2421", "HF2347", needs=_RECORD,
          limits="both copies examined together, or records that were copied with one",
          executed=("4.2.0/copies-on-one-table", "4.2.0/copy-alone")),
    _told(23, "There are [1] sources in the checkpoint offsets and now [3]", "HF2323",
          needs=_PROJECT, limits=_DECLARED_SOURCES, executed=("4.2.0/source-used-thrice",
          "4.3.0/source-added")),
    _told(24, "inputs of a union swapped: everything is read again", "HF2361", needs=_PROJECT,
          limits=_PLAIN_SQL, executed=("4.2.0/union-swapped",)),
    _told(25, "state key schema not compatible after a changed key", "HF2363", needs=_PROJECT,
          limits=_PLAIN_QUERY, executed=("4.2.0/key-added", "4.2.0/key-replaced")),
    _told(26, "an aggregate changed and kept its type: old and new values mix", "HF2364",
          needs=_PROJECT, limits=_PLAIN_QUERY, executed=("4.2.0/sum-to-max",)),
    _told(27, "an aggregation replaced by dropDuplicates", "HF2362", needs=_PROJECT,
          limits=_PLAIN_QUERY, executed=("4.2.0/aggregation-to-deduplication",)),
    _told(28, "a stateful operator removed", "HF2362", needs=_PROJECT, limits=_PLAIN_QUERY,
          executed=("4.2.0/operator-removed",)),
    _told(29, "a stateful operator added to a stateless query", "HF2362", needs=_PROJECT,
          limits=_PLAIN_QUERY, executed=("4.2.0/operator-added",)),
    _checked(30, "nullability flips and the schema check fails", "HF3113",
             executed=("4.2.0/key-may-be-null",)),
    _checked(31, "the order of dropDuplicates' keys differs between versions", "HF3111",
             limits="keys of other types; keys of one type only with the record of a run (HF3114)",
             executed=("4.2.0/deduplication-keys-reordered",)),
    _told(32, "shuffle.partitions changed, no effect", "HF2322", needs=_PROJECT,
          limits="declared settings only", executed=("4.3.0/partitions-changed",)),
    _told(33, "the state store provider changed, no effect", "HF2322", needs=_PROJECT,
          limits="declared settings only", executed=("4.3.0/provider-changed",)),
    _told(34, "the output mode changed, accepted silently", "HF2357", needs=_PROJECT_AND_RECORD,
          limits=_RECORDED_RUNS, executed=("4.2.0/output-mode-changed",)),
    _told(35, "Wrong basePath: a file source's path changed", "HF2324", needs=_PROJECT,
          limits=_DECLARED_SOURCES, executed=("4.3.0/folder-changed",)),
    _told(36, "a topic renamed or added", "HF2325", needs=_PROJECT, limits=_DECLARED_SOURCES,
          executed=("4.2.0/another-partition-assigned", "4.2.0/partition-assigned",
          "4.2.0/topic-by-another-pattern", "4.2.0/topic-renamed")),
    _told(37, "startingOffsets changed, ignored", "HF2358", needs=_PROJECT,
          limits="recorded runs; without a record, offsets of one Kafka source written as JSON",
          executed=("4.2.0/starting-offsets-changed",)),
    _told(38, "a new jar is said to need a new checkpoint", "HF2359", needs=_PROJECT,
          limits="recorded runs; without a record, releases before 4.3 by the settings that they "
          "pin",
          executed=("4.2.0/newer-release",)),
    _told(39, "the kind of sink changed", "HF2365", needs=_PROJECT_AND_RECORD,
          limits=_RECORDED_RUNS, executed=("4.2.0/sink-kind-changed",)),
    _told(40, "error reading a delta file: it does not exist", "HF2221",
          executed=("4.3.0/aggregation/state-oldest-missing",)),
    _told(41, "EOFException: an empty or truncated delta", "HF2239", "HF2221", "HF2316",
          executed=("4.3.0/aggregation/state-newest-cut", "4.3.0/aggregation/state-oldest-empty")),
    _told(42, "a corrupt snapshot blocks a query that deltas could rebuild", "HF2111", "HF2316",
          executed=("3.5.9/snapshot-flipped", "4.1.4/snapshot-flipped", "4.3.0/snapshot-flipped")),
    _told(43, "RocksDB: mismatch in unique ID on a table file", "HF2312",
          limits="by the release that wrote the checkpoint", executed=("3.5.9/rocksdb-goes-on",)),
    _told(44, "RocksDB: Sst file size mismatch", "HF2314", executed=("4.3.0/table-cut",)),
    _told(45, "RocksDB: a table in use was deleted by another executor", "HF2314",
          executed=("4.3.0/table-removed",)),
    _told(46, "RocksDB: tables that nothing needs accumulate", "HF2315",
          executed=("4.3.0/table-left-over",)),
    _told(47, "RocksDB: a corrupt zip is accepted silently", "HF2314",
          executed=("4.0.5/zip-cut-with-changelogs", "4.3.0/zip-cut",
          "4.3.0/zip-cut-with-changelogs")),
    _told(48, "checksums fail restarts with state checkpoint format 1", "HF2312", "HF2221",
          executed=("4.1.4/aggregation/none", "4.1.4/checksum-of-another-attempt")),
    _untold(49, "state checkpoint format 2 fails with a pending batch",
            "no tested release fails like this: 4.0.0, 4.0.5, 4.1.4 and 4.2.0 continue"),
    _told(50, "the whole state/ is missing", "HF2221", "HF2362", needs=_PROJECT_OR_RECORD,
          limits="the checkpoint alone shows it where state/ is left empty, where a later operator "
          "has state, where a batch ran without new data, and with state checkpoint format 2",
          executed=("4.3.0/aggregation/state-operator-removed",
          "4.3.0/aggregation/state-removed", "4.3.0/rocksdb/state-removed")),
    _untold(51, "STATE_STORE_COMMIT_VALIDATION_FAILED: not all partitions ran", _RUNNING),
    _told(52, "an outer join's state of Spark 2 fails on 3", "HF2306",
          limits="the layout of Spark 2 only", executed=("3.5.9/outer-join-in-format-one",
          "4.2.0/inner-join-in-format-one", "4.2.0/join-format-lowered",
          "4.2.0/join-of-spark-2-inner", "4.2.0/join-of-spark-2-outer",
          "4.2.0/outer-join-in-format-one")),
    _untold(53, "Spark's state reader writes into the checkpoint",
            "it is a risk of reading with Spark; Holdfast reads without it and writes nothing"),
    _told(54, "Kafka: offset was changed, some data may have been missed", "HF2369",
          needs=_PROJECT_AND_SOURCE, limits=_PLAINTEXT, executed=("4.2.0/records-expired",
          "4.2.0/topic-shorter")),
    _told(55, "Kafka: topic recreated and already longer, its first part never read", "HF2370",
          needs=_PROJECT_AND_SOURCE, limits=_RECREATED, executed=("4.2.0/topic-longer",)),
    _told(56, "Kafka: the latest offset goes back after a leader change", "HF2369",
          needs=_PROJECT_AND_SOURCE, limits=_PLAINTEXT, executed=("4.2.0/latest-goes-back",)),
    _untold(57, "AvailableNow: partitions change during the run", _RUNNING),
    _told(58, "DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE", "HF2366", needs=_SOURCE_PATH,
          executed=("4.2.0/delta-source-created-again",)),
    _told(59, "the Delta log was cleaned below the stored version", "HF2367", needs=_SOURCE_PATH,
          executed=("4.2.0/delta-log-cleaned",)),
    _told(60, "Delta: a crash in a batch without data leads to a full re-read", "HF2307",
          limits="the Delta release that reads the table is unknown",
          executed=("4.2.0/delta-source-idle",)),
    _brought(61, "Iceberg: the snapshot was expired or removed", _SOURCE),
    _brought(62, "Iceberg: the initial offset's snapshot is expired", _SOURCE),
    _brought(63, "Hudi: the stored instant was cleaned", _SOURCE),
    _untold(64, "Paimon: a restart drops a valid offset", _CONNECTOR),
    _brought(65, "Event Hubs: requested seqNo is less than the received one", _SOURCE),
    _untold(66, "Event Hubs: the initial offset is unreadable on Spark 3", _CONNECTOR),
    _told(67, "Kinesis: shard-commit does not exist", "HF2311",
          limits="by the connector's directory; the connector was never run here",
          not_executed="its connector is for Spark 3.0, and was not run here"),
    _untold(68, "Neo4j: the connector ignores the checkpoint", _CONNECTOR),
    _told(69, "latestFirst with a limit: old Spark skipped files, now logs are never cleaned up",
          "HF2321", needs=_PROJECT, executed=("4.3.0/latest-first",)),
    _told(70, "the file source's log grows without limit", "HF2304",
          executed=("4.2.0/source-log-grown",)),
    _told(71, "file sink: a new checkpoint on an old output loses rows", "HF2401", needs=_SINK,
          executed=("4.3.0/new-checkpoint-old-output", "4.3.0/new-checkpoint-second-start")),
    _told(72, "file sink: a rolled back checkpoint loses rows", "HF2402", needs=_SINK,
          executed=("4.3.0/rolled-back",)),
    _told(73, "file sink: an old checkpoint on a new output fails later", "HF2403", needs=_SINK,
          executed=("4.3.0/sink-log-lost-at-compaction", "4.3.0/sink-log-lost-before-compaction",
          "4.3.0/sink-log-lost-early")),
    _told(74, "file sink: _spark_metadata was deleted", "HF2407", needs=_SINK,
          executed=("4.3.0/sink-log-removed",)),
    _told(75, "file sink: every tenth batch is slow, the driver runs out of memory", "HF2406",
          needs=_SINK, executed=("4.2.0/sink-log-grown",)),
    _told(76, "the compaction interval changed", "HF2308", executed=("4.3.0/interval-changed",)),
    _told(77, "Delta: a fixed txnAppId with a new checkpoint, writes ignored", "HF2413",
          needs=_SINK, executed=("4.2.0/delta-fixed-identifier",)),
    _told(78, "Delta: rolled back batch ids are skipped", "HF2411", needs=_SINK,
          executed=("4.2.0/delta-rolled-back",)),
    _told(79, "Delta: a new query id appends everything twice", "HF2412", needs=_SINK,
          executed=("4.2.0/delta-new-checkpoint", "4.2.0/delta-new-id",
          "4.2.0/delta-new-id-and-pending")),
    _told(80, "Delta: transaction identifiers expire", "HF2415", needs=_SINK,
          executed=("4.2.0/delta-batch-again", "4.2.0/delta-identifier-expired")),
    _told(81, "foreachBatch append duplicates rows after a crash", "HF2326", needs=_PROJECT,
          limits="sinks declared as custom", executed=("4.3.0/append-again",
          "4.3.0/stateless/none")),
    _told(82, "JDBC append duplicates rows", "HF2371", needs=_PROJECT,
          limits="sinks declared as custom or kafka, with a pending batch",
          executed=("4.2.0/jdbc-append",)),
    _told(83, "the Kafka sink duplicates rows", "HF2326", needs=_PROJECT,
          limits="sinks declared as kafka",
          executed=("4.2.0/kafka-sink-again", "4.3.0/stateless/none")),
    _untold(84, "Hudi: a killed run leaves a commit without its data", _NO_SINK),
    _untold(85, "Hudi: the sink is not idempotent in old releases", _NO_SINK),
    _untold(86, "Paimon: a replayed batch is committed twice", _NO_SINK),
    _untold(87, "Hudi Streamer: --checkpoint 0 does nothing", _NO_SINK),
    _told(88, "Elasticsearch: its log in the checkpoint only grows", "HF2310",
          limits="by the connector's directory; the connector was never run here",
          not_executed="its connector is for Spark 3, and was not run here"),
    _told(89, "a full refresh resets the checkpoint and keeps the old output", "HF2412",
          needs=_PROJECT_AND_SINK, executed=("4.2.0/output-kept",)),
    _told(90, "the advice is to delete the checkpoint", "HF2203", "HF2204",
          executed=("4.3.0/stateless/newest-offset-missing",
          "4.3.0/stateless/second-newest-offset-missing")),
    _untold(91, "an agent's advice names files in a wrong form",
            "advice from elsewhere leaves nothing in the checkpoint; explain and doctor give "
            "different advice"),
    _told(92, "object stores: thousands of calls for a small batch", "HF2337", needs=_PROJECT,
          executed=("4.2.0/checkpoint-on-s3",)),
    FieldCase(93, "processed Kafka offsets are invisible to consumer-group tools",
              command="inspect", needs=_PROJECT,
              limits="also without a project file, and by status",
              executed=("4.2.0/offsets-shown",)),
)  # fmt: skip
