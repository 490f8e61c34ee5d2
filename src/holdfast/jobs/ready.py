"""A job that can be run: every path resolved, every secret filled in, every default decided.

Both ways to declare a job, the project file and Python, end here, and everything that runs begins
here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.errors import StorageError
from holdfast.storage.location import Location, canonical, parse_location
from holdfast.storage.options import StorageSettings

if TYPE_CHECKING:
    from holdfast.jobs.projectfile.job import Job

Function = Callable[..., Any]


@dataclass(frozen=True)
class FunctionReference:
    """`module:function` in a folder, not imported yet."""

    module: str
    name: str
    folder: Path
    at: str
    """Where it is declared."""


@dataclass(frozen=True)
class ReadySource:
    """A source as Spark gets it."""

    name: str
    format: str
    path: str | None
    """Absolute, in the spelling that Spark reads."""
    schema: str | None
    options: Mapping[str, str]
    at: str


@dataclass(frozen=True)
class ReadySink:
    """A sink as it is opened."""

    format: str
    mode: str
    at: str
    path: str | None = None
    location: Location | None = None
    """Where `path` is, for readers without Spark; None where they can't read it."""
    settings: StorageSettings = field(default_factory=StorageSettings)
    key: tuple[str, ...] = ()
    order_by: str | None = None
    batch_column: str | None = None
    url: str | None = None
    table: str | None = None
    function: FunctionReference | Function | None = None
    partition_by: tuple[str, ...] = ()
    native: bool = False
    """Spark's own sink of this format writes, not Holdfast's."""
    keeps_newer: bool = False
    """An upsert leaves a row alone whose `order_by` is greater than that of the row it brings."""
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ChangedTable:
    """A Delta table that a job streams, and in which another job changes rows."""

    source: str
    """The name of the source that reads it."""
    upstream: str
    """The job that writes it."""
    mode: str
    """How that job writes: upsert or complete."""
    option: str | None
    """What the source does about changed rows; None lets Delta stop the query."""


@dataclass(frozen=True)
class DownstreamJob:
    """A job of the same project that the rows of another one reach."""

    job: str
    format: str
    """Of the source that reads them."""
    through: str | None = None
    """The job in between that it reads from; None where it reads the output itself."""


def nobody() -> tuple[DownstreamJob, ...]:
    """Return no job: what is declared in Python stands alone."""
    return ()


@dataclass(frozen=True)
class RestartPolicy:
    """How often, and after how long, a job that failed is started again."""

    limit: int = 10
    """Restarts in a row without a committed batch in between."""
    backoff_seconds: float = 5.0
    """The first pause; each further one is twice as long."""


@dataclass(frozen=True)
class BackupPolicy:
    """How often a run backs the checkpoint up, and how many of these backups are kept."""

    every_seconds: float
    keep: int = 24


@dataclass(frozen=True)
class FailureHook:
    """What is called when a job failed for good: a command or a URL."""

    at: str
    command: tuple[str, ...] = ()
    webhook: str | None = None


@dataclass(frozen=True)
class ReadyJob:
    """One job with everything that a run needs to know."""

    name: str
    project: str | None
    folder: Path
    """Where the user's modules are looked for."""
    sources: tuple[ReadySource, ...]
    transform: FunctionReference | Function | None
    sql: str | None
    sink: ReadySink
    output_mode: str
    processing_time: str | None
    """The interval between batches; None runs what is available and ends."""
    conf: Mapping[str, str]
    checkpoint: Location
    settings: StorageSettings
    """With which the checkpoint is reached without Spark."""
    adopted: bool
    """The checkpoint was there before the job was declared."""
    at: str
    profile: str | None = None
    """The profile of the project file that it is declared with."""
    changed_tables: tuple[ChangedTable, ...] = ()
    downstream: Callable[[], tuple[DownstreamJob, ...]] = field(default=nobody, compare=False)
    """Finds the jobs of the project that its rows reach; only asked where one matters."""
    protect: bool = False
    """Its output may not be removed, nor its batches processed again, without being asked twice."""
    restart: RestartPolicy = RestartPolicy()
    on_failure: FailureHook | None = None
    backup: BackupPolicy | None = None
    """None backs nothing up."""
    declaration: Job | None = None
    """What it was made of; None for the query of a program, whose sources nothing declares."""


_AZURE_HOST = "dfs.core.windows.net"
_WITHOUT_TLS = frozenset({"abfs", "wasb"})


def spark_path(location: Location, settings: StorageSettings | None = None) -> str:
    """Return the path or URL that Spark is to read or write; `settings` know Azure's account."""
    if location.scheme == "s3":
        return "s3a" + location.url.removeprefix("s3")
    if location.scheme == "abfs":
        return _azure(location, settings or StorageSettings())
    return location.url


def place_or_text(text: str, folder: Path) -> Location | str:
    """Understand a path; one that only Spark can reach stays as it is written."""
    try:
        return parse_location(text, relative_to=folder)
    except StorageError:
        return text


def named_output(job: ReadyJob, text: str | None = None) -> str | None:
    """Return the one name of the job's output, or of another one in its place.

    None for a sink that is neither a directory nor a table.
    """
    sink = job.sink
    if sink.location is not None or (sink.path is not None and sink.table is None):
        if text is None:
            return canonical(sink.location) if sink.location is not None else sink.path
        place = place_or_text(text, job.folder)
        return canonical(place) if isinstance(place, Location) else place
    if sink.table is not None:
        return text or sink.table
    return None


def _azure(location: Location, settings: StorageSettings) -> str:
    """Return Hadoop's form, which names the account: `abfss://container@account…/path`."""
    written = location.text.partition(":")[0].lower()
    scheme = "abfs" if written in _WITHOUT_TLS else "abfss"
    host, slash, path = location.url.removeprefix("abfs://").partition("/")
    if "@" not in host:
        account = settings.for_scheme("abfs").get("account")
        if account is None:
            message = "this location names no storage account, and Spark requires one"
            step = "write abfss://<container>@<account>.dfs.core.windows.net/<path>"
            raise StorageError("HF7005", message, at=location.shown, next_steps=(step,))
        host = f"{host}@{account}.{_AZURE_HOST}"
    return f"{scheme}://{host}{slash}{path}"
