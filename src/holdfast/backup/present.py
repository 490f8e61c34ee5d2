"""Looks at what is where a restore would write: files, digests, batches, whether anybody writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from holdfast.backup.copying import digested
from holdfast.backup.freshness import Freshness, freshness_of
from holdfast.backup.snapshot import CopiedFile
from holdfast.checkpoint.decoding import decoder_of
from holdfast.checkpoint.filelook import look_at_files
from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.reading import ENTRY_LIMIT_BYTES, read_picture
from holdfast.errors import NotFoundError, StorageError
from holdfast.storage.reading import Kind, Reader


@dataclass(frozen=True)
class Present:
    """What is there now; `picture` is None where nothing is."""

    reader: Reader
    picture: Picture | None
    exists: bool
    """The folder itself is there, maybe empty."""
    files: Mapping[str, CopiedFile]
    """The files that were asked for, with their digests."""
    any_folder: bool = False
    """The place need not be a checkpoint, because single files are put there."""

    @property
    def is_plain_folder(self) -> bool:
        """Whether no query can run here: there is neither `metadata` nor a commit."""
        if self.picture is None or not self.any_folder:
            return False
        layout = self.picture.layout
        return not layout.has_file("metadata") and layout.commits.newest is None

    @property
    def empty(self) -> bool:
        """No file is there."""
        return self.picture is None or self.picture.layout.file_count == 0

    @property
    def names(self) -> frozenset[str]:
        """Every file."""
        items = self.picture.layout.items if self.picture is not None else {}
        return frozenset(path for path, item in items.items() if item.kind is Kind.FILE)

    @property
    def folders(self) -> frozenset[str]:
        """Every folder."""
        items = self.picture.layout.items if self.picture is not None else {}
        return frozenset(path for path, item in items.items() if item.kind is Kind.FOLDER)

    @property
    def moved(self) -> bool:
        """Whether something was written while the place was looked at."""
        return self.picture is not None and self.picture.moved

    def freshness(self, now_ms: int, *, by_trigger: bool) -> Freshness | None:
        """Look at the newest file, None where nothing is; see `freshness_of`."""
        items = self.picture.layout.items if self.picture is not None else {}
        return freshness_of(items.values(), now_ms, by_trigger=by_trigger)

    def is_damaged(self, path: str) -> bool | None:
        """Whether a file is not as Spark wrote it; None where nothing beside or in it tells."""
        assert self.picture is not None
        item = self.picture.layout.items[path]
        if item.size > ENTRY_LIMIT_BYTES:
            return None
        logs = self.picture.source_logs
        look = look_at_files(self.reader, self.picture.layout, [path], logs)[path]
        if isinstance(look, StorageError):
            raise look
        if look.damages:
            return True
        told = look.compared or decoder_of(path, logs) is not None
        return False if told else None


def look(reader: Reader, wanted: Callable[[str], bool], *, any_folder: bool = False) -> Present:
    """Look at a place; the files for which `wanted` holds are read for their digests."""
    try:
        picture = read_picture(reader, history=1, any_folder=any_folder)
    except NotFoundError:
        return Present(reader, None, exists=False, files={})
    if picture.unlisted:
        raise next(iter(picture.unlisted.values()))
    files: dict[str, CopiedFile] = {}
    for path, item in picture.layout.items.items():
        if item.kind is Kind.FILE and wanted(path):
            try:
                files[path] = digested(reader, path, item.size)
            except NotFoundError as error:
                message = "a file vanished while it was looked at: somebody writes there"
                raise StorageError("HF4505", message, at=reader.location) from error
    return Present(reader, picture, exists=True, files=files, any_folder=any_folder)
