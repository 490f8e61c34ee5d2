"""The table of field cases: all 93, each told, to be brought, or not to be told with a reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdfast.codes import code_of
from holdfast.diagnosis.doctor.fieldcases import FIELD_CASES, FieldCase
from tests.cli.running import holdfast
from tests.diagnosis.doctor.examining import found
from tests.diagnosis.doctor.statescenarios import EVERY_SCENARIO as SCENARIOS
from tests.diagnosis.doctor.trials.loading import record_named
from tests.fieldcases.loading import FIELD_RECORDS, field_case_named

TOLD = [case for case in FIELD_CASES if case.command is not None]
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
    """Reported by a command, to be brought, or not to be reported; codes are registered."""
    answers = [one is not None for one in (case.command, case.brought_by, case.untold_because)]
    assert sum(answers) == 1
    assert case.symptom
    assert bool(case.executed or case.not_executed) == (case.command is not None)
    codes = [*case.codes, case.refused] if case.refused else list(case.codes)
    assert [code_of(code).number for code in codes] == codes


@pytest.mark.parametrize("case", TOLD, ids=lambda case: str(case.number))
def test_each_told_case_is_told_by_its_codes(case: FieldCase, tmp_path: Path) -> None:
    """A scenario for each code, and the code among the findings of that scenario.

    What needs a planned query is held against its recorded case alone.
    """
    for code in case.codes if case.command == "doctor" else ():
        if code == "HF1109":
            (tmp_path / "holdfast.yaml").write_text(SHARED)
            shown = holdfast("doctor", "--json", "--project", str(tmp_path / "holdfast.yaml"))
            assert (shown.status, shown.document["error"]["code"]) == (10, code)
            continue
        scenarios = [one for one in SCENARIOS if code == one.code and case.number in one.cases]
        assert scenarios, f"case {case.number} has no scenario for {code}"
        for scenario in scenarios:
            assert code in found(*scenario.build(), verified=scenario.verified)


@pytest.mark.parametrize("case", TOLD, ids=lambda case: str(case.number))
def test_what_was_executed_is_recorded(case: FieldCase) -> None:
    """The records of its scenarios, or a reason why there is none."""
    scenarios = [one for one in SCENARIOS if case.number in one.cases and one.code in case.codes]
    tried = {name for one in scenarios for name in one.tried}
    assert set(case.executed) == tried or not scenarios
    assert all(record_named(name) for name in case.executed)


@pytest.mark.parametrize("case", TOLD, ids=lambda case: str(case.number))
def test_cases_made_on_real_parts_were_reported_before_the_start(case: FieldCase) -> None:
    """By the command and with the codes that the table names; the advised step goes on well."""
    for name in case.executed:
        made = field_case_named(name)
        if made is not None:
            assert made["case"] == case.number
            assert made["asked"] == case.command
            assert set(case.codes) <= set(made["told"])
            assert made.get("refused", "") == case.refused
            assert made.get("step", "goes on") == "goes on"


@pytest.mark.parametrize("made", FIELD_RECORDS, ids=lambda made: made["trial"])
def test_severity_is_what_the_start_did(made: dict[str, Any]) -> None:
    """Fatal where it failed or spoiled rows, and never less than an error there.

    Unless `holdfast run` refuses that start: then it is one that Spark made alone.
    """
    (case,) = (one for one in FIELD_CASES if one.number == made["case"])
    severities = {made["told"][code] for code in case.codes}
    if made["outcome"] == "goes on":
        assert not severities & {"fatal", "error"}
    else:
        assert severities & {"fatal", "error"} or "refused" in made


def test_at_least_seventy_are_reported() -> None:
    """Before the start, and each of them was made on real parts."""
    assert sum(bool(case.executed) for case in TOLD) >= 70


def test_the_case_of_wrong_advice_is_told_with_the_wrong_advice() -> None:
    """Deleting the checkpoint is named as harm where a smaller repair exists."""
    for scenario in (one for one in SCENARIOS if 90 in one.cases):
        fixes = found(*scenario.build())[scenario.code].evidence["wrong_fixes"]
        assert "deleting the checkpoint" in " ".join(fixes)  # type: ignore[arg-type]
