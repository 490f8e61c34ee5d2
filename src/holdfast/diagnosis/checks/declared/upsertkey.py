"""The key of an upsert sink against the groups of the aggregation that feeds it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holdfast.diagnosis.inspection.subject import Subject
from holdfast.findings import Finding, Place, Severity
from holdfast.jobs.queryshape import AGGREGATION

UPDATING = frozenset({"update", "complete"})
"""Output modes in which a group is written again whenever it changes."""


def check_upsert_key(subject: Subject) -> Iterator[Finding]:
    """Report a key that leaves out columns which the SQL of the job groups by.

    Only where every key column is one of these: anything else may distinguish the groups.
    """
    if subject.job is None or subject.job.job.sql is None:
        return
    job, groups = subject.job.job, subject.job.query.keys
    is_grouped = subject.job.query.operators == (AGGREGATION,) and bool(groups)
    if job.sink.mode != "upsert" or job.decided_output_mode not in UPDATING or not is_grouped:
        return
    key = tuple(job.sink.key)
    if groups is not None and {one.lower() for one in key} < groups:
        missing = sorted(groups - {one.lower() for one in key})
        yield coarse_key(key, sorted(groups), missing, is_ordered=job.sink.order_by is not None)


def coarse_key(
    key: Sequence[str], groups: Sequence[str], missing: Sequence[str], *, is_ordered: bool
) -> Finding:
    """Return the finding; a job that orders the rows of one key expects several of them."""
    message = (
        f"the sink's key ({', '.join(key)}) lacks columns that the query groups by "
        f"({', '.join(groups)}): rows of groups that differ only in {', '.join(missing)} overwrite "
        "each other"
    )
    severity = Severity.INFO if is_ordered else Severity.WARNING
    evidence = {"key": [*key], "groups": [*groups], "missing": [*missing]}
    return Finding("HF2376", severity, message, Place(""), evidence)
