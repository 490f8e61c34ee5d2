"""Where a job's checkpoint is, what it reads and what it writes, in one spelling for one place.

Made from the project file as it is written, so that nobody's secret is needed to see that two jobs
are on one place, and from ready jobs, where the secrets are filled in. A reference that is not
filled in is compared as it is written: what is equal there stays equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from holdfast.errors import StorageError
from holdfast.jobs.databaseurl import table_identity
from holdfast.jobs.job import Job
from holdfast.jobs.overlap import lies_inside, parts_between
from holdfast.jobs.ready import ReadyJob
from holdfast.jobs.topics import Topics, topics_of
from holdfast.storage.canonical import canonical
from holdfast.storage.location import parse_location


@dataclass(frozen=True)
class Written:
    """What a sink writes; all None where that is nothing that another job could meet."""

    format: str
    folder: str | None = None
    table: str | None = None
    topics: Topics | None = None


@dataclass(frozen=True)
class Read:
    """What one source reads."""

    name: str
    format: str
    key: tuple[str, ...]
    """Where it stands within the job: `source`, or `sources` and its name."""
    folder: str | None = None
    """May be a pattern that stands for several."""
    recursive: bool = False
    table: str | None = None
    topics: Topics | None = None
    on_changes: str | None = None
    """The option that says what a Delta source does about changed rows, None where none does."""

    def meets(self, written: Written) -> bool:
        """Whether this source reads what that sink writes."""
        if self.table is not None and self.table == written.table:
            return True
        if self.topics is not None and written.topics is not None:
            return self.topics.meet(written.topics)
        if self.folder is None or written.folder is None:
            return False
        return lies_inside(self.folder, written.folder) or self._lists(written.folder)

    def _lists(self, folder: str) -> bool:
        """Whether files in a folder below are listed: Spark goes down where `key=value` is."""
        if self.folder is None or self.format == "delta" or not lies_inside(folder, self.folder):
            return False
        between = parts_between(folder, self.folder)
        return self.recursive or not between or any("=" in part for part in between)


@dataclass(frozen=True)
class JobPlaces:
    """All places of one job."""

    job: str
    checkpoint: str
    adopted: bool
    reads: tuple[Read, ...]
    writes: Written
    mode: str = "append"
    """How the sink takes a batch."""


class _Source(Protocol):
    @property
    def format(self) -> str: ...
    @property
    def path(self) -> str | None: ...
    @property
    def options(self) -> Mapping[str, str]: ...


class _Sink(_Source, Protocol):
    @property
    def url(self) -> str | None: ...
    @property
    def table(self) -> str | None: ...


_ON_CHANGES = ("readChangeFeed", "readChangeData", "skipChangeCommits", "ignoreChanges")


def declared_places(name: str, job: Job, checkpoint: str, folder: Path) -> JobPlaces:
    """Give the places of a job as the project file declares it."""
    checkpoint = canonical_text(checkpoint, folder)
    if job.source is not None:
        ((only, source),) = job.named_sources.items()
        reads = [_read(only, source, ("source",), folder)]
    else:
        reads = [_read(one, job.sources[one], ("sources", one), folder) for one in job.sources]
    writes = _written(job.sink, folder)
    adopted = job.checkpoint is not None
    return JobPlaces(name, checkpoint, adopted, tuple(reads), writes, job.sink.mode)


def ready_places(job: ReadyJob) -> JobPlaces:
    """Give the places of a job that is ready to run."""
    reads = tuple(_read(one.name, one, ("sources", one.name), job.folder) for one in job.sources)
    writes = _written(job.sink, job.folder)
    place = canonical(job.checkpoint)
    return JobPlaces(job.name, place, job.adopted, reads, writes, job.sink.mode)


def canonical_text(text: str, folder: Path) -> str:
    """Spell a place as every other spelling of it would be; one that only Spark knows, as it is."""
    try:
        return canonical(parse_location(text, relative_to=folder))
    except StorageError:
        return text.rstrip("/")


def _read(name: str, source: _Source, key: tuple[str, ...], folder: Path) -> Read:
    options = {key.lower(): value for key, value in source.options.items()}
    path = source.path or options.get("path")
    table = options.get("dbtable") or options.get("table")
    url = options.get("url")
    return Read(
        name=name,
        format=source.format,
        key=key,
        folder=None if path is None else canonical_text(path, folder),
        recursive=_is_on(options, "recursiveFileLookup"),
        table=table_identity(url, table) if url and table else None,
        topics=topics_of(options) if source.format == "kafka" else None,
        on_changes=next((one for one in _ON_CHANGES if _is_on(options, one)), None),
    )


def _is_on(options: Mapping[str, str], name: str) -> bool:
    return options.get(name.lower(), "").lower() == "true"


def _written(sink: _Sink, folder: Path) -> Written:
    return Written(
        format=sink.format,
        folder=None if sink.path is None else canonical_text(sink.path, folder),
        table=_written_table(sink),
        topics=topics_of(sink.options) if sink.format == "kafka" else None,
    )


def _written_table(sink: _Sink) -> str | None:
    """Name a table: of a database, or of the catalog, where Spark's own sink writes it by name."""
    if sink.table is None:
        return None
    return table_identity(sink.url, sink.table) if sink.url else f"catalog:{sink.table.lower()}"
