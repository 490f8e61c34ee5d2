"""What went wrong before in a Delta table: batches under two query ids, batches it ignored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from holdfast.diagnosis.checks.sink.delta import is_query, ledger_of, place_in
from holdfast.diagnosis.inspection.ranges import id_ranges
from holdfast.diagnosis.inspection.sink.deltacommits import TableHistory, WrittenBatch
from holdfast.diagnosis.inspection.subject import Subject
from holdfast.findings import Finding, Severity
from holdfast.ledgers.delta.identity import CLOSED, current_application
from holdfast.ledgers.delta.transactions import DeltaLedger
from holdfast.records.run import SHARED_SINK

CLOCK_TOLERANCE_MS = 2_000
"""How far the clocks of two drivers may be apart."""


def check_batches_of_two_queries(subject: Subject, others: Sequence[Subject]) -> Iterator[Finding]:
    """Report batch ids that another query appended before this one appended the same ids.

    That is what a deleted checkpoint leaves. Jobs that share a table write in turns, have their
    checkpoints among the others, or were started with the sink accepted as shared; what cannot be
    told apart is reported as possible.
    """
    ledger, mine = ledger_of(subject), subject.query_id
    if ledger is None or mine is None or mine not in ledger.transactions:
        return
    known = {one.query_id for one in others}
    for query, version in ledger.transactions.items():
        if query == mine or not is_query(query) or version == CLOSED or query in known:
            continue
        finding = _twice(subject, ledger, mine, query)
        if finding is not None:
            yield finding


def _twice(subject: Subject, ledger: DeltaLedger, mine: str, other: str) -> Finding | None:
    history = subject.table
    ours, theirs = _appended(history, mine), _appended(history, other)
    shared = sorted(ours.keys() & theirs.keys())
    if not shared or _in_turns(history, mine, other):
        return None
    same = _same_data([(ours[one], theirs[one]) for one in shared])
    message = f"query {other} and this one, {mine}, both appended {_ranges(shared)}, one after the "
    message += "other"
    message += (
        ", the same data each: its rows are in the table twice"
        if same
        else ": if both read the same source, its rows are in the table twice"
    )
    evidence = {"query_id": mine, "other": other, "batches": shared[:20], "same_data": same}
    severity = Severity.ERROR if same else Severity.WARNING
    if not same and _is_shared(subject):
        severity = Severity.INFO
        message += ". This job was started with the table accepted as shared"
    return Finding("HF2417", severity, message, place_in(ledger), evidence)


def _is_shared(subject: Subject) -> bool:
    """Tell whether the user said that several jobs write the table."""
    return any(SHARED_SINK in run.accepted for run in subject.recorded.runs_of(subject.picture))


def _appended(history: TableHistory, query: str) -> dict[int, WrittenBatch]:
    """Return what a query appended and nobody took away as a whole since."""
    batches = history.of(query).items()
    return {
        number: one
        for number, one in batches
        if one.appends and one.table_version > history.emptied_at
    }


def _in_turns(history: TableHistory, mine: str, other: str) -> bool:
    """Tell whether each wrote something before and after the other: two jobs at one time."""
    ours = [one.table_version for one in history.batches if one.query_id == mine]
    theirs = [one.table_version for one in history.batches if one.query_id == other]
    return max(theirs) > min(ours) and max(ours) > min(theirs)


def _same_data(pairs: Sequence[tuple[WrittenBatch, WrittenBatch]]) -> bool:
    """Tell whether the batches of two queries hold the same: offsets where noted, else amounts."""
    digests = {
        one.offsets_digest == other.offsets_digest
        for one, other in pairs
        if one.offsets_digest and other.offsets_digest
    }
    if digests:
        return True in digests
    equal = all(one.amount is not None and one.amount == other.amount for one, other in pairs)
    return equal and any(one.amount is not None and one.amount[0] != "0" for one, _ in pairs)


def check_ignored_batches(subject: Subject) -> Iterator[Finding]:
    """Report committed batches that the table had under this id before they were planned."""
    ledger, mine = ledger_of(subject), subject.query_id
    if ledger is None or mine is None or current_application(ledger.identifiers, mine).number:
        # Holdfast took batches back and planned them again under another name, on purpose.
        return
    if mine in ledger.transactions:
        lost = _ignored(subject, mine)
        if lost:
            message = "the table had these batch ids of this query before they were planned, so "
            message += f"Delta ignored the rows of {_ranges(lost)}"
            yield _ignoring(ledger, Severity.ERROR, message, mine, lost)
        return
    for name in (one for one in ledger.transactions if not is_query(one)):
        lost = _ignored(subject, name)
        if lost:
            message = f"if this job writes under the application id {name}, Delta ignored the rows "
            message += f"of {_ranges(lost)}: the table had these ids before"
            yield _ignoring(ledger, Severity.WARNING, message, name, lost)


def _ignoring(
    ledger: DeltaLedger, severity: Severity, message: str, name: str, lost: Sequence[int]
) -> Finding:
    evidence = {"application_id": name, "batches": list(lost[:20]), "count": len(lost)}
    return Finding("HF2418", severity, message, place_in(ledger), evidence)


def _ignored(subject: Subject, name: str) -> list[int]:
    """Return the committed batches at whose planning a version as high was in the table."""
    writes = [one for one in subject.table.batches if one.query_id == name]
    lost = []
    for batch_id, entry in sorted(subject.picture.offsets.items()):
        planned = entry.metadata.timestamp_ms if entry.metadata is not None else 0
        if batch_id in subject.picture.layout.commits.files and planned:
            before = [one for one in writes if _at(one) < planned - CLOCK_TOLERANCE_MS]
            since = {one.batch_id for one in writes} - {one.batch_id for one in before}
            held = max((one.batch_id for one in before), default=-1) >= batch_id
            if held and batch_id not in since:
                lost.append(batch_id)
    return lost


def _at(written: WrittenBatch) -> float:
    """Return when it was written; one without a time came after everything."""
    return float("inf") if written.written_ms is None else written.written_ms


def _ranges(ids: Iterable[int]) -> str:
    found = id_ranges(ids)
    texts = [str(first) if first == last else f"{first} to {last}" for first, last in found]
    single = len(found) == 1 and found[0][0] == found[0][1]
    return f"batch {texts[0]}" if single else f"batches {', '.join(texts[:5])}"
