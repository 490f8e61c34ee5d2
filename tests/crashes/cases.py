"""Lists what is audited: every sink and mode, at every moment that it can be killed, on occasions.

`make audit` runs all of it, `make test` a part, drawn by a seed: each family of sinks in each of
its modes, and every kind of moment on each occasion.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from holdfast.crashpoints import POINTS
from tests.spark.sinks.subjects import LASTING, SUBJECT_BY_NAME, Subject

TASKS = "tasks.one-of-two"
"""The one moment that is no point of our code: a task has handed on its rows, the next has not."""
OCCASIONS = ("second", "first", "twice")
"""In the second batch; in the first; in the second, and again at the same point in the next run."""

_COMMON = ("batch.", "sink.")
_EVERY_FILE = "files.published-one"
_NOT_PASSED = {"files.moved-away": ("append",)}
"""Points that a mode never comes to."""
ELSEWHERE = {
    "delta.conflict": "tests/spark/sinks/delta/test_conflicts.py::test_a_merge_is_tried_again",
    "delta.closed": "tests/spark/sinks/delta/test_rewind_rewinding.py",
    "delta.taken-back": "tests/spark/sinks/delta/test_rewind_rewinding.py",
    "files.fenced": "tests/ledgers/files/test_rewinding.py::test_killed_at_each_point",
    "files.staging-taken-back": "tests/ledgers/files/test_rewinding.py::test_killed_at_each_point",
    "files.files-taken-back": "tests/ledgers/files/test_rewinding.py::test_killed_at_each_point",
    "delta.fenced": "tests/spark/sinks/delta/test_rewind_rewinding.py",
}
"""Points that a run does not come to by itself, and the tests that pass them."""

OF_PLANS = frozenset(point for point in POINTS if point.startswith("plan."))
"""Points of applying and undoing a plan: tests/remedy kills at each of them."""


@dataclass(frozen=True)
class Case:
    """One sink, killed at one point on one occasion."""

    subject: Subject
    point: str
    occasion: str

    @property
    def name(self) -> str:
        """By which it can be run again."""
        return f"{self.subject.name}/{self.point}/{self.occasion}"

    @property
    def moment(self) -> str:
        """The kind of moment: what every family has."""
        return moment_of(self.point)

    def passes(self, seed: int) -> int:
        """Give how often the point is passed before the end, the last time included."""
        times = self.subject.files_a_batch if self.point == _EVERY_FILE else 1
        drawn = random.Random(f"{seed}/{self.name}").randint(1, times)
        return drawn if self.occasion == "first" else times + drawn


def moment_of(point: str) -> str:
    """Tell which kind of moment a point is, in the order in which a batch comes to them."""
    if point in ("batch.entered", "batch.offsets-kept"):
        return "planned"
    if point == "sink.before-commit":
        return "before commit"
    if point in ("sink.after-commit", "batch.left"):
        return "after commit"
    return "inside the sink"


def points_of(subject: Subject) -> list[str]:
    """Give every moment at which a sink is killed."""
    own = f"{subject.family}."
    return [TASKS] + [
        point
        for point in POINTS
        if point.startswith((*_COMMON, own))
        and point not in ELSEWHERE
        and subject.mode not in _NOT_PASSED.get(point, ())
    ]


def every_case(occasions: Sequence[str] = OCCASIONS) -> list[Case]:
    """Give all that there is."""
    return [
        Case(subject, point, occasion)
        for occasion in occasions
        for subject in LASTING
        for point in points_of(subject)
    ]


def case_named(name: str) -> Case:
    """Give a case by its name."""
    subject, point, occasion = name.split("/")
    case = Case(SUBJECT_BY_NAME[subject], point, occasion)
    if point not in points_of(case.subject) or occasion not in OCCASIONS:
        raise KeyError(name)
    return case


def drawn_cases(seed: int) -> list[Case]:
    """Draw few cases so that all wanted pairs that exist are met."""
    left = every_case()
    random.Random(seed).shuffle(left)
    wanted = {pair for case in left for pair in _pairs(case)}
    drawn = []
    while wanted:
        best = max(left, key=lambda case: len(wanted.intersection(_pairs(case))))
        wanted -= set(_pairs(best))
        drawn.append(best)
    return drawn


def _pairs(case: Case) -> Iterable[tuple[tuple[str, str], ...]]:
    subject = case.subject
    traits = (
        ("family", subject.family),
        ("moment", case.moment),
        ("mode", subject.mode),
        ("occasion", case.occasion),
    )
    return (
        pair for pair in itertools.combinations(traits, 2) if {name for name, _ in pair} in _PAIRED
    )


_PAIRED: tuple[set[str], ...] = (
    {"family", "mode"},
    {"moment", "occasion"},
)
