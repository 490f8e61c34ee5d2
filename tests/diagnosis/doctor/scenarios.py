"""Scenarios of the field: a damage on a real checkpoint, what real Spark does, what is found.

The sentence of each is what was seen of real Spark in that situation, and names the records of it;
the numbers are those of the field cases.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from holdfast.diagnosis.doctor.doctor import Examinee
from holdfast.diagnosis.inspection.subject import DeclaredJob
from holdfast.errors import NotFoundError
from holdfast.findings import Severity
from holdfast.jobs.projectfile.job import Job
from holdfast.ledgers.files.format import Intent
from holdfast.ledgers.files.manifests import manifest_path
from holdfast.ledgers.reading import SinkPlace
from holdfast.records.leases.state import Standing
from holdfast.records.run import Ended, Run, SinkFacts
from holdfast.storage.memory import MemoryReader
from holdfast.storage.reading import FileKind, Listed, Listing
from tests.checkpoint.pictures import files_of, replaced, without
from tests.diagnosis.doctor.examining import Files, examinee, output_of
from tests.diagnosis.doctor.filesinks import FileSink, ledger, with_sink
from tests.diagnosis.doctor.recording import lease, recorded, run_on

FATAL, ERROR, WARNING, INFO = Severity.FATAL, Severity.ERROR, Severity.WARNING, Severity.INFO
OTHER_PATH = "whether the next start is given another path is not written in this one"
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
    tried: tuple[str, ...] = ()
    """Records of real starts, the one that decides first: `4.3.0/stateless/offset-empty` is of
    tests/restarts, `4.3.0/another-path` of tests/diagnosis/doctor/trials."""
    not_tried: str = ""
    """Why there is none."""
    not_fatal: str = ""
    """Why it is less than fatal, although the recorded start failed, lost or doubled rows."""

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
        items += [Listed(path, FileKind.FILE, size) for path, size in self._sizes.items()
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
    name, project = fields.pop("name", "orders"), fields.pop("project", None)
    assert isinstance(settings, dict) and isinstance(folders, dict) and isinstance(name, str)
    assert sink_place is None or isinstance(sink_place, str)
    assert project is None or isinstance(project, str)
    job = Job.model_validate(
        {
            "source": {"format": "json", "path": "in"},
            "sql": "select * from source",
            "sink": {"format": "delta", "path": "out"},
            **fields,
        }
    )
    return DeclaredJob(name, job, settings, folders, sink_place, project)


class Absent(MemoryReader):
    """A place at which nothing is."""

    def list(self) -> Listing:
        """Say so."""
        raise NotFoundError("HF7001", "nothing is there", at=self.location)


def not_there(output: Files) -> tuple[Examinee, ...]:
    """Give a checkpoint that does not exist, with a sink that was named."""
    place = "/lake/checkpoints/orders"
    one = examinee({}, output, reader=Absent({}, place))
    assert one.sink is not None
    return (replace(one, sink=replace(one.sink, given=True)),)


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


def from_the_future() -> Files:
    """Let the newest file that was read be years ahead."""
    files = files_of(STATELESS)
    changed = files["sources/0/3"].replace(b'"timestamp":1', b'"timestamp":2', 1)
    return replaced(files, "sources/0/3", changed)


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


def begun_again() -> Files:
    """Give the checkpoint of the Delta sample as a new query wrote it an hour later."""
    files = replaced(files_of("delta", "4.2.0"), "metadata", f'{{"id":"{UUID}"}}'.encode())
    return later(files, HOUR_MS)


def planned_again(batch_id: int) -> Files:
    """Give the Delta sample with one batch that was planned again an hour later."""
    files, again = files_of("delta", "4.2.0"), later(files_of("delta", "4.2.0"), HOUR_MS)
    return {**files, f"offsets/{batch_id}": again[f"offsets/{batch_id}"]}


def appended_again(rows: str = "4", first: int = 3) -> Files:
    """Give the Delta sample's table with each batch once more, an hour later, by a new query."""
    output = {path: data for path, data in output_of("delta", "4.2.0").items()
              if path.endswith(".json")}  # fmt: skip
    for number, path in enumerate(sorted(output)):
        text = output[path].decode().replace(delta_id(), UUID)
        text = text.replace('"numOutputRows":"4"', f'"numOutputRows":"{rows}"')
        for stamp in set(re.findall(r'(?:timestamp|lastUpdated)":([0-9]{13})', text)):
            text = text.replace(stamp, str(int(stamp) + HOUR_MS))
        lines = [line for line in text.splitlines() if not line.startswith(('{"meta', '{"proto'))]
        output[f"_delta_log/{number + first:020}.json"] = "\n".join(lines).encode()
    return output


def flipped(files: Files, path: str) -> Files:
    """Flip one byte in the middle of a file; its checksum stays."""
    data = bytearray(files[path])
    data[len(data) // 2] ^= 0xFF
    return {**files, path: bytes(data)}


def first(files: Files, pattern: str) -> str:
    """Give the last path, in the order of names, that fits."""
    return max(path for path in files if re.fullmatch(pattern, path))


def query_of(name: str) -> str:
    """Give the query id of a sample."""
    identity: str = json.loads(files_of(name)["metadata"])["id"]
    return identity


def file_sink() -> FileSink:
    """Give a file sink that holds every batch of the stateless sample."""
    return FileSink(query_of(STATELESS), range(4))


def without_manifest(batch_id: int) -> FileSink:
    """Give a file sink that lacks one manifest."""
    path = manifest_path(query_of(STATELESS), batch_id)
    return file_sink().losing(f"manifests/{path}")


def delta_id() -> str:
    """Give the query id of the Delta sample."""
    identity: str = json.loads(files_of("delta", "4.2.0")["metadata"])["id"]
    return identity


def run_on_delta() -> Run:
    """Give a recorded run of the Delta sample."""
    sink = SinkFacts("delta", "out", "append", "every batch once")
    return replace(run_on(STATELESS), query_id=delta_id(), sink=sink, last_batch=1)


def idle_delta() -> Files:
    """Give a Delta source whose newest, pending batch takes nothing."""
    files = without(files_of("delta", "4.2.0"), "commits/2")
    lines = files["offsets/2"].split(b"\n")
    before = files["offsets/1"].split(b"\n")
    return replaced(files, "offsets/1", b"\n".join([*before[:2], lines[2]]))


def rocks_table(files: Files) -> str:
    """Name a table that the newest snapshot of partition 0 needs."""
    from holdfast.diagnosis.checks.state.rocksdb import tables_of

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


def with_cut_snapshot(name: str) -> Files:
    """Cut the newest RocksDB snapshot of partition 0 short."""
    files = files_of(name)
    path = first(files, r"state/0/0/[0-9]\.zip")
    return replaced(files, path, files[path][:200])


def with_another_checksum() -> Files:
    """Give a whole state file beside the checksum of another one, as a task's retry leaves it."""
    files = files_of(STATE, "4.1.4")
    path = "state/0/0/3.delta.crc"
    return replaced(files, path, files["state/0/0/2.delta.crc"])


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


def running_now() -> tuple[Examinee, ...]:
    """Give a checkpoint whose driver runs at this moment."""
    run = run_on(STATELESS, ended=None)
    return alone(files_of(STATELESS), recorded=recorded(run, lease=lease(Standing.HELD)))


def large_sink_log() -> tuple[Examinee, ...]:
    """Let the newest compact entry of the sink's log seem to hold 40 MB."""
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

    return (replace(one, sink=SinkPlace("/lake/out", open_sink)),)


JOIN_FORMAT = b'"spark.sql.streaming.join.stateFormatVersion"'
LOWERED = JOIN_FORMAT + b':"2"', JOIN_FORMAT + b':"1"'


def join_of_spark_2() -> Files:
    """Give a join as Spark 2 left it: no entry names the format, and nothing describes state."""
    files = {one: data for one, data in files_of("join-format-1", "4.0.5").items()
             if "_metadata" not in one}  # fmt: skip
    named = JOIN_FORMAT + b':"1",'
    for path in [one for one in files if re.fullmatch(r"offsets/[0-9]+", one)]:
        files = replaced(files, path, files[path].replace(named, b""))
    return files


def two_sources(sql: str) -> DeclaredJob:
    """Declare a job that reads two folders."""
    folders = {name: {"format": "json", "path": name} for name in "ab"}
    return declared(source=None, sources=folders, sql=sql)


STATELESS, STATE = "stateless", "aggregation-hdfs-lz4"
KAFKA_JOB = {"source": {"format": "kafka", "options": {"subscribe": "other"}}}


def reading(**options: str) -> DeclaredJob:
    """Declare a job that reads Kafka."""
    return declared(source={"format": "kafka", "options": options})


RENAMED = "a job that was only renamed looks alike, and its start goes well"
OURS = "it is about what Holdfast's own sinks remember, which Spark does not know"

SCENARIOS: tuple[Scenario, ...] = (
    Scenario((1, 90), "HF2204", FATAL, "offsets/2", "Spark stops: batch 2 doesn't exist.",
             lambda: alone(without(files_of(STATELESS), "offsets/2")),
             tried=("4.3.0/stateless/second-newest-offset-missing",)),
    Scenario((2,), "HF2216", FATAL, "offsets/3", "Spark stops: batch 3 doesn't exist.",
             lambda: alone(without(files_of(STATELESS), "sources/0/3")),
             tried=("4.3.0/stateless/source-newest-missing",)),
    Scenario((3,), "HF2101", FATAL, "offsets/3", "Spark stops: Incomplete log file.",
             lambda: alone(replaced(files_of(STATELESS), "offsets/3", b"")),
             tried=("4.3.0/stateless/offset-empty",)),
    Scenario((4,), "HF2101", FATAL, "commits/3",
             "Spark stops: Incomplete log file in the offset commit log.",
             lambda: alone(replaced(files_of(STATELESS), "commits/3", b"")),
             tried=("4.3.0/stateless/commit-empty",)),
    Scenario((5, 90), "HF2203", FATAL, "offsets/3",
             "Spark runs batch 2 again, then stops with CONCURRENT_STREAM_LOG_UPDATE.",
             lambda: alone(without(files_of(STATELESS), "offsets/3")),
             tried=("4.3.0/stateless/newest-offset-missing",)),
    Scenario((6,), "HF2105", FATAL, "offsets/3 line 3 (byte",
             "Spark stops: Unexpected end-of-input.",
             lambda: alone(replaced(files_of(STATELESS), "offsets/3",
                                    files_of(STATELESS)["offsets/3"][:-3])),
             tried=("4.3.0/stateless/offset-cut-in-source",)),
    Scenario((7, 11), "HF2227", INFO, ".tmp",
             "Spark goes on; it neither reads nor removes them. Others may trip over them.",
             lambda: alone({**files_of(STATELESS), f"offsets/.3.{UUID}.tmp": b"v1"}),
             tried=("4.3.0/stateless/temporary-left",)),
    Scenario((8,), "HF2303", INFO, f"offsets/.4.{UUID}.tmp",
             "The query had ended with 'rename … failed'; the next start goes on with batch 4.",
             lambda: alone({**files_of(STATELESS), f"offsets/.4.{UUID}.tmp": b"v1"}),
             tried=("4.3.0/stateless/temporary-left",)),
    Scenario((9,), "HF2303", FATAL, ".TID7.tmp",
             "Spark stops: CANNOT_READ_DELTA_FILE_NOT_EXISTS (a rename without effect, "
             "SPARK-40826).",
             lambda: alone(state_only_begun()),
             tried=("4.3.0/aggregation/state-newest-missing",)),
    Scenario((12,), "HF2212", WARNING, "offsets/77",
             "Old Spark took it for a log; 3.5 and later go on.",
             lambda: alone({**files_of(STATELESS), "offsets/77/": b""}),
             tried=("4.3.0/stateless/directory-ahead-in-offsets",
                    "3.5.9/stateless/directory-ahead-in-offsets")),
    Scenario((13,), "HF2103", FATAL, "offsets/3 line 1 (byte 0)",
             "Spark stops: INVALID_LOG_VERSION.MAX_SUPPORTED_VERSION.",
             lambda: alone(replaced(files_of(STATELESS), "offsets/3", b"v9\n{}\n{}")),
             tried=("4.3.0/stateless/offset-version-9",)),
    Scenario((13,), "HF2313", INFO, "offsets",
             "4.2 and later go on; 4.1 stops: INVALID_LOG_VERSION.MAX_SUPPORTED_VERSION.",
             lambda: alone(files_of("offsets-v2")),
             tried=("4.3.0/offsets-v2/none", "4.1.4/stateless/offset-version-2")),
    Scenario((14,), "HF2305", FATAL, "my orders",
             "Spark stops: we detected a possible problem with the location of your checkpoint.",
             lambda: alone(files_of(STATELESS), path="/lake/my orders",
                           beside=("/lake/my orders", "/lake/my%20orders",
                                   "/lake/my%252520orders")),
             tried=("4.3.0/escaped-twin-of-old-spark",)),
    Scenario((14,), "HF2305", FATAL, "my lake/orders",
             "Spark stops: we detected a possible problem with the location of your checkpoint.",
             lambda: alone(files_of(STATELESS), path="/data/my lake/orders",
                           beside=("/data/my lake/orders", "/data/my%252520lake/orders")),
             tried=("4.2.0/escaped-twin-of-parent",)),
    Scenario((15,), "HF2201", FATAL, "metadata",
             "4.2 and later stop: STREAMING_CHECKPOINT_MISSING_METADATA_FILE; 4.1 goes on with a "
             "new id.",
             lambda: alone(without(files_of(STATELESS), "metadata")),
             tried=("4.3.0/stateless/metadata-missing", "4.1.4/stateless/metadata-missing")),
    Scenario((15, 79), "HF2412", WARNING, "_delta_log/00000000000000000002.json",
             "Delta goes on: nothing is pending, and new batches are new under either id.",
             lambda: alone(replaced(files_of("delta", "4.2.0"), "metadata",
                                    f'{{"id":"{UUID}"}}'.encode()), output_of("delta", "4.2.0")),
             tried=("4.2.0/delta-new-id",)),
    Scenario((15, 79), "HF2412", FATAL, "_delta_log/00000000000000000002.json",
             "The pending batch is written twice: the table has it under the former id.",
             lambda: alone(without(replaced(files_of("delta", "4.2.0"), "metadata",
                                            f'{{"id":"{UUID}"}}'.encode()), "commits/2"),
                           output_of("delta", "4.2.0")),
             tried=("4.2.0/delta-new-id-and-pending",)),
    Scenario((79,), "HF2412", FATAL, "_delta_log/00000000000000000002.json",
             "A new checkpoint reads from the beginning: every row is doubled.",
             lambda: alone(fresh_logs({}), output_of("delta", "4.2.0")),
             tried=("4.2.0/delta-new-checkpoint",)),
    Scenario((79,), "HF2412", FATAL, "_delta_log/00000000000000000002.json",
             "A checkpoint that is not there yet reads from the beginning: every row is doubled.",
             lambda: not_there(output_of("delta", "4.2.0")),
             tried=("4.2.0/delta-new-checkpoint",)),
    Scenario((71,), "HF2401", FATAL, "_spark_metadata/3",
             "Spark begins a new checkpoint and writes none of the new rows: they are lost.",
             lambda: not_there(output_of(STATELESS)),
             tried=("4.3.0/new-checkpoint-old-output",)),
    Scenario((20,), "HF2351", WARNING, "orders",
             "Spark begins at batch 0 under a new query id: rows are delivered again.",
             lambda: not_there({}),
             tried=("4.3.0/stateless/everything-removed",),
             not_fatal="a query that was never started has no checkpoint either"),
    Scenario((), "HF2443", FATAL, "manifests",
             "Everything that is read again is written again.",
             lambda: with_sink(fresh_logs({}), file_sink()),
             not_tried=OURS),
    Scenario((20,), "HF2301", WARNING, "application_1699999999999_0007",
             "Each submission finds no checkpoint: rows are delivered again.",
             lambda: alone(files_of(STATELESS), path="/lake/application_1699999999999_0007"),
             tried=("4.3.0/another-path",), not_fatal=OTHER_PATH),
    Scenario((20,), "HF2301", WARNING, "2026-11-16",
             "The next day's start delivers the same rows again.",
             lambda: alone(files_of(STATELESS), path="/lake/orders/2026-11-16"),
             tried=("4.3.0/another-path",), not_fatal=OTHER_PATH),
    Scenario((20,), "HF2301", WARNING, UUID,
             "The next start has another id and delivers all again.",
             lambda: alone(files_of(STATELESS), path=f"/lake/run-{UUID}"),
             tried=("4.3.0/another-path",), not_fatal=OTHER_PATH),
    Scenario((20,), "HF2301", WARNING, "orders-1794795797",
             "The next start has another time and delivers all again.",
             lambda: alone(files_of(STATELESS), path="/lake/orders-1794795797"),
             tried=("4.3.0/another-path",), not_fatal=OTHER_PATH),
    Scenario((21,), "HF2302", WARNING, f"temporary-{UUID}",
             "Spark makes up another folder at the next start and delivers all again.",
             lambda: alone(files_of(STATELESS), path=f"/tmp/temporary-{UUID}"),
             tried=("4.3.0/no-path",), not_fatal=OTHER_PATH),
    Scenario((22,), "HF2421", ERROR, "metadata",
             "A copy alone goes on; two on one Delta table skip each other's batches: rows are "
             "lost.",
             lambda: twice(files_of(STATELESS)),
             tried=("4.2.0/copies-on-one-table", "4.2.0/copy-alone"),
             not_fatal="a copy that is kept as a backup, or goes on alone, does no harm"),
    Scenario((), "HF2422", ERROR, "orders",
             "The second query's batches are in _spark_metadata already: its 6 rows are lost.",
             sharing,
             tried=("4.3.0/two-queries-one-output",),
             not_fatal="the record is of Spark's own file sink; Holdfast's keeps queries apart"),
    Scenario((23,), "HF2323", FATAL, "offsets/3 line 3",
             "Spark stops: There are [1] sources in the checkpoint offsets and now there are [2]",
             lambda: alone(files_of(STATELESS), job=two_sources(
                 "select * from a union all select * from b")),
             tried=("4.3.0/source-added",)),
    Scenario((23,), "HF2323", FATAL, "offsets/3 line 3",
             "Spark counts every use of a source and stops: There are [1] sources in the "
             "checkpoint offsets and now there are [3]",
             lambda: alone(files_of(STATELESS), job=declared(sql=" union all ".join(
                 ["select * from source"] * 3))),
             tried=("4.2.0/source-used-thrice",)),
    Scenario((), "HF2323", FATAL, "offsets/3 line 3",
             "Spark gives Kafka the offset of a file source and stops: got {\"logOffset\":3}",
             lambda: alone(files_of(STATELESS), job=declared(**KAFKA_JOB)),
             tried=("4.2.0/kafka-instead-of-files",)),
    Scenario((32,), "HF2322", WARNING, "offsets/5 line 2",
             "Spark goes on with 2 partitions.",
             lambda: alone(files_of(STATE),
                           job=declared(settings={"spark.sql.shuffle.partitions": "5"})),
             tried=("4.3.0/partitions-changed",)),
    Scenario((33,), "HF2322", WARNING, "offsets/5 line 2",
             "Spark goes on with the pinned provider.",
             lambda: alone(files_of(STATE), job=declared(settings={
                 "spark.sql.streaming.stateStore.providerClass": "org.example.RocksDB"})),
             tried=("4.3.0/provider-changed",)),
    Scenario((35,), "HF2324", FATAL, "sources/0/3", "Spark stops: Wrong basePath.",
             lambda: alone(files_of(STATELESS), job=declared(folders={"source": "/lake/inB"})),
             tried=("4.3.0/folder-changed",)),
    Scenario((36,), "HF2325", FATAL, "line 3", "Spark stops: KAFKA_DATA_LOSS.PARTITIONS_DELETED.",
             lambda: alone(files_of("kafka", "4.2.0"), job=declared(**KAFKA_JOB)),
             tried=("4.2.0/topic-renamed",)),
    Scenario((36,), "HF2325", FATAL, "line 3", "Spark stops: KAFKA_DATA_LOSS.PARTITIONS_DELETED.",
             lambda: alone(files_of("kafka", "4.2.0"), job=reading(subscribePattern="other-.*")),
             tried=("4.2.0/topic-by-another-pattern",)),
    Scenario((36,), "HF2325", FATAL, "line 3", "Spark stops: KAFKA_DATA_LOSS.PARTITIONS_DELETED.",
             lambda: alone(files_of("kafka", "4.2.0"), job=reading(assign='{"other":[0]}')),
             tried=("4.2.0/another-partition-assigned", "4.2.0/partition-assigned")),
    Scenario((33,), "HF2349", INFO, "line 2",
             "Spark goes on with the pinned provider.",
             lambda: alone(files_of("aggregation-rocksdb"), job=declared()),
             tried=("4.2.0/provider-dropped",)),
    Scenario((40,), "HF2221", FATAL, "state/0/0",
             "Spark stops: CANNOT_LOAD_STATE_STORE.CANNOT_READ_DELTA_FILE_NOT_EXISTS.",
             lambda: alone(without(files_of(STATE), "state/0/0/1.delta")),
             tried=("4.3.0/aggregation/state-oldest-missing",)),
    Scenario((41,), "HF2239", FATAL, "state/0/0/2.delta", "Spark stops: EOFException.",
             lambda: alone(replaced(files_of(STATE), "state/0/0/2.delta", b"")),
             tried=("4.3.0/aggregation/state-oldest-empty",)),
    Scenario((41,), "HF2221", FATAL, "state/0/0", "Spark stops: EOFException.",
             lambda: alone(replaced(files_of(STATE), "state/0/0/2.delta", b"")),
             tried=("4.3.0/aggregation/state-oldest-empty",)),
    Scenario((42,), "HF2111", ERROR, ".snapshot",
             "4.2 and later go on: they take an older one and the deltas. 3.5 stops: Stream is "
             "corrupted; 4.1 stops: CHECKPOINT_FILE_CHECKSUM_VERIFICATION_FAILED.",
             lambda: alone(flipped(files_of("aggregation-hdfs-snapshots"), first(
                 files_of("aggregation-hdfs-snapshots"), r"state/0/0/[0-9]+\.snapshot"))),
             verified=True,
             tried=("4.3.0/snapshot-flipped", "4.1.4/snapshot-flipped", "3.5.9/snapshot-flipped")),
    Scenario((43,), "HF2312", INFO, "orders",
             "Spark goes on; a task's retry is reported to end in: Mismatch in unique ID on "
             "table file.",
             lambda: alone(files_of("aggregation-rocksdb", "3.5.9")),
             tried=("3.5.9/rocksdb-goes-on",)),
    Scenario((48,), "HF2312", INFO, "orders",
             "4.1 goes on. Where a retry left the file of one attempt and the checksum of "
             "another, it stops: CHECKPOINT_FILE_CHECKSUM_VERIFICATION_FAILED.",
             lambda: alone(files_of(STATE, "4.1.4")),
             tried=("4.1.4/aggregation/none", "4.1.4/checksum-of-another-attempt")),
    Scenario((48,), "HF2221", FATAL, "state/0/0",
             "4.1 stops: CHECKPOINT_FILE_CHECKSUM_VERIFICATION_FAILED.",
             lambda: alone(with_another_checksum()), verified=True,
             tried=("4.1.4/checksum-of-another-attempt",)),
    Scenario((44,), "HF2314", FATAL, ".sst",
             "Spark stops: UNEXPECTED_FILE_SIZE.",
             lambda: alone(cut_rocks_table()),
             tried=("4.3.0/table-cut",)),
    Scenario((45,), "HF2314", FATAL, ".sst", "Spark stops: CANNOT_LOAD_STATE_STORE.UNCATEGORIZED.",
             lambda: alone(without_rocks_table()),
             tried=("4.3.0/table-removed",)),
    Scenario((46,), "HF2315", INFO, f"state/0/0/SSTs/000099-{UUID}.sst",
             "Spark goes on, never reads the table, and leaves it there.",
             lambda: alone({**files_of("aggregation-rocksdb"),
                            f"state/0/0/SSTs/000099-{UUID}.sst": b"spare"}), verified=True,
             tried=("4.3.0/table-left-over",)),
    Scenario((47,), "HF2314", FATAL, "state/0/0/6.zip",
             "Spark stops: CANNOT_LOAD_STATE_STORE.UNCATEGORIZED.",
             lambda: alone(replaced(files_of("aggregation-rocksdb"), "state/0/0/6.zip",
                                    files_of("aggregation-rocksdb")["state/0/0/6.zip"][:200])),
             tried=("4.3.0/zip-cut",)),
    Scenario((47,), "HF2314", ERROR, ".zip",
             "With changelogs 4.2 and later go on: they replay them over an older snapshot. 4.0 "
             "stops: CANNOT_LOAD_STATE_STORE.UNCATEGORIZED.",
             lambda: alone(with_cut_snapshot("aggregation-rocksdb-changelog-snapshots")),
             tried=("4.3.0/zip-cut-with-changelogs", "4.0.5/zip-cut-with-changelogs")),
    Scenario((50,), "HF2221", FATAL, "state",
             "Spark stops: STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY.",
             lambda: alone({**below(files_of(STATE), "state/"), "state/": b""}),
             tried=("4.3.0/aggregation/state-operator-removed",)),
    Scenario((52,), "HF2306", INFO, "line 2",
             "The inner join goes on; an outer join stops: The query is using stream-stream "
             "LeftOuter join with state format version 1.",
             lambda: alone(files_of("join-format-1", "4.0.5")),
             tried=("4.2.0/inner-join-in-format-one", "4.2.0/outer-join-in-format-one")),
    Scenario((52,), "HF2306", FATAL, "line 2",
             "Spark stops: The query is using stream-stream LeftOuter join with state format "
             "version 1.",
             lambda: alone(files_of("join-format-1", "4.0.5"), job=two_sources(
                 "select * from a left join b on a.id = b.id and b.at > a.at")),
             tried=("4.2.0/outer-join-in-format-one", "3.5.9/outer-join-in-format-one")),
    Scenario((52,), "HF2306", FATAL, "line 2",
             "4.1 and later stop: Unsupported schema writer version: 1; 4.0 starts an inner join.",
             lambda: alone(join_of_spark_2()),
             tried=("4.2.0/join-of-spark-2-inner", "4.2.0/join-of-spark-2-outer")),
    Scenario((52,), "HF2306", FATAL, "line 2",
             "Spark stops: STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE.",
             lambda: alone({path: data.replace(*LOWERED) if path.startswith("offsets/") else data
                            for path, data in files_of("join").items()}),
             tried=("4.2.0/join-format-lowered",)),
    Scenario((60,), "HF2307", WARNING, "offsets/2 line 3",
             "Current Delta goes on; an old one computed the next offset wrongly and read the "
             "table again.",
             lambda: alone(idle_delta()),
             tried=("4.2.0/delta-source-idle",)),
    Scenario((67,), "HF2311", ERROR, "sources/0/shard-commit/3",
             "The connector stops: shard-commit/3 does not exist.",
             lambda: alone({**files_of("rate"), "sources/0/shard-commit/0": b"v1"}
                           | {"commits/3": b"v1\n{}", "offsets/3": files_of("rate")["offsets/0"]}),
             not_tried="its connector is for Spark 3.0, and was not run here"),
    Scenario((69,), "HF2321", INFO, "orders",
             "Spark goes on and reads every file: it ignores maxFileAge then.",
             lambda: alone(files_of(STATELESS), job=declared(source={
                 "format": "json", "path": "in",
                 "options": {"latestFirst": "true", "maxFilesPerTrigger": "5"}})),
             tried=("4.3.0/latest-first",)),
    Scenario((), "HF2327", WARNING, "orders",
             "Spark skips records that are gone: they are lost without an error.",
             lambda: alone(files_of(STATELESS), job=declared(source={
                 "format": "kafka", "options": {"failOnDataLoss": "false"}})),
             tried=("4.2.0/loss-allowed",),
             not_fatal="only after the next event: rows are lost when records are gone by then"),
    Scenario((), "HF2247", FATAL, "sources/0/3",
             "Spark takes the new files for too old and never reads them: rows are lost.",
             lambda: alone(from_the_future()),
             tried=("4.2.0/future-file",)),
    Scenario((), "HF2246", FATAL, "offsets/3",
             "Spark stops: batch 2 doesn't exist.",
             lambda: alone(without(files_of(STATELESS), *(
                 f"{log}/{batch}" for log in ("offsets", "commits") for batch in range(3)))),
             tried=("4.3.0/stateless/only-newest-offset",)),
    Scenario((70,), "HF2304", WARNING, "sources/0/8.compact",
             "Spark goes on: it reads the log whole at every start, and writes all of it at every "
             "compaction.",
             lambda: large("sources/0/8.compact", files_of("stateless-compacted")),
             tried=("4.2.0/source-log-grown",)),
    Scenario((), "HF2309", WARNING, "state/0/0", "Spark replays every delta at a load.",
             lambda: alone(many_changes()),
             not_tried="only their number differs: a load takes longer, and does the same"),
    Scenario((71,), "HF2401", FATAL, "_spark_metadata/3",
             "Spark writes none of the 6 new rows, without an error: they are lost.",
             lambda: alone(fresh_logs({}), output_of(STATELESS)),
             tried=("4.3.0/new-checkpoint-old-output",)),
    Scenario((71,), "HF2401", FATAL, "_spark_metadata/3",
             "A new checkpoint that is started again goes on losing rows.",
             lambda: alone(later(rolled_back(files_of(STATELESS), 1), HOUR_MS),
                           output_of(STATELESS)),
             tried=("4.3.0/new-checkpoint-second-start",)),
    Scenario((71,), "HF2405", ERROR, "_spark_metadata/0",
             "A new checkpoint has passed the old ids: rows of its first batches are lost.",
             lambda: alone(later(files_of(STATELESS), HOUR_MS), output_of(STATELESS)),
             tried=("4.3.0/new-checkpoint-passed",),
             not_fatal="past damage: the rows were lost before, the next start loses none"),
    Scenario((72,), "HF2402", FATAL, "_spark_metadata/3",
             "Spark plans batch 2 anew, larger, and the sink throws it away: rows are lost.",
             lambda: alone(rolled_back(files_of(STATELESS), 1), output_of(STATELESS)),
             tried=("4.3.0/rolled-back",)),
    Scenario((73,), "HF2403", ERROR, "_spark_metadata/0",
             "Spark goes on and stops at batch 9: BATCH_METADATA_NOT_FOUND; readers fail "
             "meanwhile.",
             lambda: alone(files_of(STATELESS), sink_without("0", "1", "2")),
             tried=("4.3.0/sink-log-lost-early", "4.3.0/sink-log-lost-at-compaction")),
    Scenario((73,), "HF2403", FATAL, "_spark_metadata/9",
             "The very next batch compacts, and stops: BATCH_METADATA_NOT_FOUND.",
             lambda: alone(files_of("stateless-compacted"),
                           sink_without("9", name="stateless-compacted")),
             tried=("4.3.0/sink-log-lost-before-compaction",)),
    Scenario((), "HF2404", ERROR, "_spark_metadata/3",
             "Spark goes on at batch 4; from then on reading the output fails: doesn't exist.",
             lambda: alone(files_of(STATELESS), sink_without("3")),
             tried=("4.3.0/newest-sink-entry-lost",)),
    Scenario((74,), "HF2407", WARNING, "/lake/out",
             "Spark goes on; after the next batch reading the output fails: doesn't exist.",
             lambda: alone(files_of(STATELESS), {}),
             tried=("4.3.0/sink-log-removed",)),
    Scenario((75,), "HF2406", WARNING, "_spark_metadata/8.compact",
             "Spark goes on: every compaction holds the whole log in the driver's memory.",
             large_sink_log, tried=("4.2.0/sink-log-grown",)),
    Scenario((), "HF2408", ERROR, "_spark_metadata/3",
             "Spark goes on; reading the output fails: Unexpected end-of-input.",
             lambda: alone(files_of(STATELESS), replaced(
                 output_of(STATELESS), "_spark_metadata/3", b"v1\n{")),
             tried=("4.3.0/sink-entry-damaged-before-start", "4.3.0/sink-entry-damaged")),
    Scenario((76,), "HF2308", INFO, "sources/0",
             "Spark works the interval out from the two newest compact files and goes on.",
             lambda: alone({**files_of("stateless-compacted"), "sources/0/0.compact":
                            files_of("stateless-compacted")["sources/0/2.compact"]}),
             tried=("4.3.0/interval-changed",)),
    Scenario((77,), "HF2413", FATAL, "_delta_log/00000000000000000000.json",
             "Delta skips every write up to version 40, at INFO: rows are lost.",
             lambda: alone(files_of("delta", "4.2.0"), delta_output({"orders-job": 40})),
             tried=("4.2.0/delta-fixed-identifier",)),
    Scenario((78,), "HF2411", FATAL, "_delta_log/00000000000000000002.json",
             "Delta skips batch 2, larger now (Skipping already complete epoch): rows are lost.",
             lambda: alone(rolled_back(files_of("delta", "4.2.0"), 1),
                           output_of("delta", "4.2.0")),
             tried=("4.2.0/delta-rolled-back",)),
    Scenario((), "HF2411", FATAL, "_delta_log/00000000000000000000.json",
             "Every write under a closed identifier is skipped: rows are lost.",
             lambda: alone(files_of("delta", "4.2.0"), delta_output({delta_id(): 2**63 - 1})),
             tried=("4.2.0/delta-identifier-closed",)),
    Scenario((), "HF2414", WARNING, "_delta_log/00000000000000000000.json",
             "Delta holds batch 0 only; Spark goes on at batch 3: the rows between are lost.",
             lambda: alone(files_of("delta", "4.2.0"), delta_output({delta_id(): 0})),
             tried=("4.2.0/delta-table-behind",),
             not_fatal="past damage: the table lost the rows, the next start loses none"),
    Scenario((80,), "HF2415", INFO, "_delta_log/00000000000000000000.json",
             "Spark goes on; a batch that is run again after the identifier expired is written "
             "twice.",
             lambda: alone(files_of("delta", "4.2.0"), delta_output(
                 {delta_id(): 2},
                 {"delta.setTransactionRetentionDuration": "interval 7 days"})),
             tried=("4.2.0/delta-batch-again", "4.2.0/delta-identifier-expired")),
    Scenario((80,), "HF2415", FATAL, "_delta_log/00000000000000000000.json",
             "The identifier of the pending batch has expired: its rows are written twice.",
             lambda: alone(without(files_of("delta", "4.2.0"), "commits/2"), delta_output(
                 {delta_id(): 2},
                 {"delta.setTransactionRetentionDuration": "interval 7 days"})),
             tried=("4.2.0/delta-identifier-expired",)),
    Scenario((80,), "HF2415", WARNING, "_delta_log/00000000000000000000.json",
             "Spark's own sink would write the batch twice; that of holdfast run skips it.",
             lambda: alone(without(files_of("delta", "4.2.0"), "commits/2"), delta_output(
                 {delta_id(): 2}, {"delta.setTransactionRetentionDuration": "interval 7 days"}),
                 recorded=recorded(run_on_delta())),
             not_tried=OURS),
    Scenario((80,), "HF2415", ERROR, "_delta_log/00000000000000000000.json",
             "The table has forgotten every identifier: a batch that it holds is written twice.",
             lambda: alone(without(files_of("delta", "4.2.0"), "commits/2"), delta_output(
                 {}, {"delta.setTransactionRetentionDuration": "interval 7 days"})),
             tried=("4.2.0/delta-identifier-expired",),
             not_fatal="whether the table had the batch is not known"),
    Scenario((79,), "HF2417", ERROR, "_delta_log/00000000000000000005.json",
             "The table has every row twice since the restart; Spark reads on.",
             lambda: alone(begun_again(), appended_again()),
             tried=("4.2.0/delta-new-checkpoint",),
             not_fatal="past damage: the rows are there twice, the next start adds none"),
    Scenario((79,), "HF2417", WARNING, "_delta_log/00000000000000000005.json",
             "Where both read the same source, the table has rows twice.",
             lambda: alone(begun_again(), appended_again(rows="7")),
             tried=("4.2.0/delta-new-checkpoint",),
             not_fatal="past damage, and whether both read the same source is not known"),
    Scenario((78,), "HF2418", ERROR, "_delta_log/00000000000000000002.json",
             "Delta skipped batch 2, which was planned again: its rows are lost.",
             lambda: alone(planned_again(2), output_of("delta", "4.2.0")),
             tried=("4.2.0/delta-rolled-back",),
             not_fatal="past damage: the rows were lost before, the next start loses none"),
    Scenario((77,), "HF2418", WARNING, "_delta_log/00000000000000000000.json",
             "Delta skipped every write up to version 40: rows are lost.",
             lambda: alone(files_of("delta", "4.2.0"), delta_output({"orders-job": 40})),
             tried=("4.2.0/delta-fixed-identifier",),
             not_fatal="whether this job writes under that identifier is not known"),
    Scenario((), "HF2416", FATAL, "_delta_log/00000000000000000005.json",
             "Delta stops: DELTA_TRUNCATED_TRANSACTION_LOG.",
             lambda: alone(files_of("delta", "4.2.0"), {"_delta_log/00000000000000000005.json":
                           delta_output({})["_delta_log/00000000000000000000.json"]}),
             tried=("4.2.0/delta-log-truncated",)),
    Scenario((81,), "HF2326", INFO, "orders",
             "Spark goes on; after a missing commit a plain append delivers 2 rows again.",
             lambda: alone(files_of(STATELESS), job=declared(
                 sink={"format": "custom", "function": "pipeline:deliver"})),
             tried=("4.3.0/stateless/none", "4.3.0/append-again")),
    Scenario((83,), "HF2326", INFO, "orders",
             "Spark goes on; after a missing commit 2 rows are in the topic twice.",
             lambda: alone(files_of(STATELESS), job=declared(sink={"format": "kafka"})),
             tried=("4.3.0/stateless/none", "4.2.0/kafka-sink-again")),
    Scenario((88,), "HF2310", INFO, "sinks", "The connector adds a file with every batch.",
             lambda: alone({**files_of(STATELESS), "sinks/elasticsearch/0": b"v1"}),
             not_tried="its connector is for Spark 3, and was not run here"),
    Scenario((), "HF2341", ERROR, "metadata",
             "A new query id is taken for a new query: everything is delivered again.",
             lambda: alone(files_of(STATELESS), recorded=recorded(run_on(STATE))),
             not_tried="it is about what was recorded of runs, which Spark does not know"),
    Scenario((), "HF2342", FATAL, "offsets",
             "Spark plans batch 4 anew, with whatever the source has: rows are delivered again.",
             lambda: alone(files_of(STATELESS), recorded=recorded(
                 run_on(STATELESS, last_batch=9))),
             tried=("4.3.0/stateless/two-newest-offsets-and-commits-missing",)),
    Scenario((), "HF2342", FATAL, "offsets",
             "Spark begins at batch 0 under a new query id: rows are delivered again.",
             lambda: alone({}, recorded=recorded(run_on(STATELESS)), job=declared()),
             tried=("4.3.0/stateless/everything-removed",)),
    Scenario((17,), "HF2343", ERROR, "orders",
             "Both jobs write the same batch: its rows are there twice, and then one of them fails "
             "with CONCURRENT_STREAM_LOG_UPDATE.",
             lambda: alone(files_of(STATELESS), job=declared(), recorded=recorded(
                 run_on(STATELESS, job="invoices"))),
             tried=("4.2.0/jobs-on-one-checkpoint",), not_fatal=RENAMED),
    Scenario((18,), "HF2343", ERROR, "orders",
             "The second query goes on where the first ended, and stops: Wrong basePath.",
             lambda: alone(files_of(STATELESS), job=declared(project="sales"), recorded=recorded(
                 run_on(STATELESS, job="orders", project="billing"))),
             tried=("4.2.0/another-query",), not_fatal=RENAMED),
    Scenario((19,), "HF2344", INFO, "orders",
             "A second driver that Spark starts alone writes the running batch again; then the "
             "first one fails.",
             running_now, tried=("4.2.0/second-driver-in-a-batch",),
             not_fatal="holdfast run refuses a second start (HF2601); a job that runs is healthy"),
    Scenario((16,), "HF2344", INFO, "orders",
             "Spark goes on with the second query, and ends the first one without an error.",
             running_now, tried=("4.2.0/started-twice",)),
    Scenario((), "HF2345", INFO, "orders",
             "The next start goes on with what was planned.",
             lambda: alone(files_of("pending"), recorded=recorded(
                 run_on("pending", ended=None), lease=lease(Standing.ABANDONED))),
             tried=("4.3.0/stateless-pending/none",)),
    Scenario((), "HF2346", WARNING, "orders", "The next start meets the same cause.",
             lambda: alone(files_of(STATELESS), recorded=recorded(
                 run_on(STATELESS, ended=Ended.FAILED))),
             not_tried="it is about what was recorded of runs, which Spark does not know"),
    Scenario((22,), "HF2347", WARNING, "orders",
             "Both copies deliver under one id, and Delta skips what it takes for known: rows are "
             "lost.",
             lambda: alone(files_of(STATELESS), recorded=recorded(
                 run_on(STATELESS), checkpoint="file:///lake/copy/orders")),
             tried=("4.2.0/copies-on-one-table",),
             not_fatal="whether the other copy still runs is not known"),
    Scenario((), "HF2348", WARNING, "commits/3", "Spark knows no lease: it starts anywhere.",
             lambda: alone(files_of(STATELESS), recorded=recorded(
                 run_on(STATELESS, last_batch=1))),
             not_tried="it is about what was recorded of runs, which Spark does not know"),
    Scenario((92,), "HF2337", INFO, "orders",
             "Spark goes on, with hundreds of S3 requests for a batch of two rows.",
             lambda: alone(files_of(STATELESS), path="s3://lake/orders", scheme="s3"),
             tried=("4.2.0/checkpoint-on-s3",)),
    Scenario((), "HF2331", INFO, "offsets",
             "Spark goes on; started without it, it stops: doesn't exist.",
             lambda: alone(files_of("asynchronous")),
             tried=("4.3.0/async-goes-on", "4.3.0/async-turned-off")),
    Scenario((), "HF2332", INFO, "state",
             "Turned on or off between two starts, Spark goes on.",
             lambda: alone(files_of("aggregation-rocksdb-changelog")),
             tried=("4.3.0/changelog-turned-on", "4.3.0/changelog-turned-off")),
    Scenario((), "HF2333", INFO, "commits",
             "Spark goes on; after a change 4.0 to 4.2 stop: "
             "CANNOT_LOAD_STATE_STORE.UNCATEGORIZED; 4.3 goes on.",
             lambda: alone(files_of("aggregation-rocksdb-format-2")),
             tried=("4.3.0/format-two-goes-on",
                    "4.3.0/format-lowered",
                    "4.2.0/format-lowered")),
    Scenario((), "HF2334", INFO, "offsets",
             "Spark removed the older entries itself, and goes on.",
             lambda: alone(files_of("purged")),
             tried=("4.3.0/stateless/oldest-entries-purged",)),
    Scenario((), "HF2335", INFO, "state",
             "Spark replays the deltas since the snapshot and goes on.",
             lambda: alone(files_of(STATE)),
             tried=("4.3.0/aggregation/none",)),
    Scenario((), "HF2336", INFO, "sources/0",
             "Spark keeps to the interval that it finds and goes on.",
             lambda: alone(files_of("stateless-compacted")),
             tried=("4.3.0/compacted/none",)),
    Scenario((), "HF2441", FATAL, "readings",
             "The next start would plan batch 4 anew; holdfast run refuses it.",
             lambda: with_sink(files_of(STATELESS), ledger({query_of(STATELESS): 4})),
             not_tried=OURS),
    Scenario((), "HF2441", FATAL, "manifests",
             "The next start would plan batches 2 and 3 anew; holdfast run refuses it.",
             lambda: with_sink(rolled_back(files_of(STATELESS), 1), file_sink()),
             not_tried=OURS),
    Scenario((), "HF2442", ERROR, "readings",
             "Spark goes on after batch 3; what the table lacks is not delivered again.",
             lambda: with_sink(files_of(STATELESS), ledger({query_of(STATELESS): 1})),
             not_tried=OURS),
    Scenario((), "HF2443", WARNING, "readings",
             "Under a new id a batch that is run again is written again.",
             lambda: with_sink(files_of(STATELESS), ledger({UUID: 7}, "custom")),
             not_tried=OURS),
    Scenario((), "HF2451", WARNING, "staging",
             "Spark knows no manifests; the next run publishes the file and computes nothing.",
             lambda: with_sink(files_of(STATELESS), file_sink().unpublished(3)),
             not_tried=OURS),
    Scenario((), "HF2452", WARNING, "/lake/out/part-0000000001-0.csv",
             "Readers of the folder miss the rows; nobody tells them.",
             lambda: with_sink(files_of(STATELESS), file_sink().losing("part-0000000001-0.csv")),
             verified=True, not_tried=OURS),
    Scenario((), "HF2453", ERROR, "/lake/out/part-0000000001-0.csv",
             "Readers of the folder see what is there now.",
             lambda: with_sink(files_of(STATELESS),
                               file_sink().holding("part-0000000001-0.csv", b"cut")),
             verified=True, not_tried=OURS),
    Scenario((), "HF2454", ERROR, "/lake/out/by-hand.csv",
             "Readers of the folder take it for rows.",
             lambda: with_sink(files_of(STATELESS), file_sink().holding("by-hand.csv", b"rows")),
             verified=True, not_tried=OURS),
    Scenario((), "HF2455", FATAL, "0000000003.json",
             "The next run stops with HF5023 before it writes anything.",
             lambda: with_sink(files_of(STATELESS), file_sink().manifested(3, b"{")),
             not_tried=OURS),
    Scenario((), "HF2455", ERROR, "0000000001.json",
             "The next run goes on; readers of the manifests end before this batch.",
             lambda: with_sink(files_of(STATELESS), file_sink().manifested(1, b"{")),
             not_tried=OURS),
    Scenario((), "HF2456", WARNING, "0000000002.json",
             "The next run goes on; whether the rows of the batch are there, nobody tells.",
             lambda: with_sink(files_of(STATELESS), without_manifest(2)),
             not_tried=OURS),
    Scenario((), "HF2457", INFO, "staging",
             "Nothing reads it.",
             lambda: with_sink(files_of(STATELESS), file_sink().staged("notes.txt")),
             not_tried=OURS),
    Scenario((), "HF2458", WARNING, "taking-back.json",
             "The next run takes the batches back to the end, then goes on.",
             lambda: with_sink(files_of(STATELESS),
                               file_sink().taking_back(Intent(query_of(STATELESS), 2))),
             not_tried=OURS),
    Scenario((), "HF2459", INFO, "staging",
             "The next run goes on, and removes it once its batch is committed.",
             lambda: with_sink(files_of("pending"),
                               FileSink(query_of("pending"), range(2)).staged(
                                   "0000000002-1-abcdef/part-0.csv")),
             not_tried=OURS),
)  # fmt: skip
