"""A RocksDB snapshot: what its zip says of the tables, and whether a table's footer is sound.

RocksDB trusts them: a size in them that lies ends the whole process, for want of memory. It
verifies everything before them itself, block by block, unless they say that there are no checksums.
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from holdfast.errors import DecodeError
from holdfast.format.logs.log import decode_text, decode_version
from holdfast.format.strictjson import INT32, Fields

LARGEST_ZIP = 256 << 20
"""No snapshot's zip is longer; read one byte more to learn that one is."""

_NOT_WHOLE, _MALFORMED, _FOREIGN = "HF2715", "HF2716", "HF2717"
_WHAT = "RocksDB snapshot"
_METADATA = "metadata"
_VERSIONS: Mapping[int, str] = {1: "Spark 3.2 and later"}
_MOST_UNPACKED = 256 << 20
_LONGEST_DIRECTORY = 64 << 10
_END = b"PK\x05\x06"
_END_LENGTH = 22
_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,254}")
_SST_NAME = re.compile(r"[0-9]{1,20}\.sst")
_STORED_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,250}\.sst")
_MANIFEST_LINE = re.compile(rb"(MANIFEST-[0-9]{1,20})\n")
_DATABASE_FILE = re.compile(r"CURRENT|MANIFEST-[0-9]{1,20}|[0-9]{1,20}\.log")
_MERGE_OPERATOR = re.compile(rb"^\s*merge_operator=(.*?)\s*$", re.MULTILINE)
_DELIMITERS: Mapping[bytes, bytes] = {
    b"nullptr": b"",
    b"StringAppendOperator": b"",
    b"{id=StringAppendOperator;delimiter=;}": b"",
    b"{id=StringAppendOperator;delimiter=,;}": b",",
}


@dataclass(frozen=True)
class SstFile:
    """One table: its name inside of RocksDB, and under SSTs/ beside the zip."""

    local_name: str
    stored_name: str
    size_bytes: int


@dataclass(frozen=True)
class ColumnFamily:
    """One of Spark's column families: its keys begin with its id."""

    name: str
    id: int
    internal: bool


@dataclass(frozen=True)
class RocksSnapshot:
    """What one zip holds: a version of one store of one partition, but for its tables."""

    sst_files: tuple[SstFile, ...]
    num_keys: int | None
    """Keys of users' column families; None where Spark was told not to count."""
    num_internal_keys: int
    column_families: tuple[ColumnFamily, ...]
    """By id; empty for a store without column families."""
    delimiter: bytes
    """What stands between the values of a list: a comma up to Spark 4.1, nothing since."""
    database_files: Mapping[str, bytes] = field(repr=False)
    """CURRENT, the manifest and the write-ahead logs, as RocksDB wants to find them."""

    @property
    def key_count(self) -> int | None:
        """All keys that the tables must give, None where nobody counted."""
        return None if self.num_keys is None else self.num_keys + self.num_internal_keys


def decode_rocks_zip(data: bytes) -> RocksSnapshot:
    """Decode a snapshot's zip; whatever goes wrong is placed at the byte of the packed file."""
    with _opened(data) as packed:
        entries = _entries(packed)
        files = {name: _unpacked(packed, entry) for name, entry in entries.items()}
    if _METADATA not in files:
        raise DecodeError(_MALFORMED, f"{_WHAT}: it contains no file named metadata", byte=0)
    place = entries[_METADATA].header_offset
    try:
        found = _metadata(files.pop(_METADATA))
    except DecodeError as error:
        # A place inside of a packed file is none in the zip: where the packed file begins is.
        raise DecodeError(_MALFORMED, error.message, byte=place) from error
    return RocksSnapshot(
        sst_files=found.sst_files,
        num_keys=None if found.num_keys < 0 else found.num_keys,
        num_internal_keys=max(found.num_internal_keys, 0),
        column_families=found.column_families,
        delimiter=_delimiter(files, entries),
        database_files=_database_files(files, entries),
    )


def _opened(data: bytes) -> zipfile.ZipFile:
    end = data[-_END_LENGTH:]
    if len(data) > LARGEST_ZIP:
        raise DecodeError(_FOREIGN, f"{_WHAT}: a zip of {len(data):,} bytes is too large", byte=0)
    if len(end) < _END_LENGTH or not end.startswith(_END):
        raise DecodeError(_NOT_WHOLE, f"{_WHAT}: the end of the zip is missing", byte=len(data))
    # Python reads the whole directory before anything can be asked of it.
    if int.from_bytes(end[12:16], "little") > _LONGEST_DIRECTORY:
        raise DecodeError(_FOREIGN, f"{_WHAT}: it contains too many files", byte=len(data))
    try:
        return zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
        message = f"{_WHAT}: its directory cannot be read: {error}"
        raise DecodeError(_NOT_WHOLE, message, byte=len(data)) from error


def _entries(packed: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    entries: dict[str, zipfile.ZipInfo] = {}
    for entry in packed.infolist():
        name = entry.orig_filename
        if not _PLAIN_NAME.fullmatch(name):
            raise _foreign(entry, f"{name!r} is not a name that Spark uses")
        if name in entries:
            raise _foreign(entry, f"{name} is included twice")
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise _foreign(entry, f"{name} is compressed in a way that Spark does not use")
        entries[name] = entry
    unpacked = sum(entry.file_size for entry in entries.values())
    if unpacked > _MOST_UNPACKED:
        message = f"{_WHAT}: it would unpack to {unpacked:,} bytes"
        raise DecodeError(_FOREIGN, message, byte=0)
    return entries


def _unpacked(packed: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    # Asked for a number of bytes, zipfile unpacks no more of them; asked for all, it unpacks all
    # there is before it cuts off what goes beyond the declared size.
    try:
        with packed.open(entry) as unpacking:
            return unpacking.read(entry.file_size + 1)
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        ValueError,
        NotImplementedError,
        RuntimeError,
        OSError,
    ) as error:
        message = f"{_WHAT}: {entry.filename} cannot be unpacked: {error}"
        raise DecodeError(_NOT_WHOLE, message, byte=entry.header_offset) from error


@dataclass(frozen=True)
class _Metadata:
    sst_files: tuple[SstFile, ...]
    num_keys: int
    num_internal_keys: int
    column_families: tuple[ColumnFamily, ...]


def _metadata(data: bytes) -> _Metadata:
    what = f"{_WHAT}, metadata"
    version, _, text = decode_text(data, what).partition("\n")
    decode_version(version, known=_VERSIONS, what=what)
    fields = Fields.of(text, what=what, line=2, byte=len(version) + 1)
    return _Metadata(
        sst_files=tuple(
            _sst_file(fields.inner("sstFiles", one)) for one in fields.take_list("sstFiles")
        ),
        num_keys=fields.take_integer("numKeys"),
        num_internal_keys=fields.take_integer("numInternalKeys", default=0),
        column_families=_families(fields),
    )


def _sst_file(fields: Fields) -> SstFile:
    local, stored = fields.take_text("localFileName"), fields.take_text("dfsSstFileName")
    size = fields.take_integer("sizeBytes")
    if not _SST_NAME.fullmatch(local) or not _STORED_NAME.fullmatch(stored) or size < 0:
        raise fields.error(
            _MALFORMED, f"{local!r} stored as {stored!r} is not a table name that Spark uses"
        )
    return SstFile(local, stored, size)


def _families(fields: Fields) -> tuple[ColumnFamily, ...]:
    if not fields.left.get("columnFamilyMapping"):
        return ()
    ids = fields.inner("columnFamilyMapping", fields.take_object("columnFamilyMapping"))
    kinds = fields.inner("columnFamilyTypeMap", fields.left.get("columnFamilyTypeMap", {}))
    families = tuple(
        ColumnFamily(name, ids.take_integer(name, bounds=INT32), kinds.take_flag(name, False))
        for name in sorted(ids.left)
    )
    if len({family.id for family in families}) < len(families):
        raise fields.error(_MALFORMED, "two column families have the same id")
    return tuple(sorted(families, key=lambda family: family.id))


def _delimiter(files: Mapping[str, bytes], entries: Mapping[str, zipfile.ZipInfo]) -> bytes:
    names = sorted(name for name in files if name.startswith("OPTIONS-"))
    if not names:
        return b""
    found = _MERGE_OPERATOR.search(files[names[-1]])
    written = found[1] if found else b"nullptr"
    if written not in _DELIMITERS:
        shown = written[:80].decode("ascii", "backslashreplace")
        message = f"{names[-1]} has a merge operator that Spark does not use: {shown}"
        raise _foreign(entries[names[-1]], message)
    return _DELIMITERS[written]


def _database_files(
    files: Mapping[str, bytes], entries: Mapping[str, zipfile.ZipInfo]
) -> Mapping[str, bytes]:
    if "CURRENT" not in files:
        raise DecodeError(_NOT_WHOLE, f"{_WHAT}: it contains no file named CURRENT", byte=0)
    manifest = _MANIFEST_LINE.fullmatch(files["CURRENT"])
    if manifest is None or manifest[1].decode("ascii") not in files:
        message = f"{_WHAT}: CURRENT names a manifest that is not in the zip"
        raise DecodeError(_NOT_WHOLE, message, byte=entries["CURRENT"].header_offset)
    return {name: data for name, data in files.items() if _DATABASE_FILE.fullmatch(name)}


def _foreign(entry: zipfile.ZipInfo, message: str) -> DecodeError:
    return DecodeError(_FOREIGN, f"{_WHAT}: {message}", byte=entry.header_offset)


FOOTER_LENGTH = 53
"""One byte for the kind of checksums, 40 for two places, 4 for the version, 8 for the magic."""

_DAMAGED = "HF2720"
_MAGIC = 0x88E241B785F4CFF7
_KINDS_OF_CHECKSUMS = (1, 2, 3, 4)
_OLDEST, _NEWEST = 2, 7
_FIRST_WITH_OWN_CHECKSUM = 6
_NO_MORE = 1 << 63


def check_footer(footer: bytes, size: int) -> None:
    """Raise DecodeError where the last 53 bytes of a table of `size` bytes are no footer."""
    start = size - len(footer)
    if len(footer) < FOOTER_LENGTH:
        raise _damaged("it is too short for a table", 0)
    version, magic = struct.unpack_from("<IQ", footer, 41)
    if magic != _MAGIC:
        raise _damaged("it does not end like a table", start + 45)
    if not _OLDEST <= version <= _NEWEST:
        raise _damaged(f"its format version is {version}", start + 41)
    if footer[0] not in _KINDS_OF_CHECKSUMS:
        raise _damaged("its blocks have no checksums, or unknown ones", start)
    if version >= _FIRST_WITH_OWN_CHECKSUM:
        (length,) = struct.unpack_from("<I", footer, 13)
        _check_place(0, length, size, start + 13)
    else:
        _check_places(footer[1:41], size, start + 1)


def _check_places(places: bytes, size: int, start: int) -> None:
    """Two places follow each other, of the list of other blocks and of the index."""
    at = 0
    for _ in range(2):
        begin = at
        offset, at = _number(places, at, start)
        length, at = _number(places, at, start)
        _check_place(offset, length, size, start + begin)


def _check_place(offset: int, length: int, size: int, byte: int) -> None:
    if offset + length > size - FOOTER_LENGTH:
        raise _damaged(f"a block of {length} bytes at {offset} is outside the file", byte)


def _number(places: bytes, at: int, start: int) -> tuple[int, int]:
    value, shift = 0, 1
    while at < len(places):
        byte = places[at]
        value += (byte & 0x7F) * shift
        at += 1
        if byte < 0x80:
            return value, at
        shift <<= 7
        if shift > _NO_MORE:
            break
    raise _damaged("a position in its footer is not a number", start)


def _damaged(message: str, byte: int) -> DecodeError:
    return DecodeError(_DAMAGED, f"RocksDB table: {message}", byte=byte)
