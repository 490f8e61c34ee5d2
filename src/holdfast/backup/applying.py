"""Carries changes out on a checkpoint and reads every one of them again afterwards."""

from __future__ import annotations

from collections.abc import Collection

from holdfast.backup.changes import Changes
from holdfast.backup.copying import digested
from holdfast.backup.snapshot import Modes, Root
from holdfast.backup.store import Store
from holdfast.checkpoint.verification import Progress
from holdfast.errors import CheckpointError, NotFoundError
from holdfast.storage.modes import narrowed
from holdfast.storage.reading import Kind, Reader
from holdfast.storage.writing import Writer
from holdfast.storage.writingtemporary import is_abandoned, is_temporary

_UNKNOWN = Modes(0o777, 0o777, {})
"""What a backup of an older release says of modes: nothing."""


def apply_changes(
    changes: Changes,
    source: Store,
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
    reader: Reader, changes: Changes, whole: Root | None, late: Collection[str] = ()
) -> int:
    """Read what was written again; with `whole`, every file of the place. Return how many.

    What a late Spark wrote may be there as well, or instead.
    """
    try:
        items = reader.list().whole()
    except NotFoundError:
        items = ()
    sizes = {item.path: item.size for item in items if item.kind is Kind.FILE}
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
    message = f"{path} is not as it was left a moment ago: somebody else writes there"
    return CheckpointError("HF4512", message, at=f"{reader.location}/{path}")
