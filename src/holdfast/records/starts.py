"""Remembers starts that failed before a run began, and the restart that a driver waits for.

An attempt takes no generation and touches no lease, so that it never fences the driver that holds
one. What was attempted since a run is known by the generation in the names, not by clocks: two
machines need not agree on the time.

`restarts/next.json` is written when the wait begins. No lease is held meanwhile, so that another
driver may start the job; whatever was recorded later makes the note void.
"""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from holdfast.errors import CheckpointError, NotFoundError, StorageError
from holdfast.records.documents import (
    UnreadableError,
    decode_document,
    document_of,
    encode_document,
)
from holdfast.records.folder import RecordsFolder, prune
from holdfast.records.moments import seconds_since
from holdfast.records.processes import Holder, Presence, presence
from holdfast.records.run import LONGEST_MESSAGE, Ended, Run
from holdfast.redaction import redact, redact_value
from holdfast.storage.local import is_inside
from holdfast.storage.location import Location

KEPT_ATTEMPTS = 20
ATTEMPTS_PART = "attempts"
_NAME = re.compile(r"\d{8}T\d{9}Z-[0-9a-f]{8}(?:-after-(?P<after>\d+))?\.json")
_NOT_IN_NAMES = re.compile(r"[-:.]")


@dataclass(frozen=True)
class Attempt:
    """A start that an error ended before its run was recorded."""

    at: str
    """When it failed, in UTC by the clock of its machine."""
    job: str
    project: str | None
    ended: Ended
    """`refused` or `failed`."""
    code: str
    message: str
    exit_status: int
    page: str
    """What `holdfast explain` shows the page of: a page about an error of Spark, or the code."""
    why: str
    next: tuple[str, ...]
    """The next steps that were given with the error."""
    place: str | None
    """Where the error is, such as a line of the project file."""
    host: str
    process: int
    user: str
    holdfast: str
    spark: str | None = None
    """The Spark that was to run it; None where Spark was not started yet."""
    after: int | None = None
    """The generation of the newest run before it; None in records of older releases."""

    def is_of(self, job: str, project: str | None) -> bool:
        """Return whether this job attempted it; a program names no project."""
        two_projects = None not in (self.project, project) and self.project != project
        return self.job == job and not two_projects

    def is_before(self, run: Run) -> bool:
        """Return whether this run began after it, also where a clock was wrong."""
        if self.after is None:
            return self.at <= run.started_at
        return self.after < run.generation


class Attempts:
    """The attempts to start a job on one checkpoint."""

    def __init__(self, folder: RecordsFolder) -> None:
        self.damages: tuple[CheckpointError | StorageError, ...] = ()
        """Why records could not be read when the attempts were asked for last."""
        self.failure: StorageError | None = None
        """Why old records could not be removed."""
        self._folder = folder
        self._reader = folder.reader(ATTEMPTS_PART)

    def write(self, attempt: Attempt, *, project: Path | None = None) -> None:
        """Keep an attempt, and the newest 20 of all; raise StorageError.

        Nothing is written where the folder around the checkpoint does not exist: a mistyped path
        must not make folders at a foreign place. Inside the folder of the `project` it is made, as
        the first start that gets further makes it.
        """
        if not self._has_place() and not self._is_within(project):
            return
        bounded = replace(attempt, message=attempt.message[:LONGEST_MESSAGE])
        document = redact_value(document_of(bounded))
        assert isinstance(document, dict)
        writer = self._folder.writer(ATTEMPTS_PART)
        name = _name_of(attempt)
        writer.create(name, encode_document(document))
        writer.settle()
        names = self._reader.names()
        # What a clock that ran ahead has dated after now must not outlive what is known now.
        newest_first = sorted(_newest_first(names), key=lambda one: one > name)
        outlived = newest_first[KEPT_ATTEMPTS:]
        self.failure = prune(writer, names, outlived, lambda: self._folder.place(ATTEMPTS_PART))

    def since(self, run: Run | None = None) -> tuple[Attempt, ...]:
        """Return the attempts since a run began, or all, newest first; `damages` has the others.

        Documents whose names say that they came before it are not read.
        """
        names = [name for name in _newest_first(self._reader.names()) if _may_follow(name, run)]
        content = self._reader.read_many(names)
        decoded = [self._decoded(name, content[name]) for name in names]
        self.damages = tuple(
            one
            for one in decoded
            if not isinstance(one, Attempt) and not isinstance(one, NotFoundError)
        )
        read = (one for one in decoded if isinstance(one, Attempt))
        found = (one for one in read if run is None or not one.is_before(run))
        return tuple(sorted(found, key=_place_in_time, reverse=True))

    def _decoded(
        self, name: str, content: bytes | StorageError
    ) -> Attempt | CheckpointError | StorageError:
        if isinstance(content, StorageError):
            return content
        at = f"{self._reader.location}/{name}"
        try:
            attempt = decode_document(Attempt, content)
        except UnreadableError as error:
            message = f"the start record cannot be read: {error}"
            return CheckpointError("HF2603", message, at=at)
        if not name.startswith(f"{_stamp(attempt.at)}-"):
            message = f"the start record belongs to another start: {attempt.at}"
            return CheckpointError("HF2603", message, at=at)
        return attempt

    def _is_within(self, project: Path | None) -> bool:
        """Whether the checkpoint is, or would be, in this folder."""
        around = _two_up(self._folder.location)
        if project is None or not around.is_local:
            return False
        return is_inside(os.path.realpath(around.url), os.path.realpath(project))

    def _has_place(self) -> bool:
        """Whether the folder that the checkpoint is in, or would be in, exists."""
        around = _two_up(self._folder.location)
        if around.is_local:
            return os.path.isdir(around.url)  # noqa: PTH112 - a Path raises where access is denied
        # A bucket has no folders: what nothing is in does not exist, apart from the bucket itself.
        is_root = "/" not in around.url.partition("://")[2].rstrip("/")
        return is_root or bool(self._folder.open_reader(around, self._folder.settings).names(""))


def _two_up(records: Location) -> Location:
    """Return the folder around a checkpoint; its records are in `.holdfast` there."""
    url = records.url.rsplit("/", 2)[0] or "/"
    return Location(url, records.scheme, url, records.shown.rsplit("/", 2)[0] or "/")


def _name_of(attempt: Attempt) -> str:
    after = "" if attempt.after is None else f"-after-{attempt.after}"
    return f"{_stamp(attempt.at)}-{uuid.uuid4().hex[:8]}{after}.json"


def _may_follow(name: str, run: Run | None) -> bool:
    """Return False where the name alone says that an attempt came before a run."""
    found = _NAME.fullmatch(name)
    after = None if found is None else found["after"]
    return run is None or after is None or int(after) >= run.generation


def _place_in_time(attempt: Attempt) -> tuple[int, str]:
    """Order by generation and then by clock; a record of an older release comes before all."""
    return (-1 if attempt.after is None else attempt.after), attempt.at


def _stamp(moment: str) -> str:
    return _NOT_IN_NAMES.sub("", moment)


def _newest_first(names: Iterable[str]) -> list[str]:
    return sorted((name for name in names if _NAME.fullmatch(name)), reverse=True)


RESTARTS_PART = "restarts"
_FILE = "next.json"
_OVERDUE_SECONDS = 30.0
"""A driver elsewhere that did not start its job for this long after it was due may be gone."""


@dataclass(frozen=True)
class NextRestart:
    """A restart that a driver waits for."""

    job: str
    holder: Holder
    at: str
    """When the wait began."""
    due_at: str
    restart: int
    """How many restarts in a row this makes, without a committed batch in between."""
    limit: int
    code: str
    """Why the job is started again."""
    message: str

    @property
    def is_here(self) -> bool:
        """Whether the driver is known to live, on this machine."""
        return presence(self.holder) is Presence.HERE


class Restarts:
    """The note of one checkpoint."""

    def __init__(self, folder: RecordsFolder) -> None:
        self._folder = folder

    def write(self, note: NextRestart) -> None:
        """Say that a restart is due, in place of an earlier note."""
        self._folder.writer(RESTARTS_PART).replace(_FILE, _encoded(note))

    def clear(self) -> None:
        """Say that none is due; it is no error when none was."""
        self._folder.writer(RESTARTS_PART).remove(_FILE)

    def note(self) -> NextRestart | None:
        """Return what was written last; raise HF2603 where it cannot be read."""
        reader = self._folder.reader(RESTARTS_PART)
        try:
            return decode_document(NextRestart, reader.read(_FILE))
        except NotFoundError:
            return None
        except UnreadableError as error:
            message = f"the record of the next restart cannot be read: {error}"
            raise CheckpointError("HF2603", message, at=f"{reader.location}/{_FILE}") from error


def _encoded(note: NextRestart) -> bytes:
    return encode_document(document_of(replace(note, message=redact(note.message))))


def awaited_restart(note: NextRestart | None, newest: str) -> NextRestart | None:
    """Return the note where it still counts; `newest` is when the job was started last."""
    if note is None or newest > note.at:
        return None
    seen = presence(note.holder)
    if seen is Presence.UNCLEAR:
        overdue = seconds_since(note.due_at)
        return None if overdue is None or overdue > _OVERDUE_SECONDS else note
    return note if seen is Presence.HERE else None
