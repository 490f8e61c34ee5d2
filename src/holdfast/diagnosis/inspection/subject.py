"""What the doctor looks at: the picture, its place, sink, declared job and state."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.recovery.state import partition_count
from holdfast.checkpoint.statefiles import DEFAULT_STORE, OperatorFiles, PartitionFiles, StoreFiles
from holdfast.diagnosis.inspection.keptoffsets import NOTHING_KEPT, KeptOffsets
from holdfast.diagnosis.inspection.runs.recorded import NOTHING_RECORDED, Recorded
from holdfast.diagnosis.inspection.sink.deltacommits import NO_HISTORY, TableHistory
from holdfast.diagnosis.inspection.sources import NO_SOURCES_SEEN, SourcesSeen
from holdfast.errors import HoldfastError, StorageError
from holdfast.findings import Finding
from holdfast.jobs.discovery import module_file
from holdfast.jobs.projectfile.substitution import has_reference
from holdfast.jobs.queryshape import UNCERTAIN, QueryShape, python_shape
from holdfast.jobs.ready import ChangedTable, FunctionReference
from holdfast.jobs.sqltext import sql_shape
from holdfast.ledgers.files.outputcheck import OutputState
from holdfast.ledgers.reading import SinkMemory
from holdfast.ledgers.sinkstate import SinkState
from holdfast.state.loading.chains import PartitionHistory, loadable_batches, nearest_batch
from holdfast.storage.location import Location, canonical, parse_location
from holdfast.wording import id_ranges

if TYPE_CHECKING:
    from holdfast.jobs.projectfile.job import Job
    from holdfast.jobs.projectfile.model import Project
    from holdfast.jobs.ready import ReadyJob


_CHANGED = "HF2111"
_ABOUT_LOADING = (_CHANGED, "HF2221", "HF2238", "HF2239", "HF2314", "HF2316", "HF2317")


@dataclass(frozen=True)
class StateDamage:
    """A state file that can't be decoded, or whose rows do not fit the schema of their store."""

    path: str
    error: HoldfastError


@dataclass(frozen=True)
class StateSeen:
    """What was seen of the state files of one checkpoint."""

    damages: tuple[StateDamage, ...] = ()
    misfits: tuple[StateDamage, ...] = ()
    """The first one of each store."""
    overlooked: tuple[Finding, ...] = ()
    """Damage that Spark does not notice."""
    denied: tuple[StateDamage, ...] = ()
    """Files that could not be read, whatever is in them."""
    needed: frozenset[str] = frozenset()
    """The files that the next load begins with or replays, where they were read."""
    read_files: int = 0
    read_bytes: int = 0
    """Of the files that the next load needs, where the budget decides what is read."""
    compared_files: int = 0
    """Unread files that were compared with their checksums, as the libraries are missing that
    decode rows."""
    unread_files: int = 0
    unread_bytes: int = 0
    unread_reason: str = ""
    loadable: tuple[int, ...] | None = None
    """Committed batches whose whole state can still be loaded; None where nobody can tell."""


NOTHING_SEEN = StateSeen()


def histories_by_name(picture: Picture) -> list[PartitionHistory] | None:
    """Return every partition's files, None where names alone do not tell what builds on what."""
    found = [
        PartitionHistory(place_of(operator, store, partition), files)
        for operator, store, partition, files in every_partition(picture)
    ]
    ids = (key[1] for one in found for key in (*one.files.zips, *one.files.changelogs))
    return None if any(ids) else found


def every_partition(
    picture: Picture,
) -> Iterator[tuple[OperatorFiles, StoreFiles, int, PartitionFiles]]:
    """Yield each partition of each store that must be there, also where nothing of it is."""
    for operator in picture.layout.state.operators.values():
        count = partition_count(picture, operator.id)
        for store in operator.stores.values():
            wanted = range(count or max(store.partitions, default=-1) + 1)
            for partition in wanted if store.partitions else ():
                files = store.partitions.get(partition, PartitionFiles())
                yield operator, store, partition, files


def place_of(operator: OperatorFiles, store: StoreFiles, partition: int) -> str:
    """Name the folder of a partition."""
    own = "" if store.name == DEFAULT_STORE else f"/{store.name}"
    return f"state/{operator.id}/{partition}{own}"


def loadable_in(
    picture: Picture, histories: Iterable[PartitionHistory], damaged: Container[str]
) -> tuple[int, ...]:
    """Return the committed batches whose state every partition can load."""
    return loadable_batches(histories, picture.layout.commits.ids, damaged)


def changed_files(picture: Picture, found: Iterable[Finding] = ()) -> frozenset[str]:
    """Return the state files that do not match their checksum: Spark does not load them, whatever
    can still be decoded."""
    known = {one.file for one in picture.damages if one.error.code.number == _CHANGED}
    return frozenset(known | {one.place.file for one in found if one.code == _CHANGED})


def with_loadable_batch(finding: Finding, seen: StateSeen, picture: Picture) -> Finding:
    """Say in a finding about missing or damaged state up to which batch it could be loaded."""
    newest = picture.newest_commit_id
    concerned = finding.code in _ABOUT_LOADING and finding.place.file.startswith("state")
    if not concerned or seen.loadable is None or newest is None:
        return finding
    batch = newest if newest in seen.loadable else nearest_batch(newest, seen.loadable)
    reported = "no kept batch has a state that can be loaded"
    if batch is not None:
        reported = f"the newest batch whose state can be loaded is {batch}"
    evidence = {
        **finding.evidence,
        "newest_loadable_batch": batch,
        "loadable_batches": id_ranges(seen.loadable),
    }
    return replace(finding, message=f"{finding.message}; {reported}", evidence=evidence)


_FILES = frozenset({"json", "csv", "parquet", "orc", "text"})


def declared_job(project: Project, name: str) -> DeclaredJob:
    """Return a job of the project; values that hold secrets are left out."""
    job = project.shown_job(name)
    settings = {**project.spark.conf, **job.conf}
    formats = {source: one.format.lower() for source, one in job.named_sources.items()}
    paths = {
        source: place.url
        for source, one in job.named_sources.items()
        if formats[source] in (*_FILES, "delta")
        and (place := _place(project, one.path or one.options.get("path"))) is not None
    }
    output = _place(project, job.sink.path)
    return DeclaredJob(
        name,
        job,
        {key: value for key, value in settings.items() if not has_reference(value)},
        {source: path for source, path in paths.items() if formats[source] in _FILES},
        canonical(output) if output is not None else None,
        project=project.project,
        query=_query(project, name),
        spark=_installed_spark(),
        source_paths=paths,
        changed_tables=project.changed_tables_of(name),
        master=None if has_reference(project.spark.master) else project.spark.master,
        local_output=output.shown if output is not None and output.is_local else None,
        folder=str(project.folder),
        fed_sources=partial(project.fed_sources_of, name),
    )


def declared_at_start(job: ReadyJob, spark: str | None) -> DeclaredJob | None:
    """Give a job as it is about to start; None for the query of a program, which declares none."""
    if job.declaration is None:
        return None
    formats = {source.name: source.format.lower() for source in job.sources}
    paths = {
        source.name: path
        for source in job.sources
        if formats[source.name] in (*_FILES, "delta")
        and (path := source.path or source.options.get("path")) is not None
    }
    return DeclaredJob(
        job.name,
        job.declaration,
        job.conf,
        {source: path for source, path in paths.items() if formats[source] in _FILES},
        project=job.project,
        query=_query_at_start(job),
        spark=spark,
        source_paths=paths,
        changed_tables=job.changed_tables,
        folder=str(job.folder),
    )


def _query_at_start(job: ReadyJob) -> QueryShape:
    if job.sql is not None:
        return sql_shape(job.sql, [source.name for source in job.sources])
    if isinstance(job.transform, FunctionReference):
        return _python_query(job.transform.folder, job.transform.module, job.transform.name)
    return UNCERTAIN


def _query(project: Project, name: str) -> QueryShape:
    job = project.jobs[name]
    if job.sql is not None:
        return sql_shape(job.sql, job.named_sources)
    module, _, function = (job.transform or "").partition(":")
    return _python_query(project.folder, module, function)


def _python_query(folder: Path, module: str, function: str) -> QueryShape:
    file = module_file(folder, module) if module else None
    try:
        text = file.read_text(encoding="utf-8") if file is not None else ""
    except (OSError, ValueError):
        return UNCERTAIN
    return python_shape(text, function)


def _installed_spark() -> str | None:
    try:
        return version("pyspark")
    except PackageNotFoundError:
        return None


def _place(project: Project, path: str | None) -> Location | None:
    if path is None or has_reference(path):
        return None
    try:
        return parse_location(path, relative_to=project.folder)
    except StorageError:
        # Spark may reach what this machine can't read.
        return None


@dataclass(frozen=True)
class DeclaredJob:
    """A job as its project declares it, with what decides how Spark starts it."""

    name: str
    job: Job
    settings: Mapping[str, str]
    """Spark settings of the project, with the job's own over them."""
    source_folders: Mapping[str, str] = field(default_factory=dict)
    """A file source's name to the URI of the folder that it reads, spelled out."""
    sink_place: str | None = None
    """One text for the output folder, however it is spelled."""
    project: str | None = None
    """The name of the project that declares it."""
    query: QueryShape = UNCERTAIN
    """What is certain of its query without asking Spark."""
    spark: str | None = None
    """The release of Spark that would start it here; None where none is installed."""
    source_paths: Mapping[str, str] = field(default_factory=dict)
    """The name of a source of files or Delta to the URI that it reads, spelled out."""
    changed_tables: tuple[ChangedTable, ...] = ()
    """Delta tables that it streams and another job of the project changes."""
    master: str | None = None
    """Where its project starts Spark; None where that is not known."""
    local_output: str | None = None
    """Its output folder where that is a path of this machine."""
    folder: str | None = None
    """The folder of the project file; None where that is not known."""
    fed_sources: Callable[[], frozenset[str]] = field(default=frozenset, compare=False)
    """Returns which sources read what another job of the project writes."""


@dataclass(frozen=True)
class Subject:
    """One checkpoint with everything around it that may be read."""

    picture: Picture
    path: str
    """The checkpoint's whole path or URL."""
    scheme: str = "file"
    sink: SinkMemory | None = None
    """What the sink remembers, None where no sink is known."""
    job: DeclaredJob | None = None
    twin: str | None = None
    """A folder that is there, at the path under which Spark 2 kept this one."""
    snapshots: Mapping[str, bytes] = field(default_factory=dict)
    """The newest RocksDB snapshots by path, as bytes."""

    recorded: Recorded = NOTHING_RECORDED
    """What the records beside it say."""
    kept: KeptOffsets = NOTHING_KEPT
    """What was kept of its newest offsets entries."""
    state: StateSeen = NOTHING_SEEN
    """What was seen of its state files."""

    output: OutputState | None = None
    """What lies in and beside the output folder of a file sink of Holdfast's."""
    sight: SinkState | None = None
    """The declared sink as a start looks at it; None where none is declared, or it can't be."""
    sources: SourcesSeen = NO_SOURCES_SEEN
    """What the sources still have, as far as they were asked."""
    table: TableHistory = NO_HISTORY
    """What the versions of a Delta table say of batches."""
    is_there: bool = True
    """False for a place at which nothing is yet."""

    other_offsets: Finding | None = None
    """That the sink holds its newest batch with other offsets than the checkpoint has."""
    planned_since: int | None = None
    """The newest batch in offsets/ after the sink was asked; None where it was not looked at."""

    @property
    def runs_now(self) -> bool:
        """Whether a driver is known to run on it at this moment."""
        return self.recorded.lease is not None and self.recorded.lease.runs

    @property
    def may_be_delivered(self) -> int:
        """The newest batch that the sink may hold, -1 for none."""
        planned = self.picture.newest_offsets_id
        known = -1 if planned is None else planned
        # The sink is asked after the checkpoint was read: a driver may have planned and delivered
        # meanwhile. Spark plans before it delivers, so what is planned by then bounds what is held.
        since = known if self.planned_since is None else self.planned_since
        return max(known, since) + (1 if self.runs_now else 0)

    @property
    def named(self) -> str:
        """What commands are given to mean it: the job's name, or the place."""
        return self.job.name if self.job is not None else self.picture.location

    @property
    def query_id(self) -> str | None:
        """The id in `metadata`."""
        return self.picture.query.id if self.picture.query is not None else None
