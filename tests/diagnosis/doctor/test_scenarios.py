"""Scenarios against what real Spark was seen to do: sentence and severity, each with its record."""

from __future__ import annotations

import re

import pytest

from holdfast.diagnosis.doctor.doctor import examine
from holdfast.findings import Severity
from tests.diagnosis.doctor.scenarios import Scenario
from tests.diagnosis.doctor.statescenarios import EVERY_SCENARIO as SCENARIOS
from tests.diagnosis.doctor.trials.loading import WELL, record_named, same_trial, trial_records

TRIED = [one for one in SCENARIOS if one.tried]
SAID = {
    "fails": r"\bstops?\b|\bfails\b",
    "loses rows": r"\blost\b|\blosing\b",
    "doubles rows": r"\btwice\b|\bagain\b|\bdoubled\b",
    WELL: r"\bgo(?:es)? on\b",
}
"""With which words a sentence tells an outcome."""


@pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
def test_each_was_tried_or_says_why_not(scenario: Scenario) -> None:
    """On real Spark, with a record that is there."""
    assert bool(scenario.tried) != bool(scenario.not_tried)
    for name in scenario.tried:
        assert record_named(name)


@pytest.mark.parametrize("scenario", TRIED, ids=str)
def test_severity_is_what_the_start_deserves(scenario: Scenario) -> None:
    """Fatal where it fails or spoils rows and only there, unless a reason is written."""
    well = record_named(scenario.tried[0]).outcome == WELL
    if scenario.severity is Severity.FATAL or scenario.not_fatal:
        assert not well
    else:
        assert well
    assert not (scenario.severity is Severity.FATAL and scenario.not_fatal)


@pytest.mark.parametrize("scenario", TRIED, ids=str)
def test_severity_follows_the_release_that_is_asked(scenario: Scenario) -> None:
    """On every release on which the same trial was recorded."""
    if scenario.not_fatal:
        return
    for record in same_trial(scenario.tried[0]):
        if "0 checksums stand beside" in record.text:
            # This release writes no such file: the situation could not be made.
            continue
        release = record.name.partition("/")[0].rpartition(".")[0]
        answer = examine(scenario.build(), spark=release, verified=scenario.verified)
        told = {one.severity for one in answer.findings if one.code == scenario.code}
        assert (Severity.FATAL in told) == (record.outcome != WELL), (record.name, told)


@pytest.mark.parametrize("scenario", TRIED, ids=str)
def test_the_sentence_tells_each_recorded_outcome(scenario: Scenario) -> None:
    """And none that was not recorded."""
    outcomes = {part for name in scenario.tried for part in record_named(name).outcome.split(", ")}
    for outcome, words in SAID.items():
        if outcome in outcomes:
            assert re.search(words, scenario.spark), outcome
        elif outcome in ("fails", "loses rows"):
            noted = any("fails" in record_named(name).text for name in scenario.tried)
            assert noted or not re.search(words, scenario.spark), outcome


@pytest.mark.parametrize("scenario", TRIED, ids=str)
def test_what_the_sentence_quotes_was_said(scenario: Scenario) -> None:
    """Classes, and the words after `stops:`, with other numbers and names."""
    said = "\n".join(_plain(record_named(name).text) for name in scenario.tried)
    for name in re.findall(r"\b[A-Z]+(?:_[A-Z]+)+(?:\.[A-Z_]+)?", scenario.spark):
        assert name in said, name
    for words in re.findall(r"(?:stops?|fails): ([^;(]+)", scenario.spark):
        assert _plain(words).strip(" .") in said, words


def test_most_were_tried(capsys: pytest.CaptureFixture[str]) -> None:
    """The others are about cost, about services that are not here, or about Holdfast's records."""
    with capsys.disabled():
        print(f"\n{len(TRIED)} of {len(SCENARIOS)} scenarios were started on real Spark")
    assert len(TRIED) >= 69


def test_no_record_holds_anything_of_a_machine() -> None:
    """Folders, ids and addresses are replaced."""
    for record in trial_records().values():
        assert not re.search(r"/tmp/|/work/|/home/|\b[0-9a-f]{8}-[0-9a-f]{4}-", record.text), record


def _plain(text: str) -> str:
    return re.sub(r"[0-9]+", "#", text)
