"""What is audited is complete: every point, every moment of the fault model, every pair."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from holdfast.crashpoints import POINTS
from tests.crashes.cases import (
    ELSEWHERE,
    OCCASIONS,
    OF_PLANS,
    TASKS,
    case_named,
    drawn_cases,
    every_case,
    points_of,
)
from tests.crashes.coverage import MOMENTS
from tests.spark.sinks.subjects import LASTING

HERE = Path(__file__).parents[2]


def test_every_point_is_killed_at() -> None:
    """In some sink; and every point that the code passes has a name."""
    killed = {point for subject in LASTING for point in points_of(subject)}
    assert killed == {TASKS, *POINTS} - set(ELSEWHERE) - OF_PLANS
    for test in ELSEWHERE.values():
        path, _, name = test.partition("::")
        assert f"def {name}" in (HERE / path).read_text(encoding="utf-8")
    passed = {
        "".join(name).replace("{kind}", kind)
        for path in (HERE / "src").rglob("*.py")
        if path.name != "crashpoints.py"
        for name in re.findall(
            r'reach\(f?"([^"]+)"\)|"(plan\.[a-z-]+)"', path.read_text(encoding="utf-8")
        )
        for kind in ("postgres", "jdbc")
    }
    assert passed == set(POINTS)


def test_every_moment_of_the_fault_model_is_hit() -> None:
    """By kills at points of its family, or by a test that is there."""
    assert len(MOMENTS) == 23
    reached = {
        family: {point for one in LASTING if one.family == family for point in points_of(one)}
        for family in ("files", "postgres", "delta")
    }
    for moment in MOMENTS:
        assert moment.points or moment.tests
        assert set(moment.points) <= reached[moment.family], moment
        for test in moment.tests:
            path, _, name = test.partition("::")
            assert f"def {name}(" in (HERE / path).read_text(encoding="utf-8"), test
    named = {point for moment in MOMENTS for point in moment.points}
    families = tuple(f"{family}." for family in reached)
    assert named | set(ELSEWHERE) >= {point for point in POINTS if point.startswith(families)}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_drawn_part_meets_every_pair(seed: int) -> None:
    """Every family in every mode that it has, every kind of moment on every occasion."""
    drawn, every = drawn_cases(seed), every_case()
    assert len(drawn) == len(set(drawn)) < len(every) / 5
    assert drawn == drawn_cases(seed) != drawn_cases(seed + 1)
    for first, second in (("family", "mode"), ("moment", "occasion")):

        def pairs(cases: object, first: str = first, second: str = second) -> set[object]:
            return {
                tuple(getattr(one, name, None) or getattr(one.subject, name)
                      for name in (first, second))
                for one in cases  # type: ignore[attr-defined]
            }  # fmt: skip

        assert pairs(drawn) == pairs(every)


def test_a_case_is_found_by_its_name() -> None:
    """The one that a failure prints."""
    for case in every_case():
        assert case_named(case.name) == case
        assert case.passes(1) >= (1 if case.occasion == OCCASIONS[1] else 2)
    with pytest.raises(KeyError):
        case_named("delta-append/files.staged/second")
