"""Several checkpoints together: one identity each, one output each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holdfast.diagnosis.inspection.subject import Subject
from holdfast.findings import Finding, Place, Severity

_OWN_LOG = frozenset({"parquet", "csv", "json", "orc", "text"})
"""Formats whose output folder has one log for all who write there."""


def check_shared_identity(subject: Subject, others: Sequence[Subject]) -> Iterator[Finding]:
    """Report other checkpoints with the same query id."""
    same = (one for one in others if one.query_id and one.query_id == subject.query_id)
    twins = [one.picture.location for one in same]
    if twins:
        message = f"{twins[0]} has the same query id, {subject.query_id}"
        evidence = {"query_id": subject.query_id, "others": twins[:20]}
        yield Finding("HF2421", Severity.ERROR, message, Place("metadata"), evidence)


def check_shared_output(subject: Subject, others: Sequence[Subject]) -> Iterator[Finding]:
    """Report other jobs that write files into the same folder."""
    job = subject.job
    if job is None or job.sink_place is None or job.job.sink.format not in _OWN_LOG:
        return
    names = [one.job.name for one in others if one.job and one.job.sink_place == job.sink_place]
    if names:
        message = f"{job.name} and {names[0]} both write to {job.sink_place}"
        evidence = {"output": job.sink_place, "others": names}
        yield Finding("HF2422", Severity.ERROR, message, Place(""), evidence)
