"""The sink that a job declares, as its next start finds it: what `run` would refuse."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from holdfast.diagnosis.inspection.sink.before import sink_before
from holdfast.diagnosis.inspection.sink.gone import SinkCompared
from holdfast.diagnosis.inspection.subject import Subject
from holdfast.findings import Finding, Place, Severity


def check_output_gone(subject: Subject) -> Iterator[Finding]:
    """Report an output that is gone, emptied or another one, by the rule that `run` refuses by."""
    sight, query_id = subject.sight, subject.query_id
    if sight is None or subject.job is None or query_id is None or subject.runs_now:
        return
    passed = subject.picture.passed_over
    if (passed, sight.held.value) == (None, None):
        return
    known = subject.sink.own.newest if subject.sink is not None and subject.sink.own else {}
    compared = SinkCompared(
        sight,
        sink_before(subject.recorded, query_id, passed),
        passed,
        subject.job.job.sink.mode == "complete",
        known.keys() - {query_id},
    )
    for finding in compared.findings():
        # A start that is refused delivers nothing.
        is_refused = finding.severity is Severity.ERROR
        severity = Severity.FATAL if is_refused else finding.severity
        yield replace(finding, severity=severity, place=Place("", root=sight.place or ""))
    if sight.rows_up_to is not None and sight.held.value is not None:
        message = (
            f"the sink's ledger holds batch {sight.held.value}; the newest whose files exist is "
            f"{sight.rows_up_to}"
        )
        evidence = {"sink": sight.held.value, "found": sight.rows_up_to}
        yield Finding(
            "HF3006", Severity.FATAL, message, Place("", root=sight.place or ""), evidence
        )


def check_same_offsets(subject: Subject) -> Iterator[Finding]:
    """Report a sink that holds its newest batch with other offsets than the checkpoint."""
    if subject.other_offsets is not None:
        yield subject.other_offsets
