"""A checkpoint and its places, against its records and against the settings of the start."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.checkpoint.recovery.outcome import Action
from holdfast.diagnosis.checks.location import on_own_disks
from holdfast.findings import Finding, Place, Severity
from holdfast.ledgers.sinkstate import SinkAnswer
from holdfast.records.recordings import QueryPart
from holdfast.redaction import redact
from holdfast.restart.rules.rule import on_checkpoint
from holdfast.restart.start import StartFacts
from holdfast.restart.verdict import Change, Verdict

_HERE = Place("")
_COMPARED = frozenset({"HF2363", "HF2364"})


@on_checkpoint("HF3001", "HF2230")
def next_start(start: StartFacts) -> Iterator[Finding]:
    """Refuse where Spark itself would fail, or where what it would do is unknown."""
    told = start.inspection.next_start
    if told.action is Action.FAIL:
        reached = "; the batch would reach the sink before that" if told.sink_touched else ""
        yield Finding("HF3001", Severity.FATAL, f"Spark would fail: {told.reason}{reached}", _HERE)
    if told.action is Action.UNKNOWN:
        yield Finding("HF2230", Severity.FATAL, told.reason, _HERE)


@on_checkpoint("HF2201")
def missing_query_id(start: StartFacts) -> Iterator[Finding]:
    """Refuse batches without a query id, also where Spark would make a new one.

    Everything that recognizes a batch asks for it by the id: the sink, the records, kept offsets.
    """
    told = start.inspection
    fails = told.next_start.action is Action.FAIL or "HF2201" in {one.code for one in start.fatal}
    if told.query_id is None and not start.is_fresh and not fails:
        message = "metadata, which contains the query id, is missing, but the logs have batches"
        pending = told.batches.pending
        if pending is not None:
            message += f"; batch {pending} is pending and would be delivered under a new id"
        evidence = {"newest_batch": told.batches.last_planned, "pending": pending}
        yield Finding("HF2201", Severity.FATAL, message, Place("metadata"), evidence)


@on_checkpoint("HF3028")
def local_places(start: StartFacts) -> Iterator[Finding]:
    """Refuse local places on a cluster, whose machines would each write to their own disks."""
    yield from on_own_disks(start.master, start.places, bool(start.plan.operators))


@on_checkpoint("HF2302")
def lasting_place(start: StartFacts) -> Iterator[Finding]:
    """Warn of a checkpoint in a temporary directory, unless its whole project is there."""
    yield from start.emptied


@on_checkpoint("HF3025")
def records(start: StartFacts) -> Iterator[Finding]:
    """Refuse a checkpoint that lost batches, where the sink cannot recognise them.

    A sink that knows the query, or another job's, has its own guard; an empty one may begin again.
    """
    planned, recorded = start.inspection.batches.last_planned, start.recorded
    if recorded is None or recorded <= (-1 if planned is None else planned):
        return
    sight = start.sight
    knows_others = (
        start.foreign_queries or sight.held.answer is SinkAnswer.BATCH or sight.held.closed
    )
    is_empty = sight.is_for_development or (sight.shows_rows and sight.contents.is_without_rows)
    if start.recorded_query not in start.sink_queries and (knows_others or is_empty):
        return
    has = "is empty" if planned is None else f"ends with batch {planned}"
    message = f"the checkpoint {has}, but a recorded run delivered batch {recorded} from it"
    evidence = {"planned": planned, "recorded": recorded, "sink": sight.place}
    yield Finding("HF3025", Severity.ERROR, message, _HERE, evidence)


@on_checkpoint("HF5009")
def sink_compared(start: StartFacts) -> Iterator[Change]:
    """Leave the verdict open where the sink could not be asked: it may lack rows, or hold more."""
    found = start.unasked
    if found is not None:
        condition = "the sink has the batches that the checkpoint committed, and no newer one"
        yield Change(found.code, Verdict.UNKNOWN, found.message, None, None, found.why, condition)


@on_checkpoint("HF3026")
def unreadable_records(start: StartFacts) -> Iterator[Finding]:
    """Refuse a sink without a batch of this query while the records of its runs are unreadable."""
    passed, sight = start.inspection.batches.passed_over, start.sight
    is_without = sight.place is not None and sight.held.answer is SinkAnswer.NOTHING
    if start.unread and start.before is None and passed is not None and is_without:
        message = f"the sink holds no batch of this query, and {start.unread[0]}"
        evidence = {"committed": passed, "unreadable": list(start.unread)}
        yield Finding("HF3026", Severity.ERROR, message, _HERE, evidence)


@on_checkpoint("HF3008")
def settings(start: StartFacts) -> Iterator[Finding]:
    """Tell which given settings Spark will overrule with those of the checkpoint."""
    for name, pinned in start.inspection.settings.items():
        given = start.settings.get(name)
        if given is not None and given != pinned:
            message = f"{name} is {redact(given)} here and {pinned} in the checkpoint"
            evidence = {"setting": name, "given": given, "pinned": pinned}
            yield Finding("HF3008", Severity.INFO, message, _HERE, evidence)


@on_checkpoint()
def examined(start: StartFacts) -> Iterator[Finding]:
    """Refuse what the doctor calls fatal, with the doctor's own code.

    Keys and aggregates are compared by rules of their own where the last run knows them.
    """
    is_known = start.has_history and not start.missing & {QueryPart.KEYS, QueryPart.VALUES}
    left_out = _COMPARED if is_known else frozenset[str]()
    yield from (one for one in start.fatal if one.code not in left_out)
