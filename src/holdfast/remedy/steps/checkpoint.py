"""Steps on the files of the checkpoint itself: back up, keep Spark out, change, let Spark in."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Mapping
from typing import Any, ClassVar

from holdfast.backup.changes import (
    FileChanges,
    apply_changes,
    outer_first,
    parents_of,
    plan_undo,
)
from holdfast.backup.making import make_backup
from holdfast.backup.snapshot import ARCHIVE, BEFORE_PLAN, CopiedFile, Root
from holdfast.checkpoint.layout import checksum_name
from holdfast.crashpoints import reach
from holdfast.errors import CheckpointError, NotFoundError
from holdfast.remedy.evidence import late_entries, written_by
from holdfast.remedy.plan import Plan, Step
from holdfast.remedy.steps.sink import CLEAR, REWIND
from holdfast.remedy.steps.work import Result, Work

METADATA = "metadata"
_SIDE = checksum_name(METADATA)


class BackupCheckpoint:
    """Makes a verified copy of the whole checkpoint."""

    name: ClassVar[str] = "backup-checkpoint"

    def apply(self, step: Step, work: Work) -> Result:
        """Make the backup, and return its id."""
        records = work.records
        made = make_backup(
            records.checkpoint,
            records.store,
            identity=records.identity,
            now_ms=int(time.time() * 1000),
            purpose=step.arguments.get("purpose", BEFORE_PLAN),
            progress=work.progress,
        )
        return {"backup": made.snapshot.id}

    def undo(self, step: Step, result: Result | None, work: Work) -> None:
        """Keep it: a copy does no harm, and may be needed."""


class BlockStart:
    """Keeps every Spark from starting on the checkpoint while it is changed.

    With a `metadata` that is no JSON, each release stops in `start()` before it reads a log.
    """

    name: ClassVar[str] = "block-start"

    def apply(self, step: Step, work: Work) -> Result:
        """Replace `metadata`; the checkpoint stays as it is otherwise.

        Raise HF4640 where a query went on after the backup was made.
        """
        work.backup()
        _block(work)
        refuse_late(work)
        return {}

    def undo(self, step: Step, result: Result | None, work: Work) -> None:
        """Put `metadata` back as it was."""
        put_back(work, (METADATA, _SIDE))


class AllowStart:
    """Gives the checkpoint its `metadata` back: the one of before, or the one of the plan."""

    name: ClassVar[str] = "allow-start"

    def apply(self, step: Step, work: Work) -> Result:
        """Write `metadata`; from here on a query can start. Raise HF4640 where one went on."""
        result = settle_late(work)
        given = step.arguments.get("metadata")
        if given is None:
            put_back(work, (METADATA, _SIDE))
        else:
            writer = work.records.writer()
            writer.remove(_SIDE)
            writer.replace(METADATA, (given.encode("utf-8"),))
            writer.settle()
        reach("plan.start-allowed")
        return result

    def undo(self, step: Step, result: Result | None, work: Work) -> None:
        """Keep Spark out again, until everything is as it was."""
        _block(work)


class ChangeFiles:
    """Writes and removes single files of the checkpoint, each with its checksum file."""

    name: ClassVar[str] = "change-files"

    def apply(self, step: Step, work: Work) -> Result:
        """Write, then remove; then read again what was written."""
        writes, removes = _changes_of(step)
        writer = work.records.writer()
        for path, content in writes.items():
            for side in (checksum_name(path), f"{path}.crc"):
                writer.remove(side)
            writer.replace(path, (content,))
        for path in removes:
            writer.remove(path)
            reach("plan.file-removed")
        writer.settle()
        for path, content in writes.items():
            if work.records.checkpoint.read(path) != content:
                raise _changed(work, path)
        for path in removes:
            if _is_there(work, path):
                raise _changed(work, path)
        for folder in _folders_of(step):
            writer.remove_folder(folder)
        writer.settle()
        return {"written": len(writes), "removed": len(removes)}

    def undo(self, step: Step, result: Result | None, work: Work) -> None:
        """Put every file back as it was in the backup; remove those that were not there."""
        writes, removes = _changes_of(step)
        sides = [side for path in writes for side in (checksum_name(path), f"{path}.crc")]
        put_back(work, (*writes, *removes, *sides), _folders_of(step))


def change_files_arguments(
    writes: Mapping[str, bytes], removes: tuple[str, ...] = (), folders: tuple[str, ...] = ()
) -> dict[str, str]:
    """Return the arguments of a `change-files` step; files are changed in the order given.

    `folders` are removed afterwards, the innermost first, where nothing is left in them.
    """
    encoded = {path: base64.b64encode(content).decode("ascii") for path, content in writes.items()}
    arguments = {"writes": json.dumps(encoded), "removes": json.dumps(list(removes))}
    return arguments | ({"folders": json.dumps(list(folders))} if folders else {})


def _block(work: Work) -> None:
    writer = work.records.writer()
    text = f"holdfast is changing this checkpoint ({work.act_id}); do not start a query on it\n"
    writer.replace(METADATA, (text.encode("ascii"),))
    writer.remove(_SIDE)
    writer.settle()
    reach("plan.start-blocked")


def refuse_late(work: Work) -> None:
    """Raise HF4640 where offsets or commits have an entry that neither backup nor plan knows."""
    before = ((one.path, one.sha256) for one in work.backup().checkpoint.files)
    for path in late_entries(work.records.checkpoint, before, written_by(work.plan)):
        raise _late(work, path)


def _late(work: Work, path: str) -> CheckpointError:
    message = f"{path} was written by a query after the plan began to be applied"
    return CheckpointError("HF4640", message, at=f"{work.records.location}/{path}")


def settle_late(work: Work, *, all_go: bool = False) -> Result:
    """Set entries that a late query wrote aside, or raise HF4640 where the plan can be undone.

    Once the sink was rewound or cleared, it refuses what that query delivers, and its rows may be
    gone: the plan can only go on, and entries of batches that the sink never gets would keep the
    next start from planning them. They are archived first. With `all_go` the plan keeps no file of
    the checkpoint.
    """
    if work.result_of(CLEAR) is None and work.result_of(REWIND) is None:
        refuse_late(work)
        return {}
    before, written = work.backup().checkpoint.by_path, written_by(work.plan)
    removed = frozenset() if all_go else _removed_by(work.plan)
    # What the plan removed and is there again was written again, be it with the same bytes.
    known = [(path, file.sha256) for path, file in before.items() if path not in removed]
    late = late_entries(work.records.checkpoint, known, written)
    if not late:
        return {}
    kept = frozenset(written) | (frozenset() if all_go else before.keys() - removed)
    for path in sorted(kept.intersection(late)):
        raise _late(work, path)
    made = make_backup(
        work.records.checkpoint,
        work.records.store,
        identity=work.records.identity,
        now_ms=int(time.time() * 1000),
        purpose=ARCHIVE,
    )
    writer = work.records.writer()
    for path in late:
        writer.remove(path)
        writer.remove(checksum_name(path))
        reach("plan.file-removed")
    writer.settle()
    return {"set_aside": list(late), "archive": made.snapshot.id}


def _removed_by(plan: Plan) -> frozenset[str]:
    """Return the files that the plan removes."""
    of_steps = (json.loads(step.arguments.get("removes", "[]")) for step in plan.steps)
    return frozenset(path for removes in of_steps for path in removes)


def put_back(work: Work, paths: tuple[str, ...], folders: tuple[str, ...] = ()) -> None:
    """Make files of the checkpoint what they are in the backup, byte for byte.

    Folders that were not there are removed once they are empty; `folders` were removed, and are
    made again first.
    """
    before = work.backup().checkpoint
    kept = tuple(before.by_path[path] for path in paths if path in before.by_path)
    new = {folder for path in paths for folder in parents_of(path)} - set(before.folders)
    touched = FileChanges(
        writes=kept,
        removes=tuple(path for path in paths if path not in before.by_path),
        made_folders=_folders_around(kept, folders, before),
        removed_folders=(),
    )
    back = plan_undo(touched, before, existed=True)
    changes = FileChanges(
        back.writes, back.removes, touched.made_folders, tuple(reversed(outer_first(new)))
    )
    apply_changes(changes, work.records.store, work.records.writer(), before.modes)
    for file in kept:
        content = work.records.checkpoint.read(file.path)
        if hashlib.sha256(content).hexdigest() != file.sha256:
            raise _changed(work, file.path)


def _folders_around(
    files: tuple[CopiedFile, ...], folders: tuple[str, ...], root: Root
) -> tuple[str, ...]:
    known = set(root.folders)
    around = {folder for file in files for folder in parents_of(file.path) if folder in known}
    around |= known & set(folders)
    return tuple(sorted(around, key=lambda one: (one.count("/"), one)))


def _changes_of(step: Step) -> tuple[dict[str, bytes], list[str]]:
    writes: dict[str, Any] = json.loads(step.arguments.get("writes", "{}"))
    removes: list[str] = json.loads(step.arguments.get("removes", "[]"))
    return {path: base64.b64decode(text) for path, text in writes.items()}, removes


def _folders_of(step: Step) -> tuple[str, ...]:
    return tuple(json.loads(step.arguments.get("folders", "[]")))


def _is_there(work: Work, path: str) -> bool:
    folder, _, name = path.rpartition("/")
    return name in work.records.checkpoint.names(folder)


def _changed(work: Work, path: str) -> CheckpointError:
    at = f"{work.records.location}/{path}"
    message = f"{path} changed again just after it was written: another process is writing there"
    return CheckpointError("HF4512", message, at=at)


def read_or_none(work: Work, path: str) -> bytes | None:
    """Return the bytes of a file of the checkpoint, None where it is not there."""
    try:
        return work.records.checkpoint.read(path)
    except NotFoundError:
        return None
