"""Keeps broken sinks on purpose: a judge that does not convict each of them is no judge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from holdfast.crashpoints import VARIABLE
from tests.crashes.judging import judge_between, judge_end
from tests.crashes.killing import ONE_CORE
from tests.crashes.projects import JOB, Audited
from tests.crashes.running import run_again
from tests.spark.running.processes import call
from tests.spark.sinks import plainreading as plain
from tests.spark.sinks.plainreading import Place
from tests.spark.sinks.subjects import Subject


@dataclass(frozen=True)
class Control:
    """A function that delivers wrongly, and what it has to be convicted of."""

    function: str
    point: str | None
    """Where it is killed; None: two queries write to one output, and nothing is killed."""
    crime: str


CONTROLS: tuple[Control, ...] = (
    Control("broken_without_ledger", "sink.after-commit:2", "doubled"),
    Control("broken_ledger_first", "control.between:2", "lost"),
    Control("broken_ledger_after", "control.between:2", "doubled"),
    Control("broken_keyed_without_query", None, "lost"),
    Control("broken_keyed_by_run", "sink.after-commit:2", "doubled"),
    Control("broken_row_by_row", "control.between:3", "torn"),
)


def convict(folder: Path, master: str, tell: Callable[[str], None]) -> list[str]:
    """Try every broken sink; name those that got away."""
    acquitted = []
    for control in CONTROLS:
        told = try_control(control, folder / control.function, master)
        convicted = any(words.startswith(control.crime) for words in told)
        tell(f"{'ok    ' if convicted else 'FAILED'} {control.function}: {'; '.join(told)}")
        if not convicted:
            acquitted.append(control.function)
    return acquitted


def try_control(control: Control, folder: Path, master: str) -> list[str]:
    """Give what the judge says of a broken sink."""
    function = {"function": f"pipeline:{control.function}"}
    subject = Subject("custom", "custom", "append", plain.sqlite_rows, plain.no_ledger, True,
                      more=function)  # fmt: skip
    project = Audited(subject, Place(folder), master)
    for _ in range(2):
        project.arrive(3)
    if control.point is None:
        return _second_query(project)
    project.declare(ONE_CORE)
    ended = call(folder, "run", "--json", **{VARIABLE: control.point})
    assert f"killed at {control.point.partition(':')[0]}" in ended.stderr, ended.stderr[-500:]
    states = [project.state(count) for count in range(3)]
    told = judge_between(project.seen(), states, whole_batches=True)
    ended_as, _ = run_again(project)
    assert ended_as == "finished", ended_as
    return told + judge_end(project.seen(), project.state(2), 2, has_ledger=False)


def _second_query(project: Audited) -> list[str]:
    """Let another query deliver its first batches to the same output."""
    run_again(project)
    project.arrive(3, "more")
    project.declare(project.master, job="another", source="more")
    ended, _ = run_again(project, declared=True)
    assert ended == "finished", ended
    return judge_end(project.seen(JOB), project.state(3), 2, has_ledger=False)
