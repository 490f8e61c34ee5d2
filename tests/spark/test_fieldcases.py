"""Some field cases, live: `holdfast` reports them before the start, and Spark does what it says."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.diagnosis.doctor.fieldcases import FIELD_CASES
from tests.fieldcases.case import CASES
from tests.fieldcases.loading import field_case_named
from tests.fieldcases.play.playing import PLAYS, played
from tests.fieldcases.play.record import SUBJECTS
from tests.fieldcases.play.stage import Parts
from tests.fieldcases.record import made

pytestmark = pytest.mark.spark

LIVE = ("union-swapped", "sum-to-max", "operator-removed")
"""Short ones that need Spark alone; all are recorded again by `make restarts`."""

PLAYED = ("newest-commit-empty", "sum-to-max", "delta-rolled-back")
"""A repair, a reset and a replay; all plays are played by `make audit`."""


@pytest.mark.parametrize("name", LIVE)
def test_a_case_is_reported_and_comes_true(spark: Any, name: str) -> None:
    """The same codes and severities, the same outcome, and a step that goes on well."""
    (case,) = (one for one in CASES if one.name == name)
    seen, recorded = made(case, spark), field_case_named(f"4.2.0/{name}")
    assert recorded is not None
    (listed,) = (one for one in FIELD_CASES if one.number == case.number)
    assert {seen["told"][code] for code in listed.codes} == {"fatal"}
    assert (seen["outcome"], seen["step"]) == (recorded["outcome"], recorded["step"])


@pytest.mark.parametrize("name", PLAYED)
def test_a_remedy_that_is_named_brings_every_row(spark: Any, name: str) -> None:
    """The commands that `holdfast` names are typed, and the rows are compared one by one."""
    assert SUBJECTS
    (one,) = (one for one in PLAYS if one.name == name)
    seen = played(one, Parts(spark, str, str))
    assert (seen["outcome"], seen.get("missing"), seen.get("doubled")) == ("right", 0, 0)
