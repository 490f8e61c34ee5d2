"""What the doctor looks at in one examination: the picture, its place, its sink, its job."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from holdfast.checkpoint.picture import Picture
from holdfast.diagnosis.inspection.keptoffsets import NOTHING_KEPT, KeptOffsets
from holdfast.diagnosis.inspection.runs.recorded import NOTHING_RECORDED, Recorded
from holdfast.diagnosis.inspection.sink.deltacommits import NO_HISTORY, TableHistory
from holdfast.diagnosis.inspection.sources import NO_SOURCES_SEEN, SourcesSeen
from holdfast.diagnosis.inspection.state import NOTHING_SEEN, StateSeen
from holdfast.findings import Finding
from holdfast.jobs.queryshape import UNCERTAIN, QueryShape
from holdfast.jobs.ready import ChangedTable
from holdfast.ledgers.files.outputcheck import OutputState
from holdfast.ledgers.reading import SinkMemory
from holdfast.ledgers.sinkstate import SinkState

if TYPE_CHECKING:
    from holdfast.jobs.projectfile.job import Job


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
