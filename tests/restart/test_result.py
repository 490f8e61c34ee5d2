"""The result of a check: one job or several, with what is accepted."""

from __future__ import annotations

from dataclasses import replace

from holdfast.diagnosis.inspection.runs.lastquery import ComparedRun
from holdfast.ledgers.sinkstate import SinkAnswer
from holdfast.records.run import SinkFacts
from holdfast.restart.acceptance import acceptance_of
from holdfast.restart.judging import judge
from holdfast.restart.result import CheckedJob, check_of, checked_start
from holdfast.restart.start import StartFacts
from holdfast.restart.verdict import Verdict
from tests.restart.queries import STATEFUL, changed, operated, start_of

PEAKS = start_of(STATEFUL, operated(values=("max(amount)", "count(1)")))
QUESTION = start_of(STATEFUL, changed(output_mode="complete"))

LAST = ComparedRun("holdfast.last-run/1", "orders", 3, STATEFUL)


def checked(start: StartFacts, *accepted: str) -> CheckedJob:
    """Return the result of one job."""
    return checked_start(start, job="orders", compared_with=LAST, accepted=accepted)


def test_one_job_is_the_result() -> None:
    """Verdict, conditions, changes, fingerprints and next start of it."""
    job = checked(QUESTION)
    result = check_of([job])
    assert (result.verdict, result.jobs) == (Verdict.CONDITIONAL, (job,))
    assert result.changes == job.changes and result.conditions == job.conditions
    assert len(result.conditions) == 1
    assert result.fingerprint == job.fingerprint and result.next_start is job.next_start
    assert None not in (result.fingerprint.stored, result.fingerprint.current)
    assert job.next_start is QUESTION.inspection.next_start
    assert (job.location, job.compared_with) == (QUESTION.inspection.location, 3)
    assert checked_start(QUESTION, job="orders", compared_with=None).compared_with is None


def test_a_start_whose_sink_was_not_asked_is_compared_with_the_last_run() -> None:
    """Query and sink of it; nothing is said of the sink's batches."""
    sink = SinkFacts("delta", "/lake/out", "append", "exactly once")
    last = replace(LAST, sink=sink)
    inspection = QUESTION.inspection
    start = StartFacts.without_sink(inspection, QUESTION.plan, last, spark="4.2.1")
    assert (start.stored, start.stored_sink, start.current) == (STATEFUL, sink, QUESTION.plan.query)
    assert (start.sink.value, start.sink.answer) == (None, SinkAnswer.UNKNOWN)
    assert [one.rule for one in judge(start).changes] == ["HF3134"]
    assert StartFacts.without_sink(inspection, QUESTION.plan, None, spark=None).stored is None


def test_the_worst_of_several_jobs_decides() -> None:
    """What belongs to one of them alone is with that one."""
    result = check_of([checked(QUESTION), checked(PEAKS)])
    assert result.verdict is Verdict.UNSAFE
    assert [one.rule for one in result.changes] == ["HF3134", "HF3116"]
    assert (result.fingerprint.stored, result.next_start) == (None, None)
    assert "verdict=" in repr(result)


def test_what_is_accepted_is_shown_and_safe() -> None:
    """Only with its own digest."""
    (change,) = judge(PEAKS).changes
    accept = acceptance_of(change)
    assert accept is not None
    job = checked(PEAKS, accept)
    assert (job.verdict, job.changes[0].accepted, job.conditions) == (Verdict.SAFE, True, ())
    assert checked(PEAKS, "HF3116:00000000").verdict is Verdict.UNSAFE
    assert checked(PEAKS).changes[0].accept == accept
