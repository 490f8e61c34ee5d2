"""Copies a folder into the workspace, with the digest of every file, and looks again afterwards."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from holdfast.backup.copying import WORKERS, digested
from holdfast.backup.snapshot import CopiedFile
from holdfast.backup.store import read_in_chunks
from holdfast.checkpoint.verification import Progress
from holdfast.errors import CheckpointError, NotFoundError
from holdfast.remedy.rehearsal.results import Original
from holdfast.storage.cloning import cloned
from holdfast.storage.local import is_inside
from holdfast.storage.parallel import side_by_side
from holdfast.storage.reading import FileKind, Listed, Reader
from holdfast.storage.writing import writing_border

LeftOut = Callable[[str], bool]


def nothing_left_out(_path: str) -> bool:
    """Copy everything."""
    return False


@dataclass(frozen=True)
class Digests:
    """The files of a folder, each with its size and the digest of its bytes."""

    files: Mapping[str, CopiedFile]

    @property
    def size_bytes(self) -> int:
        """The bytes of all files together."""
        return sum(file.size for file in self.files.values())

    @property
    def digest(self) -> str:
        """One digest of all names and bytes: equal where every file is byte-identical."""
        whole = hashlib.sha256()
        for path in sorted(self.files):
            whole.update(f"{path}\0{self.files[path].sha256}\n".encode("utf-8", "surrogateescape"))
        return whole.hexdigest()


@dataclass(frozen=True)
class Source:
    """A folder that is copied."""

    reader: Reader
    local: Path | None = None
    """Where it is on this machine, so that its files can be cloned."""
    left_out: LeftOut = nothing_left_out

    def digests(self, progress: Progress | None = None) -> Digests:
        """Read every file for its digest."""
        items = self._files()
        count = _Counted(items, progress)

        def look(item: Listed) -> CopiedFile:
            return count.done(digested(self.reader, item.path, item.size), item)

        return Digests({file.path: file for file in side_by_side(look, items, WORKERS).values()})

    def copy_to(self, target: Path, progress: Progress | None = None) -> Digests:
        """Copy every file to a new folder; raise HF4512 where the source changed meanwhile."""
        before = self._listed()
        items = [item for item in before if item.kind is FileKind.FILE]
        for item in before:
            if item.kind is FileKind.FOLDER:
                _make_folder(target / item.path)
        count = _Counted(items, progress)

        def copy(item: Listed) -> CopiedFile:
            return count.done(self._copy(item, target / item.path), item)

        try:
            files = {file.path: file for file in side_by_side(copy, items, WORKERS).values()}
        except NotFoundError as error:
            raise self._changed(error.at) from error
        if self._listed() != before:
            raise self._changed(None)
        return Digests(files)

    def _copy(self, item: Listed, target: Path) -> CopiedFile:
        with writing_border(str(target)):
            target.parent.mkdir(parents=True, exist_ok=True)
            local = self._local(item.path)
            if local is not None and cloned(local, target):
                copied = digested(self.reader, item.path, item.size)
            else:
                copied = self._written(item, target)
            if item.modified_ms is not None:
                # Leftovers of killed writers are told by their age.
                os.utime(target, ns=(item.modified_ms * 1_000_000,) * 2)
        return copied

    def _written(self, item: Listed, target: Path) -> CopiedFile:
        digest, length = hashlib.sha256(), 0
        with target.open("xb") as file:
            for chunk in read_in_chunks(self.reader, item.path, item.size):
                digest.update(chunk)
                length += file.write(chunk)
        return CopiedFile(item.path, length, digest.hexdigest())

    def _local(self, path: str) -> Path | None:
        """Return the file itself, where no link leads out of the folder."""
        if self.local is None:
            return None
        root, full = os.path.realpath(self.local), os.path.realpath(self.local / path)
        return Path(full) if is_inside(full, root) else None

    def _files(self) -> list[Listed]:
        return [item for item in self._listed() if item.kind is FileKind.FILE]

    def _listed(self) -> tuple[Listed, ...]:
        try:
            items = self.reader.list().whole()
        except NotFoundError:
            return ()
        return tuple(item for item in items if not self.left_out(item.path))

    def _changed(self, at: str | None) -> CheckpointError:
        message = "files changed while they were copied: another process is writing there"
        return CheckpointError("HF4512", message, at=at or self.reader.location)


@dataclass(frozen=True)
class Copied:
    """Something that was copied: what it was then, and how to look at it again."""

    what: str
    location: str
    files: int
    size_bytes: int | None
    digest: str
    digest_now: Callable[[], str]

    def compared(self) -> Original:
        """Look again, and say whether it is byte-identical."""
        return Original(
            what=self.what,
            location=self.location,
            files=self.files,
            size_bytes=self.size_bytes,
            digest=self.digest,
            unchanged=self.digest_now() == self.digest,
        )


def copied(what: str, source: Source, target: Path, progress: Progress | None = None) -> Copied:
    """Copy a folder, and keep what it was."""
    found = source.copy_to(target, progress)
    return Copied(
        what=what,
        location=source.reader.location,
        files=len(found.files),
        size_bytes=found.size_bytes,
        digest=found.digest,
        digest_now=lambda: source.digests().digest,
    )


class _Counted:
    """Tells how many bytes are done; files come side by side."""

    def __init__(self, items: list[Listed], progress: Progress | None) -> None:
        self._total, self._progress = sum(item.size for item in items), progress
        self._bytes = 0

    def done(self, file: CopiedFile, item: Listed) -> CopiedFile:
        self._bytes += item.size
        if self._progress is not None:
            self._progress(self._bytes, self._total)
        return file


def _make_folder(folder: Path) -> None:
    with writing_border(str(folder)):
        folder.mkdir(parents=True, exist_ok=True)
