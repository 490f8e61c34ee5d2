"""What is found about a checkpoint as a whole does not contradict itself."""

from __future__ import annotations

from holdfast.codes import code_of
from holdfast.diagnosis.checks.subject import keeping_stopped
from holdfast.findings import Finding, Place, Severity

DIED = code_of("HF5304").next_steps


def failed() -> Finding:
    """Return the report of a run whose JVM was killed."""
    steps = (*DIED, "holdfast explain HF5304")
    return Finding("HF2346", Severity.WARNING, "it failed", Place(""), {}, "", steps)


def test_no_start_is_advised_beside_what_forbids_it() -> None:
    """A fatal finding says not to start the job."""
    assert any(step.startswith("start the job") for step in DIED)
    fatal = Finding("HF2342", Severity.FATAL, "offsets/2 is gone", Place("offsets/2"))
    report, other = keeping_stopped([failed(), fatal])
    assert other == fatal
    assert not any(step.startswith("start the job") for step in report.next_steps)
    assert report.next_steps[-1] == "holdfast explain HF5304"


def test_a_failed_run_alone_says_how_to_go_on() -> None:
    """As `run` reported it."""
    warning = Finding("HF2207", Severity.WARNING, "commits/1 is missing", Place("commits/1"))
    assert keeping_stopped([failed(), warning]) == [failed(), warning]
