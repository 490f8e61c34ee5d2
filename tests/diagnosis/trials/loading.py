"""Gives tests what real Spark did, from the records of trials and of restarts alike."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.restarts.loading import HERE as RESTARTS

TRUTH = Path(__file__).resolve().parent / "truth"
WELL = "goes on"


@dataclass(frozen=True)
class Record:
    """What one real start did."""

    name: str
    outcome: str
    """`fails`, `goes on`, `loses rows`, `doubles rows`, or the last two together."""
    text: str
    """Everything that it said: error classes, messages, notes."""


@cache
def _records() -> dict[str, Record]:
    found: dict[str, Record] = {}
    for file in sorted(TRUTH.glob("*.json")):
        for one in json.loads(file.read_text(encoding="utf-8")):
            name = f"{file.stem}/{one['trial']}"
            words = (one.get("error_class"), one.get("error"), one["note"])
            found[name] = Record(name, one["outcome"], _joined(words))
    for file in sorted((RESTARTS / "truth").glob("*.json")):
        for one in json.loads(file.read_text(encoding="utf-8")):
            name = f"{file.stem}/{one['base']}/{one['damage']}"
            words = (one["error_class"], one["error"], *one["causes"], one["notes"])
            found[name] = Record(name, _outcome(one), _joined(words))
    return found


def record_named(name: str) -> Record:
    """Give a record; a name that none has raises KeyError."""
    return _records()[name]


def trial_records() -> dict[str, Record]:
    """Give the records of trials, those of restarts apart."""
    return {name: one for name, one in _records().items() if name.count("/") == 1}


def _outcome(restart: dict[str, Any]) -> str:
    if restart["action"] in ("fail", "hang"):
        return "fails"
    notes = restart["notes"]
    parts = ["loses rows"] * ("never" in notes) + ["doubles rows"] * ("again" in notes)
    return ", ".join(parts) or ("loses rows" if "wrong counts" in notes else WELL)


def _joined(words: tuple[str | None, ...]) -> str:
    return "\n".join(word for word in words if word)
