"""Join state of format 1: fine for an inner join in most cases, refused for any other."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.checkpoint.recovery.joinstate import FormatOneJoin, format_one_join
from holdfast.checkpoint.writer import spark_version
from holdfast.diagnosis.inspection.subject import Subject
from holdfast.findings import Finding, Place, Severity
from holdfast.jobs.sqltext import joins_outer

_FORMAT = "a stream-stream join keeps its state in format 1"


def check_join_format(subject: Subject) -> Iterator[Finding]:
    """Report join state of format 1, as bad as the release and the kind of the join make it."""
    join = format_one_join(subject.picture)
    if join is None:
        return
    release = spark_version(subject.picture).assumed
    severity, message = _judged(join, release, _declared_outer(subject))
    place = Place(f"offsets/{subject.picture.newest_offsets_id}", line=2)
    evidence = {"format_named": join.named, "schema_files": join.described, "spark": release}
    yield Finding("HF2306", severity, message, place, evidence)


def _judged(join: FormatOneJoin, release: str, outer: bool | None) -> tuple[Severity, str]:
    refusal = join.refusal(release)
    if refusal is not None:
        return Severity.FATAL, refusal
    if outer:
        return Severity.FATAL, f"{_FORMAT}, and the declared query has an outer join"
    if outer is False or join.was_inner:
        return Severity.INFO, f"{_FORMAT}, which serves inner joins only"
    unknown = f"{_FORMAT}, and whether the join is an inner one is not known"
    return Severity.WARNING, f"{unknown}: Spark 3 and later refuse any other"


def _declared_outer(subject: Subject) -> bool | None:
    """Return whether the declared query joins outer; None where no SQL says it."""
    sql = subject.job.job.sql if subject.job is not None else None
    return joins_outer(sql) if sql is not None else None
