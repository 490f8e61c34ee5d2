"""Reads files with the checksums beside them, and looks twice before it calls one damaged.

A running query replaces a file and its checksum one after the other, and removes both one after
the other: what was read in between does not match, although nothing is wrong.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, replace

from holdfast.checkpoint.checksums import checksum_damage, spark_checksum_damage
from holdfast.checkpoint.decoding import Decoder, decoder_of
from holdfast.checkpoint.layout import Layout, checksum_name
from holdfast.checkpoint.picture import Damage
from holdfast.errors import DecodeError, NotFoundError, StorageError
from holdfast.storage.reading import Reader

_Read = Mapping[str, bytes | StorageError]


@dataclass(frozen=True)
class FileLook:
    """What one file holds, and what is wrong with it."""

    data: bytes
    entry: object | None
    damages: tuple[Damage, ...]
    compared: bool
    """A checksum beside the file was read."""
    moved: bool = False
    """The file or its checksum changed between two looks."""


def look_at_files(
    reader: Reader, layout: Layout, paths: Iterable[str], file_logs: Container[str] = ()
) -> dict[str, FileLook | StorageError]:
    """Decode files and compare them with their checksums; a failure stands in place of a look.

    `file_logs` are the folders below sources/ that hold a file source's log. What
    does not decode or does not match is read once more, together with its checksums, and judged by
    that alone.
    """
    seen = _look(reader, layout, paths, file_logs)
    doubtful = [path for path, one in seen.items() if isinstance(one, FileLook) and _doubt(one)]
    if doubtful:
        for path, again in _look(reader, layout, doubtful, file_logs).items():
            seen[path] = again
            if isinstance(again, FileLook) and not _doubt(again):
                seen[path] = replace(again, moved=True)
    return seen


def checksum_names(path: str) -> tuple[str, str]:
    """Return the names of Hadoop's and of Spark's own checksum of a file."""
    return checksum_name(path), f"{path}.crc"


def _look(
    reader: Reader, layout: Layout, paths: Iterable[str], file_logs: Container[str] = ()
) -> dict[str, FileLook | StorageError]:
    wanted = list(paths)
    sides = [side for path in wanted for side in checksum_names(path) if layout.has_file(side)]
    read = reader.read_many(dict.fromkeys([*wanted, *sides]))
    found: dict[str, FileLook | StorageError] = {}
    for path in wanted:
        data = read[path]
        if isinstance(data, bytes):
            found[path] = _judged(path, data, read, decoder_of(path, file_logs))
        else:
            found[path] = data
    return found


def _judged(path: str, data: bytes, read: _Read, decoder: Decoder | None) -> FileLook:
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
    return FileLook(data, entry, tuple(damages), compared)


def _doubt(look: FileLook) -> bool:
    return any(isinstance(one.error, DecodeError) for one in look.damages)
