"""The new place of a move: held while the act writes there, and left alone where it is not its own.

A `metadata` that names the act is created there first, and never replaces another one: whoever
uses the place has one already, and no Spark starts on ours.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from holdfast.errors import NotFoundError, PlanError
from holdfast.records.leases.state import look_at_lease
from holdfast.records.moves import MOVES_PART
from holdfast.remedy.elsewhere import Elsewhere
from holdfast.remedy.plan import Step
from holdfast.remedy.steps.checkpoint import METADATA
from holdfast.remedy.steps.work import Work
from holdfast.storage.machine import is_temporary
from holdfast.storage.reading import FileKind, Reader
from holdfast.storage.writing import Writer

MOVES_HERE = "move to this place"
"""What the lease of the new place says while the act writes there."""
HERE, AWAY = "is moving a checkpoint here", "is moving a checkpoint away"


def place_of(step: Step, work: Work) -> Elsewhere:
    """Return the new place of a move."""
    return work.open_elsewhere(step.arguments["to"])


@contextmanager
def held(step: Step, work: Work, *, gives_up: bool = False) -> Iterator[Elsewhere]:
    """Hold the lease of the new place; raise HF2601 where somebody uses it.

    `gives_up` removes the lease's own files afterwards where nothing else is left of the records.
    """
    there = place_of(step, work)
    work.confirm()
    with there.records.acting(MOVES_HERE):
        yield there
    folder = there.records.folder
    if gives_up and folder.names() <= {"lease"}:
        state = look_at_lease(folder.reader("lease"))
        if state is not None and state.act == MOVES_HERE:
            writer = records_writer(there, work)
            for path in listed(records_reader(there)):
                writer.remove(path)
            remove_folders(records_reader(there), writer)


def claim(there: Elsewhere, expected: Mapping[str, str], work: Work) -> None:
    """Make the place this act's; raise PlanError (HF4619) where anything of others is there.

    `expected` are the digests of the files that this act may have written there before a kill.
    """
    words = words_of(work, HERE).encode("ascii")
    if not guarded(there, work).create(METADATA, (words,)) and metadata_of(there) != words:
        raise _taken(there, METADATA)
    for path in listed(there.records.checkpoint):
        if path == METADATA or is_temporary(path):
            continue
        content = there.records.checkpoint.read(path)
        if hashlib.sha256(content).hexdigest() != expected.get(path):
            raise _taken(there, path)


def refuse_taken(there: Elsewhere, work: Work) -> None:
    """Raise PlanError (HF4619) where the new place is not this act's any more."""
    if metadata_of(there) != words_of(work, HERE).encode("ascii"):
        raise _taken(there, METADATA)


def is_ours(there: Elsewhere, work: Work) -> bool:
    """Return whether nobody but this act has been at the new place, as far as `metadata` tells."""
    found = metadata_of(there)
    return found is None or found in {words_of(work, one).encode("ascii") for one in (HERE, AWAY)}


def metadata_of(there: Elsewhere) -> bytes | None:
    try:
        return there.records.checkpoint.read(METADATA)
    except NotFoundError:
        return None


def _taken(there: Elsewhere, path: str) -> PlanError:
    message = f"{path} at the new place is not this move's: somebody else uses it"
    steps = ("holdfast undo TARGET takes this move back, and leaves the new place alone",)
    return PlanError("HF4619", message, at=there.location.shown, next_steps=steps)


def create_record(there: Elsewhere, writer: Writer, path: str, content: bytes) -> None:
    if not writer.create(path, (content,)) and records_reader(there).read(path) != content:
        raise _taken(there, f"the record {path}")


def is_note_of(path: str, there: Elsewhere, work: Work) -> bool:
    if not path.startswith(f"{MOVES_PART}/"):
        return False
    return work.act_id.encode("ascii") in records_reader(there).read(path)


def records_reader(there: Elsewhere) -> Reader:
    return there.records.folder.open_reader(
        there.records.folder.location, there.records.folder.settings
    )


def records_writer(there: Elsewhere, work: Work) -> Writer:
    folder = there.records.folder
    return work.confirmed(folder.open_writer(folder.location, folder.settings))


def guarded(there: Elsewhere, work: Work) -> Writer:
    return work.confirmed(there.records.writer())


def words_of(work: Work, what: str) -> str:
    return f"holdfast {what} ({work.act_id}); do not start a query on it\n"


def listed(reader: Reader) -> list[str]:
    try:
        items = reader.list().whole()
    except NotFoundError:
        return []
    return [item.path for item in items if item.kind is FileKind.FILE]


def remove_folders(reader: Reader, writer: Writer) -> None:
    try:
        items = reader.list().whole()
    except NotFoundError:
        return
    folders = [item.path for item in items if item.kind is FileKind.FOLDER]
    for folder in (*sorted(folders, key=lambda one: one.count("/"), reverse=True), ""):
        writer.remove_folder(folder)
    writer.settle()
