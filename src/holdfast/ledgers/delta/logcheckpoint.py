"""Reads the transaction identifiers in checkpoints of a Delta log, and nothing else of them.

A checkpoint sums up every version before it, which are then cleaned away. It is one Parquet file,
several parts of one, or, in Delta's second format, a file with a random name whose lists of data
files stand apart; that one may also be JSON. The identifiers are in the file itself in every case.

It is read with pyarrow and not with the deltalake package. pyarrow takes a file that we hand it, so
the bytes come through the reader that opened the table: the same storage options and credentials,
every storage that Holdfast reads, nothing to be translated a second time. And only two columns are
fetched; deltalake would take in the list of all data files, which is nearly all of a large
checkpoint.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from holdfast.errors import DecodeError
from holdfast.storage.reading import FileKind, Listed, Reader

_NAME = re.compile(
    r"(?P<version>[0-9]{20})\.checkpoint"
    r"(?:\.(?P<part>[0-9]{10})\.(?P<parts>[0-9]{10})|\.(?P<unique>[0-9a-fA-F-]{36}))?"
    r"\.(?P<kind>parquet|json)"
)
_COLUMNS = ("txn", "metaData")
_ROWS = 64 * 1024


@dataclass(frozen=True)
class LogCheckpoint:
    """One checkpoint of the log with every part that it consists of."""

    version: int
    """The newest version that it sums up."""
    parts: tuple[Listed, ...]


def find_checkpoints(items: Iterable[Listed]) -> tuple[LogCheckpoint, ...]:
    """Find the checkpoints that are there with all their parts, the newest first."""
    found: dict[tuple[int, str], dict[int, Listed]] = {}
    for item in items:
        match = _NAME.fullmatch(item.path)
        if match is None or item.kind is not FileKind.FILE:
            continue
        # Several of one version may lie side by side: each is whole by itself.
        whole = f"{match['parts']} parts" if match["parts"] else item.path
        found.setdefault((int(match["version"]), whole), {})[int(match["part"] or 1)] = item
    return tuple(
        LogCheckpoint(version, tuple(parts[number] for number in sorted(parts)))
        for (version, whole), parts in sorted(found.items(), reverse=True)
        if sorted(parts) == list(range(1, _wanted(whole) + 1))
    )


def _wanted(whole: str) -> int:
    number, _, word = whole.partition(" ")
    return int(number) if word else 1


def can_read_parquet() -> bool:
    """Return whether pyarrow is installed, which is needed for all but JSON."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        return False
    return True


def parquet_actions(reader: Reader, part: Listed) -> Iterator[Mapping[str, object]]:
    """Yield the `txn` and `metaData` actions of one Parquet file.

    Raises StorageError, and DecodeError where it is no Parquet that can be read.
    """
    import pyarrow
    import pyarrow.parquet

    try:
        file = pyarrow.parquet.ParquetFile(_Ranges(reader, part), pre_buffer=True)
        for batch in file.iter_batches(_ROWS, columns=list(_COLUMNS), use_threads=False):
            for name in set(_COLUMNS) & set(batch.schema.names):
                for action in batch.column(name).drop_null().to_pylist():
                    yield {name: _plain(action)}
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        message = f"{part.path} cannot be read as Parquet: {type(error).__name__}"
        raise DecodeError("HF2416", message) from error


def _plain(action: Mapping[str, object]) -> Mapping[str, object]:
    """Return an action as the JSON of a version would: a map is a list of pairs in Parquet."""
    configuration = action.get("configuration")
    if isinstance(configuration, list):
        return {**action, "configuration": dict(configuration)}
    return action


class _Ranges(io.RawIOBase):
    """A file of a reader as pyarrow wants it: every read is one request for a part of it."""

    def __init__(self, reader: Reader, item: Listed) -> None:
        self._reader, self._item, self._at = reader, item, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        starts = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._item.size}
        self._at = starts[whence] + offset
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        rest = max(self._item.size - self._at, 0)
        wanted = rest if size is None or size < 0 else min(size, rest)
        data = self._reader.read(self._item.path, self._at, wanted) if wanted else b""
        self._at += len(data)
        return data
