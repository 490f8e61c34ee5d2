"""What was recorded of the plays: every row was there once, and every command exists."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from holdfast.codes import code_of
from holdfast.diagnosis.doctor.fieldcases import FIELD_CASES
from tests.cli.running import holdfast
from tests.fieldcases.play.loading import records, remedies
from tests.fieldcases.play.playing import PLAYS
from tests.fieldcases.play.record import SUBJECTS
from tests.fieldcases.play.unplayed import UNPLAYED

RECORDS = records()
LEAST = 40


@pytest.mark.parametrize("one", RECORDS, ids=lambda one: one["play"])
def test_every_row_was_there_once(one: dict[str, Any]) -> None:
    assert (one["outcome"], one["missing"], one["doubled"]) == ("right", 0, 0)
    assert one["rows"]
    assert all(code_of(code) for code in one["reported"])


def test_what_is_recorded_is_what_is_played() -> None:
    assert SUBJECTS
    known = [(one.name, list(one.cases), one.how) for one in PLAYS]
    assert [one for one in RECORDS if (one["play"], one["cases"], one["how"]) not in known] == []


def test_the_remedies_of_many_cases_were_played() -> None:
    assert len(remedies()) >= LEAST
    assert set(remedies()) <= {one.number for one in FIELD_CASES}


def test_every_case_was_played_or_has_a_reason() -> None:
    assert set(remedies()) | set(UNPLAYED) == {one.number for one in FIELD_CASES}
    assert set(remedies()) & set(UNPLAYED) == set()


@pytest.mark.parametrize("command", sorted({step for one in RECORDS for step in one["steps"]}))
def test_a_command_that_was_typed_still_exists(command: str) -> None:
    """Its options too: `--help` comes after them."""
    shown = holdfast(*shlex.split(command)[1:], "--help")
    assert shown.status == 0, shown.err
    assert "Usage" in shown.out
