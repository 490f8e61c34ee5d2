"""Step on single files of the checkpoint: put back from a backup, with their checksums."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import ClassVar

from holdfast.backup.changes import (
    FileChanges,
    apply_changes,
    in_safe_order,
    outer_first,
    parents_of,
    verify_applied,
)
from holdfast.remedy.plan import Step
from holdfast.remedy.steps.checkpoint import put_back
from holdfast.remedy.steps.work import Result, Work


class RestoreFiles:
    """Puts files back from an older backup; a checksum that does not belong to them is removed."""

    name: ClassVar[str] = "restore-files"

    def apply(self, step: Step, work: Work) -> Result:
        """Write, then remove; then read again what was written."""
        paths, removes = _files_of(step)
        snapshot = work.records.store.snapshot(step.arguments["backup"])
        root = snapshot.checkpoint
        changes = FileChanges(
            writes=in_safe_order([root.by_path[path] for path in paths], root.by_path),
            removes=tuple(removes),
            made_folders=outer_first(folder for path in paths for folder in parents_of(path)),
            removed_folders=(),
        )
        writer = work.records.writer()
        apply_changes(changes, work.records.store, writer, root.modes)
        verified = verify_applied(work.records.checkpoint, changes, None)
        return {"written": verified, "removed": len(removes)}

    def undo(self, step: Step, result: Result | None, work: Work) -> None:
        """Put every file back as it was in the backup that the plan made first."""
        paths, removes = _files_of(step)
        put_back(work, (*paths, *removes))
        before = set(work.backup().checkpoint.folders)
        made = {folder for path in paths for folder in parents_of(path)} - before
        writer = work.records.writer()
        for folder in reversed(outer_first(made)):
            writer.remove_folder(folder)
        writer.settle()


def restore_files_arguments(
    backup: str, writes: Mapping[str, bytes], removes: Iterable[str] = ()
) -> dict[str, str]:
    """Return the arguments of a `restore-files` step; of what is written only digests are kept."""
    digests = {path: hashlib.sha256(content).hexdigest() for path, content in writes.items()}
    return {
        "backup": backup,
        "restores": json.dumps(digests, sort_keys=True),
        "removes": json.dumps(sorted(removes)),
    }


def _files_of(step: Step) -> tuple[list[str], list[str]]:
    restores: dict[str, str] = json.loads(step.arguments["restores"])
    removes: list[str] = json.loads(step.arguments["removes"])
    return list(restores), removes
