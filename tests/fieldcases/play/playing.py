"""Says what a play is, and plays it: the rows at the end are compared one by one."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fieldcases.play.stage import Parts, Stage, UnplayableError
from tests.restarts.errors import stable

Act = Callable[[Stage], None]


@dataclass(frozen=True)
class Play:
    """One situation of one or more field cases, with its remedy.

    Its function lets a job run, does the damage, asks, and does what is named. More input arrives
    afterwards, the job runs, and its output is compared with the right rows.
    """

    cases: tuple[int, ...]
    how: str
    function: Act

    @property
    def name(self) -> str:
        """The function's name, with dashes."""
        return self.function.__name__.replace("_", "-")


PLAYS: list[Play] = []


def play(*cases: int, how: str) -> Callable[[Act], Act]:
    """Register a play under the numbers of its field cases."""

    def register(function: Act) -> Act:
        PLAYS.append(Play(cases, how, function))
        return function

    return register


def played(one: Play, parts: Parts) -> dict[str, Any]:
    """Play one case in a directory of its own, and return its record."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        stage = Stage(parts, Path(folder))
        record: dict[str, Any] = {"play": one.name, "cases": list(one.cases), "how": one.how}
        try:
            one.function(stage)
            stage.arrive()
            # Where the remedy was a run, this is the one after it, without any option.
            stage.run()
            record |= _compared(stage)
        except UnplayableError as error:
            record["outcome"] = stable(str(error).replace(folder, "<folder>"))[:600]
        return {**record, "reported": dict(sorted(stage.reported.items())), "steps": stage.steps}


def _compared(stage: Stage) -> dict[str, Any]:
    right, seen = stage.right(stage.numbers), stage.rows()
    missing, doubled = sum((right - seen).values()), sum((seen - right).values())
    outcome = "right" if not missing and not doubled else "wrong rows"
    return {"outcome": outcome, "rows": sum(right.values()), "missing": missing, "doubled": doubled}
