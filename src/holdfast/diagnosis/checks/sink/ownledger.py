"""A checkpoint against a ledger of Holdfast's own: manifests, a table, a function's."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.diagnosis.checks.sink.formerid import steps_for_former_id
from holdfast.diagnosis.inspection.subject import Subject
from holdfast.findings import Finding, Place, Severity
from holdfast.ledgers.ownledger import OwnLedger

_MOST_NAMED = 5


def check_ledger_not_ahead(subject: Subject) -> Iterator[Finding]:
    """Report a ledger that holds later batches of this query than the checkpoint has planned."""
    ledger, planned = _ledger(subject), subject.picture.newest_offsets_id
    held = ledger.newest.get(subject.query_id or "") if ledger is not None else None
    if ledger is None or held is None or held <= subject.may_be_delivered:
        return
    ends = "has planned none" if planned is None else f"ends at {planned}"
    yield Finding(
        "HF2441",
        Severity.FATAL,
        f"the sink holds this query's batches up to {held}, the checkpoint {ends}",
        _place(ledger),
        {"sink_newest": held, "newest_offsets": planned},
    )


def check_ledger_not_behind(subject: Subject) -> Iterator[Finding]:
    """Report committed batches that the ledger does not hold under this query id."""
    ledger, committed = _ledger(subject), subject.picture.newest_commit_id
    held = ledger.newest.get(subject.query_id or "") if ledger is not None else None
    if ledger is None or held is None or committed is None or held >= committed:
        return
    yield Finding(
        "HF2442",
        Severity.ERROR,
        f"batches up to {committed} are committed, the sink holds this query's only up to {held}",
        _place(ledger),
        {"sink_newest": held, "newest_commit": committed},
    )


def check_ledger_knows_query(subject: Subject) -> Iterator[Finding]:
    """Report a ledger that holds other queries, or none, and nothing of this one."""
    ledger = _ledger(subject)
    if ledger is None or subject.query_id in ledger.newest:
        return
    if ledger.newest or subject.picture.newest_commit_id is not None:
        known = ", ".join(sorted(ledger.newest)[:_MOST_NAMED]) or "no query at all"
        # A new checkpoint reads everything again, and nothing of it is known under its new id.
        is_new = bool(ledger.newest) and subject.picture.newest_offsets_id is None
        yield Finding(
            "HF2443",
            Severity.FATAL if is_new else Severity.WARNING,
            f"the sink knows {known}, but not this checkpoint's {subject.query_id or 'lost id'}",
            _place(ledger),
            {"query_id": subject.query_id, "known": dict(ledger.newest)},
            next_steps=steps_for_former_id(subject, ledger.newest),
        )


def _ledger(subject: Subject) -> OwnLedger | None:
    return subject.sink.own if subject.sink is not None else None


def _place(ledger: OwnLedger) -> Place:
    return Place("", root=ledger.location)
