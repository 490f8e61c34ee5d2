"""The driver: the real life of a job (admission, lease, guards, gate, records) around a query."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from holdfast.diagnosis.checks import picture
from holdfast.errors import NotFoundError, StorageError
from holdfast.jobs.ready import ReadyJob, ReadySink, ReadySource
from holdfast.ledgers.files.format import Manifest, ManifestFile
from holdfast.ledgers.files.output import FileOutput
from holdfast.ledgers.identity import BatchIdentity
from holdfast.records.moments import moment_now
from holdfast.records.run import PlanFacts, Versions
from holdfast.running import admission
from holdfast.running.options import RunContext, RunOptions
from holdfast.running.report import JobOutcome
from holdfast.running.stopping import Stopping
from holdfast.spark import jobrun, preflight, start
from holdfast.spark.query import gate
from holdfast.spark.session.jvm import Jvm
from holdfast.spark.session.jvmdeath import JvmDeath
from holdfast.spark.sinks import files as filesinks
from holdfast.spark.sinks.files import FileBatchSink, _final
from holdfast.storage.location import Location
from holdfast.storage.memory import MemoryReader
from holdfast.storage.options import StorageSettings
from holdfast.storage.reading import Reader
from tests.simulation.schedule import FAIL, LOST
from tests.simulation.semantics import Semantics
from tests.simulation.spark import Batch, Query, Source
from tests.simulation.tree import Tree
from tests.simulation.world import Actor, World

_SESSION = SimpleNamespace(sparkContext=SimpleNamespace(master="local"))
"""All that is asked of a session before a query starts."""
_VERSIONS = Versions("0", "4.2.0", "17", "3.11")
_FILES_PER_BATCH = 2


@dataclass(frozen=True)
class Setting:
    """Where a scenario takes place."""

    semantics: Semantics
    checkpoint: Location
    output: Location
    mode: str = "append"
    stateful: bool = False

    def job(self) -> ReadyJob:
        """Return the job that every driver of the scenario runs."""
        sink = ReadySink(
            format="json",
            mode=self.mode,
            at="simulated",
            path=self.output.url,
            location=self.output,
        )
        source = ReadySource("numbers", "kafka", None, None, {}, "simulated")
        return ReadyJob(
            name="job",
            project=None,
            folder=Path("/simulated"),
            sources=(source,),
            transform=None,
            sql=None,
            sink=sink,
            output_mode=self.mode,
            processing_time=None,
            conf={},
            checkpoint=self.checkpoint,
            settings=StorageSettings(),
            adopted=False,
            at="simulated",
        )

    def file_output(self) -> FileOutput:
        """Open the output folder as its sink does."""
        return FileOutput(self.output, StorageSettings(), in_threads=False)

    def file_sink(self) -> FileBatchSink:
        """Open the sink."""
        return FileBatchSink(None, self.job().sink, self.file_output())  # type: ignore[arg-type]


def setting_of(semantics: Semantics, mode: str = "append", *, stateful: bool = False) -> Setting:
    """Return where everything lies on a storage."""
    places = []
    for name in ("checkpoint", "output"):
        url = f"{semantics.root}/{name}"
        places.append(Location(url, semantics.scheme, url, url))
    return Setting(semantics, places[0], places[1], mode, stateful)


def drive(setting: Setting, world: World, actor: Actor) -> JobOutcome:
    """Run the job as `holdfast run` does; a query that was left running runs on."""
    job = setting.job()
    actor.notes.update(query=None, setting=setting)
    admission.admit(job)
    context = RunContext(
        session=_SESSION,  # type: ignore[arg-type]
        jvm=_Jvm(actor.pid),
        versions=_VERSIONS,
        options=RunOptions(),
        stopping=_Stopping(),
        watch=_unseen,
    )
    run = jobrun.JobRun(job, context)
    outcome = run.run()
    query: Query | None = actor.notes["query"]
    if query is not None and not query.ended:
        world.violate("a query runs on although its lease was given back")
        query.stop()
    actor.notes["ended"] = outcome.report.ended.value
    if outcome.error is not None:
        raise outcome.error
    return outcome


class _Jvm(Jvm):
    """Lives as long as its actor: both are killed together."""

    def death(self, patience: float = 0.0) -> JvmDeath | None:
        """Nobody asks who is dead."""
        return None


class _Stopping(Stopping):
    """Nobody asks to stop; waiting takes simulated time."""

    def wait(self, seconds: float) -> bool:
        """Let time pass."""
        from tests.simulation.patches import world_now

        world_now().sleep(seconds)
        return False


_pictures: dict[Any, Any] = {}


def _setting() -> Setting:
    """Return where the current process works."""
    from tests.simulation.patches import world_now

    setting: Setting = world_now().current.notes["setting"]
    return setting


def _unseen(_event: object) -> None:
    """Show nothing."""


class _Frame:
    """A frame as far as a start asks for it."""

    schema = None
    sparkSession = SimpleNamespace(conf={})  # noqa: N815  (Spark's name)


def _call_spark(_job: ReadyJob, _frame: Any, deliver: Any) -> Query:
    from tests.simulation.patches import world_now

    world = world_now()
    setting = _setting()
    _judge_journal(world, setting)
    source: Source = world.notes["source"]
    query = Query(world, setting.checkpoint.url, source, deliver, stateful=setting.stateful)
    world.current.notes["query"] = query
    return query


def _judge_journal(world: World, setting: Setting) -> None:
    """Note where the holder of the lease begins on a checkpoint that an act left half changed.

    Whoever lost the lease since it looked is stopped before the sink.
    """
    tree, records = world.tree, f"{setting.semantics.root}/.holdfast/checkpoint"
    claims = {int(name): f"{records}/lease/{name}" for name in tree.below(f"{records}/lease")
              if name.isdigit()}  # fmt: skip
    claim = claims[max(claims)]
    if json.loads(tree.files[claim].content)["holder"]["python"]["number"] != world.current.pid:
        return
    for path in tree.below(f"{records}/journal"):
        intent = f"{records}/journal/{path}"
        is_open = f"{intent.rpartition('/')[0]}/outcome.json" not in tree.files
        if not path.endswith("/intent.json") or not is_open:
            continue
        began = tree.appeared[intent]
        if began < tree.appeared[claim] and not _came_late(tree, claims, intent):
            world.violate("a query was started although an act on its checkpoint is not finished")


def _came_late(tree: Tree, claims: Mapping[int, str], intent: str) -> bool:
    """Whether the act had lost its lease before its intent appeared: it changed nothing."""
    generation = json.loads(tree.files[intent].content)["generation"]
    return any(
        number > generation and tree.appeared[claim] < tree.appeared[intent]
        for number, claim in claims.items()
    )


class _Listening:
    """Hears the query that this process started."""

    def begin(self, _session: Any) -> None:
        """Nothing to do."""

    def end(self, _session: Any) -> None:
        """Nothing to do."""

    def follow(self, run_id: str, heard: Any, over: Any) -> None:
        """Hear when the query is over."""
        from tests.simulation.patches import world_now

        world_now().current.notes["query"].follow(run_id, heard, over)


def _picture(reader: Reader, **options: Any) -> Any:
    """Read the picture for real, once for each content: the same bytes give the same picture."""
    try:
        listed = reader.list().items
    except NotFoundError:
        listed = ()
    wanted = [one.path for one in listed if one.path.startswith(("offsets/", "commits/", "meta"))]
    content: dict[str, bytes] = {}
    for path, read in reader.read_many(wanted).items():
        if isinstance(read, StorageError):
            raise read
        content[path] = read
    key = (reader.location, tuple(sorted(content.items())))
    if key not in _pictures:
        _pictures[key] = picture.picture_of(
            MemoryReader(content, location=reader.location), may_be_missing=True
        )
    return _pictures[key]


def _stage(
    batch: Batch, identity: BatchIdentity, sink: ReadySink, output: FileOutput, folder: str
) -> Manifest:
    """Write the rows of a batch as Spark's tasks do: file by file, nothing flushed."""
    from tests.simulation.patches import world_now

    world = world_now()
    rows = list(range(batch.rows.stop) if sink.mode == "complete" else batch.rows)
    digests: dict[str, str] = {}
    attempt = world.fresh_name()[:12]
    for number in range(_FILES_PER_BATCH):
        part = rows[number::_FILES_PER_BATCH]
        path = f"{output.around.url}/{folder}/part-{number:05d}-{attempt}.json"
        answer = world.step("spark-write", path, mutates=True)
        if answer != FAIL:
            content = "".join(f"{row}\n" for row in part).encode()
            digests[path.rpartition("/")[2]] = hashlib.sha256(content).hexdigest()
            world.tree.put(path, content, 0, synced=False)
        if answer in (FAIL, LOST):
            raise StorageError("HF7015", "the storage did not answer", at=path)
    files = []
    for path, item in sorted(output.files_in(folder).items()):
        final = path if sink.mode == "complete" else _final(path, identity)
        files.append(ManifestFile(final, path, item.size, digests.get(path)))
    return Manifest(
        query_id=identity.query_id,
        batch_id=identity.batch_id,
        generation=identity.generation,
        offsets_digest=identity.offsets_digest,
        format=sink.format,
        mode=sink.mode,
        partition_by=(),
        schema={"type": "struct", "fields": []},
        rows=len(rows),
        written_at=moment_now(),
        staging=folder.rpartition("/")[2],
        files=tuple(files),
    )


def _nothing(*_: Any, **__: Any) -> None:
    """Check nothing: there is no schema."""


def _stop(started: Any, *_: Any) -> None:
    started.query.stop()


def _facts(*_: Any) -> PlanFacts:
    return PlanFacts(sources=("kafka",))


REPLACED: tuple[tuple[Any, str, Any], ...] = (
    (admission, "check_place", _nothing),
    (gate, "_START_SECONDS", 0.0),
    (jobrun, "_LOOK_SECONDS", 0.0),
    (jobrun, "_LAST_WORDS_SECONDS", 0.0),
    (preflight, "picture_of", _picture),
    (preflight, "open_sink", lambda *_: _setting().file_sink()),
    (preflight, "refuse_other_default", _nothing),
    (start, "build_frame", lambda *_: _Frame),
    (start, "plan_facts", _facts),
    (start, "code_digests", lambda *_: {}),
    (start, "_call_spark", _call_spark),
    (start, "ProgressListener", _Listening),
    (start.RunningQuery, "stop", _stop),
    (filesinks, "stage", _stage),
    *((filesinks, name, _nothing) for name in
      ("check_columns", "check_partitions", "check_types", "check_same", "check_folder")),
)  # fmt: skip
"""What needs a JVM or a user's table, and stands for it."""


@contextmanager
def without_spark() -> Iterator[None]:
    """Let jobs start without a JVM, until the end of the block."""
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in REPLACED]
    for owner, name, new in REPLACED:
        setattr(owner, name, new)
    try:
        yield
    finally:
        for owner, name, old in before:
            setattr(owner, name, old)
