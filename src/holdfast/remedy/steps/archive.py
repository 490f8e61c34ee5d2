"""Steps that archive a checkpoint: empty it, say how the next query begins, or that none does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import ClassVar

from holdfast.backup.changes import apply_changes, plan_whole, verify_applied
from holdfast.backup.safety import look
from holdfast.backup.snapshot import Snapshot
from holdfast.checkpoint.layout import checksum_name
from holdfast.crashpoints import reach
from holdfast.errors import CheckpointError, NotFoundError
from holdfast.records.freshstarts import FreshStart, FreshStarts
from holdfast.records.moments import moment_now
from holdfast.records.processes import user_here
from holdfast.records.retirements import Retirement, Retirements
from holdfast.remedy.plan import Step
from holdfast.remedy.steps.checkpoint import METADATA, AllowStart, settle_late
from holdfast.remedy.steps.work import Result, Work
from holdfast.storage.machine import is_temporary
from holdfast.storage.reading import FileKind

_METADATA_FILES = (METADATA, checksum_name(METADATA))


class EmptyCheckpoint:
    """Removes every file of the checkpoint that the archive holds; `metadata` comes last."""

    name: ClassVar[str] = "empty-checkpoint"

    def apply(self, step: Step, work: Work) -> Result:
        """Verify the archive, then remove; with a `marker`, leave a `metadata` that no Spark reads.

        Raise CheckpointError (HF4512) where a file is there that the archive does not hold.
        """
        archive = work.backup()
        late = settle_late(work, all_go=True)
        _refuse_damaged(archive, work)
        writer = work.records.writer()
        files, folders = _present(work)
        _refuse_uncopied(files, archive, work)
        for path in sorted(files):
            if path not in _METADATA_FILES:
                writer.remove(path)
                reach("plan.file-removed")
        for folder in sorted(folders, key=lambda one: (-one.count("/"), one)):
            writer.remove_folder(folder)
        writer.settle()
        marker = step.arguments.get("marker")
        if marker is None:
            for path in reversed(_METADATA_FILES):
                writer.remove(path)
        else:
            text = marker.format(at=moment_now(), act=work.act_id, backup=archive.id)
            writer.replace(METADATA, (text.encode("utf-8"),))
            writer.remove(_METADATA_FILES[1])
        writer.settle()
        reach("plan.checkpoint-emptied")
        return {"removed": len(files), **late}

    def undo(self, step: Step, result: Result | None, work: Work) -> None:
        """Put every file back as it is in the archive, but for `metadata`: no Spark may start."""
        AllowStart().undo(step, None, work)
        root = work.backup().checkpoint
        present = look(work.records.checkpoint, lambda _: True, any_folder=True)
        changes = plan_whole(root, present).without(_METADATA_FILES)
        apply_changes(changes, work.records.store, work.records.writer(), root.modes, work.progress)
        verify_applied(work.records.checkpoint, changes, None)


class SetStart:
    """Notes which starting options and which output the first start of the new query has."""

    name: ClassVar[str] = "set-start"

    def apply(self, step: Step, work: Work) -> Result:
        """Write the record; `run` reads it."""
        start = FreshStart(
            generation=work.generation,
            act=work.act_id,
            at=moment_now(),
            output=step.arguments.get("output"),
            starting=json.loads(step.arguments.get("starting", "{}")),
        )
        starts = FreshStarts(work.records.folder)
        # A step that is repeated has another lease, and its record another name.
        starts.remove(work.act_id)
        starts.write(start)
        return {"generation": work.generation}

    def undo(self, step: Step, result: Result | None, work: Work) -> None:
        """Remove the record."""
        FreshStarts(work.records.folder).remove(work.act_id)


class NoteRetirement:
    """Notes that the job is over, so that no run starts it."""

    name: ClassVar[str] = "note-retirement"

    def apply(self, step: Step, work: Work) -> Result:
        """Write the record."""
        retirement = Retirement(
            act=work.act_id,
            at=moment_now(),
            by=user_here(),
            query_id=step.arguments.get("query_id"),
            backup=work.backup().id,
        )
        Retirements(work.records.folder).write(retirement)
        return {}

    def undo(self, step: Step, result: Result | None, work: Work) -> None:
        """Remove the record."""
        Retirements(work.records.folder).remove()


def _refuse_damaged(archive: Snapshot, work: Work) -> None:
    """Read every copy; raise HF4510 where one is not whole, before anything is removed."""
    seen: set[str] = set()
    for file in archive.checkpoint.files:
        if file.sha256 not in seen:
            seen.add(file.sha256)
            for _ in work.records.store.whole_chunks(file):
                pass


def _refuse_uncopied(files: dict[str, int], archive: Snapshot, work: Work) -> None:
    for path in _uncopied(files, archive):
        message = f"{path} is not in the archive as it is here: another process is writing there"
        raise CheckpointError("HF4512", message, at=f"{work.records.location}/{path}")


def _uncopied(files: dict[str, int], archive: Snapshot) -> Iterator[str]:
    copies = archive.checkpoint.by_path
    for path, size in files.items():
        if path in _METADATA_FILES or is_temporary(path):
            continue
        if path not in copies or copies[path].size != size:
            yield path


def _present(work: Work) -> tuple[dict[str, int], list[str]]:
    """Return the files with their sizes, and the folders but for the checkpoint's own."""
    try:
        items = work.records.checkpoint.list().whole()
    except NotFoundError:
        return {}, []
    files = {one.path: one.size for one in items if one.kind is FileKind.FILE}
    return files, [one.path for one in items if one.kind is FileKind.FOLDER and one.path]
