"""Reads the log of Spark's file sink, `<output>/_spark_metadata`: batch ids, and no query id."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

from holdfast.errors import DecodeError, HoldfastError, NotFoundError, StorageError
from holdfast.format.logs.filelog import (
    compacted_ids,
    decode_sink_log,
    effective_interval,
    log_id_of,
    needed_ids,
)
from holdfast.ledgers.sinkstate import LastCommitted
from holdfast.storage.reading import FileKind, Listed, Reader

LOG_FOLDER = "_spark_metadata"
FORMATS = frozenset({"parquet", "csv", "json", "orc", "text", "avro", "xml"})
"""Formats that Spark's file sink writes."""
_MOST_MISSING = 1000


@dataclass(frozen=True)
class FileSinkLog:
    """The log of one output folder, as far as it was read."""

    location: str
    files: Mapping[int, Listed]
    """Batch id to the entry's file; its path is relative to the log's folder."""
    compact_ids: frozenset[int]
    written_ms: Mapping[int, int]
    """Batch id to when its newest data file was written, for entries that were read."""
    damages: tuple[tuple[str, HoldfastError], ...] = ()
    """Entries that could not be read: the file and why."""

    @cached_property
    def newest(self) -> int | None:
        """The greatest batch id that the sink takes for done."""
        return max(self.files, default=None)

    @cached_property
    def interval(self) -> int:
        """Every how many batches Spark compacts this log."""
        return effective_interval(self.compact_ids)

    def missing(self) -> list[int]:
        """Name the ids without which readers, and the next compaction, stop."""
        if self.newest is None:
            return []
        needed = {*needed_ids(self.newest, self.interval)[:_MOST_MISSING]}
        needed |= {*self._read_by_next_compaction()[:_MOST_MISSING]}
        return sorted(one for one in needed if one not in self.files)

    def next_compaction(self) -> int:
        """Return the batch whose entry is the next compact one."""
        following = 0 if self.newest is None else self.newest + 1
        # Worked out, not counted: damaged names can make the interval long beyond counting.
        return -(-(following + 1) // self.interval) * self.interval - 1

    def last_committed(self, _query_id: str | None) -> LastCommitted:
        """Answer for any query: this log knows batch ids only."""
        return LastCommitted(
            self.newest, "read from _spark_metadata, which names no query", answered=True
        )

    def _read_by_next_compaction(self) -> range:
        assert self.newest is not None
        read = compacted_ids(self.next_compaction(), self.interval)
        return range(read.start, min(read.stop, self.newest + 1))


def read_file_sink_log(reader: Reader, batches: Collection[int]) -> FileSinkLog | None:
    """Read the log that a reader of its folder sees, with the entries of some batches in full.

    None where there is no log, or an empty one. Raises StorageError.
    """
    try:
        listed = reader.list().whole()
    except NotFoundError:
        return None
    files: dict[int, Listed] = {}
    compact: set[int] = set()
    for item in listed:
        numbered = log_id_of(item.path)
        if numbered is not None and item.kind is FileKind.FILE:
            files[numbered[0]] = item
            compact |= {numbered[0]} if numbered[1] else set()
    if not files:
        return None
    newest = max(files)
    wanted = [
        files[one].path
        for one in sorted(files)
        if one not in compact and (one in batches or one == newest)
    ]
    times, damages = _entries(reader, wanted)
    return FileSinkLog(reader.location, files, frozenset(compact), times, tuple(damages))


def _entries(
    reader: Reader, paths: list[str]
) -> tuple[dict[int, int], list[tuple[str, HoldfastError]]]:
    times: dict[int, int] = {}
    damages: list[tuple[str, HoldfastError]] = []
    for path, data in reader.read_many(paths).items():
        if isinstance(data, StorageError):
            damages.append((path, data))
            continue
        try:
            items = decode_sink_log(data).items
        except DecodeError as error:
            damages.append((path, error))
            continue
        if items:
            times[int(path)] = max(item.modified_ms for item in items)
    return times, damages
