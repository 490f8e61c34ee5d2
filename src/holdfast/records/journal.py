"""Keeps an intent before each act and an outcome after it, so that a killed act is always found.

Both are files that are created once: `<id>/intent.json` and `<id>/outcome.json`. An act whose
outcome is missing was interrupted, or is void: its intent came after another one had taken the
lease and found no open act, and an act changes nothing once it lost the lease.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.codes import code_of
from holdfast.errors import CheckpointError, NotFoundError
from holdfast.findings import Finding, Place, Severity
from holdfast.records.folder import PartReader
from holdfast.records.history import generations_of_runs
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
        }
        if not self._write(f"{act.id}/intent.json", document):
            message = f"another operation began with the id {act.id}"
            raise CheckpointError("HF4507", message, at=self.reader.location)

    def end(self, act: Act, outcome: str) -> None:
        """Write down how it ended; doing it twice is no error."""
        self._write(f"{act.id}/outcome.json", {"id": act.id, "outcome": outcome})

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
            message = f"the {act.kind} {act.id} was interrupted"
            raise CheckpointError("HF4506", message, at=f"{self.reader.location}/{act.id}")

    def _open(self) -> tuple[tuple[Act, bool], ...]:
        return _open_acts(self.reader, self.runs)

    def _write(self, path: str, document: Mapping[str, object]) -> bool:
        content = json.dumps(document, sort_keys=True).encode("ascii")
        created = self.writer.create(path, (content,))
        self.writer.settle()
        return created


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


def interrupted(act: Act, location: str) -> Finding:
    """Report an operation that was killed and is neither finished nor undone."""
    message = f"the {act.kind} {act.id} to {location} was interrupted"
    named = shlex.quote(location)
    steps = tuple(step.replace("TARGET", named) for step in code_of("HF4506").next_steps)
    return Finding("HF4506", Severity.FATAL, message, Place(""), {"act": act.id}, "", steps)


def _read(journal: Reader, act_id: str) -> Act | None:
    path = f"{act_id}/intent.json"
    try:
        document = json.loads(journal.read(path))
        generation = document.get("generation")
        known = generation if isinstance(generation, int) else None
        return Act(document["id"], document["kind"], document["intent"], known)
    except NotFoundError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        at = f"{journal.location}/{path}"
        raise CheckpointError("HF4506", "its intent cannot be read", at=at) from error
