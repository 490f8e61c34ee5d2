"""Kills real runs of `holdfast run` where a case says, and makes sure that they died there."""

from __future__ import annotations

import random
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.crashpoints import VARIABLE
from tests.crashes.cases import TASKS, Case
from tests.crashes.judging import judge_between
from tests.crashes.pipeline import DYING
from tests.crashes.projects import Audited
from tests.spark.running.processes import call
from tests.spark.sinks.plainreading import Place
from tests.spark.sinks.subjects import Subject

LEAST_ROWS, MOST_ROWS = 3, 9
ONE_CORE = "local[1]"

MakePlace = Callable[[Path, Subject], Place]


@dataclass
class Killed:
    """What kills left behind, and what was wrong with it."""

    case: Case
    seed: int
    project: Audited
    told: list[str] = field(default_factory=list)
    kills: int = 0


def kill(case: Case, seed: int, folder: Path, place: MakePlace, master: str) -> Killed:
    """Run the case's job until it dies, once or twice; look at the output after each time."""
    project = Audited(case.subject, place(folder, case.subject), master)
    killed = Killed(case, seed, project)
    drawing = random.Random(f"{seed}/{case.name}/rows")
    for _ in range(2):
        project.arrive(drawing.randint(LEAST_ROWS, MOST_ROWS))
    project.declare(ONE_CORE)
    _die(killed, case.passes(seed))
    project.arrive(drawing.randint(LEAST_ROWS, MOST_ROWS))
    if case.occasion == "twice" and not killed.told:
        _die(killed, 1)
    return killed


def _die(killed: Killed, passes: int) -> None:
    project, case = killed.project, killed.case
    variables = (
        {DYING: str(passes)} if case.point == TASKS else {VARIABLE: f"{case.point}:{passes}"}
    )
    (project.place.folder / "second-tasks").unlink(missing_ok=True)
    ended = call(project.place.folder, "run", "--json", **variables)
    killed.told += _not_killed(ended, case)
    if killed.told:
        return
    killed.kills += 1
    seen = project.seen()
    states = [project.state(count) for count in range(len(project.batches) + 1)]
    killed.told += judge_between(seen, states, whole_batches=case.subject.whole_batches)
    # A kill in the first batch leaves no commit, one in the second leaves the first.
    known = 0 if case.occasion == "first" else 1
    if killed.kills == 1 and seen.commits != list(range(known)):
        killed.told.append(f"killed in another batch: Spark committed {seen.commits}")


def _not_killed(ended: subprocess.CompletedProcess[str], case: Case) -> list[str]:
    last = ended.stderr.strip().rpartition("\n")[2]
    if ended.returncode != -signal.SIGKILL:
        return [f"not killed at {case.point}, but ended with {ended.returncode}: {last[-300:]}"]
    if case.point != TASKS and f"killed at {case.point}" not in ended.stderr:
        return [f"killed, and not at {case.point}: {last[-300:]}"]
    return []
