"""No advice that was not executed: every step has a proof, none ends in lost or doubled rows."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from holdfast.codes import CODES
from holdfast.diagnosis.doctor.wrongfixes import ALL as WRONG_FIXES
from tests.advice import programs
from tests.advice.following import FOLLOWINGS, WRONG, Following
from tests.advice.loading import records
from tests.advice.proofs import RECORDS, TESTS, WRONG_RECORDS, reading
from tests.advice.raised import raised_steps
from tests.advice.table import Kind, steps, table, unproved
from tests.advice.unproved import UNPROVED, UNPROVED_WRONG
from tests.diagnosis.doctor.trials.loading import WELL, record_named

ROOT = Path(__file__).resolve().parents[2]
BY_NAME = {one["followed"]: one for one in records()}
FOLLOWED = [one for one in FOLLOWINGS if one.name in BY_NAME]
assert programs.PROGRAMS


def test_every_step_has_a_proof() -> None:
    """And the list of those without one names no other; it only gets shorter."""
    assert set(unproved()) == UNPROVED


def test_steps_written_where_an_error_is_raised_are_in_the_table() -> None:
    """None is printed that the table does not have, also not with a finding that is passed on."""
    written = raised_steps()
    texts = {one.step for one in written if one.code}
    passed_on = {one.step for one in written if not one.code}
    assert all(step in texts or reading("", step) for step in passed_on)
    assert {one.code for one in written if one.code} <= {code.number for code in CODES}
    assert len(texts) > 80, "they are found in the source"
    for file, step in READ_BY_HAND:
        assert step in {one.step for one in written if one.file == file}, (file, step)


READ_BY_HAND = (
    ("records/leases/taking.py", "stop the job there, and try again"),
    ("spark/sinks/database/rewinding.py", "or give the job a new output"),
    ("spark/preflight.py", "move … elsewhere as evidence, then start again"),
    ("storage/location.py", "give only the last part of the chain"),
    ("backup/restoring.py", "give --even-if-running if you are sure that none runs"),
    ("diagnosis/checks/sink/delta.py", "then examine it again: holdfast doctor TARGET --sink PATH"),
)
"""One for each way in which a step gets from where it is written to where it is given."""


def test_what_needs_a_proof_is_most_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    """The codes of findings and refusals are proved in full, but for those listed."""
    counted = Counter(_kinds().values())
    everything = sum(len(steps(code)) for code in CODES)
    with capsys.disabled():
        print(f"\n{everything} steps: {dict(counted)}, {len(UNPROVED)} unproved")
    assert sum(counted.values()) == everything - len(UNPROVED)


def test_no_step_ends_in_lost_or_doubled_rows() -> None:
    """What a step warns of does the harm that it names."""
    for one in table():
        bad = re.search(r"missing|doubled|loses|doubles", one.outcome)
        fails = "fails" in one.outcome
        if one.wrong:
            assert bad or fails, one
        elif one.code != "HF2327":
            assert not bad and not fails, one


@pytest.mark.parametrize("following", FOLLOWED, ids=lambda one: one.name)
def test_the_record_is_of_this_text(following: Following) -> None:
    """A changed step has to be followed again: python -m tests.advice.record --missing."""
    record = BY_NAME[following.name]
    assert record["steps"] == [list(one) for one in following.steps]
    assert record["situation"] == following.situation
    if not following.unreported:
        assert set(record["reported"]) & set(following.codes), "the doctor reports it there"


def test_every_program_is_of_a_step_that_exists() -> None:
    """And of a wrong fix that is printed."""
    known = {(code.number, step) for code in CODES for step in steps(code)}
    known |= {(WRONG, text) for text in WRONG_FIXES}
    named = {step for one in FOLLOWINGS for step in one.steps} | set(RECORDS) | set(TESTS)
    assert named <= known
    assert len({one.name for one in FOLLOWINGS}) == len(FOLLOWINGS)


@pytest.mark.parametrize("text", WRONG_FIXES)
def test_a_wrong_fix_does_harm(text: str) -> None:
    """Executed, and with the numbers that the text prints."""
    seen = [
        (one["outcome"], one.get("rows"), one.get("missing"), one.get("doubled"))
        for one in records()
        if [WRONG, text] in one["steps"]
    ]
    for name in WRONG_RECORDS.get(text, ()):
        one = record_named(name)
        seen.append((one.outcome, one.rows, one.missing, one.doubled))
    assert bool(seen) == (text not in UNPROVED_WRONG)
    assert all(outcome != WELL for outcome, *_ in seen)
    for count, rows in re.findall(r"([0-9]+) of ([0-9]+) rows", text):
        assert any(str(one[1]) == rows and count in map(str, one[2:]) for one in seen), text


def test_tests_that_prove_a_step_exist() -> None:
    """By their file and function."""
    for name in {one.record for one in table() if one.kind is Kind.TEST}:
        file, _, function = name.partition("::")
        assert f"def {function}(" in (ROOT / file).read_text(encoding="utf-8"), name


def test_a_step_that_only_reads_says_so() -> None:
    """No step is taken for a look that puts, moves, deletes or starts something."""
    for code in CODES:
        for step in steps(code):
            if reading(code.number, step) == "looks":
                assert not re.search(r"\b(?:delete|remove|put back|restore(?! --to))\b", step), step


def _kinds() -> dict[tuple[str, str], str]:
    """Return the first proof of each step."""
    found: dict[tuple[str, str], str] = {}
    for one in table():
        found.setdefault((one.code, one.step), one.kind.value)
    return found
