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
from holdfast.errors import CheckpointError, PlanError
from holdfast.jobs.registry import move_remembered
from holdfast.records.documents import document_of, encode_document
from holdfast.records.leases.state import look_at_lease
from holdfast.records.moments import moment_now
from holdfast.records.moves import MOVES_PART, Move, Moves
from holdfast.remedy.elsewhere import Elsewhere
from holdfast.remedy.plan import Step
from holdfast.remedy.steps.checkpoint import METADATA, refuse_late
from holdfast.remedy.steps.newplace import (
    AWAY,
    MOVES_HERE,
    claim,
    create_record,
    guarded,
    held,
    is_note_of,
    is_ours,
    listed,
    metadata_of,
    place_of,
    records_reader,
    records_writer,
    refuse_taken,
    remove_folders,
    words_of,
)
from holdfast.remedy.steps.work import Result, Work
from holdfast.storage.location import canonical
from holdfast.storage.machine import is_temporary
from holdfast.storage.reading import Reader
from holdfast.storage.writing import narrowed

LEFT_HERE = ("backups/", "lease/")
"""Records that stay at the old place: backups are of it, and a lease is held by processes."""
_METADATA_FILES = (METADATA, checksum_name(METADATA))


class CopyCheckpoint:
    """Copies every file to the new place, where no query can start yet."""

    name: ClassVar[str] = "copy-checkpoint"

    def apply(self, step: Step, work: Work) -> Result:
        """Copy from the backup, and read everything again."""
        refuse_late(work)
        with held(step, work) as there:
            return self._copy(step, work, there)

    def _copy(self, step: Step, work: Work, there: Elsewhere) -> Result:
        root, store = work.backup().checkpoint, work.records.store
        writer = guarded(there, work)
        writer.make_folder("")
        claim(there, {file.path: file.sha256 for file in copied_files(step, work)}, work)
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
        """Remove what was copied; a place that is somebody else's by now is left alone."""
        if not is_ours(place_of(step, work), work):
            return
        with held(step, work, gives_up=True) as there:
            writer = guarded(there, work)
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
        """Copy what is not there yet; every record of the old place is written once or whole.

        Raise PlanError (HF4619) where another record has its name.
        """
        with held(step, work) as there:
            refuse_taken(there, work)
            writer = records_writer(there, work)
            source = work.records.folder.open_reader(
                work.records.folder.location, work.records.folder.settings
            )
            paths = list(_record_paths(source, work))
            for path in paths:
                create_record(there, writer, path, source.read(path))
            writer.settle()
            reach("plan.records-copied")
            notes = Moves(there.records.folder)
            # A step that is repeated has another lease, and its note is there already.
            if not any(one.act == work.act_id for one in notes.all()):
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
        """Remove the copies; what anybody else wrote there stays."""
        if not is_ours(place_of(step, work), work):
            return
        with held(step, work, gives_up=True) as there:
            source = work.records.folder.open_reader(
                work.records.folder.location, work.records.folder.settings
            )
            copied, writer = set(_record_paths(source, work)), records_writer(there, work)
            for path in listed(records_reader(there)):
                if path in copied or is_note_of(path, there, work):
                    writer.remove(path)
            remove_folders(records_reader(there), writer)


class OpenNewPlace:
    """Lets queries start at the new place."""

    name: ClassVar[str] = "open-new-place"

    def apply(self, step: Step, work: Work) -> Result:
        """Write `metadata` there as it was here."""
        refuse_late(work)
        with held(step, work) as there:
            writer, files = guarded(there, work), work.backup().checkpoint.by_path
            if metadata_of(there) != _query_of(work):
                refuse_taken(there, work)
            for path in reversed(_METADATA_FILES):
                if path in files:
                    writer.replace(path, work.records.store.whole_chunks(files[path]))
            writer.settle()
            reach("plan.new-place-opened")
        return {}

    def undo(self, step: Step, result: Result | None, work: Work) -> None:
        """Keep queries from starting there again; refuse where one has."""
        there = place_of(step, work)
        if not is_ours(there, work):
            if result is None and metadata_of(there) != _query_of(work):
                return  # It was never opened, and is somebody else's by now.
            _refuse_gone_on(there, work)
        with held(step, work) as there:
            if not is_ours(there, work):
                _refuse_gone_on(there, work)
            writer = guarded(there, work)
            writer.replace(METADATA, (words_of(work, AWAY).encode("ascii"),))
            writer.remove(checksum_name(METADATA))
            writer.settle()


class CloseOldPlace:
    """Leaves a `metadata` that says where the checkpoint is now, and that no Spark starts on."""

    name: ClassVar[str] = "close-old-place"

    def apply(self, step: Step, work: Work) -> Result:
        """Write the words."""
        writer = work.records.writer()
        words = words_of(work, f"moved this checkpoint to {step.arguments['to']}")
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
        work.confirm()
        move_remembered(Path(given["folder"]), given["job"], given["after"], given.get("profile"))
        reach("plan.place-remembered")
        return {}

    def undo(self, step: Step, result: Result | None, work: Work) -> None:
        """Change it back."""
        given = step.arguments
        work.confirm()
        move_remembered(Path(given["folder"]), given["job"], given["before"], given.get("profile"))


def went_on_there(work: Work, there: Elsewhere) -> str | None:
    """Return what shows that a query ran at the new place; None where nothing does."""
    copy = next(one for one in work.plan.steps if one.act == CopyCheckpoint.name)
    expected = {file.path: file for file in copied_files(copy, work)}
    names = {path for path in listed(there.records.checkpoint) if not is_temporary(path)}
    new = sorted(names - expected.keys() - set(_METADATA_FILES))
    if new:
        return f"{new[0]} was written at the new place since"
    for path in sorted(names & expected.keys()):
        if path.startswith(("offsets/", "commits/")):
            content = there.records.checkpoint.read(path)
            if hashlib.sha256(content).hexdigest() != expected[path].sha256:
                return f"{path} was changed at the new place since"
    lease = look_at_lease(there.records.folder.reader("lease"))
    if lease is not None and lease.act != MOVES_HERE:
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


def _query_of(work: Work) -> bytes | None:
    """Return `metadata` as it was at the old place, None where there was none."""
    file = work.backup().checkpoint.by_path.get(METADATA)
    return None if file is None else b"".join(work.records.store.whole_chunks(file))


def _refuse_gone_on(there: Elsewhere, work: Work) -> None:
    went_on = went_on_there(work, there)
    if went_on is not None:
        raise PlanError("HF4609", went_on, at=there.location.shown)


def _rewrites(step: Step) -> dict[str, bytes]:
    texts: dict[str, str] = json.loads(step.arguments["rewrites"])
    return {path: base64.b64decode(text) for path, text in texts.items()}


def _verify(reader: Reader, file: CopiedFile) -> None:
    if hashlib.sha256(reader.read(file.path)).hexdigest() != file.sha256:
        message = f"{file.path} is not at the new place as it was written there"
        raise CheckpointError("HF4512", message, at=f"{reader.location}/{file.path}")


def _record_paths(source: Reader, work: Work) -> Iterator[str]:
    """Yield the records that move: all that are whole and are not about this very act."""
    for path in listed(source):
        is_own = path.startswith(f"journal/{work.act_id}/")
        if not is_own and not path.startswith(LEFT_HERE) and not is_temporary(path):
            yield path


def _block_again(work: Work) -> None:
    writer = work.records.writer()
    writer.replace(METADATA, (words_of(work, "is changing this checkpoint").encode("ascii"),))
    writer.remove(checksum_name(METADATA))
    writer.settle()


def canonical_of(work: Work) -> str:
    """Return the old place as records of runs name it."""
    identity = work.records.identity
    return f"file://{identity}" if identity.startswith("/") else identity
