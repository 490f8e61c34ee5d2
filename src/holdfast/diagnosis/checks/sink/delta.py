"""A checkpoint against the Delta table that it writes to: transaction identifiers, batches under
two query ids, batches that it ignored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from uuid import UUID

from holdfast.diagnosis.checks.sink.ownledger import steps_for_former_id
from holdfast.diagnosis.inspection.sink.deltacommits import TableHistory, WrittenBatch
from holdfast.diagnosis.inspection.subject import Subject
from holdfast.findings import Finding, Place, Severity
from holdfast.ledgers.delta.batches import CLOSED, current_application
from holdfast.ledgers.delta.transactions import DeltaLedger
from holdfast.ledgers.identity import is_backfill
from holdfast.records.run import SHARED_SINK
from holdfast.wording import counted, id_ranges

_MOST_NAMED = 5
_REMEMBER = (
    "do not start the query: it would write the pending batch a second time",
    "set delta.setTransactionRetentionDuration of the table to longer than the job was stopped, "
    "for example to interval 3650 days: identifiers that still are in the log count again",
    "then examine it again: holdfast doctor TARGET --sink PATH",
)


def check_table_not_ahead(subject: Subject) -> Iterator[Finding]:
    """Report a table that holds later batches of this query than the checkpoint has planned."""
    ledger, planned = ledger_of(subject), subject.picture.newest_offsets_id
    version = ledger.transactions.get(subject.query_id or "") if ledger is not None else None
    if ledger is None or version is None or version <= subject.may_be_delivered:
        return
    held = "is closed for this query" if version == CLOSED else f"has batches up to {version}"
    ends = "has no planned batch" if planned is None else f"ends at {planned}"
    yield Finding(
        "HF2411",
        Severity.FATAL,
        f"the table {held}, the checkpoint {ends}: what is written next is skipped",
        place_in(ledger),
        {"table_version_of_query": version, "newest_offsets": planned},
    )


def check_table_not_behind(subject: Subject) -> Iterator[Finding]:
    """Report committed batches that the table does not hold under this query id."""
    ledger, committed = ledger_of(subject), subject.picture.newest_commit_id
    version = ledger.transactions.get(subject.query_id or "") if ledger is not None else None
    if ledger is None or version is None or committed is None or version >= committed:
        return
    yield Finding(
        "HF2414",
        Severity.WARNING,
        f"batches up to {committed} are committed, the table has batches of this query only up to "
        f"{version}",
        place_in(ledger),
        {"table_version_of_query": version, "newest_commit": committed},
    )


def check_table_knows_query(subject: Subject) -> Iterator[Finding]:
    """Report a table that other queries wrote and that holds nothing of this one."""
    ledger = ledger_of(subject)
    if ledger is None or not ledger.complete or subject.query_id in ledger.transactions:
        return
    queries = {one: version for one, version in ledger.transactions.items() if is_query(one)}
    started = subject.picture.newest_commit_id is not None
    # Application ids that people chose: `check_fixed_application` reports their batches.
    if not queries and (ledger.transactions or not started):
        return
    ours = subject.query_id or "(its id is missing)"
    if queries:
        known = ", ".join(list(queries)[:_MOST_NAMED])
        message = f"the table has batches of query {known}, and none of this checkpoint's {ours}"
        if subject.query_id is None and subject.picture.newest_offsets_id is None:
            message = f"the table has batches of query {known}, and a new checkpoint gets a new id"
    else:
        message = f"the table has no batch of any query; this checkpoint's is {ours}"
    # A new checkpoint reads everything again, a pending batch is written again under the new id.
    doubles = bool(queries) and (not started or subject.picture.pending is not None)
    yield Finding(
        "HF2412",
        Severity.FATAL if doubles else Severity.WARNING,
        message,
        place_in(ledger),
        {"query_id": subject.query_id, "known": queries},
        next_steps=steps_for_former_id(subject, queries, "table"),
    )


def check_fixed_application(subject: Subject) -> Iterator[Finding]:
    """Report application ids of people's own making that are ahead of this checkpoint."""
    ledger, planned = ledger_of(subject), subject.picture.newest_offsets_id
    if ledger is None or subject.query_id in ledger.transactions:
        return
    following = 0 if planned is None else planned + 1
    for name, version in ledger.transactions.items():
        if not is_query(name) and not is_backfill(name) and version >= following:
            yield Finding(
                "HF2413",
                Severity.FATAL,
                f"the application id {name} has written up to {version}; if this job uses it, its "
                f"batches {following} to {version} are ignored",
                place_in(ledger),
                {"application_id": name, "version": version, "newest_offsets": planned},
            )


def check_table_memory(subject: Subject) -> Iterator[Finding]:
    """Mention that the table forgets, or that a part of its memory was not read."""
    ledger = ledger_of(subject)
    if ledger is None:
        return
    if ledger.retention is not None:
        yield _forgetful(subject, ledger, ledger.retention)
    if ledger.truncated or not ledger.complete:
        evidence = {"newest_version": str(ledger.newest_version), "unread": list(ledger.unread)}
        severity = Severity.FATAL if ledger.truncated else Severity.INFO
        yield Finding("HF2416", severity, _what_is_unknown(ledger), place_in(ledger), evidence)


def _forgetful(subject: Subject, ledger: DeltaLedger, retention: str) -> Finding:
    """Say what a table that forgets means for the next start: a batch may be pending."""
    message = f"the table forgets transaction identifiers after {retention}"
    pending, version = subject.picture.pending, ledger.transactions.get(subject.query_id or "")
    evidence = {"retention": retention, "pending": pending, "table_version_of_query": version}
    severity = Severity.INFO
    steps: tuple[str, ...] = ()
    if pending is not None and not ledger.transactions:
        severity = Severity.ERROR
        message += f" and has none of this query: the pending batch {pending} may be in it"
    held = version is not None and pending is not None and pending <= version < CLOSED
    if held and ledger.has_expired(subject.query_id):
        severity, steps = Severity.FATAL, _REMEMBER
        message += f": that of the pending batch {pending}, which is in the table, has expired"
        if _delivered_by_holdfast(subject):
            # The sink reads the log itself and skips what stands in it, expired or not.
            severity = Severity.WARNING
            message += "; holdfast run skips it, Spark's own sink would write it again"
    return Finding("HF2415", severity, message, place_in(ledger), evidence, next_steps=steps)


def _delivered_by_holdfast(subject: Subject) -> bool:
    run = subject.recorded.run_of(subject.picture)
    return run is not None and run.sink is not None and run.sink.kind == "delta"


def _what_is_unknown(ledger: DeltaLedger) -> str:
    if ledger.truncated:
        return "versions of the Delta log are missing, and no checkpoint of the log replaces them"
    if ledger.unread:
        return f"{counted(len(ledger.unread), 'file')} of the Delta log could not be read"
    if ledger.needs_pyarrow:
        return "older identifiers are in a Parquet checkpoint, and pyarrow is not installed"
    return "the Delta log has more versions than are read, and no readable checkpoint"


def ledger_of(subject: Subject) -> DeltaLedger | None:
    """Return what the table remembers; None where the sink is no Delta table."""
    return subject.sink.delta if subject.sink is not None else None


def place_in(ledger: DeltaLedger) -> Place:
    """Return the newest version of the log."""
    return Place(f"{ledger.newest_version:020}.json", root=ledger.location)


def is_query(text: str) -> bool:
    """Return whether an application id is that of a query; people make up others."""
    try:
        UUID(text)
    except ValueError:
        return False
    return True


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
        ", with the same data: its rows are in the table twice"
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
    """Return whether the user said that several jobs write the table."""
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
    """Return whether each wrote something before and after the other: two jobs at one time."""
    ours = [one.table_version for one in history.batches if one.query_id == mine]
    theirs = [one.table_version for one in history.batches if one.query_id == other]
    return max(theirs) > min(ours) and max(ours) > min(theirs)


def _same_data(pairs: Sequence[tuple[WrittenBatch, WrittenBatch]]) -> bool:
    """Return whether the batches of two queries are equal: by offsets if noted, else by amounts."""
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
