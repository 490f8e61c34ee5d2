"""A checkpoint against the transaction identifiers of the Delta table that it writes to."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from holdfast.diagnosis.subject import Subject
from holdfast.findings import Finding, Place, Severity
from holdfast.ledgers.delta import DeltaLedger
from holdfast.ledgers.deltaidentity import CLOSED

_MOST_NAMED = 5


def check_table_not_ahead(subject: Subject) -> Iterator[Finding]:
    """Report a table that holds later batches of this query than the checkpoint has planned."""
    ledger, planned = _ledger(subject), subject.picture.newest_offsets_id
    version = ledger.transactions.get(subject.query_id or "") if ledger is not None else None
    if ledger is None or version is None or version <= subject.may_be_delivered:
        return
    held = "is closed for this query" if version == CLOSED else f"holds batches up to {version}"
    ends = "has planned none" if planned is None else f"ends at {planned}"
    yield Finding(
        "HF2411",
        Severity.FATAL,
        f"the table {held}, the checkpoint {ends}: what is written next is skipped",
        _place(ledger),
        {"table_version_of_query": version, "newest_offsets": planned},
    )


def check_table_not_behind(subject: Subject) -> Iterator[Finding]:
    """Report committed batches that the table does not hold under this query id."""
    ledger, committed = _ledger(subject), subject.picture.newest_commit_id
    version = ledger.transactions.get(subject.query_id or "") if ledger is not None else None
    if ledger is None or version is None or committed is None or version >= committed:
        return
    yield Finding(
        "HF2414",
        Severity.WARNING,
        f"batches up to {committed} are committed, the table holds this query's only up to "
        f"{version}",
        _place(ledger),
        {"table_version_of_query": version, "newest_commit": committed},
    )


def check_table_knows_query(subject: Subject) -> Iterator[Finding]:
    """Report a table that other queries wrote and that holds nothing of this one."""
    ledger = _ledger(subject)
    if ledger is None or not ledger.complete or subject.query_id in ledger.transactions:
        return
    queries = {one: version for one, version in ledger.transactions.items() if _is_uuid(one)}
    started = subject.picture.newest_commit_id is not None
    if queries or started:
        known = ", ".join(list(queries)[:_MOST_NAMED]) or "no query at all"
        yield Finding(
            "HF2412",
            Severity.WARNING,
            f"the table knows {known}, but not this checkpoint's {subject.query_id or 'lost id'}",
            _place(ledger),
            {"query_id": subject.query_id, "known": queries},
        )


def check_fixed_application(subject: Subject) -> Iterator[Finding]:
    """Report application ids of people's own making that are ahead of this checkpoint."""
    ledger, planned = _ledger(subject), subject.picture.newest_offsets_id
    if ledger is None or subject.query_id in ledger.transactions:
        return
    following = 0 if planned is None else planned + 1
    for name, version in ledger.transactions.items():
        if not _is_uuid(name) and version >= following:
            yield Finding(
                "HF2413",
                Severity.WARNING,
                f"the application id {name} has written up to {version}; if this job uses it, its "
                f"batches {following} to {version} are ignored",
                _place(ledger),
                {"application_id": name, "version": version, "newest_offsets": planned},
            )


def check_table_memory(subject: Subject) -> Iterator[Finding]:
    """Mention that the table forgets, or that a part of its memory was not read."""
    ledger = _ledger(subject)
    if ledger is None:
        return
    if ledger.retention is not None:
        message = f"the table forgets transaction identifiers after {ledger.retention}"
        kept = {"retention": ledger.retention}
        yield Finding("HF2415", Severity.INFO, message, _place(ledger), kept)
    if ledger.truncated or not ledger.complete:
        evidence = {"newest_version": str(ledger.newest_version), "unread": list(ledger.unread)}
        severity = Severity.FATAL if ledger.truncated else Severity.INFO
        yield Finding("HF2416", severity, _untold(ledger), _place(ledger), evidence)


def _untold(ledger: DeltaLedger) -> str:
    if ledger.truncated:
        return "versions of the Delta log are gone, and no checkpoint of it stands for them"
    if ledger.unread:
        return f"{len(ledger.unread)} files of the Delta log could not be read"
    if ledger.needs_pyarrow:
        return "older identifiers stand in a Parquet checkpoint, and pyarrow is not installed"
    return "the Delta log has more versions than are read, and no checkpoint that tells"


def _ledger(subject: Subject) -> DeltaLedger | None:
    return subject.sink.delta if subject.sink is not None else None


def _place(ledger: DeltaLedger) -> Place:
    return Place(f"{ledger.newest_version:020}.json", root=ledger.location)


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
