"""Puts the files of every situation back and records where the bytes are those that Spark wrote.

`python -m tests.advice.filerecord`, without Spark; a few minutes.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from holdfast.errors import HoldfastError
from tests.advice.damages import MOVES, SPARK, Move, Situation, situations
from tests.advice.files import Damaged
from tests.advice.loading import TRUTH
from tests.restarts.loading import base_files

FILE = TRUTH / "files.json"


def main() -> None:
    """Follow the step in every situation."""
    kept: dict[str, list[str]] = {}
    for situation in situations():
        problem = put_back(situation)
        if problem:
            print(f"{situation.code} {situation.name}: {problem}", file=sys.stderr, flush=True)
        else:
            kept.setdefault(situation.code, []).append(situation.name)
    for move in MOVES:
        problem = moved_back(move)
        if problem:
            print(f"{move.code} {move.name}: {problem}", file=sys.stderr, flush=True)
        else:
            kept.setdefault(f"{move.code}: {move.step}", []).append(move.name)
    TRUTH.mkdir(exist_ok=True)
    FILE.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def put_back(situation: Situation) -> str:
    """Back up, damage, ask the doctor, restore; return what was not as it should be."""
    before = situation.before()
    with tempfile.TemporaryDirectory() as folder:
        damaged = Damaged.made(Path(folder), before, situation.after(dict(before)))
        if situation.asked and situation.code not in damaged.reported():
            return "not reported"
        try:
            damaged.restore()
        except HoldfastError as error:
            return f"{error.code.number}: {error.message}"
        return "" if damaged.is_as_before() else "not as it was"


def moved_back(move: Move) -> str:
    """Damage, ask the doctor, move; return what was not as it should be."""
    before = base_files(SPARK, "stateless")
    with tempfile.TemporaryDirectory() as folder:
        damaged = Damaged.made(Path(folder), before, move.damage(dict(before)))
        if move.code not in damaged.reported():
            return "not reported"
        target = Path(folder) / "moved" if move.to is None else damaged.checkpoint / move.to
        (damaged.checkpoint / move.moved).rename(target)
        return "" if damaged.is_as_before() else "not as it was"


if __name__ == "__main__":
    main()
