"""Applies a plan step by step, finishes what was interrupted, and undoes what was applied.

Every step is written down before it begins and after it is done. A step may be repeated, so that
whoever comes after a kill goes on where the journal ends: forwards with `finish`, backwards with
`undo`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from holdfast.backup.access import Records, alone
from holdfast.backup.restoring import act_id, refuse_running
from holdfast.backup.safety import look
from holdfast.checkpoint.verification import Progress
from holdfast.crashpoints import reach
from holdfast.errors import CheckpointError, PlanError
from holdfast.records.journal import RESTORE, Act, Event, JournalledAct, StepEntry
from holdfast.records.leases.acting import Acting
from holdfast.records.moments import moment_now
from holdfast.remedy.plan import Plan, Step, decode_plan, encode_plan
from holdfast.remedy.results import Applied, StepDone
from holdfast.remedy.steps import STEP_KINDS
from holdfast.remedy.steps.work import OpenSink, Result, Work

APPLIED, UNDONE = "applied", "undone"
"""How an act of a plan ends."""
UNDO = "undo"
"""The kind of the act that takes an applied one back."""


@dataclass(frozen=True)
class Applying:
    """Where plans are applied, and with what."""

    records: Records
    open_sink: OpenSink
    watch: Callable[[StepDone], None] = lambda _: None
    """Is called when a step is done or undone."""
    progress: Progress | None = None
    even_if_running: bool = False

    def apply(self, plan: Plan, plan_again: Callable[[], Plan]) -> Applied:
        """Apply a plan; one that is applied already is left alone, one that is open is finished.

        `plan_again` makes the plan once more, under the lease: raise PlanError (HF4605) where that
        is not the same plan.
        """
        if not plan.steps:
            return _nothing(self.records.location)
        known = self._known(plan.id)
        if known is not None and known.outcome == APPLIED:
            return self._answer(known, "already-applied", (), None)
        with self._acting(plan.remedy.value) as (acting, records):
            known = self._known(plan.id)
            if known is None or known.outcome is not None:
                records.journal.refuse_unfinished()
                if not self.even_if_running:
                    self._refuse_running()
                self._refuse_stale(plan, plan_again)
                began = Act(
                    act_id(records, _now_ms()), plan.remedy.value, {"plan": encode_plan(plan)}
                )
                records.journal.begin(began)
                reach("plan.begun")
                known = records.journal.read(began.id)
            return self._forwards(plan, known, acting, records, "applied")

    def finish(self) -> Applied:
        """Finish the interrupted act, or do nothing where there is none."""
        with self._acting("apply") as (acting, records):
            known = self._open(records)
            if known is None:
                return _nothing(records.location)
            if known.act.kind == UNDO:
                return self._take_back(known, acting, records)
            return self._forwards(plan_of_act(known), known, acting, records, "finished")

    def undo(self, act: str | None, newer: Callable[[JournalledAct], str | None]) -> Applied:
        """Undo an act, by default the newest that was applied or interrupted.

        `newer` says what came after an applied act, so that it cannot be undone any more; it is
        asked under the lease. Raise PlanError (HF4609) then.
        """
        with self._acting(UNDO) as (acting, records):
            found = self._open(records)
            if found is not None and act not in (None, found.act.id):
                records.journal.refuse_unfinished()
            if found is not None:
                if found.act.kind == UNDO:
                    return self._take_back(found, acting, records)
                return self._backwards(found, found, acting, records)
            chosen = self._undoable(records, act)
            if chosen is None:
                return _nothing(records.location)
            reason = newer(chosen)
            if reason is not None:
                raise PlanError("HF4609", f"{chosen.act.kind} {chosen.act.id}: {reason}",
                                at=records.location)  # fmt: skip
            began = Act(act_id(records, _now_ms()), UNDO, {"undoes": chosen.act.id})
            records.journal.begin(began)
            return self._take_back(records.journal.read(began.id), acting, records)

    def _forwards(
        self, plan: Plan, known: JournalledAct, acting: Acting, records: Records, outcome: str
    ) -> Applied:
        events, results = known.events(), dict(known.results())
        for step in plan.steps:
            event = events.get(step.number)
            if event is not None and event.event is Event.DONE:
                continue
            self._note(records, known, step, Event.BEGUN, "plan.step-begun")
            work = self._work(plan, known, acting, records, results)
            results[step.number] = result = STEP_KINDS[step.act].apply(step, work)
            reach("plan.step-applied")
            self._note(records, known, step, Event.DONE, "plan.step-done", result)
            self.watch(StepDone(step.number, step.act, step.target, step.detail, "done"))
        reach("plan.applied")
        records.journal.end(known.act, APPLIED)
        return self._answer(records.journal.read(known.act.id), outcome, plan.steps, results)

    def _take_back(self, undo: JournalledAct, acting: Acting, records: Records) -> Applied:
        """Undo the act that an act of undoing names; the steps are noted in the latter."""
        applied = records.journal.read(str(undo.act.intent["undoes"]))
        return self._backwards(applied, undo, acting, records)

    def _backwards(
        self, of: JournalledAct, noted: JournalledAct, acting: Acting, records: Records
    ) -> Applied:
        plan = plan_of_act(of)
        results, done = of.results(), of.events()
        undone = {number for number, one in noted.events().items() if one.event is Event.UNDONE}
        for step in reversed(plan.steps):
            if step.number not in done or step.number in undone:
                continue
            self._note(records, noted, step, Event.UNDOING, "plan.step-undoing")
            work = self._work(plan, of, acting, records, results)
            STEP_KINDS[step.act].undo(step, results.get(step.number), work)
            reach("plan.step-undone")
            self._note(records, noted, step, Event.UNDONE, None)
            self.watch(StepDone(step.number, step.act, step.target, step.detail, "undone"))
        reach("plan.undone")
        records.journal.end(noted.act, UNDONE)
        steps = tuple(step for step in plan.steps if step.number in done)
        return self._answer(records.journal.read(of.act.id), UNDONE, steps, results)

    def _work(
        self,
        plan: Plan,
        known: JournalledAct,
        acting: Acting,
        records: Records,
        results: Mapping[int, Result],
    ) -> Work:
        return Work(
            plan=plan,
            act_id=known.act.id,
            generation=acting.generation,
            records=records,
            results=results,
            open_sink=self.open_sink,
            progress=self.progress,
        )

    def _note(
        self,
        records: Records,
        known: JournalledAct,
        step: Step,
        event: Event,
        point: str | None,
        result: Result | None = None,
    ) -> None:
        entry = StepEntry(step.number, event, moment_now(), dict(result or {}))
        records.journal.append(known.act.id, entry)
        if point is not None:
            reach(point)

    def _refuse_running(self) -> None:
        present = look(self.records.checkpoint, lambda _: False)
        if not present.empty:
            refuse_running(self.records, present, _now_ms())

    def _refuse_stale(self, plan: Plan, plan_again: Callable[[], Plan]) -> None:
        now = plan_again()
        if now.id == plan.id:
            return
        if now.target != plan.target:
            message = f"the plan is for {plan.target}; here {plan.request.target} is {now.target}"
            raise PlanError("HF4605", message, at=plan.target)
        names = {*plan.looked_at, *now.looked_at}
        changed = sorted(one for one in names if plan.looked_at.get(one) != now.looked_at.get(one))
        shown = ", ".join(changed) or "the steps that follow from it"
        raise PlanError("HF4605", f"changed since it was made: {shown}", at=plan.target)

    def _known(self, plan_id: str) -> JournalledAct | None:
        """Return the newest act of a plan, None where the journal has none."""
        for one in self.records.journal.acts():
            if one.act.kind not in (RESTORE, UNDO) and one.act.intent["plan"]["id"] == plan_id:
                return one
        return None

    def _open(self, records: Records) -> JournalledAct | None:
        act = records.journal.unfinished()
        if act is None:
            return None
        if act.kind == RESTORE:
            records.journal.refuse_unfinished()
        return records.journal.read(act.id)

    def _undoable(self, records: Records, act: str | None) -> JournalledAct | None:
        """Return the chosen act, or the newest; None where the chosen one is undone already."""
        acts = records.journal.acts()
        undone = {one.act.intent["undoes"] for one in acts
                  if one.act.kind == UNDO and one.outcome == UNDONE}  # fmt: skip
        undone |= {one.act.id for one in acts if one.outcome == UNDONE}
        if act is None:
            candidates = [one for one in acts if one.act.kind not in (UNDO, RESTORE)]
            return next((one for one in candidates if one.act.id not in undone), None)
        chosen = next((one for one in acts if one.act.id == act), None)
        if chosen is None or chosen.act.kind == UNDO:
            raise PlanError("HF4610", f"the journal has no act {act}", at=records.location)
        if chosen.act.id in undone:
            return None
        later = [one.act.id for one in acts if one.act.id > act and one.act.kind != UNDO]
        later = [one for one in later if one not in undone]
        if later:
            message = f"{later[0]} was applied after {act}"
            raise PlanError("HF4609", message, at=records.location)
        return chosen

    @contextmanager
    def _acting(self, kind: str) -> Iterator[tuple[Acting, Records]]:
        with ExitStack() as held:
            acting = held.enter_context(self.records.acting(kind))
            held.enter_context(alone(self.records.store, kind, acting.generation))
            yield acting, self.records.under(acting)

    def _answer(
        self,
        known: JournalledAct,
        outcome: str,
        steps: tuple[Step, ...],
        results: Mapping[int, Result] | None,
    ) -> Applied:
        backups = [
            one["backup"] for one in (results or known.results()).values() if "backup" in one
        ]
        word = UNDONE if outcome == UNDONE else "done"
        plan = plan_of_act(known)
        return Applied(
            location=self.records.location,
            act=known.act.id,
            remedy=plan.remedy.value,
            plan=plan.id,
            outcome=outcome,
            steps=tuple(
                StepDone(one.number, one.act, one.target, one.detail, word) for one in steps
            ),
            backup=str(backups[0]) if backups else None,
        )


def plan_of_act(known: JournalledAct) -> Plan:
    """Return the plan that an act applies; raise where the journal does not hold it whole."""
    try:
        document: Any = known.act.intent["plan"]
    except KeyError as error:
        raise CheckpointError("HF4506", f"{known.act.id} has no plan") from error
    return decode_plan(document, known.act.id)


def _nothing(location: str) -> Applied:
    return Applied(location, None, None, None, "nothing", (), None)


def _now_ms() -> int:
    return int(time.time() * 1000)
