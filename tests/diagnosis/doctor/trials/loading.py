"""Gives tests what real Spark did, from the records of trials, field cases and restarts alike."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.restarts.loading import HERE as RESTARTS

TRUTH = Path(__file__).resolve().parent / "truth"
FIELD_CASES = Path(__file__).resolve().parents[3] / "fieldcases/truth"
WELL = "goes on"


@dataclass(frozen=True)
class Record:
    """What one real start did."""

    name: str
    outcome: str
    """`fails`, `goes on`, `loses rows`, `doubles rows`, or the last two together."""
    text: str
    """Everything that it said: error classes, messages, notes."""
    rows: int = 0
    missing: int = 0
    doubled: int = 0
    """Of the rows that should be in the sink once; restarts do not count them."""
    step: str = ""
    """What came of the start after the advised step was followed, where that was tried too."""


@cache
def _records() -> dict[str, Record]:
    found: dict[str, Record] = {}
    for file in sorted((*TRUTH.glob("*.json"), *FIELD_CASES.glob("*.json"))):
        for one in json.loads(file.read_text(encoding="utf-8")):
            name = f"{file.stem}/{one['trial']}"
            words = (one.get("error_class"), one.get("error"), one["note"])
            found[name] = Record(
                name,
                one["outcome"],
                _joined(words),
                rows=one.get("rows", 0),
                missing=one.get("missing", 0),
                doubled=one.get("doubled", 0),
                step=one.get("step", ""),
            )
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


def same_trial(name: str) -> list[Record]:
    """Give the records of one trial or restart on every release."""
    wanted = name.partition("/")[2]
    return [one for one in _records().values() if one.name.partition("/")[2] == wanted]


def _outcome(restart: dict[str, Any]) -> str:
    if restart["action"] in ("fail", "hang"):
        return "fails"
    notes = restart["notes"]
    parts = ["loses rows"] * ("never" in notes) + ["doubles rows"] * ("again" in notes)
    return ", ".join(parts) or ("loses rows" if "wrong counts" in notes else WELL)


def _joined(words: tuple[str | None, ...]) -> str:
    return "\n".join(word for word in words if word)
