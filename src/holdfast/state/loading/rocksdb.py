"""A RocksDB snapshot opened: its tables fetched to a temporary folder, read, and left no trace.

RocksDB itself merges the tables, through rocksdict and read-only. It never sees the checkpoint:
only copies of tables whose size and footer were verified, and options that we wrote ourselves,
since options from a zip could name folders to write into. It iterates a million rows in a fifth of
a second; each slice of them is joined to one buffer, which is all that Python sees of a row.

Damage is found by the checksums of RocksDB's own blocks. A table that somebody forged, checksums
and all, could still end the process: RocksDB does not guard against that, and Spark would not live
through it either.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

import numpy as np
from rocksdict import AccessType, Options, Rdict

from holdfast.errors import CheckpointError, DecodeError, NotFoundError, StorageError
from holdfast.format.buffers import PUT, Changes, Positions, Spans
from holdfast.format.rocksdb.snapshot import (
    FOOTER_LENGTH,
    LARGEST_ZIP,
    RocksSnapshot,
    SstFile,
    check_footer,
    decode_rocks_zip,
)
from holdfast.storage.location import place_within
from holdfast.storage.reading import Reader
from holdfast.wording import counted

_MISSING, _OTHER_SIZE, _NO_ROOM = "HF2718", "HF2719", "HF2728"
_TABLES = "SSTs"
_PIECE = 16 << 20


@contextmanager
def folder_for_copies() -> Iterator[Path]:
    """Make a temporary folder, and remove it with all copies, whatever happens."""
    with disk(gettempdir()):
        folder = TemporaryDirectory(prefix="holdfast-state-")
    with folder as name:
        yield Path(name)


@contextmanager
def disk(folder: str) -> Iterator[None]:
    """Say what a disk refuses in our own words."""
    try:
        yield
    except OSError as error:
        message = f"RocksDB snapshot: its tables cannot be copied: {error.strerror}"
        raise CheckpointError(_NO_ROOM, message, at=folder) from error


def fetch_tables(reader: Reader, path: str, tables: Sequence[SstFile], folder: Path) -> None:
    """Copy the tables of the snapshot whose zip is at `path`, never more than a piece in memory."""
    for group in _groups(tables):
        names = {table: stored_place(path, table) for table in group}
        if len(group) == 1:
            _fetch_in_pieces(reader, names[group[0]], group[0], folder)
            continue
        read = reader.read_many(names.values())
        for table, name in names.items():
            found = read[name]
            if isinstance(found, StorageError):
                raise _missing(found, reader, name)
            _check_size(len(found), table, reader, name)
            with disk(str(folder)):
                (folder / table.local_name).write_bytes(found)
            _check_footer(found[-FOOTER_LENGTH:], table, reader, name)


def _groups(tables: Sequence[SstFile]) -> Iterator[list[SstFile]]:
    """Small tables are asked for together, a large one alone."""
    group: list[SstFile] = []
    held = 0
    for table in tables:
        if group and held + table.size_bytes > _PIECE:
            yield group
            group, held = [], 0
        group.append(table)
        held += table.size_bytes
    if group:
        yield group


def _fetch_in_pieces(reader: Reader, name: str, table: SstFile, folder: Path) -> None:
    held, tail = 0, b""
    with disk(str(folder)), (folder / table.local_name).open("wb") as copy:
        while held <= table.size_bytes:
            try:
                piece = reader.read(name, held, _PIECE)
            except StorageError as error:
                raise _missing(error, reader, name) from error
            copy.write(piece)
            held += len(piece)
            tail = (tail + piece)[-FOOTER_LENGTH:]
            if len(piece) < _PIECE:
                break
    _check_size(held, table, reader, name)
    _check_footer(tail, table, reader, name)


def stored_place(path: str, table: SstFile) -> str:
    """Say where a table of the snapshot whose zip is at `path` lies."""
    folder, slash, _ = path.rpartition("/")
    return f"{folder}{slash}{_TABLES}/{table.stored_name}"


def _missing(error: StorageError, reader: Reader, name: str) -> CheckpointError | StorageError:
    if not isinstance(error, NotFoundError):
        return error
    message = "RocksDB snapshot: one of its tables is missing"
    return CheckpointError(_MISSING, message, at=place_within(reader.location, name))


def _check_size(size: int, table: SstFile, reader: Reader, name: str) -> None:
    if size != table.size_bytes:
        message = f"RocksDB table: it has {size:,} bytes, not {table.size_bytes:,}"
        at = place_within(reader.location, name)
        raise CheckpointError(_OTHER_SIZE, f"{message} as recorded in its snapshot", at=at)


def _check_footer(footer: bytes, table: SstFile, reader: Reader, name: str) -> None:
    try:
        check_footer(footer, table.size_bytes)
    except DecodeError as error:
        error.at = place_within(reader.location, name)
        raise


_DAMAGED, _COUNT = "HF2720", "HF2721"
_SLICE = 1024
_NAMED_TABLE = re.compile(r"([0-9]+\.sst)(?: offset ([0-9]+))?")
_OPTIONS_NAME = "OPTIONS-000001"
# RocksDB takes the merge operator from this file, whatever options it is given in the call; one
# without a delimiter it would not load as Spark meant it, but with a comma.
_OPTIONS = """\
[Version]
  rocksdb_version=9.8.4
  options_file_version=1.1
[DBOptions]
  create_if_missing=false
[CFOptions "default"]
  merge_operator={{id=StringAppendOperator;delimiter={delimiter};}}
  comparator=leveldb.BytewiseComparator
[TableOptions/BlockBasedTable "default"]
  block_size=4096
"""


@dataclass(frozen=True)
class _Border:
    """Where the errors of RocksDB become ours; rocksdict has but one class for them."""

    folder: str
    at: str
    tables: Mapping[str, str]
    """Where each table lies in the checkpoint, by its name in the folder."""

    @contextmanager
    def crossed(self) -> Iterator[None]:
        """Turn what is raised inside into an error at the table that it names, if any."""
        try:
            yield
        except Exception as error:
            raise self._told(str(error)) from error

    def _told(self, message: str) -> DecodeError:
        named = _NAMED_TABLE.search(message)
        byte = int(named[2]) if named and named[2] else None
        shown = message.replace(f"{self.folder}/", "").strip()
        reported = DecodeError(_DAMAGED, f"RocksDB cannot read the snapshot: {shown}", byte=byte)
        reported.at = self._blamed(named[1] if named else None)
        return reported

    def _blamed(self, table: str | None) -> str:
        # Everything in the zip was verified: where no table is named, and there is but one, it is.
        if table is None and len(self.tables) == 1:
            return next(iter(self.tables.values()))
        return self.tables.get(table or "", self.at)


class Tables:
    """The entries of one snapshot, in the order of their keys."""

    def __init__(self, database: Rdict, snapshot: RocksSnapshot, border: _Border) -> None:
        self.snapshot = snapshot
        self._database = database
        self._border = border

    def entries(self, prefix: bytes = b"", *, chunk_bytes: int = 4 << 20) -> Iterator[Changes]:
        """Yield the entries whose keys begin with `prefix`, in chunks of about so many bytes.

        Raise CheckpointError where tables are damaged, and, behind the last of all entries, where
        their number is not the one that the snapshot tells.
        """
        count = 0
        for chunk in self._chunks(prefix, chunk_bytes):
            count += len(chunk)
            yield chunk
        expected = self.snapshot.key_count
        if not prefix and expected is not None and count != expected:
            message = f"its tables have {counted(count, 'key')}, not {expected:,} as recorded"
            raise CheckpointError(_COUNT, f"RocksDB snapshot: {message}", at=self._border.at)

    def value_of(self, key: bytes) -> bytes | None:
        """Return the value of one whole key, None where there is no such key."""
        with self._border.crossed():
            value: bytes | None = self._database.get(key)
        return value

    def _chunks(self, prefix: bytes, chunk_bytes: int) -> Iterator[Changes]:
        pieces: list[bytes] = []
        lengths: list[Positions] = []
        held = 0
        for some in self._slices(prefix):
            lengths.append(np.fromiter(map(len, some), np.int64, len(some)))
            pieces.append(b"".join(some))
            held += len(pieces[-1])
            if held >= chunk_bytes:
                yield _joined(b"".join(pieces), np.concatenate(lengths))
                pieces, lengths, held = [], [], 0
        if pieces:
            yield _joined(b"".join(pieces), np.concatenate(lengths))

    def _slices(self, prefix: bytes) -> Iterator[list[bytes]]:
        """Yield key, value, key, value and so on, few at a time: their memory is used again."""
        # Not with an upper bound in ReadOptions: rocksdict 0.3.29 lets go of it too early.
        with self._border.crossed():
            items = self._database.items(from_key=prefix)
        last = prefix
        while True:
            with self._border.crossed():
                some = list(chain.from_iterable(islice(items, _SLICE)))
            if not some:
                return self._refuse_early_end(last)
            last = some[-2]
            if not last.startswith(prefix):
                inside = bisect_left(some[0::2], True, key=lambda key: not key.startswith(prefix))
                if inside:
                    yield some[: 2 * inside]
                return None
            yield some

    def _refuse_early_end(self, last: bytes) -> None:
        """The iterator ends at damage as it does at the end: ask again what follows."""
        with self._border.crossed():
            iterator = self._database.iter()
            iterator.seek(last)
            if iterator.valid() and iterator.key() == last:
                iterator.next()
            iterator.status()


def read_snapshot(reader: Reader, path: str) -> RocksSnapshot:
    """Read and decode the zip of a snapshot."""
    data = reader.read(path, 0, LARGEST_ZIP + 1)
    try:
        return decode_rocks_zip(data)
    except DecodeError as error:
        error.at = place_within(reader.location, path)
        raise


@contextmanager
def open_tables(reader: Reader, path: str, snapshot: RocksSnapshot) -> Iterator[Tables]:
    """Open the snapshot whose zip is at `path`; its copies are gone when the block ends."""
    with folder_for_copies() as folder:
        with disk(str(folder)):
            _unpack(snapshot, folder)
        fetch_tables(reader, path, snapshot.sst_files, folder)
        places = {
            table.local_name: place_within(reader.location, stored_place(path, table))
            for table in snapshot.sst_files
        }
        border = _Border(str(folder), place_within(reader.location, path), places)
        with border.crossed():
            access = AccessType.read_only(error_if_log_file_exist=False)
            database = Rdict(str(folder), Options(raw_mode=True), access_type=access)
        try:
            yield Tables(database, snapshot, border)
        finally:
            database.close()


def _unpack(snapshot: RocksSnapshot, folder: Path) -> None:
    for name, data in snapshot.database_files.items():
        (folder / name).write_bytes(data)
    options = _OPTIONS.format(delimiter=snapshot.delimiter.decode("ascii"))
    (folder / _OPTIONS_NAME).write_text(options, encoding="ascii")


def _joined(joined: bytes, lengths: Positions) -> Changes:
    """Keys and values follow one another in the same buffer."""
    starts = np.cumsum(lengths) - lengths
    data = np.frombuffer(joined, np.uint8)
    return Changes(
        np.full(len(lengths) // 2, PUT, np.uint8),
        Spans(data, starts[0::2], lengths[0::2]),
        Spans(data, starts[1::2], lengths[1::2]),
    )
