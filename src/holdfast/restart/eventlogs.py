"""Reads an event log of Spark from disk, and describes one of its queries for the records."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

from holdfast.errors import DecodeError, UsageError
from holdfast.format.eventlogs import (
    EventLog,
    LoggedQuery,
    decode_events,
    operators_of,
    output_mode_of,
    source_of,
    watermarks_of,
)
from holdfast.records.facts import (
    FACTS_VERSION,
    OperatorFacts,
    QueryFacts,
    SourceFacts,
    WatermarkFacts,
)
from holdfast.records.recordings import Origin, QueryPart
from holdfast.records.run import PlanFacts
from holdfast.redaction import names_secret, redact
from holdfast.restart.recorded import Described

_PART = re.compile(r"events_(?P<number>\d+)_.*")
_COMPACT = ".compact"
_ROLLING = "eventlog_v2_"
_GZIP = b"\x1f\x8b"
_PLAIN = b"{"
_NEEDED = ("pyarrow", "xxhash")
"""What the codecs need that are not Python's own."""
_OF_STATE = (
    QueryPart.KEYS,
    QueryPart.VALUES,
    QueryPart.OPERATOR_SETTINGS,
    QueryPart.STORES,
    QueryPart.INPUT,
)
_NEVER_LOGGED = (
    QueryPart.SOURCE_OPTIONS,
    QueryPart.SOURCE_COLUMNS,
    QueryPart.FUNCTIONS,
    QueryPart.STATICS,
    QueryPart.STEPS,
    QueryPart.OUTPUT_COLUMNS,
    QueryPart.SETTINGS,
)
"""Parts that no event log has in a form that can be compared."""


def read_event_log(path: Path) -> EventLog:
    """Read a log, plain or compressed, or a folder of parts; raise HF2507 where it is none."""
    try:
        files = list(_files(path))
        return decode_events(_lines(files))
    except DecodeError as error:
        raise _unusable(path, error.message) from error
    except (ValueError, OSError, EOFError) as error:
        raise _unusable(path, str(error)) from error


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        if not path.exists():
            raise _unusable(path, "it does not exist here")
        return [path]
    found = [(one, _PART.fullmatch(one.name)) for one in path.iterdir()]
    parts = {one: int(match["number"]) for one, match in found if match is not None}
    if not parts:
        inside = sorted(one.name for one, _ in found if one.name.startswith(_ROLLING))
        hint = f"; it contains {', '.join(inside[:3])}" if inside else ""
        raise _unusable(path, f"this directory has no events_… files{hint}")
    compact = max((number for one, number in parts.items() if _is_compact(one)), default=0)
    kept = [one for one, number in parts.items()
            if number > compact or (number == compact and _is_compact(one))]  # fmt: skip
    return sorted(kept, key=lambda one: parts[one])


def _is_compact(file: Path) -> bool:
    return file.name.endswith(_COMPACT)


def _lines(files: list[Path]) -> Iterator[bytes]:
    """Yield the lines of all parts; each is held in memory by itself."""
    for file in files:
        data = file.read_bytes()
        rest = b""
        for piece in _pieces(data):
            *whole, rest = (rest + piece).split(b"\n")
            yield from whole
        if rest:
            yield rest


def _pieces(data: bytes) -> Iterable[bytes]:
    if data.startswith(_GZIP):
        return [gzip.decompress(data)]
    if data.startswith(_PLAIN) or not data:
        return [data]
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        told = f"{', '.join(missing)}, which {verb} not installed"
        message = f"a compressed event log requires {told}"
        why = "its codecs are those of Spark's state files and come with the extra for state"
        raise UsageError("HF2770", message, why=why)
    from holdfast.format.state.codecs import decompressed

    return decompressed(data)


def logged_query(log: EventLog, query_id: str | None, path: Path) -> LoggedQuery:
    """Return the query of a checkpoint; raise HF2508 where the log has no batch of it."""
    found = next((one for one in log.queries if one.query_id == query_id), None)
    if found is None or found.last_batch is None:
        others = ", ".join(one.query_id for one in log.queries) or "none"
        shown = query_id or "the checkpoint has no query id yet"
        message = f"no batch of query {shown} ran in this log; queries in it: {others}"
        raise UsageError("HF2508", message, at=str(path))
    return found


def described_query(log: EventLog, query: LoggedQuery, passed: int | None) -> Described:
    """Return what the log says of a query, and what it does not; `passed` is the checkpoint's."""
    operators, mode, marks = operators_of(query), output_mode_of(query), watermarks_of(query)
    watermarks = tuple(WatermarkFacts(column, delay) for column, delay in marks or ())
    missing = [*_NEVER_LOGGED, *(() if operators == () else _OF_STATE)]
    if marks != ():
        missing.append(QueryPart.WATERMARKS if marks is None else QueryPart.WATERMARK_COLUMNS)
    if mode is None:
        missing.append(QueryPart.OUTPUT_MODE)
    sources = tuple(map(_source, query.sources))
    facts = QueryFacts(
        version=FACTS_VERSION,
        spark=log.spark or "unknown",
        output_mode=mode or "unknown",
        sources=sources,
        operators=None if operators is None else tuple(OperatorFacts(*one) for one in operators),
        watermarks=watermarks,
        settings={
            name: value
            for name, value in sorted(query.settings.items())
            if not names_secret(name) and redact(f"{name}={value}") == f"{name}={value}"
        },
        unknown=tuple(_unknown(query, sources, operators is None)),
    )
    plan = PlanFacts(
        sources=tuple(one.kind for one in sources),
        operators=None if operators is None else tuple(name for _, name in operators),
        text=redact(query.plan_text),
        query=facts,
    )
    return Described(
        origin=Origin.EVENT_LOG,
        program=log.application or "unknown",
        plan=plan,
        spark=log.spark or "unknown",
        output_mode=mode or "unknown",
        destination=None if query.sink is None else redact(query.sink),
        missing=tuple(missing),
        notes=tuple(_notes(query, passed)),
        passed=query.last_batch,
    )


def _source(description: str) -> SourceFacts:
    found = source_of(description)
    identity = {name: redact(value) for name, value in found.identity.items()}
    return SourceFacts(found.kind, found.kind, identity)


def _unknown(
    query: LoggedQuery, sources: tuple[SourceFacts, ...], no_operators: bool
) -> Iterator[str]:
    for number, one in enumerate(sources):
        if not one.identity:
            yield f"what source {number} reads ({redact(query.sources[number])})"
    if no_operators:
        yield "the ids of the stateful operators"


def _notes(query: LoggedQuery, passed: int | None) -> Iterator[str]:
    last = query.last_batch
    if last is not None and passed is not None and passed > last:
        first = last + 1
        later = f"batch {first}" if first == passed else f"batches {first} to {passed}"
        yield f"which code made {later}: not in this event log"


def _unusable(path: Path, why: str) -> UsageError:
    return UsageError("HF2507", f"the event log cannot be read: {why}", at=str(path))
