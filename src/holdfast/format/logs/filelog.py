"""The compacting logs of files: what a file source has seen, what a file sink has written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import isqrt
from typing import Generic, TypeVar

from holdfast.format.logs.log import (
    batch_id_of,
    decode_text,
    decode_version,
    located_lines,
    split_lines,
)
from holdfast.format.strictjson import INT32, Fields, encode_json

FILE_LOG_VERSIONS: Mapping[int, str] = {1: "every Spark"}

DEFAULT_INTERVAL = 10

_COMPACT = ".compact"
_LOG_OFFSET_NOT_SET = -1
_NUMBER = r"(-?(?:0|[1-9][0-9]{0,17}))"
_USUAL_SOURCE_FILE = re.compile(
    r'^\{"path":"([^"\\\x00-\x1f]*)","timestamp":' + _NUMBER + ',"batchId":' + _NUMBER + r"\}$",
    re.MULTILINE,
)
"""A line as every Spark writes it, with a path that needs no escape and numbers that fit."""


@dataclass(frozen=True)
class SourceFile:
    """One file that a file source has taken up."""

    path: str
    """A URI, percent-encoded."""
    timestamp_ms: int
    log_offset: int
    """The id in this log (Spark's field `batchId`): not the query's batch id."""
    extra: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class SinkFile:
    """One file that a file sink has committed."""

    path: str
    """A URI, percent-encoded."""
    size: int
    is_dir: bool
    modified_ms: int
    replication: int
    block_size: int
    action: str
    """Spark only ever writes `add`."""
    extra: Mapping[str, object] = field(default_factory=dict)


File = TypeVar("File", SourceFile, SinkFile)


@dataclass(frozen=True)
class FileLog(Generic[File]):
    """One file of such a log; a compact one repeats what came before it."""

    version: int
    items: tuple[File, ...]
    final_newline: bool = False


def decode_source_log(data: bytes) -> FileLog[SourceFile]:
    """Decode one file below `sources/<i>/` of a file source."""
    return _decode(data, "file source log", _source_file, _usual_source_files)


def decode_sink_log(data: bytes) -> FileLog[SinkFile]:
    """Decode one file of a file sink's `_spark_metadata/`."""
    return _decode(data, "file sink log", _sink_file, _no_usual)


def encode_source_log(log: FileLog[SourceFile]) -> bytes:
    """Encode one file of a file source's log."""
    return _encode(log.version, [_source_fields(item) for item in log.items], log.final_newline)


def encode_sink_log(log: FileLog[SinkFile]) -> bytes:
    """Encode one file of a file sink's log."""
    return _encode(log.version, [_sink_fields(item) for item in log.items], log.final_newline)


def log_id_of(name: str) -> tuple[int, bool] | None:
    """Return the id in a file's name and whether it is a compact file; None for any other name."""
    log_id = batch_id_of(name.removesuffix(_COMPACT))
    return None if log_id is None else (log_id, name.endswith(_COMPACT))


def log_name(log_id: int, interval: int) -> str:
    """Return the name under which Spark writes and looks for this id."""
    return f"{log_id}{_COMPACT}" if is_compaction(log_id, interval) else str(log_id)


def is_compaction(batch_id: int, interval: int) -> bool:
    """Return whether the file of this id is a compact one."""
    return (batch_id + 1) % interval == 0


def effective_interval(compact_ids: Iterable[int], default: int = DEFAULT_INTERVAL) -> int:
    """Return the interval that Spark works out from the compact files that are there."""
    newest = sorted(set(compact_ids), reverse=True)[:2]
    if len(newest) == 2:
        return newest[0] - newest[1]
    return _interval_up_to(newest[0] + 1, default) if newest else default


def needed_ids(batch_id: int, interval: int) -> range:
    """Return the ids whose files make up the log as of this id: from the last compact one on."""
    return range(max(0, (batch_id + 1) // interval * interval - 1), batch_id + 1)


def compacted_ids(batch_id: int, interval: int) -> range:
    """Return the ids that are read when this compaction is written."""
    return range(max(0, batch_id - interval), batch_id)


def _decode(
    data: bytes,
    what: str,
    decode_file: Callable[[str, str, int, int], File],
    decode_usual: Callable[[str, int], tuple[File, ...]],
) -> FileLog[File]:
    text = decode_text(data, what)
    lines = split_lines(text)
    version = decode_version(lines[0], known=FILE_LOG_VERSIONS, what=what)
    items = decode_usual(text, len(lines[0]) + 1)
    if len(items) != len(lines) - 1:
        items = tuple(
            decode_file(line, what, number, byte) for number, byte, line in located_lines(lines, 1)
        )
    return FileLog(version, items, text.endswith("\n"))


def _encode(version: int, items: list[dict[str, object]], final_newline: bool) -> bytes:
    lines = [f"v{version}", *map(encode_json, items)]
    return ("\n".join(lines) + ("\n" if final_newline else "")).encode("utf-8")


def _usual_source_files(text: str, start: int) -> tuple[SourceFile, ...]:
    """Return the files of the lines that have the usual form, all at once.

    A compacted log has a line for every file that was ever read.
    """
    found = _USUAL_SOURCE_FILE.findall(text, start)
    return tuple(SourceFile(path, int(moment), int(log_id)) for path, moment, log_id in found)


def _no_usual(_text: str, _start: int) -> tuple[SinkFile, ...]:
    return ()


def _source_file(line: str, what: str, number: int, byte: int) -> SourceFile:
    usual = _USUAL_SOURCE_FILE.fullmatch(line)
    if usual is not None:
        return SourceFile(usual[1], int(usual[2]), int(usual[3]))
    fields = Fields.of(line, what=what, line=number, byte=byte)
    return SourceFile(
        path=fields.take_text("path"),
        timestamp_ms=fields.take_integer("timestamp"),
        log_offset=fields.take_integer("batchId", default=_LOG_OFFSET_NOT_SET),
        extra=fields.rest(),
    )


def _source_fields(item: SourceFile) -> dict[str, object]:
    return {
        "path": item.path,
        "timestamp": item.timestamp_ms,
        "batchId": item.log_offset,
        **item.extra,
    }


def _sink_file(line: str, what: str, number: int, byte: int) -> SinkFile:
    fields = Fields.of(line, what=what, line=number, byte=byte)
    return SinkFile(
        path=fields.take_text("path"),
        size=fields.take_integer("size"),
        is_dir=fields.take_flag("isDir"),
        modified_ms=fields.take_integer("modificationTime"),
        replication=fields.take_integer("blockReplication", bounds=INT32),
        block_size=fields.take_integer("blockSize"),
        action=fields.take_text("action"),
        extra=fields.rest(),
    )


def _sink_fields(item: SinkFile) -> dict[str, object]:
    return {
        "path": item.path,
        "size": item.size,
        "isDir": item.is_dir,
        "modificationTime": item.modified_ms,
        "blockReplication": item.replication,
        "blockSize": item.block_size,
        "action": item.action,
        **item.extra,
    }


def _interval_up_to(count: int, default: int) -> int:
    """Return the smallest divisor of `count` from `default` on: a changed setting must divide."""
    if count <= default or default >= count // 2 or count >= 2**31:
        # Spark holds the count in 32 bits; beyond, no log was ever written.
        return count
    small = [number for number in range(1, isqrt(count) + 1) if count % number == 0]
    return min(d for number in small for d in (number, count // number) if d >= default)
