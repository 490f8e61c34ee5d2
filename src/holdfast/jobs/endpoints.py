"""A job's checkpoint, inputs and outputs, in one spelling for one place; and what overlaps.

Places are canonical texts (storage/canonical.py). A pattern is Hadoop's: `*`, `?`, `[ab]`, `[^ab]`
and `{one,other}` within a part; it never spans a slash.

Made from the project file as it is written, so that no secret is needed to see that two jobs are on
one place, and from ready jobs, where the secrets are filled in. A reference that is not filled in
is compared as it is written: what is equal there stays equal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol
from urllib.parse import parse_qs, unquote, urlsplit

from holdfast.errors import StorageError
from holdfast.jobs.options import Topics, topics_of
from holdfast.jobs.projectfile.job import Job
from holdfast.jobs.ready import ReadyJob
from holdfast.storage.location import canonical, parse_location

_POSTGRES = re.compile(r"(?:jdbc:)?postgres(?:ql)?:(?://)?", re.IGNORECASE)
_POSTGRES_PORT = "5432"
_USER_INFO = re.compile(r"//[^/@]*@")


def table_identity(url: str, table: str) -> str:
    """Name the table so that every other spelling of it gives the same text."""
    if "${" in url:
        # What is filled in later is equal where the text is; nothing more can be said here.
        return f"table:{url} {_table(table)}"
    if _POSTGRES.match(url):
        return f"table:{_postgres(url)} {_table(table).removeprefix('public.')}"
    bare = re.split(r"[?;]", _USER_INFO.sub("//", url), maxsplit=1)[0]
    return f"table:{bare.lower().rstrip('/')} {_table(table)}"


def _postgres(url: str) -> str:
    """Return servers and database; user and options do not make it a different table."""
    rest = _POSTGRES.sub("", url, count=1)
    split = urlsplit(f"//{rest.rpartition('@')[2] if '@' in rest.partition('?')[0] else rest}")
    query = {key: values[-1] for key, values in parse_qs(split.query).items()}
    hosts = query.get("host") or split.netloc or "localhost"
    port = query.get("port", _POSTGRES_PORT)
    servers = sorted(one if ":" in one else f"{one}:{port}" for one in hosts.lower().split(","))
    database = query.get("dbname") or unquote(split.path.strip("/"))
    return f"postgresql://{','.join(servers)}/{database}"


def _table(table: str) -> str:
    return table.replace('"', "").replace("`", "").lower()


_SPECIAL = frozenset("*?[{")


def lies_inside(inner: str, outer: str) -> bool:
    """Whether a place is the other one or lies below it; either may be a pattern."""
    parts, around = _parts(inner), _parts(outer)
    return len(parts) >= len(around) and all(map(_may_meet, parts, around))


def overlaps(places: Sequence[str]) -> list[tuple[int, int]]:
    """Return every pair, as positions of the inner and the outer one; equal places pair up once.

    Plain places are looked up by the folders above them, so that hundreds cost next to nothing;
    only patterns are compared one by one.
    """
    split = [_parts(place) for place in places]
    patterns = {one for one, parts in enumerate(split) if any(map(_is_pattern, parts))}
    at: dict[tuple[str, ...], list[int]] = {}
    for position, parts in enumerate(split):
        if position not in patterns:
            at.setdefault(parts, []).append(position)
    pairs = {
        (inner, outer)
        for parts, inners in at.items()
        for length in range(1, len(parts) + 1)
        for outer in at.get(parts[:length], ())
        for inner in inners
    }
    for pattern in patterns:
        for other, place in enumerate(places):
            pairs |= {(pattern, other)} if lies_inside(places[pattern], place) else set()
            pairs |= {(other, pattern)} if lies_inside(place, places[pattern]) else set()
    return sorted(
        (one, two) for one, two in pairs if one != two and not (one > two and (two, one) in pairs)
    )


def parts_between(inner: str, outer: str) -> tuple[str, ...]:
    """Return the parts of the path that lead from the outer place down to the inner one."""
    return _parts(inner)[len(_parts(outer)) :]


def _parts(place: str) -> tuple[str, ...]:
    scheme, colon, rest = place.partition(":")
    host = ""
    if rest.startswith("//"):
        host, _, rest = rest[2:].partition("/")
    return (f"{scheme}{colon}//{host}", *(part for part in rest.split("/") if part))


def _may_meet(one: str, other: str) -> bool:
    """Whether two parts are equal, or one is a pattern that the other fits (or a pattern too)."""
    if one == other:
        return True
    if _is_pattern(one):
        return _is_pattern(other) or bool(_pattern(one).fullmatch(other))
    return _is_pattern(other) and bool(_pattern(other).fullmatch(one))


def _is_pattern(part: str) -> bool:
    return not _SPECIAL.isdisjoint(part) and "${" not in part


@lru_cache(maxsize=256)
def _pattern(part: str) -> re.Pattern[str]:
    """Translate Hadoop's pattern; one that is broken fits nothing but itself."""
    try:
        return re.compile("".join(map(_translated, _TOKEN.findall(part))), re.DOTALL)
    except re.error:
        return re.compile(re.escape(part))


_TOKEN = re.compile(r"\\.|\[[^\]]+\]|.", re.DOTALL)


def _translated(token: str) -> str:
    if len(token) > 1:
        return token if token[0] == "\\" else "[" + token[1:].replace("[", r"\[")
    return {"*": ".*", "?": ".", "{": "(?:", "}": ")", ",": "|"}.get(token, re.escape(token))


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
    """Return the places of a job as the project file declares it."""
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
    """Return the places of a job that is ready to run."""
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
