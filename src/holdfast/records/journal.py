"""Keeps an intent before each act and an outcome after it, so that a killed act is always found.

Both are files that are created once: `<id>/intent.json` and `<id>/outcome.json`. An act whose
outcome is missing was interrupted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.errors import CheckpointError, NotFoundError
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
        for act_id in sorted(self.reader.names(""), reverse=True):
            names = self.reader.names(act_id)
            if "intent.json" in names and "outcome.json" not in names:
                return self._read(act_id)
        return None

    def refuse_unfinished(self) -> None:
        """Raise HF4506 where an act was interrupted."""
        act = self.unfinished()
        if act is not None:
            message = f"the {act.kind} {act.id} was interrupted"
            raise CheckpointError("HF4506", message, at=f"{self.reader.location}/{act.id}")

    def _read(self, act_id: str) -> Act | None:
        path = f"{act_id}/intent.json"
        try:
            document = json.loads(self.reader.read(path))
            return Act(document["id"], document["kind"], document["intent"])
        except NotFoundError:
            return None
        except (ValueError, KeyError, TypeError) as error:
            at = f"{self.reader.location}/{path}"
            raise CheckpointError("HF4506", "its intent can't be read", at=at) from error

    def _write(self, path: str, document: Mapping[str, object]) -> bool:
        content = json.dumps(document, sort_keys=True).encode("ascii")
        created = self.writer.create(path, (content,))
        self.writer.settle()
        return created
