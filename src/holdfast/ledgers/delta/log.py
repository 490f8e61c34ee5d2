"""The one reader of a Delta table's log: its files by name, their actions, and its checkpoints.

A checkpoint sums up every version before it, which are then cleaned away. It is one Parquet file,
several parts of one, or, in Delta's second format, a file with a random name whose lists of data
files stand apart; that one may also be JSON. The identifiers are in the file itself in every case.

It is read with pyarrow and not with the deltalake package. pyarrow takes a file that we hand it, so
the bytes come through the reader that opened the table: the same storage options and credentials,
every storage that Holdfast reads, nothing to be translated a second time. And only two columns are
fetched; deltalake would take in the list of all data files, which is nearly all of a large
checkpoint.

A version is a file of JSON objects, one action per line. A commit of a large table has millions of
lines that add or remove a data file, and few others; only those that can hold a wanted action are
decoded. A line without the quoted name of an action, and without an escape that could spell a
letter of it, does not hold it, however the JSON is written. A line ends with a line feed and with
nothing else: JSON strings may contain U+2028 and its like.

The log is listed whole, so `_last_checkpoint` is not read: it is a hint that saves a listing, and
it may be out of date or damaged.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from holdfast.errors import DecodeError, NotFoundError
from holdfast.format.strictjson import decode_object
from holdfast.storage.reading import FileKind, Listed, Reader

_CHECKPOINT_NAME = re.compile(
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
        match = _CHECKPOINT_NAME.fullmatch(item.path)
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


_NAME = re.compile(r"([0-9]{20})\.(json|crc)")
_RETENTION = "delta.setTransactionRetentionDuration"
_BLANKS = b" \t\r"
_ESCAPE = b"\\u00"
_OF_LETTERS = (b"4", b"5", b"6", b"7")
"""What follows `_ESCAPE` where it stands for a letter."""
_LARGEST_VERSION = 2**63 - 1
_EXACT_FLOATS = 2**53


@dataclass(frozen=True)
class Transaction:
    """A `txn` action: an application has written this version of its own."""

    app_id: str
    version: int
    last_updated_ms: int | None = None
    """When it was written, by the writer's clock; None where the writer did not say it."""


@dataclass(frozen=True)
class Metadata:
    """A `metaData` action: what the table is from this version on."""

    table_id: str | None
    schema: str | None
    """The columns as Spark's JSON of a schema."""
    partition_columns: tuple[str, ...] | None
    retention: str | None
    """How long identifiers are kept; None for ever."""


@dataclass(frozen=True)
class Actions:
    """What a summary or a part of a checkpoint says; of a version `Commit` says it, and more."""

    transactions: tuple[Transaction, ...]
    metadata: Metadata | None


@dataclass(frozen=True)
class DeltaLogFiles:
    """The files of a log, by version."""

    versions: Mapping[int, str]
    summaries: Mapping[int, str]
    checkpoints: tuple[LogCheckpoint, ...]
    """The ones that are there with all their parts, the newest first."""
    modified_ms: Mapping[int, int] = field(default_factory=dict)
    """When the file of a version was written, where the storage says it."""

    @property
    def newest(self) -> int | None:
        """The newest version that is there or summed up; None where there is no table."""
        return max([*self.versions, *(one.version for one in self.checkpoints)], default=None)


class Commit:
    """The actions of one version. Every question raises DecodeError where the bytes are damaged."""

    def __init__(self, data: bytes) -> None:
        _refuse_cut_lines(data)
        self._data = data

    @cached_property
    def transactions(self) -> tuple[Transaction, ...]:
        """Every application that it was written under."""
        return tuple(_transaction(action) for action in self._actions("txn"))

    @cached_property
    def metadata(self) -> Metadata | None:
        """What it made of the table; None where it left that alone."""
        return next((_metadata(action) for action in self._actions("metaData")), None)

    @cached_property
    def information(self) -> Mapping[str, object]:
        """The writer's own `commitInfo`; empty where there is none."""
        return next(self._actions("commitInfo"), {})

    @cached_property
    def changes_table(self) -> bool:
        """Whether it touched columns, properties or the protocol."""
        return any(any(self._lines_of(name)) for name in ("metaData", "protocol"))

    @cached_property
    def changes_rows(self) -> bool:
        """Whether a row came or went; moving rows between files is no change."""
        for line in _lines(self._data):
            action = self._decode(line)
            for name in ("add", "remove"):
                file = action.get(name)
                if isinstance(file, dict) and file.get("dataChange") is not False:
                    return True
        return False

    def _actions(self, name: str) -> Iterator[Mapping[str, object]]:
        for action in self._lines_of(name):
            if isinstance(found := action[name], dict):
                yield found

    def _lines_of(self, name: str) -> Iterator[Mapping[str, object]]:
        """Yield the decoded lines that hold an action of this name."""
        named = dict(_lines_with(self._data, f'"{name}"'.encode()))
        for line in sorted({**named, **self._escaped}.items()):
            action = self._decode(line)
            if action.get(name) is not None:
                yield action

    @cached_property
    def _escaped(self) -> Mapping[int, int]:
        """The lines in which an escape may spell a letter of a name."""
        return {
            start: end
            for start, end in _lines_with(self._data, _ESCAPE)
            if _spells_letters(self._data, start, end)
        }

    def _decode(self, line: tuple[int, int]) -> Mapping[str, object]:
        text = self._data[slice(*line)].strip(_BLANKS).decode("utf-8", "replace")
        return decode_object(text, what="an action of a Delta log") if text else {}


def list_log(reader: Reader) -> DeltaLogFiles:
    """List the log that a reader of its folder sees; empty where there is none.

    Raises StorageError.
    """
    try:
        listed = reader.list().whole()
    except NotFoundError:
        listed = ()
    found: dict[str, dict[int, str]] = {"json": {}, "crc": {}}
    modified_ms: dict[int, int] = {}
    for item in listed:
        match = _NAME.fullmatch(item.path)
        if match is not None and item.kind is FileKind.FILE:
            found[match[2]][int(match[1])] = item.path
            if match[2] == "json" and item.modified_ms is not None:
                modified_ms[int(match[1])] = item.modified_ms
    return DeltaLogFiles(found["json"], found["crc"], find_checkpoints(listed), modified_ms)


def version_file(version: int) -> str:
    """Return the name of a version's file."""
    return f"{version:020}.json"


def read_part(reader: Reader, part: Listed) -> Actions:
    """Return what a part of a checkpoint says; raise StorageError or DecodeError."""
    if part.path.endswith(".json"):
        commit = Commit(reader.read(part.path))
        return Actions(commit.transactions, commit.metadata)
    transactions: list[Transaction] = []
    metadata: Metadata | None = None
    for action in parquet_actions(reader, part):
        if isinstance(transaction := action.get("txn"), dict):
            transactions.append(_transaction(transaction))
        if isinstance(described := action.get("metaData"), dict) and metadata is None:
            metadata = _metadata(described)
    return Actions(tuple(transactions), metadata)


def read_summary(reader: Reader, path: str) -> Actions | None:
    """Return what a summary says of every identifier; None where it does not list them.

    Raises StorageError or DecodeError.
    """
    summary = decode_object(reader.read(path).decode("utf-8", "replace"), what="a Delta summary")
    listed, described = summary.get("setTransactions"), summary.get("metadata")
    if not isinstance(listed, list):
        return None
    transactions = tuple(_transaction(one) for one in listed if isinstance(one, dict))
    return Actions(transactions, _metadata(described) if isinstance(described, dict) else None)


def _transaction(action: Mapping[str, object]) -> Transaction:
    app_id, version = action.get("appId"), _whole_number(action.get("version"))
    if not isinstance(app_id, str) or version is None:
        raise DecodeError("HF2416", "a txn action of the Delta log has no appId or no version")
    return Transaction(app_id, version, _whole_number(action.get("lastUpdated")))


def _whole_number(value: object) -> int | None:
    """Return what Delta takes for a version: 5.0 and 5e0 are other spellings of 5."""
    if isinstance(value, float) and value.is_integer() and abs(value) <= _EXACT_FLOATS:
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) > _LARGEST_VERSION:
        return None
    return value


def _metadata(action: Mapping[str, object]) -> Metadata:
    configuration, columns = action.get("configuration"), action.get("partitionColumns")
    properties = configuration if isinstance(configuration, dict) else {}
    return Metadata(
        _text(action.get("id")),
        _text(action.get("schemaString")),
        tuple(map(str, columns)) if isinstance(columns, list) else None,
        _text(properties.get(_RETENTION)),
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _lines_with(data: bytes, text: bytes) -> Iterator[tuple[int, int]]:
    at = data.find(text)
    while at >= 0:
        start, end = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
        if end < 0:
            end = len(data)
        yield start, end
        at = data.find(text, end)


def _spells_letters(data: bytes, start: int, end: int) -> bool:
    """Return whether an escape in the line stands for a letter; most are control characters."""
    at = data.find(_ESCAPE, start, end)
    while at >= 0:
        after = at + len(_ESCAPE)
        if data[after : after + 1] in _OF_LETTERS:
            return True
        at = data.find(_ESCAPE, after, end)
    return False


def _lines(data: bytes) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        yield start, end
        start = end + 1


def _refuse_cut_lines(data: bytes) -> None:
    """Raise DecodeError where a line is not one whole object, without decoding it."""
    between = data.count(b"\n") - data.endswith(b"\n")
    whole = data.startswith(b"{") and data.endswith((b"}", b"}\n"))
    if whole and data.count(b"}\n{") == between:
        return
    for number, (start, end) in enumerate(_lines(data), 1):
        line = data[start:end].strip(_BLANKS)
        if line and not (line.startswith(b"{") and line.endswith(b"}")):
            raise DecodeError("HF2416", "a line of the Delta log is truncated", line=number)
