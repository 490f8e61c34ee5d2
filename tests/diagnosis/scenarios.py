"""Scenarios of the field: a damage on a real checkpoint, what real Spark does, what is found.

The sentence of each is what was measured, or reported, of Spark in that situation; the numbers are
those of the field cases.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from holdfast.diagnosis.doctor import Examinee
from holdfast.diagnosis.subject import DeclaredJob
from holdfast.findings import Severity
from holdfast.jobs.job import Job
from holdfast.storage.memory import MemoryReader
from holdfast.storage.reading import Kind, Listed, Listing
from tests.checkpoint.pictures import files_of, replaced, without
from tests.diagnosis.examining import Files, examinee, output_of

FATAL, ERROR, WARNING, INFO = Severity.FATAL, Severity.ERROR, Severity.WARNING, Severity.INFO
UUID = "11111111-2222-3333-4444-555555555555"
HOUR_MS = 3_600_000


@dataclass(frozen=True)
class Scenario:
    """A situation and the finding that must come of it."""

    cases: tuple[int, ...]
    code: str
    severity: Severity
    at: str
    """A part of the place, as it is spelled out."""
    spark: str
    """What real Spark does then."""
    build: Callable[[], tuple[Examinee, ...]]
    """The first one is damaged; the others stand beside it."""
    verified: bool = False

    def __str__(self) -> str:
        return f"{self.code}-{self.at or 'root'}-{'-'.join(map(str, self.cases))}"


class Swollen(MemoryReader):
    """Lists one file with another size than it has, or a file that it does not have."""

    def __init__(self, files: Files, sizes: Mapping[str, int], location: str = "memory") -> None:
        super().__init__(files, location)
        self._sizes = sizes

    def list(self) -> Listing:
        """List with the other sizes."""
        items = [
            Listed(one.path, one.kind, self._sizes.get(one.path, one.size))
            for one in super().list().items
        ]
        known = {one.path for one in items}
        items += [Listed(path, Kind.FILE, size) for path, size in self._sizes.items()
                  if path not in known]  # fmt: skip
        return Listing(tuple(items), {})


def alone(files: Files, output: Files | None = None, **more: object) -> tuple[Examinee, ...]:
    """Give one examinee."""
    return (examinee(files, output, **more),)  # type: ignore[arg-type]


def declared(**fields: object) -> DeclaredJob:
    """Declare a job; what is not given is as plain as can be."""
    settings = fields.pop("settings", {})
    folders = fields.pop("folders", {})
    sink_place = fields.pop("sink_place", None)
    name = fields.pop("name", "orders")
    assert isinstance(settings, dict) and isinstance(folders, dict) and isinstance(name, str)
    assert sink_place is None or isinstance(sink_place, str)
    job = Job.model_validate(
        {
            "source": {"format": "json", "path": "in"},
            "sql": "select * from source",
            "sink": {"format": "delta", "path": "out"},
            **fields,
        }
    )
    return DeclaredJob(name, job, settings, folders, sink_place)


def rolled_back(files: Files, to: int) -> Files:
    """Take every entry after a batch away, as a rollback by hand does."""
    newer = [
        path
        for path in files
        if (match := re.fullmatch(r"(?:offsets|commits)/([0-9]+)", path)) and int(match[1]) > to
    ]
    return without(files, *newer)


def later(files: Files, milliseconds: int) -> Files:
    """Move the planning of every batch to a later time: another life of the query."""
    moved = files
    for path in [one for one in files if re.fullmatch(r"offsets/[0-9]+", one)]:
        text = files[path].decode()
        stamp = re.search(r'"batchTimestampMs":([0-9]+)', text)
        assert stamp is not None
        new = text.replace(stamp[0], f'"batchTimestampMs":{int(stamp[1]) + milliseconds}')
        moved = replaced(moved, path, new.encode())
    return moved


def below(files: Files, start: str) -> Files:
    """Give the files whose path does not begin so."""
    return {path: data for path, data in files.items() if not path.startswith(start)}


def sink_without(*ids: str, name: str = "stateless") -> Files:
    """Give a sink's log without some entries."""
    return without(output_of(name), *(f"_spark_metadata/{one}" for one in ids))


def delta_output(
    transactions: Mapping[str, int], configuration: dict[str, str] | None = None
) -> Files:
    """Give a Delta log of one version, as a writer without summaries leaves it."""
    metadata = {"metaData": {"id": UUID, "configuration": configuration or {}}}
    actions: list[object] = [metadata]
    for app_id, version in transactions.items():
        actions.append({"txn": {"appId": app_id, "version": version, "lastUpdated": 1}})
    text = "\n".join(json.dumps(one, separators=(",", ":")) for one in actions)
    return {"_delta_log/00000000000000000000.json": text.encode()}


def flipped(files: Files, path: str) -> Files:
    """Flip one byte in the middle of a file; its checksum stays."""
    data = bytearray(files[path])
    data[len(data) // 2] ^= 0xFF
    return {**files, path: bytes(data)}


def first(files: Files, pattern: str) -> str:
    """Give the last path, in the order of names, that fits."""
    return max(path for path in files if re.fullmatch(pattern, path))


def delta_id() -> str:
    """Give the query id of the Delta sample."""
    identity: str = json.loads(files_of("delta", "4.2.0")["metadata"])["id"]
    return identity


def idle_delta() -> Files:
    """Give a Delta source whose newest, pending batch takes nothing."""
    files = without(files_of("delta", "4.2.0"), "commits/2")
    lines = files["offsets/2"].split(b"\n")
    before = files["offsets/1"].split(b"\n")
    return replaced(files, "offsets/1", b"\n".join([*before[:2], lines[2]]))


def rocks_table(files: Files) -> str:
    """Name a table that the newest snapshot of partition 0 needs."""
    from holdfast.diagnosis.checks.rockssnapshots import tables_of

    return f"state/0/0/SSTs/{next(iter(tables_of(files['state/0/0/6.zip'])))}"


def without_rocks_table() -> Files:
    """Take a needed table away."""
    files = files_of("aggregation-rocksdb")
    return without(files, rocks_table(files))


def cut_rocks_table() -> Files:
    """Cut a needed table short."""
    files = files_of("aggregation-rocksdb")
    path = rocks_table(files)
    return replaced(files, path, files[path][:-10])


def state_only_begun() -> Files:
    """Leave of a committed state file only its temporary one, as a rename without effect does."""
    files = files_of("aggregation-hdfs-lz4")
    newest = first(files, r"state/0/0/[0-9]\.delta")
    name = newest.rpartition("/")[2]
    return {**without(files, newest), f"state/0/0/.{name}.{UUID}.TID7.tmp": files[newest]}


def twice(files: Files) -> tuple[Examinee, ...]:
    """Give a checkpoint and its copy."""
    return examinee(files, path="/lake/a"), examinee(files, path="/lake/b")


def sharing() -> tuple[Examinee, ...]:
    """Give two jobs that write files into one folder."""
    sink = {"format": "parquet", "path": "out"}
    jobs = [declared(name=name, sink=sink, sink_place="file:///lake/out") for name in ("a", "b")]
    other = replaced(files_of("stateless"), "metadata", f'{{"id":"{UUID}"}}'.encode())
    return examinee(files_of("stateless"), job=jobs[0]), examinee(other, job=jobs[1])


def many_changes() -> Files:
    """Give a partition with a hundred deltas and no snapshot."""
    files = files_of("aggregation-hdfs-lz4")
    delta = files["state/0/0/1.delta"]
    return {**files, **{f"state/0/0/{one}.delta": delta for one in range(1, 107)}}


def fresh_logs(files: Files) -> Files:
    """Give a checkpoint of another query that has planned nothing yet."""
    return {"metadata": f'{{"id":"{UUID}"}}'.encode(), "offsets/": b"", "commits/": b""}


def large(path: str, files: Files) -> tuple[Examinee, ...]:
    """Let one file seem to hold 40 MB."""
    return (examinee(files, reader=Swollen(files, {path: 40 * 1024 * 1024})),)


def large_sink_log() -> tuple[Examinee, ...]:
    """Let the newest compact entry of the sink's log seem to hold 40 MB."""
    from dataclasses import replace

    output = {
        path.removeprefix("_spark_metadata/"): data
        for path, data in output_of("stateless-compacted").items()
    }
    one = examinee(files_of("stateless-compacted"), {})

    def open_sink(folder: str) -> MemoryReader:
        size = {"8.compact": 40 * 1024 * 1024}
        return (
            Swollen(output, size, "/lake/out/" + folder) if "spark" in folder else MemoryReader({})
        )

    return (replace(one, open_sink=open_sink),)


STATELESS, STATE = "stateless", "aggregation-hdfs-lz4"
KAFKA_JOB = {"source": {"format": "kafka", "options": {"subscribe": "other"}}}

SCENARIOS: tuple[Scenario, ...] = (
    Scenario((1, 90), "HF2204", FATAL, "offsets/2", "Spark stops: batch 2 doesn't exist.",
             lambda: alone(without(files_of(STATELESS), "offsets/2"))),
    Scenario((2,), "HF2216", FATAL, "offsets/3", "Spark stops: batch 3 doesn't exist.",
             lambda: alone(without(files_of(STATELESS), "sources/0/3"))),
    Scenario((3,), "HF2101", FATAL, "offsets/3", "Spark stops: Incomplete log file.",
             lambda: alone(replaced(files_of(STATELESS), "offsets/3", b""))),
    Scenario((4,), "HF2101", FATAL, "commits/3",
             "Spark stops: Incomplete log file in the offset commit log.",
             lambda: alone(replaced(files_of(STATELESS), "commits/3", b""))),
    Scenario((5, 90), "HF2203", FATAL, "offsets/3",
             "Spark runs batch 2 again, then stops with CONCURRENT_STREAM_LOG_UPDATE.",
             lambda: alone(without(files_of(STATELESS), "offsets/3"))),
    Scenario((6,), "HF2105", FATAL, "offsets/3 line 3 (byte", "Spark stops: No usable value.",
             lambda: alone(replaced(files_of(STATELESS), "offsets/3",
                                    files_of(STATELESS)["offsets/3"][:-3]))),
    Scenario((7, 11), "HF2227", INFO, ".tmp",
             "Spark neither reads nor removes them; readers that list the folder may stop.",
             lambda: alone({**files_of(STATELESS), f"offsets/.3.{UUID}.tmp": b"v1"})),
    Scenario((8,), "HF2303", INFO, f"offsets/.4.{UUID}.tmp",
             "The query had ended with 'rename … failed'; the next start plans batch 4.",
             lambda: alone({**files_of(STATELESS), f"offsets/.4.{UUID}.tmp": b"v1"})),
    Scenario((9,), "HF2303", ERROR, ".TID7.tmp",
             "Spark stops: the delta does not exist (a rename without effect, SPARK-40826).",
             lambda: alone(state_only_begun())),
    Scenario((12,), "HF2212", WARNING, "offsets/77", "Old Spark took it for a log; 3.5 passes it.",
             lambda: alone({**files_of(STATELESS), "offsets/77/": b""})),
    Scenario((13,), "HF2103", FATAL, "offsets/3 line 1 (byte 0)",
             "Spark stops: INVALID_LOG_VERSION.MAX_SUPPORTED_VERSION.",
             lambda: alone(replaced(files_of(STATELESS), "offsets/3", b"v9\n{}\n{}"))),
    Scenario((13,), "HF2313", INFO, "offsets", "Spark up to 4.1 refuses offsets of version 2.",
             lambda: alone(files_of("offsets-v2"))),
    Scenario((14,), "HF2305", WARNING, "my orders",
             "Spark 2.4 wrote to my%20orders; later ones begin at batch 0 in the other folder.",
             lambda: alone(files_of(STATELESS), path="/lake/my orders",
                           beside=("my orders", "my%20orders"))),
    Scenario((15,), "HF2201", FATAL, "metadata",
             "Spark up to 4.1 makes a new id and delivers repeated batches twice; 4.2 refuses.",
             lambda: alone(without(files_of(STATELESS), "metadata"))),
    Scenario((15, 79), "HF2412", WARNING, "_delta_log/00000000000000000002.json",
             "Everything that is read again is appended again (20 rows became 40).",
             lambda: alone(replaced(files_of("delta", "4.2.0"), "metadata",
                                    f'{{"id":"{UUID}"}}'.encode()), output_of("delta", "4.2.0"))),
    Scenario((79,), "HF2412", WARNING, "_delta_log/00000000000000000002.json",
             "A new checkpoint appends from the beginning.",
             lambda: alone(fresh_logs({}), output_of("delta", "4.2.0"))),
    Scenario((20,), "HF2301", WARNING, "application_1699999999999_0007",
             "Each submission finds no checkpoint and begins anew.",
             lambda: alone(files_of(STATELESS), path="/lake/application_1699999999999_0007")),
    Scenario((20,), "HF2301", WARNING, "2026-11-16", "The next day's start begins anew.",
             lambda: alone(files_of(STATELESS), path="/lake/orders/2026-11-16")),
    Scenario((20,), "HF2301", WARNING, UUID, "The next start has another id.",
             lambda: alone(files_of(STATELESS), path=f"/lake/run-{UUID}")),
    Scenario((20,), "HF2301", WARNING, "orders-1794795797", "The next start has another time.",
             lambda: alone(files_of(STATELESS), path="/lake/orders-1794795797")),
    Scenario((21,), "HF2302", WARNING, f"temporary-{UUID}",
             "Spark made the folder up and makes up another one at the next start.",
             lambda: alone(files_of(STATELESS), path=f"/tmp/temporary-{UUID}")),
    Scenario((22,), "HF2421", ERROR, "metadata",
             "Each resumes (7 of 7 rows); both on one table skip each other's batches.",
             lambda: twice(files_of(STATELESS))),
    Scenario((), "HF2422", ERROR, "orders",
             "The second query's batches are in _spark_metadata already: 0 of 3 rows.", sharing),
    Scenario((23,), "HF2323", ERROR, "offsets/3 line 3",
             "Spark stops: There are [1] sources in the checkpoint offsets and now there are [2].",
             lambda: alone(files_of(STATELESS), job=declared(source=None, sources={
                 "a": {"format": "json", "path": "in"}, "b": {"format": "json", "path": "b"}}))),
    Scenario((), "HF2323", ERROR, "offsets/3 line 3",
             "Spark gives a Kafka source the offset of a file source and fails to parse it.",
             lambda: alone(files_of(STATELESS), job=declared(**KAFKA_JOB))),
    Scenario((32,), "HF2322", WARNING, "offsets/5 line 2", "Spark stays at 2 partitions.",
             lambda: alone(files_of(STATE),
                           job=declared(settings={"spark.sql.shuffle.partitions": "5"}))),
    Scenario((33,), "HF2322", WARNING, "offsets/5 line 2", "Spark keeps the pinned provider.",
             lambda: alone(files_of(STATE), job=declared(settings={
                 "spark.sql.streaming.stateStore.providerClass": "org.example.RocksDB"}))),
    Scenario((35,), "HF2324", ERROR, "sources/0/3", "Spark stops: Wrong basePath.",
             lambda: alone(files_of(STATELESS), job=declared(folders={"source": "/lake/inB"}))),
    Scenario((36,), "HF2325", ERROR, "line 3", "Spark stops: KAFKA_DATA_LOSS.PARTITIONS_DELETED.",
             lambda: alone(files_of("kafka", "4.2.0"), job=declared(**KAFKA_JOB))),
    Scenario((40,), "HF2221", FATAL, "state/0/0",
             "Spark stops: CANNOT_LOAD_STATE_STORE.CANNOT_READ_DELTA_FILE_NOT_EXISTS.",
             lambda: alone(without(files_of(STATE), "state/0/0/1.delta"))),
    Scenario((41,), "HF2239", ERROR, "state/0/0/2.delta", "Spark stops: EOFException.",
             lambda: alone(replaced(files_of(STATE), "state/0/0/2.delta", b""))),
    Scenario((41,), "HF2221", FATAL, "state/0/0", "Spark stops: EOFException.",
             lambda: alone(replaced(files_of(STATE), "state/0/0/2.delta", b""))),
    Scenario((42,), "HF2111", FATAL, ".snapshot",
             "Spark up to 4.1 stops at it; 4.2 and later take an older one and the deltas.",
             lambda: alone(flipped(files_of("aggregation-hdfs-snapshots"), first(
                 files_of("aggregation-hdfs-snapshots"), r"state/0/0/[0-9]+\.snapshot"))),
             verified=True),
    Scenario((43,), "HF2312", INFO, "orders", "Reported: Mismatch in unique ID on table file.",
             lambda: alone(files_of("aggregation-rocksdb", "3.5.9"))),
    Scenario((48,), "HF2312", INFO, "orders",
             "4.1 checks its checksums of format 1, whose names a retry uses again.",
             lambda: alone(files_of(STATE, "4.1.4"))),
    Scenario((49,), "HF2312", INFO, "orders",
             "Early 4.0 does not start with state format 2 and a pending batch.",
             lambda: alone(without(files_of("aggregation-rocksdb-format-2", "4.0.5"), first(
                 files_of("aggregation-rocksdb-format-2", "4.0.5"), r"commits/[0-9]")))),
    Scenario((44,), "HF2314", FATAL, ".sst",
             "Spark stops: UNEXPECTED_FILE_SIZE, or RocksDB: Sst file size mismatch.",
             lambda: alone(cut_rocks_table())),
    Scenario((45,), "HF2314", FATAL, ".sst", "Spark stops: CANNOT_LOAD_STATE_STORE.UNCATEGORIZED.",
             lambda: alone(without_rocks_table())),
    Scenario((46,), "HF2315", INFO, f"state/0/0/SSTs/000099-{UUID}.sst",
             "Spark never reads the table, and seldom removes it.",
             lambda: alone({**files_of("aggregation-rocksdb"),
                            f"state/0/0/SSTs/000099-{UUID}.sst": b"spare"}), verified=True),
    Scenario((47,), "HF2314", FATAL, "state/0/0/6.zip",
             "Spark stops: CANNOT_LOAD_STATE_STORE.UNCATEGORIZED (zip corrupt, no changelog).",
             lambda: alone(replaced(files_of("aggregation-rocksdb"), "state/0/0/6.zip",
                                    files_of("aggregation-rocksdb")["state/0/0/6.zip"][:200]))),
    Scenario((50,), "HF2221", FATAL, "state",
             "4.2 stops: STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY.",
             lambda: alone({**below(files_of(STATE), "state/"), "state/": b""})),
    Scenario((52,), "HF2306", INFO, "line 2", "Spark refuses an outer join over this state.",
             lambda: alone(files_of("join-format-1", "4.0.5"))),
    Scenario((60,), "HF2307", WARNING, "offsets/2 line 3",
             "Old Delta computed the next offset wrongly and read the table again.",
             lambda: alone(idle_delta())),
    Scenario((67,), "HF2311", ERROR, "sources/0/shard-commit/3",
             "The connector stops: shard-commit/3 does not exist.",
             lambda: alone({**files_of("rate"), "sources/0/shard-commit/0": b"v1"}
                           | {"commits/3": b"v1\n{}", "offsets/3": files_of("rate")["offsets/0"]})),
    Scenario((69,), "HF2321", WARNING, "orders",
             "Files older than the newest by maxFileAge are never read.",
             lambda: alone(files_of(STATELESS), job=declared(source={
                 "format": "json", "path": "in",
                 "options": {"latestFirst": "true", "maxFilesPerTrigger": "5"}}))),
    Scenario((), "HF2327", WARNING, "orders", "Spark skips records that are gone.",
             lambda: alone(files_of(STATELESS), job=declared(source={
                 "format": "kafka", "options": {"failOnDataLoss": "false"}}))),
    Scenario((70,), "HF2304", WARNING, "sources/0/8.compact",
             "Spark reads it whole at every start and writes it anew at every compaction.",
             lambda: large("sources/0/8.compact", files_of("stateless-compacted"))),
    Scenario((), "HF2309", WARNING, "state/0/0", "Spark replays every delta at a load.",
             lambda: alone(many_changes())),
    Scenario((71,), "HF2401", FATAL, "_spark_metadata/3",
             "Spark writes 0 of 3 new rows, without an error.",
             lambda: alone(fresh_logs({}), output_of(STATELESS))),
    Scenario((71,), "HF2401", FATAL, "_spark_metadata/3",
             "A new checkpoint that has come to batch 1 goes on writing nothing.",
             lambda: alone(later(rolled_back(files_of(STATELESS), 1), HOUR_MS),
                           output_of(STATELESS))),
    Scenario((71,), "HF2405", ERROR, "_spark_metadata/0",
             "A new checkpoint has passed the old ids: its batches 0 to 3 were never written.",
             lambda: alone(later(files_of(STATELESS), HOUR_MS), output_of(STATELESS))),
    Scenario((72,), "HF2402", FATAL, "_spark_metadata/3",
             "Spark plans batches 2 and 3 anew and the sink throws them away: 0 of 3 rows.",
             lambda: alone(rolled_back(files_of(STATELESS), 1), output_of(STATELESS))),
    Scenario((73,), "HF2403", ERROR, "_spark_metadata/0",
             "Spark goes on and stops at batch 9: BATCH_METADATA_NOT_FOUND.",
             lambda: alone(files_of(STATELESS), sink_without("0", "1", "2"))),
    Scenario((73,), "HF2403", FATAL, "_spark_metadata/9",
             "The very next batch compacts, and stops.",
             lambda: alone(files_of("stateless-compacted"),
                           sink_without("9", name="stateless-compacted"))),
    Scenario((), "HF2404", ERROR, "_spark_metadata/3",
             "Readers through the log do not see batch 3, and Spark goes on at batch 4.",
             lambda: alone(files_of(STATELESS), sink_without("3"))),
    Scenario((74,), "HF2407", WARNING, "/lake/out",
             "Spark goes on and stops at the next compaction; readers see doubles meanwhile.",
             lambda: alone(files_of(STATELESS), {})),
    Scenario((75,), "HF2406", WARNING, "_spark_metadata/8.compact",
             "Every compaction holds the whole log in the driver's memory.", large_sink_log),
    Scenario((), "HF2408", ERROR, "_spark_metadata/3", "spark.read on the output fails.",
             lambda: alone(files_of(STATELESS), replaced(
                 output_of(STATELESS), "_spark_metadata/3", b"v1\n{"))),
    Scenario((76,), "HF2308", INFO, "sources/0",
             "Spark works the interval out from the two newest compact files and goes on.",
             lambda: alone({**files_of("stateless-compacted"), "sources/0/0.compact":
                            files_of("stateless-compacted")["sources/0/2.compact"]})),
    Scenario((77,), "HF2413", WARNING, "_delta_log/00000000000000000000.json",
             "Delta ignores every write up to version 40, at INFO.",
             lambda: alone(files_of("delta", "4.2.0"), delta_output({"orders-job": 40}))),
    Scenario((78,), "HF2411", FATAL, "_delta_log/00000000000000000002.json",
             "Delta skips batch 2: Skipping already complete epoch.",
             lambda: alone(rolled_back(files_of("delta", "4.2.0"), 1),
                           output_of("delta", "4.2.0"))),
    Scenario((), "HF2411", FATAL, "_delta_log/00000000000000000000.json",
             "Every write under a closed identifier is skipped.",
             lambda: alone(files_of("delta", "4.2.0"), delta_output({delta_id(): 2**63 - 1}))),
    Scenario((), "HF2414", WARNING, "_delta_log/00000000000000000000.json",
             "Delta holds batch 0 only; Spark goes on at batch 3.",
             lambda: alone(files_of("delta", "4.2.0"), delta_output({delta_id(): 0}))),
    Scenario((80,), "HF2415", INFO, "_delta_log/00000000000000000000.json",
             "A batch that is run again after seven days is written twice.",
             lambda: alone(files_of("delta", "4.2.0"), delta_output(
                 {delta_id(): 2},
                 {"delta.setTransactionRetentionDuration": "interval 7 days"}))),
    Scenario((), "HF2416", INFO, "_delta_log/00000000000000000005.json",
             "Delta reads the older identifiers from its Parquet checkpoint.",
             lambda: alone(files_of("delta", "4.2.0"), {"_delta_log/00000000000000000005.json":
                           delta_output({})["_delta_log/00000000000000000000.json"]})),
    Scenario((81,), "HF2326", INFO, "orders",
             "A plain foreachBatch append wrote 8 rows for 6 after a lost commit.",
             lambda: alone(files_of(STATELESS), job=declared(
                 sink={"format": "custom", "function": "pipeline:deliver"}))),
    Scenario((83,), "HF2326", INFO, "orders", "Kafka's sink is at-least-once by documentation.",
             lambda: alone(files_of(STATELESS), job=declared(sink={"format": "kafka"}))),
    Scenario((88,), "HF2310", INFO, "sinks", "The connector adds a file with every batch.",
             lambda: alone({**files_of(STATELESS), "sinks/elasticsearch/0": b"v1"})),
    Scenario((92,), "HF2337", INFO, "orders",
             "One small batch took 6,938 S3 calls, 224 with another file manager.",
             lambda: alone(files_of(STATELESS), path="s3://lake/orders", scheme="s3")),
    Scenario((), "HF2331", INFO, "offsets", "Started without it, Spark stops at the gaps.",
             lambda: alone(files_of("asynchronous"))),
    Scenario((), "HF2332", INFO, "state", "Can be turned on or off between any two starts.",
             lambda: alone(files_of("aggregation-rocksdb-changelog"))),
    Scenario((), "HF2333", INFO, "commits", "A change stops 4.0 to 4.2; 4.3 ignores it.",
             lambda: alone(files_of("aggregation-rocksdb-format-2"))),
    Scenario((), "HF2334", INFO, "offsets", "Spark removed the older entries.",
             lambda: alone(files_of("purged"))),
    Scenario((), "HF2335", INFO, "state", "Spark replays the deltas since the snapshot.",
             lambda: alone(files_of(STATE))),
    Scenario((), "HF2336", INFO, "sources/0", "Spark keeps to the interval that it finds.",
             lambda: alone(files_of("stateless-compacted"))),
)  # fmt: skip
