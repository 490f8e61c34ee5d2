"""Reads files with the checksums beside them, and looks twice before it calls one damaged.

A running query replaces a file and its checksum one after the other, and removes both one after
the other: what was read in between does not match, although nothing is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, replace

from holdfast.checkpoint.layout import Layout, checksum_name
from holdfast.checkpoint.picture import Damage
from holdfast.errors import DecodeError, NotFoundError, StorageError
from holdfast.format.logs.checksums import (
    HadoopChecksum,
    decode_hadoop_checksum,
    decode_spark_checksum,
    first_mismatch,
    matches_spark_checksum,
)
from holdfast.format.logs.commits import decode_commit
from holdfast.format.logs.filelog import decode_source_log
from holdfast.format.logs.log import decode_query
from holdfast.format.logs.offsets import decode_initial, decode_offsets
from holdfast.format.state.operators import decode_operator
from holdfast.format.state.schema import decode_state_schema
from holdfast.storage.reading import Reader


def checksum_damage(path: str, pieces: Iterable[bytes], side: bytes) -> list[Damage]:
    """Compare a file, given in pieces of whole chunks, with Hadoop's checksum of it."""
    try:
        checksum = decode_hadoop_checksum(side)
    except DecodeError as error:
        return [Damage(checksum_name(path), error)]
    mismatch = _mismatch(checksum, pieces)
    if mismatch is None:
        return []
    message = f"{path} does not match the checksum that Hadoop wrote next to it"
    return [Damage(path, DecodeError("HF2111", message, byte=mismatch, overlooked=True))]


def spark_checksum_damage(path: str, data: bytes, own: bytes) -> list[Damage]:
    """Compare a state file with the checksum that Spark 4.1 and later wrote beside it."""
    try:
        checksum = decode_spark_checksum(own)
    except DecodeError:
        return []
    if matches_spark_checksum(checksum, data):
        return []
    message = f"{path} does not match the checksum that Spark wrote next to it"
    return [Damage(path, DecodeError("HF2114", message))]


def _mismatch(checksum: HadoopChecksum, pieces: Iterable[bytes]) -> int | None:
    start, used = 0, 0
    for piece in pieces:
        count = -(-len(piece) // checksum.bytes_per_sum)
        part = HadoopChecksum(checksum.bytes_per_sum, checksum.sums[used : used + count])
        found = first_mismatch(part, piece)
        if found is not None:
            return start + found
        start, used = start + len(piece), used + count
    return None if used == len(checksum.sums) else start


Decoder = Callable[[bytes], object]

_DECODERS: tuple[tuple[re.Pattern[str], Decoder], ...] = (
    (re.compile(r"metadata"), decode_query),
    (re.compile(r"offsets/\d+"), decode_offsets),
    (re.compile(r"commits/\d+"), decode_commit),
    (re.compile(r"state/\d+/_metadata/metadata"), decode_operator),
    (re.compile(r"state/\d+/_metadata/v2/\d+"), decode_operator),
    (re.compile(r"state/\d+/\d+/(?:[^/]+/)?_metadata/schema"), decode_state_schema),
    (re.compile(r"state/\d+/_stateSchema/[^/]+/\d+_[0-9a-fA-F-]{36}"), decode_state_schema),
    (
        re.compile(r"state/.*/[^./][^/]*\.(?:delta|snapshot|zip|changelog)\.crc"),
        decode_spark_checksum,
    ),
)
_SOURCE_FILE = re.compile(r"sources/([^/]+)/(\d+)(\.compact)?")


def decoder_of(path: str, file_logs: Container[str]) -> Decoder | None:
    """Return the decoder of a file by its path, None where its content is not ours to read.

    A file below sources/ is private to its source; `file_logs` are the folders there that hold
    a file source's log. Elsewhere only the file `0` has a known form (Kafka's, rate's).
    """
    source_file = _SOURCE_FILE.fullmatch(path)
    if source_file is not None:
        if source_file[1] in file_logs:
            return decode_source_log
        return decode_initial if source_file[2] == "0" and not source_file[3] else None
    for pattern, decoder in _DECODERS:
        if pattern.fullmatch(path):
            return decoder
    return None


_Read = Mapping[str, bytes | StorageError]


@dataclass(frozen=True)
class CheckedFile:
    """What one file holds, and what is wrong with it."""

    data: bytes
    entry: object | None
    damages: tuple[Damage, ...]
    compared: bool
    """A checksum beside the file was read."""
    moved: bool = False
    """The file or its checksum changed between two looks."""


def read_checked_files(
    reader: Reader, layout: Layout, paths: Iterable[str], file_logs: Container[str] = ()
) -> dict[str, CheckedFile | StorageError]:
    """Decode files and compare them with their checksums; a failure stands in place of a look.

    `file_logs` are the folders below sources/ that hold a file source's log. What
    does not decode or does not match is read once more, together with its checksums, and judged by
    that alone.
    """
    seen = _look(reader, layout, paths, file_logs)
    doubtful = [path for path, one in seen.items() if isinstance(one, CheckedFile) and _doubt(one)]
    if doubtful:
        for path, again in _look(reader, layout, doubtful, file_logs).items():
            seen[path] = again
            if isinstance(again, CheckedFile) and not _doubt(again):
                seen[path] = replace(again, moved=True)
    return seen


def checksum_names(path: str) -> tuple[str, str]:
    """Return the names of Hadoop's and of Spark's own checksum of a file."""
    return checksum_name(path), f"{path}.crc"


def _look(
    reader: Reader, layout: Layout, paths: Iterable[str], file_logs: Container[str] = ()
) -> dict[str, CheckedFile | StorageError]:
    wanted = list(paths)
    sides = [side for path in wanted for side in checksum_names(path) if layout.has_file(side)]
    read = reader.read_many(dict.fromkeys([*wanted, *sides]))
    found: dict[str, CheckedFile | StorageError] = {}
    for path in wanted:
        data = read[path]
        if isinstance(data, bytes):
            found[path] = _judged(path, data, read, decoder_of(path, file_logs))
        else:
            found[path] = data
    return found


def _judged(path: str, data: bytes, read: _Read, decoder: Decoder | None) -> CheckedFile:
    hadoop, own = (read.get(side) for side in checksum_names(path))
    compared = isinstance(hadoop, bytes) or isinstance(own, bytes)
    entry: object | None = None
    damages: list[Damage] = []
    try:
        entry = decoder(data) if decoder is not None else None
    except DecodeError as error:
        # Spark fails on the content; that its bytes were changed is said by the same damage.
        damages.append(Damage(path, error))
    else:
        if isinstance(hadoop, bytes):
            damages += checksum_damage(path, [data], hadoop)
        elif hadoop is not None and not isinstance(hadoop, NotFoundError):
            damages.append(Damage(checksum_name(path), hadoop))
    if isinstance(own, bytes):
        damages += spark_checksum_damage(path, data, own)
    return CheckedFile(data, entry, tuple(damages), compared)


def _doubt(look: CheckedFile) -> bool:
    return any(isinstance(one.error, DecodeError) for one in look.damages)
