"""Keeps an intent before each act and an outcome after it, so that a killed act is always found.

All are files that are created once: `<id>/intent.json`, one entry for each step that is begun, done
or undone (`<id>/entries/000001.json`), and `<id>/outcome.json`. Each names the digest of the one
before it, so that an edit is seen. An act whose outcome is missing was interrupted, or is void: its
intent came after another one had taken the lease and found no open act, and an act changes nothing
once it lost the lease.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import pairwise
from typing import Any

from holdfast.codes import code_of
from holdfast.errors import CheckpointError, NotFoundError
from holdfast.findings import Finding, Place, Severity
from holdfast.records.folder import PartReader
from holdfast.records.history import generations_of_runs
from holdfast.records.moments import moment_now
from holdfast.records.processes import user_here
from holdfast.steps import named_steps
from holdfast.storage.reading import Reader
from holdfast.storage.writing import Writer


@dataclass(frozen=True)
class Act:
    """One act in the journal: its id, what it is, and everything needed to finish or undo it."""

    id: str
    kind: str
    intent: Mapping[str, Any]
    generation: int | None = None
    """The lease that it was begun under; None in journals of older releases."""
    at: str | None = None
    """When it was begun; None in journals of older releases."""
    by: str | None = None
    """Who began it; None in journals of older releases."""


class Event(str, Enum):
    """What became of a step of an act."""

    BEGUN = "begun"
    DONE = "done"
    UNDOING = "undoing"
    UNDONE = "undone"
    GIVEN_UP = "given up"
    """It is left as far as it came, on request; nothing of it follows."""
    BEFORE = "before"
    """What was there before the first step; the number of the step is 0."""
    AFTER = "after"
    """What is there after the last step."""


@dataclass(frozen=True)
class StepEntry:
    """One event of an act, in the order in which they happened."""

    step: int
    """The number of the step, from 1."""
    event: Event
    at: str
    result: Mapping[str, Any] = field(default_factory=dict)
    """What the step left to be known by later steps, and by its undoing."""


@dataclass(frozen=True)
class JournalledAct:
    """An act with everything that the journal has of it."""

    act: Act
    entries: tuple[StepEntry, ...]
    outcome: str | None
    """How it ended; None where it was interrupted, or is under way."""
    ended_at: str | None
    is_intact: bool
    """Whether each of its files names the digest of the one before it; one of an older release has
    no digests."""
    previous: str | None
    """The digest of the newest file of the act before it; None in journals of older releases."""
    last_digest: str
    """The digest of its newest file: what the next act begins with."""

    def events(self) -> Mapping[int, StepEntry]:
        """Return the newest event of each step."""
        return {entry.step: entry for entry in self.entries if entry.step}

    def results(self) -> Mapping[int, Mapping[str, Any]]:
        """Return what each step left when it was done last."""
        return {one.step: one.result for one in self.entries if one.event is Event.DONE}


@dataclass(frozen=True)
class Journal:
    """The folder `journal` of one checkpoint's records."""

    reader: Reader
    writer: Writer
    runs: PartReader | None = None
    """The records of runs: a run is recorded only where no act was open under its lease."""
    generation: int | None = None
    """The lease that acts are begun under."""

    def begin(self, act: Act) -> None:
        """Write down what is going to be done, before anything is."""
        document = {
            "id": act.id,
            "kind": act.kind,
            "intent": act.intent,
            "generation": self.generation,
            "at": moment_now(),
            "by": user_here(),
            "previous": self._newest_digest(),
        }
        if not self._write(f"{act.id}/intent.json", document):
            message = f"another operation began with the id {act.id}"
            raise CheckpointError("HF4507", message, at=self.reader.location)

    def end(self, act: Act, outcome: str) -> None:
        """Write down how it ended; doing it twice is no error."""
        previous = self.read(act.id).last_digest
        document = {"id": act.id, "outcome": outcome, "at": moment_now(), "previous": previous}
        self._write(f"{act.id}/outcome.json", document)

    def append(self, act_id: str, entry: StepEntry) -> None:
        """Write down what became of a step; on return it survives a power cut."""
        known = self.read(act_id)
        document = {
            "step": entry.step,
            "event": entry.event.value,
            "at": entry.at,
            "result": entry.result,
            "previous": known.last_digest,
        }
        if not self._write(f"{act_id}/entries/{len(known.entries) + 1:06d}.json", document):
            message = f"another process works on {act_id}"
            raise CheckpointError("HF4507", message, at=self.reader.location)

    def read(self, act_id: str) -> JournalledAct:
        """Return an act with its entries and its outcome; raise where it is gone, or damaged."""
        return journalled_act(self.reader, act_id)

    def acts(self) -> tuple[JournalledAct, ...]:
        """Return every act, the newest first; raise CheckpointError for one that is damaged."""
        return chained([self.read(one) for one in reversed(act_ids(self.reader))])

    def unfinished(self) -> Act | None:
        """Return the newest act without an outcome that may have changed something."""
        return next((act for act, void in self._open() if not void), None)

    def void(self) -> tuple[Act, ...]:
        """Return the acts without an outcome that changed nothing."""
        return tuple(act for act, void in self._open() if void)

    def refuse_unfinished(self) -> None:
        """Raise HF4506 where an act was interrupted."""
        act = self.unfinished()
        if act is not None:
            found, at = interrupted(act), f"{self.reader.location}/{act.id}"
            raise CheckpointError(found.code, found.message, at=at, next_steps=found.next_steps)

    def _open(self) -> tuple[tuple[Act, bool], ...]:
        return _open_acts(self.reader, self.runs)

    def _newest_digest(self) -> str | None:
        known = act_ids(self.reader)
        return journalled_act(self.reader, known[-1]).last_digest if known else None

    def _write(self, path: str, document: Mapping[str, object]) -> bool:
        content = json.dumps(document, sort_keys=True).encode("ascii")
        created = self.writer.create(path, (content,))
        self.writer.settle()
        return created


def act_ids(journal: Reader) -> list[str]:
    """Name every act of a journal, the oldest first."""
    return sorted(one for one in journal.names("") if "intent.json" in journal.names(one))


def journalled_act(journal: Reader, act_id: str) -> JournalledAct:
    """Return an act with its entries and its outcome; raise where it is gone, or damaged."""
    act = _read(journal, act_id)
    if act is None:
        raise NotFoundError("HF7001", f"the journal has no act {act_id}", at=journal.location)
    names = sorted(journal.names(f"{act_id}/entries"))
    paths = [f"{act_id}/intent.json"]
    paths += [f"{act_id}/entries/{name}" for name in names if name.endswith(".json")]
    paths += [f"{act_id}/outcome.json"] * ("outcome.json" in journal.names(act_id))
    contents = [journal.read(path) for path in paths]
    try:
        documents = [json.loads(content) for content in contents]
        is_ended = paths[-1].endswith("/outcome.json")
        outcome = documents[-1] if is_ended else {"outcome": None}
        return JournalledAct(
            act=act,
            entries=tuple(map(_entry, documents[1 : -1 if is_ended else None])),
            outcome=outcome["outcome"],
            ended_at=outcome.get("at"),
            is_intact=_is_chained(contents, documents),
            previous=documents[0].get("previous"),
            last_digest=_digest(contents[-1]),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        at = f"{journal.location}/{act_id}"
        raise CheckpointError("HF4616", "its entries cannot be read", at=at) from error


def _entry(document: Mapping[str, Any]) -> StepEntry:
    event = Event(document["event"])
    return StepEntry(int(document["step"]), event, str(document["at"]), dict(document["result"]))


def _is_chained(contents: Sequence[bytes], documents: Sequence[Mapping[str, Any]]) -> bool:
    """Whether each document names the digest of the one before it, as far as any names one."""
    return all(
        document.get("previous") in (None, _digest(content))
        for content, document in zip(contents, documents[1:], strict=False)
    )


def chained(acts: Sequence[JournalledAct]) -> tuple[JournalledAct, ...]:
    """Return acts, the newest first; one whose end is not what the next began with is not intact.

    One that was void had no outcome yet when the next one began.
    """
    edited = {
        one.act.id
        for later, one in pairwise(acts)
        if later.previous not in (None, one.last_digest) and one.outcome != "void"
    }
    return tuple(replace(one, is_intact=False) if one.act.id in edited else one for one in acts)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def unfinished_act(journal: Reader, runs: PartReader | None = None) -> Act | None:
    """Return the newest act of a journal without an outcome that may have changed something.

    One listing where every act has ended; nothing is written. Without `runs`, no run says that an
    act is void.
    """
    return next((act for act, void in _open_acts(journal, runs) if not void), None)


def newest_generation(journal: Reader) -> int:
    """Return the greatest generation that an act was begun under, 0 where none says it.

    Who begins an act under a smaller one would have it taken for void.
    """
    return max(_generations_of_acts(journal, journal.names("")), default=0)


def _open_acts(journal: Reader, runs: PartReader | None) -> tuple[tuple[Act, bool], ...]:
    """Return every act without an outcome, the newest first, and whether it is void."""
    try:
        listing = journal.list()
    except NotFoundError:
        return ()
    for failure in listing.failures.values():
        raise failure
    paths = {item.path for item in listing.items}
    begun = {path.removesuffix("/intent.json") for path in paths if path.endswith("/intent.json")}
    open_ids = sorted((one for one in begun if f"{one}/outcome.json" not in paths), reverse=True)
    acts = [act for act in (_read(journal, one) for one in open_ids) if act is not None]
    if not acts:
        return ()
    later = max(_looked(journal, runs, begun), default=0)
    return tuple((act, act.generation is not None and act.generation < later) for act in acts)


def _looked(journal: Reader, runs: PartReader | None, begun: Iterable[str]) -> Iterator[int]:
    """Yield the generations under which the journal was looked at and had no open act.

    Runs and acts begin only then. An open act of an older generation was thus not there yet, and
    the act found, before its first change, that it had lost the lease.
    """
    yield from generations_of_runs(runs.names() if runs is not None else ())
    yield from _generations_of_acts(journal, begun)


def _generations_of_acts(journal: Reader, act_ids: Iterable[str]) -> Iterator[int]:
    for act_id in act_ids:
        try:
            act = _read(journal, act_id)
        except CheckpointError:
            continue  # it proves nothing
        if act is not None and act.generation is not None:
            yield act.generation


RESTORE = "restore"
"""The kind of an act that `holdfast restore` finishes or undoes; all others are of plans."""
BACKFILL = "backfill"
"""The kind of an act that keeps no job from running."""
_CODES = {RESTORE: "HF4506", BACKFILL: "HF4645"}


def interrupted(act: Act, target: str | None = None, root: str | None = None) -> Finding:
    """Report an operation that was killed and is neither finished nor undone.

    Its next steps name the target; without one, whoever answers fills it in. `root` is the
    checkpoint, where findings of several are reported.
    """
    code = _CODES.get(act.kind, "HF4606")
    severity = Severity.WARNING if act.kind == BACKFILL else Severity.FATAL
    message = f"the {act.kind} {act.id} was interrupted"
    steps = named_steps(code_of(code).next_steps, target)
    return Finding(code, severity, message, Place("", root=root), {"act": act.id}, "", steps)


def _read(journal: Reader, act_id: str) -> Act | None:
    path = f"{act_id}/intent.json"
    try:
        document = json.loads(journal.read(path))
        generation = document.get("generation")
        known = generation if isinstance(generation, int) else None
        at, by = document.get("at"), document.get("by")
        return Act(document["id"], document["kind"], document["intent"], known, at, by)
    except NotFoundError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        at = f"{journal.location}/{path}"
        raise CheckpointError("HF4506", "its intent cannot be read", at=at) from error
