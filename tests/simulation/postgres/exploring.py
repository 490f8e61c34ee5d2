"""Finds schedules: every one with few deviations, or drawn from seeds; shrinks what fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tests.simulation.postgres.choices import Option, Schedule, drawing, spelled
from tests.simulation.postgres.running import Ran, Stage

_COMMITTING = ("commit", "lock table", "for update", '"holdfast_ledger" set', '"holdfast_ledger" (')


@dataclass
class Explored:
    """What an exploration saw so far; a schedule is counted when it was run and judged."""

    schedules: int = 0
    traces: set[str] = field(default_factory=set)
    failure: Ran | None = None

    def add(self, ran: Ran) -> None:
        """Count one schedule."""
        self.schedules += 1
        self.traces.add(ran.trace)
        if ran.faults and self.failure is None:
            self.failure = ran


def few_deviations(stage: Stage, most: int) -> Iterator[Ran]:
    """Run every schedule with at most so many deviations, those with the fewest first."""
    layer: list[Schedule] = [()]
    for deviations in range(most + 1):
        following_layer: list[Schedule] = []
        for schedule in layer:
            ran = stage.repeat(schedule)
            yield ran
            if deviations < most and not ran.faults:
                following_layer += children(schedule, ran)
        layer = following_layer


def children(schedule: Schedule, ran: Ran) -> list[Schedule]:
    """Return the schedules with one deviation more, after the last one of this."""
    begin = schedule[-1][0] + 1 if schedule else 0
    return [
        (*schedule, (step, number))
        for step in range(begin, len(ran.steps))
        for number in range(1, ran.steps[step].options)
    ]


def drawn(stage: Stage, seeds: Iterator[int]) -> Iterator[Ran]:
    """Run a schedule for each seed, with a bias for deviations at commit points."""
    for seed in seeds:
        yield stage.run(drawing(seed, commit_bias=lambda option: _is_near_commit(stage, option)))


def _is_near_commit(stage: Stage, option: Option) -> bool:
    point = stage.point_of(option.actor)
    return any(part in point for part in _COMMITTING)


def explore(runs: Iterator[Ran], *, enough: Callable[[Explored], bool]) -> Explored:
    """Run schedules until one fails or it is enough."""
    explored = Explored()
    for ran in runs:
        explored.add(ran)
        if explored.failure is not None or enough(explored):
            break
    return explored


def shrunk(stage: Stage, ran: Ran) -> Ran:
    """Return a failing run with the fewest deviations that leaving out some of them finds."""
    best = ran
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for left_out in range(len(best.schedule)):
            fewer = best.schedule[:left_out] + best.schedule[left_out + 1 :]
            again = stage.repeat(fewer)
            if again.faults and len(again.schedule) < len(best.schedule):
                best, is_smaller = again, True
                break
    return best


def told(ran: Ran, *options: str) -> str:
    """Return a failure with the command that repeats it."""
    command = f"python -m tests.simulation.postgres --scenario {ran.scenario}"
    command = " ".join([command, *options])
    lines = [f"{ran.scenario}: {fault}" for fault in ran.faults]
    return "\n".join([*lines, f"repeat: {command} --schedule '{spelled(ran.schedule)}'"])
