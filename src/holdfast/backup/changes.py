"""What a restore writes and removes: planned in a safe order, applied, and read again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from holdfast.backup.copying import digested, newest_id
from holdfast.backup.safety import Present, side_files
from holdfast.backup.snapshot import CopiedFile, Modes, Root
from holdfast.backup.store import BackupStore
from holdfast.checkpoint.verification import Progress
from holdfast.errors import CheckpointError, NotFoundError
from holdfast.storage.machine import is_abandoned, is_temporary
from holdfast.storage.reading import FileKind, Reader
from holdfast.storage.writing import Writer, narrowed


@dataclass(frozen=True)
class FileChanges:
    """Files to write and to remove, folders to make and to remove, each in its order."""

    writes: tuple[CopiedFile, ...]
    removes: tuple[str, ...]
    made_folders: tuple[str, ...]
    removed_folders: tuple[str, ...]

    @property
    def empty(self) -> bool:
        """Whether everything is as it should be already."""
        return not (self.writes or self.removes or self.made_folders or self.removed_folders)

    def without(self, paths: Collection[str]) -> FileChanges:
        """Return the same changes, but for these files and the folders around them."""
        around = {folder for path in paths for folder in ("", *parents_of(path))}
        return FileChanges(
            writes=tuple(file for file in self.writes if file.path not in paths),
            removes=tuple(path for path in self.removes if path not in paths),
            made_folders=self.made_folders,
            removed_folders=tuple(one for one in self.removed_folders if one not in around),
        )


def plan_whole(root: Root, present: Present) -> FileChanges:
    """Make the place byte-identical to the backup."""
    writes = [file for file in root.files if _differs(file, present)]
    return FileChanges(
        writes=in_safe_order(writes, root.by_path),
        removes=tuple(sorted(present.names - root.by_path.keys())),
        made_folders=outer_first((*_root_of(present), *(set(root.folders) - present.folders))),
        removed_folders=_inner_first(present.folders - set(root.folders)),
    )


def plan_files(root: Root, present: Present, chosen: Iterable[str]) -> FileChanges:
    """Put single files back, together with their checksums; a checksum left over is removed."""
    wanted: dict[str, CopiedFile] = {}
    stale: set[str] = set()
    for path in chosen:
        wanted[path] = root.by_path[path]
        for side in side_files(path):
            if side in root.by_path:
                wanted[side] = root.by_path[side]
            elif side in present.names:
                stale.add(side)
    writes = [file for file in wanted.values() if _differs(file, present)]
    changed = {file.path for file in writes}
    folders = {around for path in wanted for around in parents_of(path)} - present.folders
    return FileChanges(
        writes=in_safe_order(writes, root.by_path),
        removes=tuple(sorted(one for one in stale if any(one in side_files(p) for p in changed))),
        made_folders=outer_first((*_root_of(present), *folders)),
        removed_folders=(),
    )


def plan_undo(changes: FileChanges, before: Root | None, *, existed: bool) -> FileChanges:
    """Return the changes that bring back what was there before."""
    then: Mapping[str, CopiedFile] = before.by_path if before is not None else {}
    touched = [*(file.path for file in changes.writes), *changes.removes]
    new = [path for path in changes.made_folders if path or not existed]
    return FileChanges(
        writes=in_safe_order([then[path] for path in touched if path in then], then),
        removes=tuple(path for path in touched if path not in then),
        made_folders=outer_first(changes.removed_folders),
        removed_folders=_inner_first(new),
    )


def in_safe_order(files: Iterable[CopiedFile], final: Iterable[str]) -> tuple[CopiedFile, ...]:
    """Order writes: the newest offsets entry first, the one before it last.

    While the newest entry is there and the one before it is not, every Spark refuses to start
    ("batch N doesn't exist"): a half written checkpoint can't be taken for a young one.
    """
    newest = newest_id(final, "offsets")
    first = f"offsets/{newest}"
    last = f"offsets/{newest - 1}" if newest else ""

    def rank(file: CopiedFile) -> tuple[int, str]:
        if file.path == first:
            return 0, ""
        return (2 if file.path == last else 1), file.path

    return tuple(sorted(files, key=rank))


def encode_changes(changes: FileChanges) -> dict[str, Any]:
    """Return what the journal keeps."""
    return asdict(changes)


def decode_changes(document: Mapping[str, Any]) -> FileChanges:
    """Read what the journal kept."""
    return FileChanges(
        writes=tuple(
            CopiedFile(one["path"], one["size"], one["sha256"]) for one in document["writes"]
        ),
        removes=tuple(document["removes"]),
        made_folders=tuple(document["made_folders"]),
        removed_folders=tuple(document["removed_folders"]),
    )


def _differs(file: CopiedFile, present: Present) -> bool:
    now = present.files.get(file.path)
    return now is None or now.sha256 != file.sha256


def _root_of(present: Present) -> tuple[str, ...]:
    return () if present.exists else ("",)


def parents_of(path: str) -> list[str]:
    """Return the folders around a file, the outermost first."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]


def outer_first(folders: Iterable[str]) -> tuple[str, ...]:
    """Order folders so that each comes after the one around it."""
    return tuple(sorted(set(folders), key=lambda one: (one.count("/"), one)))


def _inner_first(folders: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(folders), key=lambda one: (-one.count("/"), one == "", one)))


_UNKNOWN = Modes(0o777, 0o777, {})
"""What a backup of an older release says of modes: nothing."""


def apply_changes(
    changes: FileChanges,
    source: BackupStore,
    writer: Writer,
    modes: Modes | None,
    progress: Progress | None = None,
) -> None:
    """Write and remove; may be called again after a kill, and then does the same once more.

    Nothing is more open than `modes` say, nor than the file that was there.
    """
    known = modes or _UNKNOWN
    total, done = sum(file.size for file in changes.writes), 0
    for folder in changes.made_folders:
        limit = known.of_folder(folder)
        narrowed(writer, limit, limit).make_folder(folder)
    for file in changes.writes:
        limited = narrowed(writer, known.of_file(file.path), known.folder)
        limited.replace(file.path, source.whole_chunks(file))
        done += file.size
        if progress is not None:
            progress(done, total)
    for path in changes.removes:
        writer.remove(path)
    for folder in changes.removed_folders:
        writer.remove_folder(folder)
    writer.settle()


def sweep_leftovers(reader: Reader, writer: Writer) -> None:
    """Remove the temporary files that a killed restore left in the checkpoint."""
    try:
        items = reader.list().whole()
    except NotFoundError:
        return
    for item in items:
        if is_abandoned(item.path, item.modified_ms):
            writer.remove(item.path)


def verify_applied(
    reader: Reader, changes: FileChanges, whole: Root | None, late: Collection[str] = ()
) -> int:
    """Read what was written again; with `whole`, every file of the place. Return how many.

    What a late Spark wrote may be there as well, or instead.
    """
    try:
        items = reader.list().whole()
    except NotFoundError:
        items = ()
    sizes = {item.path: item.size for item in items if item.kind is FileKind.FILE}
    files = whole.files if whole is not None else changes.writes
    wanted = [file for file in files if file.path not in late]
    for file in wanted:
        if file.path not in sizes or digested(reader, file.path, file.size).sha256 != file.sha256:
            raise _unlike(reader, file.path)
    gone = set(changes.removes)
    allowed = {*(file.path for file in whole.files), *late} if whole is not None else None
    for path in sizes:
        strange = allowed is not None and path not in allowed and not is_temporary(path)
        if path in gone or strange:
            raise _unlike(reader, path)
    return len(wanted)


def _unlike(reader: Reader, path: str) -> CheckpointError:
    message = f"{path} changed again just after it was written: another process is writing there"
    return CheckpointError("HF4512", message, at=f"{reader.location}/{path}")
