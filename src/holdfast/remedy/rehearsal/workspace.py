"""The folder that a rehearsal works in: made, named while it is used, and removed whatever happens.

A rehearsal that is killed cannot remove it. Its mark says which process made it and for which plan,
so that the next rehearsal finds and names it.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType

from holdfast.errors import PlanError
from holdfast.records.documents import (
    UnreadableError,
    decode_document,
    document_of,
    encode_document,
)
from holdfast.records.moments import moment_now
from holdfast.records.processes import Process, lives, process_here
from holdfast.storage.machine import this_machine
from holdfast.storage.writing import writing_border

PREFIX = "holdfast-rehearsal-"
MARK = "rehearsal.json"
_SIGNALLED = 128


@dataclass(frozen=True)
class WorkspaceMark:
    """What is kept in a workspace about the rehearsal that made it."""

    plan: str
    machine: str
    process: int
    started: str | None
    """When the process was started, as the system counts it."""
    at: str
    scratch: str | None = None
    """What was made outside of the workspace, such as a schema of a database."""


@dataclass(frozen=True)
class Workspace:
    """The folder of one rehearsal."""

    folder: Path
    mark: WorkspaceMark

    @property
    def checkpoints(self) -> Path:
        """Where copies of checkpoints are, with their records beside them."""
        return self.folder / "checkpoints"

    @property
    def outputs(self) -> Path:
        """Where copies of outputs are, with what is kept beside them."""
        return self.folder / "output"

    @property
    def elsewhere(self) -> Path:
        """Where a plan moves a checkpoint to, or writes a new output."""
        return self.folder / "elsewhere"

    def note_scratch(self, scratch: str) -> None:
        """Keep what is made outside, before it is made."""
        _write_mark(self.folder, replace(self.mark, scratch=scratch))


@contextmanager
def workspace(plan: str, into: Path | None, *, keep: bool) -> Iterator[Workspace]:
    """Make a workspace, and remove it at the end: also after an error, Ctrl-C or SIGTERM."""
    folder, existed = _made(into)
    try:
        here = process_here(os.getpid())
        mark = WorkspaceMark(plan, this_machine(), here.number, here.started, moment_now())
        _write_mark(folder, mark)
        with _signals_raised():
            yield Workspace(folder, mark)
    finally:
        if not keep:
            _remove(folder, existed)


@dataclass(frozen=True)
class Leftover:
    """The workspace of a rehearsal that was killed."""

    folder: Path
    mark: WorkspaceMark


def leftovers(parent: Path | None = None) -> tuple[Leftover, ...]:
    """Find the workspaces of killed rehearsals where workspaces are made; nothing is removed."""
    base = Path(tempfile.gettempdir()) if parent is None else parent
    found = []
    try:
        folders = sorted(base.glob(f"{PREFIX}*"))
    except OSError:
        return ()
    for folder in folders:
        mark = _read_mark(folder)
        if mark is not None and _is_over(mark):
            found.append(Leftover(folder, mark))
    return tuple(found)


def refuse_inside(into: Path, originals: Iterable[Path]) -> None:
    """Raise PlanError (HF4663) for a workspace inside of what is copied, or read by the job."""
    folder = into.absolute().resolve()
    for one in originals:
        if folder.is_relative_to(one.resolve()):
            message = f"it is inside of {one}, which a rehearsal only reads"
            raise PlanError("HF4663", message, at=str(into))


def _made(into: Path | None) -> tuple[Path, bool]:
    if into is None:
        with writing_border(tempfile.gettempdir()):
            return Path(tempfile.mkdtemp(prefix=PREFIX)).resolve(), False
    folder = into.absolute()
    with writing_border(str(folder)):
        existed = folder.exists()
        if existed and (not folder.is_dir() or any(folder.iterdir())):
            raise PlanError("HF4663", "it exists and is not an empty directory", at=str(folder))
        folder.mkdir(parents=True, exist_ok=True)
    return folder.resolve(), existed


def _remove(folder: Path, existed: bool) -> None:
    """Remove everything inside, and the folder itself unless it was there before."""
    if not existed:
        shutil.rmtree(folder, ignore_errors=True)
        return
    for one in folder.iterdir():
        if one.is_dir() and not one.is_symlink():
            shutil.rmtree(one, ignore_errors=True)
        else:
            one.unlink(missing_ok=True)


def _write_mark(folder: Path, mark: WorkspaceMark) -> None:
    with writing_border(str(folder)):
        (folder / MARK).write_bytes(encode_document(document_of(mark)))


def _read_mark(folder: Path) -> WorkspaceMark | None:
    try:
        return decode_document(WorkspaceMark, (folder / MARK).read_bytes())
    except (OSError, UnreadableError):
        return None


def _is_over(mark: WorkspaceMark) -> bool:
    return mark.machine == this_machine() and lives(Process(mark.process, mark.started)) is False


@contextmanager
def _signals_raised() -> Iterator[None]:
    """Let SIGTERM and SIGHUP unwind this process as Ctrl-C does, so that it tidies up."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
    before = {one: signal.getsignal(one) for one in numbers}
    for number in numbers:
        if before[number] is signal.SIG_DFL:
            signal.signal(number, _leave)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _leave(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(_SIGNALLED + number)
