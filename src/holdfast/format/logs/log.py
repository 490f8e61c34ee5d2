"""What every log of a checkpoint has in common, and `metadata`, which holds the id of the query."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from holdfast.errors import DecodeError
from holdfast.format.strictjson import Fields, encode_json
from holdfast.redaction import excerpt

_VERSION = re.compile(r"v([+-]?[0-9]{1,40})")
_LONG = re.compile(r"[+-]?[0-9]{1,255}")
_BYTE_ORDER_MARK = "\ufeff"
_FOREIGN = {
    "\0": "a zero byte: a part of the file was never written to the disk, or was wiped",
    "\r": "a carriage return: line endings were rewritten",
    _BYTE_ORDER_MARK: "a byte order mark: an editor rewrote the file",
}
_NEWEST_KNOWN = "Spark 4.3"


def decode_text(data: bytes, what: str) -> str:
    """Decode a text file's bytes; refuse what can't have come from Spark, and say where it is."""
    if not data:
        raise DecodeError("HF2101", f"{what}: the file is empty", byte=0)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"{what}: byte {error.start} (0x{data[error.start]:02x}) is not UTF-8"
        raise DecodeError("HF2104", message, line=line, byte=error.start) from error
    for character, meaning in _FOREIGN.items():
        place = text.find(character)
        if place == 0 or (place > 0 and character != _BYTE_ORDER_MARK):
            line = text.count("\n", 0, place) + 1
            byte = len(text[:place].encode("utf-8"))
            # Java's readers of lines take a carriage return for part of the line's end.
            overlooked = character == "\r"
            message = f"{what}: {meaning}"
            raise DecodeError("HF2117", message, line=line, byte=byte, overlooked=overlooked)
    return text


def decode_version(line: str, *, known: Mapping[int, str], what: str = "log entry") -> int:
    """Decode a version line as Spark does; `known` maps each version to who writes it."""
    found = _VERSION.fullmatch(line)
    version = int(found[1]) if found else 0
    if not 0 < version < 2**31:
        message = f"{what}: the version line is {excerpt(line, 40)!r}, not a version such as v1"
        raise DecodeError("HF2102", message, line=1, byte=0)
    if version not in known:
        readable = ", ".join(f"v{number} ({writer})" for number, writer in known.items())
        message = f"{what}: v{version} is newer than what {_NEWEST_KNOWN} writes; known: {readable}"
        raise DecodeError("HF2103", message, line=1, byte=0)
    return version


def split_lines(text: str) -> list[str]:
    """Split into lines as Spark reads them: only at line feeds, none after the last one."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def located_lines(lines: list[str], first: int = 1) -> Iterator[tuple[int, int, str]]:
    """Yield the lines from index `first` on, each with its number (from 1) and its first byte."""
    byte = sum(len(line.encode("utf-8")) + 1 for line in lines[:first])
    for index in range(first, len(lines)):
        line = lines[index]
        yield index + 1, byte, line
        byte += (len(line) if line.isascii() else len(line.encode("utf-8"))) + 1


def batch_id_of(name: str) -> int | None:
    """Return the batch that Spark takes a file of this name for, None where it takes it for none.

    Spark parses the whole name as a Java long, so it counts `007` and `+7` as batch 7, but then
    opens the plain name `7`: where `str(batch_id) != name`, the file makes Spark look for another
    one. Negative numbers and digits beyond ASCII, which no Spark writes, are no batches here.
    """
    plain = name.isascii() and name.isdecimal() and len(name) < 20
    if not plain and not _LONG.fullmatch(name):
        return None
    batch_id = int(name)
    return batch_id if 0 <= batch_id < 2**63 else None


_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


@dataclass(frozen=True)
class QueryMetadata:
    """The query's id, as text: Spark accepts any."""

    id: str
    extra: Mapping[str, object] = field(default_factory=dict)

    @property
    def well_formed(self) -> bool:
        """Whether the id has the form that Spark gives it (a UUID); another one was edited."""
        return _UUID.fullmatch(self.id) is not None


def decode_query(data: bytes) -> QueryMetadata:
    """Decode the bytes of `metadata`."""
    what = "query metadata"
    fields = Fields.of(decode_text(data, what), what=what, line=1)
    return QueryMetadata(fields.take_text("id"), fields.rest())


def encode_query(entry: QueryMetadata) -> bytes:
    """Encode the bytes of `metadata`."""
    return encode_json({"id": entry.id, **entry.extra}).encode("utf-8")
