"""Gives what was recorded of the plays; needs neither Spark nor what plays them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RECORD = Path(__file__).resolve().parent / "played.json"


def records(file: Path = RECORD) -> list[dict[str, Any]]:
    """Return the record of every play, in their order."""
    if not file.exists():
        return []
    found: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
    return found


def remedies() -> dict[int, tuple[str, ...]]:
    """Return for each case that was played with the right rows what changed something."""
    found: dict[int, dict[str, None]] = {}
    for one in records():
        if one["outcome"] == "right":
            for case in one["cases"]:
                found.setdefault(case, {}).update(dict.fromkeys(_remedies(one["steps"])))
    return {case: tuple(names) for case, names in sorted(found.items())}


def _remedies(steps: list[str]) -> list[str]:
    """Return the commands that change something, as short as a table needs them."""
    changing = ("holdfast plan ", "holdfast restore ", "holdfast undo ")
    found = []
    for step in steps:
        if step.startswith(changing) or (step.startswith("holdfast run ") and "--" in step):
            words = step.removeprefix("holdfast ").replace(" orders", "").split()
            found.append(" ".join(words).replace(" -o plan.json", ""))
    return found
