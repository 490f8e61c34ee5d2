"""The table of field cases: all 93, each told, to be brought, or not to be told with a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.codes import code_of
from holdfast.diagnosis.fieldcases import FIELD_CASES, FieldCase
from tests.cli.running import holdfast
from tests.diagnosis.examining import found
from tests.diagnosis.statescenarios import EVERY_SCENARIO as SCENARIOS

TOLD = [case for case in FIELD_CASES if case.codes]
SHARED = """
project: shop
jobs:
  a: {source: {format: rate}, sql: select 1, sink: {format: console}, checkpoint: ./same}
  b: {source: {format: rate}, sql: select 1, sink: {format: console}, checkpoint: ./x/../same}
"""


def test_all_cases_are_there_once() -> None:
    """In their order."""
    assert [case.number for case in FIELD_CASES] == list(range(1, 94))


@pytest.mark.parametrize("case", FIELD_CASES, ids=lambda case: str(case.number))
def test_each_case_has_exactly_one_answer(case: FieldCase) -> None:
    """Told, to be brought, or not to be told; codes are registered."""
    answers = [bool(case.codes), case.brought_by is not None, case.untold_because is not None]
    assert sum(answers) == 1
    assert case.symptom
    assert [code_of(code).number for code in case.codes] == list(case.codes)


@pytest.mark.parametrize("case", TOLD, ids=lambda case: str(case.number))
def test_each_told_case_is_told_by_its_codes(case: FieldCase, tmp_path: Path) -> None:
    """A scenario for each code, and the code among the findings of that scenario."""
    for code in case.codes:
        if code == "HF1109":
            (tmp_path / "holdfast.yaml").write_text(SHARED)
            shown = holdfast("doctor", "--json", "--project", str(tmp_path / "holdfast.yaml"))
            assert (shown.status, shown.document["error"]["code"]) == (10, code)
            continue
        scenarios = [one for one in SCENARIOS if code == one.code and case.number in one.cases]
        assert scenarios, f"case {case.number} has no scenario for {code}"
        for scenario in scenarios:
            assert code in found(*scenario.build(), verified=scenario.verified)


def test_the_case_of_wrong_advice_is_told_with_the_wrong_advice() -> None:
    """Deleting the checkpoint is named as harm where a smaller repair exists."""
    for scenario in (one for one in SCENARIOS if 90 in one.cases):
        fixes = found(*scenario.build())[scenario.code].evidence["wrong_fixes"]
        assert "deleting the checkpoint" in " ".join(fixes)  # type: ignore[arg-type]
