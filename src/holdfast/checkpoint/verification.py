"""Reads every file that the picture left out and compares it with each checksum beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from holdfast.checkpoint.checksums import checksum_damage, spark_checksum_damage
from holdfast.checkpoint.decoding import decoder_of
from holdfast.checkpoint.layout import checked_name, checksum_name
from holdfast.checkpoint.picture import Damage, Picture
from holdfast.checkpoint.reading import ENTRY_LIMIT_BYTES, decode_file
from holdfast.errors import NotFoundError, StorageError
from holdfast.storage.reading import Kind, Reader

BATCH_FILES = 256
BATCH_BYTES = 32 * 1024 * 1024

Progress = Callable[[int, int], None]
"""Told the bytes done and the bytes in all."""


def verify(reader: Reader, picture: Picture, progress: Progress | None = None) -> Picture:
    """Give the picture with the damage of every file in it, not only of those that were needed.

    Memory stays bounded: files are read in batches, and one that is too large for a log entry
    only has its bytes compared with its checksum, piece by piece.
    """
    damages: list[Damage] = []
    known = {(damage.file, damage.error.code.number) for damage in picture.damages}
    total, done = picture.layout.size_bytes, 0
    for paths, sides in _batches(picture):
        read = reader.read_many(dict.fromkeys([*paths, *sides]))
        for path in paths:
            data = read[path]
            if isinstance(data, bytes):
                done += len(data)
                damages += _file_damage(picture, path, data, read)
            elif not isinstance(data, NotFoundError):
                damages.append(Damage(path, data))
        if progress is not None:
            progress(done, total)
    damages += _large_file_damage(reader, picture)
    fresh = [one for one in damages if (one.file, one.error.code.number) not in known]
    return picture.with_damages(tuple(fresh))


def _file_damage(
    picture: Picture, path: str, data: bytes, read: Mapping[str, bytes | StorageError]
) -> list[Damage]:
    folder = path.split("/")[1] if path.startswith("sources/") else ""
    decoder = decoder_of(path, folder in picture.source_logs)
    _, damages = decode_file(path, data, read.get(checksum_name(path)), decoder)
    own = read.get(f"{path}.crc")
    return damages + (spark_checksum_damage(path, data, own) if isinstance(own, bytes) else [])


def _batches(picture: Picture) -> Iterator[tuple[list[str], list[str]]]:
    """Give files to verify with the checksums beside them, within a bound of number and bytes."""
    layout = picture.layout
    paths: list[str] = []
    sides: list[str] = []
    size = 0
    for path, item in layout.items.items():
        if item.kind is not Kind.FILE or checked_name(path) or item.size > ENTRY_LIMIT_BYTES:
            continue
        paths.append(path)
        sides += [one for one in (checksum_name(path), f"{path}.crc") if layout.has_file(one)]
        size += item.size
        if len(paths) >= BATCH_FILES or size >= BATCH_BYTES:
            yield paths, sides
            paths, sides, size = [], [], 0
    if paths:
        yield paths, sides


def _large_file_damage(reader: Reader, picture: Picture) -> list[Damage]:
    layout = picture.layout
    damages: list[Damage] = []
    for path, item in layout.items.items():
        side = layout.checksum_beside(path)
        if item.kind is Kind.FILE and item.size > ENTRY_LIMIT_BYTES and side is not None:
            damages += _compare_in_pieces(reader, path, item.size, side)
    return damages


def _compare_in_pieces(reader: Reader, path: str, size: int, side: str) -> list[Damage]:
    """Compare a file of any size with its checksum; a piece is a whole number of chunks."""
    try:
        sums = reader.read(side)
        starts = range(0, size, BATCH_BYTES)
        pieces = (reader.read(path, start, BATCH_BYTES) for start in starts)
        return checksum_damage(path, pieces, sums)
    except NotFoundError:
        return []
    except StorageError as error:
        return [Damage(path, error)]
