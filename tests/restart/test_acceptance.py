"""What a person accepts is one change of a rule in which a person can know better."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from holdfast.codes import CODES
from holdfast.errors import RefusedError
from holdfast.findings import Severity
from holdfast.restart.acceptance import (
    ACCEPTABLE,
    ACCEPTABLE_RULES,
    acceptance_of,
    accepted_by_name,
    is_acceptance,
)
from holdfast.restart.judging import admit_start, judge
from holdfast.restart.start import StartFacts
from holdfast.restart.verdict import Verdict
from tests.restart.queries import AMOUNT, STATEFUL, SUMS, USER, changed, operated, start_of
from tests.restart.test_rules import CASES, Case, store

MEANT = start_of(STATEFUL, operated(values=("max(amount)", "count(1)")))


def refused(start: StartFacts, accepted: Collection[str] = ()) -> RefusedError:
    """Return the refusal."""
    with pytest.raises(RefusedError) as told:
        admit_start(start, accepted)
    return told.value


def acceptances(start: StartFacts) -> list[str]:
    """Return what accepts each change of a start."""
    found = (acceptance_of(one) for one in judge(start).changes)
    return [one for one in found if one is not None]


def test_a_changed_aggregate_is_refused_and_can_be_accepted() -> None:
    """With status 30, the digest in its next step; the acceptance is named for the record."""
    error = refused(MEANT)
    assert (error.code.number, error.exit_status) == ("HF3116", 30)
    assert "sum(amount), count(1) → max(amount), count(1)" in error.message
    (digest,) = acceptances(MEANT)
    assert error.next_steps[-1].endswith(f"holdfast run JOB --accept {digest}")
    (finding,) = admit_start(MEANT, [digest, "empty-sink"])
    assert (finding.code, finding.severity, finding.accepted) == ("HF3116", Severity.INFO, True)
    assert accepted_by_name((finding,), [digest, "empty-sink"]) == (digest,)


def test_an_acceptance_holds_for_one_change() -> None:
    """Another function has another digest; the bare code accepts nothing."""
    (digest,) = acceptances(MEANT)
    other = start_of(STATEFUL, operated(values=("min(amount)", "count(1)")))
    assert refused(other, [digest]).code.number == "HF3116"
    assert refused(MEANT, ["HF3116"]).code.number == "HF3116"
    assert [is_acceptance(one) for one in (digest, "HF3116", "HF3117:12345678", "empty-sink")] == [
        True, False, False, True,
    ]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda one: f"{one.code}-{one.verdict.value}")
def test_a_start_is_refused_with_the_status_of_its_verdict(case: Case) -> None:
    """A safe change starts without a word; what can be accepted starts when all of it is."""
    verdict = judge(case.start).verdict
    if verdict is Verdict.SAFE:
        assert admit_start(case.start) == ()
        return
    if case.code == "HF3155":
        assert [one.severity.value for one in admit_start(case.start)] == ["info"]
        return
    statuses = {Verdict.UNSAFE: 30, Verdict.UNKNOWN: 31, Verdict.CONDITIONAL: 32}
    assert refused(case.start).exit_status == statuses[verdict]
    given = acceptances(case.start)
    open_ones = [one for one in judge(case.start).changes if one.verdict is not Verdict.SAFE]
    if len(given) == len(open_ones):
        assert all(one.accepted for one in admit_start(case.start, given))
    else:
        refused(case.start, given)


@pytest.mark.parametrize("case", CASES, ids=lambda one: f"{one.code}-{one.verdict.value}")
def test_a_person_can_answer_every_question(case: Case) -> None:
    """What is conditional can be accepted; what Spark itself fails on cannot."""
    for change in judge(case.start).changes:
        if change.verdict in (Verdict.CONDITIONAL, Verdict.UNKNOWN):
            assert acceptance_of(change) is not None
        if change.error is not None:
            assert acceptance_of(change) is None


def test_the_worst_change_is_named_first() -> None:
    """A changed filter is only a question beside a key of another type."""
    now = operated(SUMS, stores=store((USER, AMOUNT)), input=("filter: amount > 5",))
    assert refused(start_of(STATEFUL, now)).code.number == "HF3111"


@pytest.mark.parametrize("now", [operated(stores=store((USER, AMOUNT))), changed(operators=None)])
def test_without_history_a_start_is_left_to_spark(now: object) -> None:
    """As it always was: an adopted checkpoint, or a record of an older release."""
    start = start_of(None, now)  # type: ignore[arg-type]
    assert judge(start).verdict is not Verdict.SAFE
    assert admit_start(start) == ()


def test_every_rule_that_can_be_accepted_says_so_in_its_steps() -> None:
    """And no other."""
    told = {code.number for code in CODES if any("DIGEST" in one for one in code.next_steps)}
    assert told == ACCEPTABLE_RULES
    assert not ACCEPTABLE_RULES & set(ACCEPTABLE.values())
