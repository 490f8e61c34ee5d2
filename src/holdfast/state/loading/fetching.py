"""Tables of a RocksDB snapshot, copied out of a checkpoint; each is what the snapshot says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

from holdfast.errors import CheckpointError, DecodeError, NotFoundError, StorageError
from holdfast.format.rocksdb.sstfooter import FOOTER_LENGTH, check_footer
from holdfast.format.rocksdb.zip import SstFile
from holdfast.storage.reading import Reader
from holdfast.storage.showing import place_within

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
        message = f"RocksDB snapshot: its tables can't be copied: {error.strerror}"
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
        raise CheckpointError(_OTHER_SIZE, f"{message} as its snapshot says", at=at)


def _check_footer(footer: bytes, table: SstFile, reader: Reader, name: str) -> None:
    try:
        check_footer(footer, table.size_bytes)
    except DecodeError as error:
        error.at = place_within(reader.location, name)
        raise
