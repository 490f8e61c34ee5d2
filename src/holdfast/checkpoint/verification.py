"""Reads every file that the picture left out and compares it with each checksum beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from holdfast.checkpoint.files import CheckedFile, checksum_damage, read_checked_files
from holdfast.checkpoint.layout import checked_name
from holdfast.checkpoint.picture import Damage, Picture
from holdfast.checkpoint.reading import ENTRY_LIMIT_BYTES
from holdfast.errors import DecodeError, NotFoundError, StorageError
from holdfast.storage.reading import FileKind, Reader

BATCH_FILES = 256
BATCH_BYTES = 32 * 1024 * 1024

Progress = Callable[[int, int], None]
"""Told the bytes done and the bytes in all."""


def verify(reader: Reader, picture: Picture, progress: Progress | None = None) -> Picture:
    """Return the picture with the damage of every file in it, not only of those that were needed.

    Memory stays bounded: files are read in batches, and one that is too large for a log entry
    only has its bytes compared with its checksum, piece by piece.
    """
    return verify_files(reader, picture, dict(_to_verify(picture)), progress)


def verify_files(
    reader: Reader, picture: Picture, sizes: Mapping[str, int], progress: Progress | None = None
) -> Picture:
    """Return the picture with the damage of these files."""
    damages: list[Damage] = []
    known = {(damage.file, damage.error.code.number) for damage in picture.damages}
    total, done = picture.layout.size_bytes, 0
    for paths in _batches(sizes):
        looks = read_checked_files(reader, picture.layout, paths, picture.source_logs)
        for path, look in looks.items():
            if isinstance(look, CheckedFile):
                done += len(look.data)
                damages += look.damages
            elif not isinstance(look, NotFoundError):
                damages.append(Damage(path, look))
        if progress is not None:
            progress(done, total)
    damages += _large_file_damage(reader, picture, sizes)
    fresh = [one for one in damages if (one.file, one.error.code.number) not in known]
    return picture.with_damages(tuple(fresh))


def _batches(sizes: Mapping[str, int]) -> Iterator[list[str]]:
    """Yield the files to read whole, within a bound of number and bytes."""
    paths: list[str] = []
    size = 0
    for path, length in sizes.items():
        if length > ENTRY_LIMIT_BYTES:
            continue
        paths.append(path)
        size += length
        if len(paths) >= BATCH_FILES or size >= BATCH_BYTES:
            yield paths
            paths, size = [], 0
    if paths:
        yield paths


def _to_verify(picture: Picture) -> Iterator[tuple[str, int]]:
    """Yield each file with its size; no checksum, and no file that a writer has not finished."""
    unfinished = frozenset(picture.layout.temporary)
    for path, item in picture.layout.items.items():
        if item.kind is FileKind.FILE and path not in unfinished and not checked_name(path):
            yield path, item.size


def _large_file_damage(reader: Reader, picture: Picture, sizes: Mapping[str, int]) -> list[Damage]:
    damages: list[Damage] = []
    for path, size in sizes.items():
        side = picture.layout.checksum_beside(path)
        if size > ENTRY_LIMIT_BYTES and side is not None:
            damages += _large_damage(reader, path, side)
    return damages


def _large_damage(reader: Reader, path: str, side: str) -> list[Damage]:
    """Compare a file of any size with its checksum, a second time before it is called damaged."""
    found = _compare_in_pieces(reader, path, side)
    if any(isinstance(one.error, DecodeError) for one in found):
        return _compare_in_pieces(reader, path, side)
    return found


def _compare_in_pieces(reader: Reader, path: str, side: str) -> list[Damage]:
    try:
        return checksum_damage(path, _pieces(reader, path), reader.read(side))
    except NotFoundError:
        return []
    except StorageError as error:
        return [Damage(path, error)]


def _pieces(reader: Reader, path: str) -> Iterator[bytes]:
    """Yield a file in pieces, each but the last a whole number of chunks."""
    start = 0
    while piece := reader.read(path, start, BATCH_BYTES):
        yield piece
        start += len(piece)
