"""Keeps an intent before each act and an outcome after it, so that a killed act is always found.

Both are files that are created once: `<id>/intent.json` and `<id>/outcome.json`. An act whose
outcome is missing was interrupted.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.codes import code_of
from holdfast.errors import CheckpointError, NotFoundError
from holdfast.findings import Finding, Place, Severity
from holdfast.storage.reading import Reader
from holdfast.storage.writing import Writer


@dataclass(frozen=True)
class Act:
    """One act in the journal: its id, what it is, and everything needed to finish or undo it."""

    id: str
    kind: str
    intent: Mapping[str, Any]


@dataclass(frozen=True)
class Journal:
    """The folder `journal` of one checkpoint's records."""

    reader: Reader
    writer: Writer

    def begin(self, act: Act) -> None:
        """Write down what is going to be done, before anything is."""
        document = {"id": act.id, "kind": act.kind, "intent": act.intent}
        if not self._write(f"{act.id}/intent.json", document):
            message = f"another act began under the id {act.id}"
            raise CheckpointError("HF4507", message, at=self.reader.location)

    def end(self, act: Act, outcome: str) -> None:
        """Write down how it ended; doing it twice is no error."""
        self._write(f"{act.id}/outcome.json", {"id": act.id, "outcome": outcome})

    def unfinished(self) -> Act | None:
        """Give the newest act without an outcome."""
        return unfinished_act(self.reader)

    def refuse_unfinished(self) -> None:
        """Raise HF4506 where an act was interrupted."""
        act = self.unfinished()
        if act is not None:
            message = f"the {act.kind} {act.id} was interrupted"
            raise CheckpointError("HF4506", message, at=f"{self.reader.location}/{act.id}")

    def _write(self, path: str, document: Mapping[str, object]) -> bool:
        content = json.dumps(document, sort_keys=True).encode("ascii")
        created = self.writer.create(path, (content,))
        self.writer.settle()
        return created


def unfinished_act(journal: Reader) -> Act | None:
    """Give the newest act of a journal without an outcome; one listing, and nothing is written."""
    try:
        listing = journal.list()
    except NotFoundError:
        return None
    for failure in listing.failures.values():
        raise failure
    paths = {item.path for item in listing.items}
    begun = (path.removesuffix("/intent.json") for path in paths if path.endswith("/intent.json"))
    open_ids = [act_id for act_id in begun if f"{act_id}/outcome.json" not in paths]
    return _read(journal, max(open_ids)) if open_ids else None


def interrupted(act: Act, location: str) -> Finding:
    """Tell an act that was killed, and is neither finished nor taken back."""
    message = f"the {act.kind} {act.id} to {location} was interrupted"
    named = shlex.quote(location)
    steps = tuple(step.replace("TARGET", named) for step in code_of("HF4506").next_steps)
    return Finding("HF4506", Severity.FATAL, message, Place(""), {"act": act.id}, "", steps)


def _read(journal: Reader, act_id: str) -> Act | None:
    path = f"{act_id}/intent.json"
    try:
        document = json.loads(journal.read(path))
        return Act(document["id"], document["kind"], document["intent"])
    except NotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        at = f"{journal.location}/{path}"
        raise CheckpointError("HF4506", "its intent can't be read", at=at) from error
