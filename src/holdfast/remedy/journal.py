"""Tells what was done to a checkpoint: every act of its journal with its steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holdfast.backup.access import Records
from holdfast.errors import CheckpointError, HoldfastError
from holdfast.findings import Finding, Place, Severity
from holdfast.records.journal import Event, JournalledAct, act_ids, chained, interrupted
from holdfast.remedy.acts import UNDO, UNDONE, event_words, plan_of_act
from holdfast.remedy.plan import Plan
from holdfast.remedy.results import ActEvidence, JournalEntry, JournalPlace, StepDone


def journal_of(records: Records, job: str | None) -> tuple[JournalPlace, tuple[Finding, ...]]:
    """Return the journal of a checkpoint, and what is wrong with it; nothing is written."""
    acts, damages = _acts(records)
    void = {one.id for one in records.journal.void()}
    undone = {str(one.act.intent["undoes"]): one for one in acts
              if one.act.kind == UNDO and one.outcome == UNDONE}  # fmt: skip
    entries = tuple(_entry(one, one.act.id in void, one.act.id in undone) for one in acts)
    return JournalPlace(records.location, job, entries), (*damages, *_findings(records, acts, job))


def _acts(records: Records) -> tuple[tuple[JournalledAct, ...], list[Finding]]:
    """Return the acts that can be read, the newest first, and a finding for each other one."""
    acts, damages = [], []
    for one in reversed(act_ids(records.journal.reader)):
        try:
            acts.append(records.journal.read(one))
        except CheckpointError as error:
            place = Place("", root=error.at)
            message = f"the records of {one} cannot be read: {error.message}"
            damages.append(Finding("HF4616", Severity.ERROR, message, place, {"act": one}))
    return chained(acts), damages


def _findings(
    records: Records, acts: Sequence[JournalledAct], job: str | None
) -> Iterator[Finding]:
    act = records.journal.unfinished()
    if act is not None:
        yield interrupted(act, job or records.location, records.location)
    for one in acts:
        if not one.is_intact:
            place = Place(one.act.id, root=records.journal.reader.location)
            message = f"the records of {one.act.kind} {one.act.id} do not follow from each other"
            yield Finding("HF4616", Severity.WARNING, message, place, {"act": one.act.id})


def _entry(one: JournalledAct, is_void: bool, is_undone: bool) -> JournalEntry:
    plan = _plan(one)
    state = one.outcome or ("void" if is_void else "open")
    return JournalEntry(
        id=one.act.id,
        kind=one.act.kind,
        state=UNDONE if is_undone else state,
        at=one.act.at,
        by=one.act.by,
        ended_at=one.ended_at,
        plan=None if plan is None else plan.id,
        undoes=one.act.intent.get("undoes"),
        generation=one.act.generation,
        steps=() if plan is None else tuple(_steps(plan, one)),
        intact=one.is_intact,
        backup=_backup(one),
        notes=() if plan is None else plan.notes,
        before=_evidence(one, Event.BEFORE),
        after=_evidence(one, Event.AFTER),
    )


def _backup(one: JournalledAct) -> str | None:
    made = [result["backup"] for result in one.results().values() if "backup" in result]
    found = made[0] if made else one.act.intent.get("safety_backup")
    return None if found is None else str(found)


def _evidence(one: JournalledAct, event: Event) -> ActEvidence | None:
    """Return what was noted; fields that a release does not know are left out."""
    entry = next((each for each in reversed(one.entries) if each.event is event), None)
    if entry is None:
        return None
    told = entry.result
    batches, start, sink = (told.get(name) or {} for name in ("batches", "next_start", "sink"))
    held = None
    if sink:
        value = sink.get("value")
        held = f"{'no batch' if value is None else f'batch {value}'} ({sink.get('basis')})"
    shown = None
    if start:
        number = start.get("batch_id")
        shown = f"{start.get('action')}{'' if number is None else f' batch {number}'}"
    missing = "nothing was there" if told.get("missing") else None
    return ActEvidence(
        at=entry.at,
        unreadable=told.get("unreadable") or missing,
        query_id=told.get("query_id"),
        last_planned=batches.get("last_planned"),
        last_committed=batches.get("last_committed"),
        pending=batches.get("pending"),
        next_start=shown,
        sink=held,
        files=told.get("files"),
        size_bytes=told.get("size_bytes"),
        digest=told.get("digest"),
    )


def _plan(one: JournalledAct) -> Plan | None:
    try:
        return plan_of_act(one)
    except HoldfastError:
        return None


def _steps(plan: Plan, one: JournalledAct) -> Iterator[StepDone]:
    events = one.events()
    for step in plan.steps:
        words = event_words(events.get(step.number))
        yield StepDone(step.number, step.act, step.target, step.detail, words)
