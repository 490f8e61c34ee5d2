"""Carries changes out on a checkpoint and reads every one of them again afterwards."""

from __future__ import annotations

from holdfast.backup.changes import Changes
from holdfast.backup.copying import digested
from holdfast.backup.snapshot import Root
from holdfast.backup.store import Store
from holdfast.checkpoint.verification import Progress
from holdfast.errors import CheckpointError, NotFoundError
from holdfast.storage.reading import Kind, Reader
from holdfast.storage.writing import Writer
from holdfast.storage.writingtemporary import is_abandoned, is_temporary


def apply_changes(
    changes: Changes, source: Store, writer: Writer, progress: Progress | None = None
) -> None:
    """Write and remove; may be called again after a kill, and then does the same once more."""
    total, done = sum(file.size for file in changes.writes), 0
    for folder in changes.made_folders:
        writer.make_folder(folder)
    for file in changes.writes:
        writer.replace(file.path, source.whole_chunks(file))
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
        items = reader.list().items
    except NotFoundError:
        return
    for item in items:
        if is_abandoned(item.path):
            writer.remove(item.path)


def verify_applied(reader: Reader, changes: Changes, whole: Root | None) -> int:
    """Read what was written again; with `whole`, every file of the place. Give how many."""
    try:
        items = reader.list().items
    except NotFoundError:
        items = ()
    sizes = {item.path: item.size for item in items if item.kind is Kind.FILE}
    wanted = whole.files if whole is not None else changes.writes
    for file in wanted:
        if file.path not in sizes or digested(reader, file.path, file.size).sha256 != file.sha256:
            raise _unlike(reader, file.path)
    gone = set(changes.removes)
    allowed = {file.path for file in whole.files} if whole is not None else None
    for path in sizes:
        strange = allowed is not None and path not in allowed and not is_temporary(path)
        if path in gone or strange:
            raise _unlike(reader, path)
    return len(wanted)


def _unlike(reader: Reader, path: str) -> CheckpointError:
    message = f"{path} is not as it was left a moment ago: somebody else writes there"
    return CheckpointError("HF4512", message, at=f"{reader.location}/{path}")
