"""Compares the files of a backup with the checksums that Hadoop and Spark wrote beside them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from holdfast.backup.snapshot import CopiedFile, Snapshot
from holdfast.backup.store import BackupStore
from holdfast.checkpoint.files import checksum_damage
from holdfast.checkpoint.layout import checked_name, checksum_name
from holdfast.errors import DecodeError
from holdfast.findings import Finding, Place, Severity
from holdfast.format.logs.checksums import decode_spark_checksum
from holdfast.storage.machine import is_temporary
from holdfast.wording import counted

_MOST_NAMES = 5
_UNFINISHED = (".tmp", ".tmp.crc")

Files = Mapping[str, CopiedFile]
Pieces = Callable[[CopiedFile], Iterable[bytes]]


def adjacent(path: str) -> str:
    """Return the key that sorts a file next to its checksums."""
    checked = checked_name(path) or path
    return checked.removesuffix(".crc")


@dataclass
class ChecksumComparison:
    """Remembers which bytes were compared with which checksum, and which did not match."""

    _matches: dict[tuple[str, str], bool] = field(default_factory=dict)

    def compare(self, files: Files, pieces: Pieces) -> tuple[str, ...]:
        """Return the files that do not match a checksum among the files; no pair is read twice."""
        return tuple(
            file.path
            for file, sides in _checked(files)
            if not all(self._matched(file, side, pieces) for side in sides)
        )

    def _matched(self, file: CopiedFile, side: CopiedFile, pieces: Pieces) -> bool:
        pair = (file.sha256, side.sha256)
        if pair not in self._matches:
            own = b"".join(pieces(side))
            is_hadoop = side.path == checksum_name(file.path)
            matches = _matches_hadoop if is_hadoop else _matches_spark
            self._matches[pair] = matches(file, pieces(file), own)
        return self._matches[pair]


def mismatched_copies(store: BackupStore, files: Files, paths: Collection[str]) -> tuple[str, ...]:
    """Return which of these copies do not match the checksums in the same backup."""
    wanted = {
        name: files[name]
        for path in paths
        for name in (path, checksum_name(path), f"{path}.crc")
        if name in files
    }
    return tuple(
        path for path in ChecksumComparison().compare(wanted, store.chunks) if path in paths
    )


def mismatch_finding(snapshot: Snapshot, paths: tuple[str, ...]) -> Finding:
    """Report that copies of a backup do not match their checksums."""
    shown = ", ".join(paths[:_MOST_NAMES])
    more = f" and {len(paths) - _MOST_NAMES} more" if len(paths) > _MOST_NAMES else ""
    verb = "does not match its checksum" if len(paths) == 1 else "do not match their checksums"
    return Finding(
        code="HF4525",
        severity=Severity.WARNING,
        message=f"{counted(len(paths), 'file')} in backup {snapshot.id} {verb}: {shown}{more}",
        place=Place(paths[0]),
        evidence={"backup": snapshot.id, "files": list(paths[:100])},
    )


def _checked(files: Files) -> Iterator[tuple[CopiedFile, list[CopiedFile]]]:
    """Yield each file that has a checksum, with its checksums."""
    for path, file in files.items():
        if checked_name(path) or path.endswith(_UNFINISHED) or is_temporary(path):
            continue
        sides = [files[name] for name in (checksum_name(path), f"{path}.crc") if name in files]
        if sides:
            yield file, sides


def _matches_hadoop(file: CopiedFile, pieces: Iterable[bytes], side: bytes) -> bool:
    return all(damage.file != file.path for damage in checksum_damage(file.path, pieces, side))


def _matches_spark(file: CopiedFile, pieces: Iterable[bytes], side: bytes) -> bool:
    try:
        checksum = decode_spark_checksum(side)
    except DecodeError:
        return True
    if file.size != checksum.size:
        return False
    # Few checkpoints have such files; a backup of another does not wait for the library.
    import google_crc32c

    value = 0
    for piece in pieces:
        value = google_crc32c.extend(value, piece)
    return value == checksum.value % 2**32
