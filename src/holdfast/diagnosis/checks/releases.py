"""What some Spark releases do wrong or refuse: known faults, newer log versions, join state of
format 1."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.recovery.forecast import FormatOneJoin, format_one_join
from holdfast.checkpoint.recovery.state import provider_of
from holdfast.checkpoint.releases import RELEASES, spark_version
from holdfast.diagnosis.inspection.subject import Subject
from holdfast.findings import Finding, Place, Severity
from holdfast.jobs.sqltext import joins_outer


@dataclass(frozen=True)
class ReleaseFault:
    """A fault of the engine: which releases have it, and which checkpoints it can hit."""

    issue: str
    up_to: str
    """The newest release whose first patch versions have it."""
    releases: str
    """Which of them have it, in words."""
    text: str
    concerns: Callable[[Picture], bool]


def check_release_faults(subject: Subject) -> Iterator[Finding]:
    """Mention each known fault that this checkpoint could meet."""
    picture = subject.picture
    version = spark_version(picture)
    for fault in RELEASE_FAULTS:
        limit = RELEASES.index(fault.up_to)
        old = version.low is None or RELEASES.index(version.low) <= limit
        if old and fault.concerns(picture):
            evidence = {"issue": fault.issue, "up_to": fault.up_to}
            message = f"{fault.issue}, {fault.releases}: {fault.text}"
            yield Finding("HF2312", Severity.INFO, message, Place(""), evidence)


def check_newer_logs(subject: Subject) -> Iterator[Finding]:
    """Mention logs of a version that older releases refuse."""
    picture = subject.picture
    offsets, commit = picture.newest_offsets, picture.newest_commit
    if offsets is not None and offsets.version > 1:
        message = f"offsets/ has version {offsets.version}: only Spark 4.2 and later can read it"
        yield Finding("HF2313", Severity.INFO, message, Place("offsets"))
    if commit is not None and commit.version > 1:
        since = "4.0" if commit.version == 2 else "4.2"
        message = f"commits/ has version {commit.version}: only Spark {since} and later can read it"
        yield Finding("HF2313", Severity.INFO, message, Place("commits"))


def _has_rocksdb(picture: Picture) -> bool:
    return provider_of(picture) == "rocksdb"


def _has_checksums_in_format_one(picture: Picture) -> bool:
    for operator in picture.layout.state.operators.values():
        for store in operator.stores.values():
            for files in store.partitions.values():
                plain = [one for (_, unique), one in files.changelogs.items() if not unique]
                for item in (*files.deltas.values(), *plain):
                    return f"{item.path}.crc" in picture.layout.items
    return False


RELEASE_FAULTS: tuple[ReleaseFault, ...] = (
    ReleaseFault(
        "SPARK-46796, SPARK-52637",
        "4.0",
        "first patch versions of 4.0 and before",
        "a retried task can leave RocksDB tables that do not fit ('Mismatch in unique ID')",
        _has_rocksdb,
    ),
    ReleaseFault(
        "SPARK-51717",
        "4.0",
        "first patch versions of 4.0 and before",
        "the second snapshot of a new query can be rejected ('Sst file size mismatch')",
        _has_rocksdb,
    ),
    ReleaseFault(
        "SPARK-56461",
        "4.1",
        "4.1",
        "checksums of format 1 state can cause a correct file to be rejected after a task was "
        "retried; spark.sql.streaming.checkpoint.fileChecksum.enabled=false disables them",
        _has_checksums_in_format_one,
    ),
)


_FORMAT = "a stream-stream join keeps its state in format 1"


def check_join_format(subject: Subject) -> Iterator[Finding]:
    """Report join state of format 1, as bad as the release and the kind of the join make it."""
    join = format_one_join(subject.picture)
    if join is None:
        return
    picture = subject.picture
    release = picture.starting_spark or spark_version(picture).assumed
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
        return Severity.INFO, f"{_FORMAT}, which supports inner joins only"
    unknown = f"{_FORMAT}, and it is unknown whether the join is an inner join"
    return Severity.WARNING, f"{unknown}: Spark 3 and later reject any other"


def _declared_outer(subject: Subject) -> bool | None:
    """Return whether the declared query joins outer; None where no SQL says it."""
    sql = subject.job.job.sql if subject.job is not None else None
    return joins_outer(sql) if sql is not None else None
