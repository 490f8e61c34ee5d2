"""Gives tests what was recorded of the changes, without Spark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

TRUTH = Path(__file__).resolve().parent / "truth"
FACTS = TRUTH / "facts"
PENDING = TRUTH / "pending.txt"
GENERATED_GROUP = "generated"


def read_group(group: str) -> list[dict[str, Any]]:
    """Return the records of a group, in the order of their names; none where there are none."""
    file = TRUTH / f"{group}.json"
    read: list[dict[str, Any]] = json.loads(file.read_text("utf-8")) if file.exists() else []
    return read


def change_records(*, held_out: bool = False) -> list[dict[str, Any]]:
    """Return all records: those that rules are written with, or those that were held out."""
    groups = sorted(file.stem for file in TRUTH.glob("*.json"))
    wanted = [one for one in groups if (one == GENERATED_GROUP) == held_out]
    return [record for group in wanted for record in read_group(group)]


def pending_pairs() -> set[str]:
    """Return the names of pairs that were written and not run yet."""
    return set(PENDING.read_text("utf-8").split()) if PENDING.exists() else set()


def read_facts(group: str) -> dict[str, dict[str, Any]]:
    """Return the facts before and after each change of a group, by its name."""
    file = FACTS / f"{group}.json"
    read: dict[str, dict[str, Any]] = json.loads(file.read_text("utf-8")) if file.exists() else {}
    return read
