"""Faults of Spark releases, as far as the files tell which release wrote them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.recovery.state import provider_of
from holdfast.checkpoint.releases import RELEASES
from holdfast.checkpoint.writer import spark_version
from holdfast.diagnosis.inspection.subject import Subject
from holdfast.findings import Finding, Place, Severity


@dataclass(frozen=True)
class Fault:
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
    for fault in FAULTS:
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
        message = f"offsets/ is of version {offsets.version}: only Spark 4.2 and later read it"
        yield Finding("HF2313", Severity.INFO, message, Place("offsets"))
    if commit is not None and commit.version > 1:
        since = "4.0" if commit.version == 2 else "4.2"
        message = f"commits/ is of version {commit.version}: only Spark {since} and later read it"
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


FAULTS: tuple[Fault, ...] = (
    Fault(
        "SPARK-46796, SPARK-52637",
        "4.0",
        "first patch versions of 4.0 and before",
        "a retried task can leave RocksDB tables that do not fit ('Mismatch in unique ID')",
        _has_rocksdb,
    ),
    Fault(
        "SPARK-51717",
        "4.0",
        "first patch versions of 4.0 and before",
        "the second snapshot of a new query can be refused ('Sst file size mismatch')",
        _has_rocksdb,
    ),
    Fault(
        "SPARK-56461",
        "4.1",
        "4.1",
        "checksums of format 1 state can refuse a whole file after a task's retry; "
        "spark.sql.streaming.checkpoint.fileChecksum.enabled=false turns them off",
        _has_checksums_in_format_one,
    ),
)
