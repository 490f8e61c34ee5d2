"""Which job reads what another one writes: the order of runs and the effects downstream."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from holdfast.errors import ProjectError
from holdfast.jobs.endpoints import JobPlaces, ready_places
from holdfast.jobs.ready import ChangedTable, DownstreamJob, ReadyJob

_CHANGE_FEED = ("readChangeFeed", "readChangeData")


@dataclass(frozen=True)
class Edge:
    """One job reads what another writes."""

    upstream: str
    downstream: str
    source: str
    """The name of the source that reads it."""


@dataclass(frozen=True)
class Lineage:
    """The jobs in the order of their declaration, with who reads from whom."""

    jobs: tuple[str, ...]
    edges: tuple[Edge, ...]

    @classmethod
    def from_jobs(cls, jobs: Sequence[ReadyJob]) -> Lineage:
        """Find who reads from whom among jobs that are ready to run."""
        return cls.from_places([ready_places(job) for job in jobs])

    @classmethod
    def from_places(cls, jobs: Sequence[JobPlaces]) -> Lineage:
        """Find who reads from whom by the places alone; a job never counts as its own upstream."""
        edges = (
            Edge(writer.job, reader.job, read.name)
            for reader in jobs
            for read in reader.reads
            for writer in jobs
            if writer.job != reader.job and read.meets(writer.writes)
        )
        return cls(tuple(job.job for job in jobs), tuple(edges))

    def upstream_of(self, job: str) -> frozenset[str]:
        """Name every job whose rows reach this one, also through others."""
        return _reached(job, self._neighbours(upward=True))

    def reads_from(self, job: str) -> tuple[str, ...]:
        """Name every job whose output this one reads itself, in the order of declaration."""
        above = {edge.upstream for edge in self.edges if edge.downstream == job}
        return tuple(one for one in self.jobs if one in above)

    def downstream_of(self, job: str) -> frozenset[str]:
        """Name every job that this one's rows reach, also through others."""
        return _reached(job, self._neighbours(upward=False))

    def order(self) -> tuple[str, ...]:
        """Return each job after its upstream jobs, else as declared; a cycle is a ProjectError."""
        above = self._neighbours(upward=True)
        left, ordered = list(self.jobs), []
        while left:
            missing = {*left}
            ready = next((job for job in left if not above[job] & missing), None)
            if ready is None:
                raise self._cycle(above, left)
            left.remove(ready)
            ordered.append(ready)
        return tuple(ordered)

    def _neighbours(self, *, upward: bool) -> Mapping[str, set[str]]:
        found: dict[str, set[str]] = {job: set() for job in self.jobs}
        for edge in self.edges:
            one, other = edge.downstream, edge.upstream
            if not upward:
                one, other = other, one
            found[one].add(other)
        return found

    def _cycle(self, above: Mapping[str, set[str]], left: Iterable[str]) -> ProjectError:
        """Name the jobs of one cycle, each followed by one that reads from it."""
        among = set(left)
        trail = [next(one for one in self.jobs if one in among)]
        while trail.count(trail[-1]) < 2:
            trail.append(next(one for one in self.jobs if one in above[trail[-1]] & among))
        cycle = trail[trail.index(trail[-1]) :][::-1]
        return ProjectError("HF1117", f"jobs read from each other: {' → '.join(cycle)}")


def changed_tables(job: JobPlaces, others: Iterable[JobPlaces]) -> tuple[ChangedTable, ...]:
    """Return the Delta tables that a job streams and another one upserts or overwrites.

    A source that reads the change feed gets the changes themselves, so it is not among them.
    """
    return tuple(
        ChangedTable(read.name, writer.job, writer.mode, read.on_changes)
        for read in job.reads
        for writer in others
        if read.format == writer.writes.format == "delta"
        and writer.job != job.job
        and writer.mode != "append"
        and read.on_changes not in _CHANGE_FEED
        and read.meets(writer.writes)
    )


def downstream_jobs(job: str, places: Mapping[str, JobPlaces]) -> tuple[DownstreamJob, ...]:
    """Return the jobs that the rows of a job reach, nearest first, each once."""
    lineage = Lineage.from_places(list(places.values()))
    found: dict[str, DownstreamJob] = {}
    waiting = [job]
    while waiting:
        upstream = waiting.pop(0)
        for edge in lineage.edges:
            if edge.upstream != upstream or edge.downstream in found or edge.downstream == job:
                continue
            formats = {one.name: one.format for one in places[edge.downstream].reads}
            through = None if upstream == job else upstream
            one = DownstreamJob(edge.downstream, formats[edge.source], through)
            found[one.job] = one
            waiting.append(one.job)
    return tuple(found.values())


def _reached(job: str, neighbours: Mapping[str, set[str]]) -> frozenset[str]:
    reached: set[str] = set()
    waiting = [*neighbours[job]]
    while waiting:
        one = waiting.pop()
        if one not in reached:
            reached.add(one)
            waiting += neighbours[one]
    return frozenset(reached)
