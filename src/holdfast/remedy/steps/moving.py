"""Steps that bring a checkpoint with its records to another place, and close the old one."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from holdfast.backup.snapshot import CopiedFile
from holdfast.checkpoint.layout import checksum_name
from holdfast.crashpoints import reach
from holdfast.errors import CheckpointError, NotFoundError, PlanError
from holdfast.jobs.registry import move_remembered
from holdfast.records.documents import document_of, encode_document
from holdfast.records.moments import moment_now
from holdfast.records.moves import MOVES_PART, Move
from holdfast.remedy.elsewhere import Elsewhere
from holdfast.remedy.plan import Step
from holdfast.remedy.steps.checkpoint import METADATA, refuse_late
from holdfast.remedy.steps.work import Result, Work
from holdfast.storage.location import canonical
from holdfast.storage.machine import is_temporary
from holdfast.storage.reading import FileKind, Reader
from holdfast.storage.writing import Writer, narrowed

LEFT_HERE = ("backups/", "lease/")
"""Records that stay at the old place: backups are of it, and a lease is held by processes."""
_METADATA_FILES = (METADATA, checksum_name(METADATA))


class CopyCheckpoint:
    """Copies every file to the new place, where no query can start yet."""

    name: ClassVar[str] = "copy-checkpoint"

    def apply(self, step: Step, work: Work) -> Result:
        """Copy from the backup, and read everything again."""
        refuse_late(work)
        there = place_of(step, work)
        root, store = work.backup().checkpoint, work.records.store
        writer = _guarded(there, work)
        writer.make_folder("")
        writer.replace(METADATA, (_words(work, "is moving a checkpoint here").encode("ascii"),))
        reach("plan.copy-begun")
        rewrites = _rewrites(step)
        copied = 0
        for file in copied_files(step, work):
            mode = None if root.modes is None else root.modes.of_file(file.path)
            chunks = (rewrites[file.path],) if file.path in rewrites else store.whole_chunks(file)
            narrowed(writer, mode).replace(file.path, chunks)
            copied += 1
            if copied == 1:
                reach("plan.file-copied")
        for folder in root.folders:
            writer.make_folder(folder)
        writer.settle()
        for file in copied_files(step, work):
            _verify(there.records.checkpoint, file)
        return {"copied": copied}

    def undo(self, step: Step, result: Result | None, work: Work) -> None:
        """Remove what was copied."""
        there = place_of(step, work)
        writer = _guarded(there, work)
        for path in (*(file.path for file in copied_files(step, work)), *_METADATA_FILES):
            writer.remove(path)
        folders = work.backup().checkpoint.folders
        for folder in sorted(folders, key=lambda one: one.count("/"), reverse=True):
            writer.remove_folder(folder)
        writer.remove_folder("")
        writer.settle()


class CopyRecords:
    """Copies runs, kept offsets and what was journalled, and notes where they come from."""

    name: ClassVar[str] = "copy-records"

    def apply(self, step: Step, work: Work) -> Result:
        """Copy what is not there yet; every record of the old place is written once or whole."""
        there = place_of(step, work)
        writer = there.records.folder.open_writer(
            there.records.folder.location, there.records.folder.settings
        )
        source = work.records.folder.open_reader(
            work.records.folder.location, work.records.folder.settings
        )
        paths = list(_record_paths(source, work))
        for path in paths:
            writer.replace(path, (source.read(path),))
        writer.settle()
        reach("plan.records-copied")
        move = Move(
            generation=work.generation,
            act=work.act_id,
            moved_from=canonical_of(work),
            moved_to=canonical(there.location),
            at=moment_now(),
        )
        content = encode_document(document_of(move))
        writer.replace(f"{MOVES_PART}/{move.generation:010d}.json", (content,))
        writer.settle()
        return {"copied": len(paths)}

    def undo(self, step: Step, result: Result | None, work: Work) -> None:
        """Remove the copies; nothing else may be there by now."""
        there = place_of(step, work)
        folder = there.records.folder
        writer = folder.open_writer(folder.location, folder.settings)
        for path in _listed(folder.open_reader(folder.location, folder.settings)):
            writer.remove(path)
        _remove_folders(folder.open_reader(folder.location, folder.settings), writer)


class OpenNewPlace:
    """Lets queries start at the new place."""

    name: ClassVar[str] = "open-new-place"

    def apply(self, step: Step, work: Work) -> Result:
        """Write `metadata` there as it was here."""
        refuse_late(work)
        there = place_of(step, work)
        writer, files = _guarded(there, work), work.backup().checkpoint.by_path
        for path in reversed(_METADATA_FILES):
            if path in files:
                writer.replace(path, work.records.store.whole_chunks(files[path]))
        writer.settle()
        reach("plan.new-place-opened")
        return {}

    def undo(self, step: Step, result: Result | None, work: Work) -> None:
        """Keep queries from starting there again; refuse where one has."""
        there = place_of(step, work)
        went_on = went_on_there(work, there)
        if went_on is not None:
            raise PlanError("HF4609", went_on, at=there.location.shown)
        writer = _guarded(there, work)
        writer.replace(METADATA, (_words(work, "is moving a checkpoint away").encode("ascii"),))
        writer.remove(checksum_name(METADATA))
        writer.settle()


class CloseOldPlace:
    """Leaves a `metadata` that says where the checkpoint is now, and that no Spark starts on."""

    name: ClassVar[str] = "close-old-place"

    def apply(self, step: Step, work: Work) -> Result:
        """Write the words."""
        writer = work.records.writer()
        words = _words(work, f"moved this checkpoint to {step.arguments['to']}")
        writer.replace(METADATA, (words.encode("utf-8"),))
        writer.settle()
        reach("plan.old-place-closed")
        return {}

    def undo(self, step: Step, result: Result | None, work: Work) -> None:
        """Keep the place closed until everything is as it was."""
        _block_again(work)


class RememberPlace:
    """Lets the project know the new place, so that a start there is accepted."""

    name: ClassVar[str] = "remember-place"

    def apply(self, step: Step, work: Work) -> Result:
        """Change the entry of the job."""
        given = step.arguments
        move_remembered(Path(given["folder"]), given["job"], given["after"], given.get("profile"))
        reach("plan.place-remembered")
        return {}

    def undo(self, step: Step, result: Result | None, work: Work) -> None:
        """Change it back."""
        given = step.arguments
        move_remembered(Path(given["folder"]), given["job"], given["before"], given.get("profile"))


def place_of(step: Step, work: Work) -> Elsewhere:
    """Return the new place of a move."""
    return work.open_elsewhere(step.arguments["to"])


def went_on_there(work: Work, there: Elsewhere) -> str | None:
    """Return what shows that a query ran at the new place; None where nothing does."""
    copy = next(one for one in work.plan.steps if one.act == CopyCheckpoint.name)
    expected = {file.path: file for file in copied_files(copy, work)}
    names = {path for path in _listed(there.records.checkpoint) if not is_temporary(path)}
    new = sorted(names - expected.keys() - set(_METADATA_FILES))
    if new:
        return f"{new[0]} was written at the new place since"
    for path in sorted(names & expected.keys()):
        if path.startswith(("offsets/", "commits/")):
            content = there.records.checkpoint.read(path)
            if hashlib.sha256(content).hexdigest() != expected[path].sha256:
                return f"{path} was changed at the new place since"
    if there.records.folder.reader("lease").names():
        return "a job or an operation took the lease at the new place since"
    return None


def copied_files(step: Step, work: Work) -> Iterator[CopiedFile]:
    """Yield every file that the new place gets, with the digest that it has there."""
    rewrites = _rewrites(step)
    dropped = {*_METADATA_FILES, *json.loads(step.arguments["drops"])}
    for file in work.backup().checkpoint.files:
        if file.path in dropped or is_temporary(file.path):
            continue
        if file.path in rewrites:
            content = rewrites[file.path]
            digest = hashlib.sha256(content).hexdigest()
            file = replace(file, size=len(content), sha256=digest)  # noqa: PLW2901 - its new bytes
        yield file


def _rewrites(step: Step) -> dict[str, bytes]:
    texts: dict[str, str] = json.loads(step.arguments["rewrites"])
    return {path: base64.b64decode(text) for path, text in texts.items()}


def _verify(reader: Reader, file: CopiedFile) -> None:
    if hashlib.sha256(reader.read(file.path)).hexdigest() != file.sha256:
        message = f"{file.path} is not at the new place as it was written there"
        raise CheckpointError("HF4512", message, at=f"{reader.location}/{file.path}")


def _record_paths(source: Reader, work: Work) -> Iterator[str]:
    """Yield the records that move: all that are whole and are not about this very act."""
    for path in _listed(source):
        is_own = path.startswith(f"journal/{work.act_id}/")
        if not is_own and not path.startswith(LEFT_HERE) and not is_temporary(path):
            yield path


def _listed(reader: Reader) -> list[str]:
    try:
        items = reader.list().whole()
    except NotFoundError:
        return []
    return [item.path for item in items if item.kind is FileKind.FILE]


def _remove_folders(reader: Reader, writer: Writer) -> None:
    try:
        items = reader.list().whole()
    except NotFoundError:
        return
    folders = [item.path for item in items if item.kind is FileKind.FOLDER]
    for folder in (*sorted(folders, key=lambda one: one.count("/"), reverse=True), ""):
        writer.remove_folder(folder)
    writer.settle()


def _guarded(there: Elsewhere, work: Work) -> Writer:
    return work.confirmed(there.records.writer())


def _block_again(work: Work) -> None:
    writer = work.records.writer()
    writer.replace(METADATA, (_words(work, "is changing this checkpoint").encode("ascii"),))
    writer.remove(checksum_name(METADATA))
    writer.settle()


def _words(work: Work, what: str) -> str:
    return f"holdfast {what} ({work.act_id}); do not start a query on it\n"


def canonical_of(work: Work) -> str:
    """Return the old place as records of runs name it."""
    identity = work.records.identity
    return f"file://{identity}" if identity.startswith("/") else identity
