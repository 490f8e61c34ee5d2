"""What the doctor looks at in one examination: the picture, its place, its sink, its job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from holdfast.checkpoint.picture import Picture
from holdfast.diagnosis.keptoffsets import NOTHING_KEPT, KeptOffsets
from holdfast.diagnosis.recorded import NOTHING_RECORDED, Recorded
from holdfast.diagnosis.stateseen import NOTHING_SEEN, StateSeen
from holdfast.ledgers.asking import SinkMemory
from holdfast.ledgers.outputsight import OutputSight
from holdfast.records.leasesight import Standing

if TYPE_CHECKING:
    from holdfast.jobs.job import Job


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
    beside: frozenset[str] = frozenset()
    """Names in the folder that holds the checkpoint's; empty where they were not asked for."""
    snapshots: Mapping[str, bytes] = field(default_factory=dict)
    """The newest RocksDB snapshots by path, as bytes."""

    recorded: Recorded = NOTHING_RECORDED
    """What the records beside it say."""
    kept: KeptOffsets = NOTHING_KEPT
    """What was kept of its newest offsets entries."""
    state: StateSeen = NOTHING_SEEN
    """What was seen of its state files."""

    output: OutputSight | None = None
    """What lies in and beside the output folder of a file sink of Holdfast's."""

    @property
    def runs_now(self) -> bool:
        """Whether a driver is known to run on it at this moment."""
        return self.recorded.lease is not None and self.recorded.lease.state is Standing.HELD

    @property
    def may_be_delivered(self) -> int:
        """The newest batch that the sink may hold, -1 for none."""
        planned = self.picture.newest_offsets_id
        # The sink is asked last: a driver that runs now may have planned and delivered meanwhile.
        return (-1 if planned is None else planned) + (1 if self.runs_now else 0)

    @property
    def named(self) -> str:
        """What commands are given to mean it: the job's name, or the place."""
        return self.job.name if self.job is not None else self.picture.location

    @property
    def query_id(self) -> str | None:
        """The id in `metadata`."""
        return self.picture.query.id if self.picture.query is not None else None
