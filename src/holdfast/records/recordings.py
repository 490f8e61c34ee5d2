"""Keeps what a query was that another program runs: recorded by it, for it, or from its event log.

A recording takes no generation and touches no lease, so that it never fences a driver. Each has a
file of its own, which nobody replaces: two processes may write at once.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, cast

from holdfast.errors import CheckpointError, NotFoundError, StorageError
from holdfast.records.documents import (
    UnreadableError,
    decode_document,
    document_of,
    encode_document,
)
from holdfast.records.facts import fingerprint
from holdfast.records.folder import RecordsFolder, prune
from holdfast.records.run import LONGEST_PLAN, PlanFacts, SinkFacts
from holdfast.redaction import redact, redact_value

RECORDINGS_PART = "recordings"
KEPT_RECORDINGS = 20
_NAME = re.compile(r"\d{8}T\d{9}Z-[0-9a-f]{8}\.json")
_NOT_IN_NAMES = re.compile(r"[-:.]")


class Origin(str, Enum):
    """Who recorded a query, and from what."""

    PROGRAM = "program"
    """The program itself, before it started the query."""
    JOB = "job"
    """A person, who declared it in a project file and runs it elsewhere."""
    EVENT_LOG = "event-log"
    """A person, from Spark's event log of the program."""


class QueryPart(str, Enum):
    """A part of a query that a recording may not know."""

    SOURCE_OPTIONS = "source options"
    SOURCE_COLUMNS = "source columns"
    KEYS = "what state is keyed by"
    VALUES = "what state keeps"
    OPERATOR_SETTINGS = "settings of operators"
    STORES = "schemas of state stores"
    INPUT = "filters and joins below state"
    WATERMARK_COLUMNS = "columns of watermarks"
    WATERMARKS = "watermarks"
    FUNCTIONS = "Python functions"
    STATICS = "content of static tables"
    STEPS = "steps after the last state"
    OUTPUT_COLUMNS = "output columns"
    OUTPUT_MODE = "output mode"
    SETTINGS = "settings that are not set"
    SINK = "the sink"


def parts_named(names: Iterable[str]) -> frozenset[QueryPart]:
    """Return the parts with these names; one that a newer Holdfast wrote is left out."""
    known = {one.value: one for one in QueryPart}
    return frozenset(known[one] for one in names if one in known)


@dataclass(frozen=True)
class Recording:
    """A query of a program that Holdfast does not run, as it was at one moment."""

    at: str
    """When it was recorded, in UTC by the clock of that machine."""
    origin: Origin
    program: str
    """The file of the program, the name of the job, or the name of the application."""
    checkpoint: str
    """The canonical location."""
    holdfast: str
    spark: str
    """The Spark that planned or ran the query."""
    host: str
    process: int
    user: str
    query_id: str | None
    """What the checkpoint was; None where it did not exist yet."""
    passed: int | None
    """The newest batch that was done then, in the checkpoint or in the event log."""
    after: int
    """The generation of the newest run of Holdfast before it; 0 where there was none."""
    plan: PlanFacts
    output_mode: str
    ran: bool = False
    """The query is the one that made batch `passed`; else it was to be started next."""
    job: str | None = None
    project: str | None = None
    sink: SinkFacts | None = None
    """What is declared of the sink; None where no job is declared."""
    destination: str | None = None
    """Where the rows go, in the words of the program or of Spark."""
    missing: tuple[str, ...] = ()
    """Parts of the query that are not known; values of `QueryPart`."""
    notes: tuple[str, ...] = ()
    """What else is not known, in words."""

    @property
    def generation(self) -> None:
        """None: no run of Holdfast's."""

    @property
    def parts_missing(self) -> frozenset[QueryPart]:
        """The parts that are not known; a name of a newer Holdfast's is left out."""
        return parts_named(self.missing)

    def has_made(self, passed: int | None) -> bool:
        """Whether a batch up to `passed`, the newest that is done now, may be its own."""
        if passed is None:
            return False
        return self.ran or self.passed is None or passed > self.passed


@dataclass(frozen=True)
class KeptRecording:
    """A recording, and the file that it is in."""

    name: str
    recording: Recording
    written_ms: int | None = None
    """When its file was written, by the clock of the storage; None where it does not say."""
    is_new: bool = True
    """Whether it was written by this call, and not known before."""


class Recordings:
    """The recordings of one checkpoint."""

    def __init__(self, folder: RecordsFolder) -> None:
        self.damages: tuple[CheckpointError | StorageError, ...] = ()
        """Why recordings could not be read when they were asked for last."""
        self.failure: StorageError | None = None
        """Why old recordings could not be removed."""
        self._folder = folder
        self._reader = folder.reader(RECORDINGS_PART)

    @property
    def location(self) -> str:
        """Their folder, as shown to people."""
        return self._reader.location

    def write(self, recording: Recording) -> KeptRecording:
        """Keep a recording, and the newest 20 of all; raise StorageError.

        Nothing is written where the newest one says the same: a program that is started again every
        minute must not push the others out.
        """
        bounded = _bounded(recording)
        known = self.newest_first()
        if known and _says_the_same(known[0].recording, bounded):
            return replace(known[0], is_new=False)
        name = f"{_stamp(bounded.at)}-{uuid.uuid4().hex[:8]}.json"
        writer = self._folder.writer(RECORDINGS_PART)
        writer.create(name, _encoded(bounded))
        writer.settle()
        self.failure = prune(
            writer,
            self._reader.names(),
            _outlived(known, bounded),
            lambda: self._folder.place(RECORDINGS_PART),
        )
        return KeptRecording(name, bounded)

    def newest_first(self) -> tuple[KeptRecording, ...]:
        """Return all that can be read, newest first; `damages` has the others."""
        names = sorted(name for name in self._reader.names() if _NAME.fullmatch(name))
        content = self._reader.read_many(names) if names else {}
        found: list[KeptRecording] = []
        damages: list[CheckpointError | StorageError] = []
        for name in names:
            one = self._decoded(name, content[name])
            if isinstance(one, Recording):
                found.append(KeptRecording(name, one))
            elif not isinstance(one, NotFoundError):
                damages.append(one)
        self.damages = tuple(damages)
        timed = (
            self._timed(found) if any(one.recording.query_id is None for one in found) else found
        )
        return tuple(sorted(timed, key=_place_in_time, reverse=True))

    def _timed(self, found: Sequence[KeptRecording]) -> list[KeptRecording]:
        """Add when each file was written: what has no query id is known by that alone."""
        items = self._folder.place(RECORDINGS_PART).list().items
        written = {item.path: item.modified_ms for item in items}
        return [replace(one, written_ms=written.get(one.name)) for one in found]

    def _decoded(
        self, name: str, content: bytes | StorageError
    ) -> Recording | CheckpointError | StorageError:
        if isinstance(content, StorageError):
            return content
        at = f"{self._reader.location}/{name}"
        try:
            recording = decode_document(Recording, content)
        except UnreadableError as error:
            return CheckpointError("HF2603", f"the recording cannot be read: {error}", at=at)
        if not name.startswith(f"{_stamp(recording.at)}-"):
            message = f"the recording belongs to another moment: {recording.at}"
            return CheckpointError("HF2603", message, at=at)
        return recording


def _place_in_time(kept: KeptRecording) -> tuple[int, int, str]:
    """Order by generation, then by batch; clocks decide between equals alone."""
    one = kept.recording
    return one.after, -1 if one.passed is None else one.passed, one.at


def _outlived(known: Sequence[KeptRecording], newest: Recording) -> Iterable[str]:
    """Name what need not be kept besides the newest; the one that counts now is never among it."""
    counted = next((one.name for one in known if one.recording.has_made(newest.passed)), None)
    return [one.name for one in known[KEPT_RECORDINGS - 1 :] if one.name != counted]


def _says_the_same(before: Recording, now: Recording) -> bool:
    return _said(before) == _said(now)


def _said(recording: Recording) -> tuple[object, ...]:
    query = recording.plan.query
    known = None if query is None else (fingerprint(query), dict(query.code))
    return (
        *(recording.origin, recording.program, recording.query_id, recording.after, known),
        *(recording.sink, recording.destination, recording.missing, recording.notes),
        # What was to be started and has made nothing yet says no less when it is said again.
        recording.passed if recording.ran else None,
    )


def _bounded(recording: Recording) -> Recording:
    plan = replace(recording.plan, text=redact(recording.plan.text[:LONGEST_PLAN]))
    return replace(recording, plan=plan)


def _encoded(recording: Recording) -> bytes:
    """Return the bytes without secrets; facts of the query are made without them."""
    document = document_of(recording)
    plan = document["plan"]
    rest = cast("dict[str, Any]", redact_value({**document, "plan": None}))
    return encode_document({**rest, "plan": plan})


def _stamp(moment: str) -> str:
    return _NOT_IN_NAMES.sub("", moment)
