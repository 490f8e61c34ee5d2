"""Applies a plan step by step, finishes what was interrupted, and undoes what was applied.

Every step is written down before it begins and after it is done. A step may be repeated, so that
whoever comes after a kill goes on where the journal ends: forwards with `finish`, backwards with
`undo`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass

from holdfast.backup.access import Records, alone
from holdfast.backup.changes import sweep_leftovers
from holdfast.backup.restoring import act_id
from holdfast.backup.settling import OpenStore, no_other_store, take_back
from holdfast.checkpoint.verification import Progress
from holdfast.crashpoints import reach
from holdfast.errors import PlanError, UsageError
from holdfast.records.journal import RESTORE, Act, Event, JournalledAct, StepEntry
from holdfast.records.leases.acting import Acting
from holdfast.records.moments import moment_now
from holdfast.remedy.acts import (
    APPLIED,
    GIVEN_UP,
    NOTHING_TO_GIVE_UP,
    UNDO,
    UNDONE,
    is_of,
    naming_the_way_on,
    plan_of_act,
    refuse_edited,
    refuse_lost_backup,
    refuse_stale,
    undone_acts,
)
from holdfast.remedy.answering import answered, nothing_done
from holdfast.remedy.elsewhere import OpenElsewhere
from holdfast.remedy.evidence import AskSink, evidence_entry, evidence_of
from holdfast.remedy.plan import Plan, Step, encode_plan
from holdfast.remedy.results import Applied, StepProgress
from holdfast.remedy.running import refuse_query
from holdfast.remedy.sourcedata import UNSEEN, SourceNow
from holdfast.remedy.steps import STEP_KINDS
from holdfast.remedy.steps.work import (
    GivenUpKind,
    LastingKind,
    OpenSink,
    OtherJob,
    Result,
    RunBounded,
    Work,
    no_other_place,
    nothing_beside,
)

CHANGED = frozenset({APPLIED, "restored", "finished"})
"""The outcomes after which something is different: of a plan, of a restore, of one that was killed.
"""


@dataclass(frozen=True)
class Applying:
    """Where plans are applied, and with what."""

    records: Records
    open_sink: OpenSink
    watch: Callable[[StepProgress], None] = lambda _: None
    """Is called when a step is done or undone."""
    progress: Progress | None = None
    even_if_running: bool = False
    ask_sink: AskSink | None = None
    """Asks the declared sink; None where none is declared."""
    open_store: OpenStore = no_other_store
    """Opens the store that a restore names, where its backup is of another place."""
    part: Callable[[str], OtherJob] | None = None
    """Opens another job of the project, for plans that contain a plan of it."""
    open_elsewhere: OpenElsewhere = no_other_place
    """Opens the place that a checkpoint is moved to."""
    run_bounded: RunBounded = nothing_beside
    """Lets Spark run the batches of a backfill."""
    source: SourceNow = UNSEEN
    """Looks at the source that a backfill reads."""
    is_part: bool = False
    """Whether plans are applied as parts of another job's, which settles them."""

    def apply(
        self, plan: Plan, plan_again: Callable[[], Plan], *, as_part: bool = False
    ) -> Applied:
        """Apply a plan; one that is applied already is left alone, one that is open is finished.

        `plan_again` makes the plan once more, under the lease: raise PlanError (HF4605) where that
        is not the same plan. An act that is a part of another job's plan is left open (`end`).
        """
        if not plan.steps:
            return nothing_done(self.records.location)
        known = self._applied(plan.id)
        if known is not None:
            return answered(known, "already-applied", (), None, self.records.location)
        with self._acting(plan.remedy.value) as (acting, records):
            known = self._applied(plan.id)
            if known is not None:
                return answered(known, "already-applied", (), None, self.records.location)
            known = self._open(records)
            if known is not None and not is_of(known, plan.id):
                records.journal.refuse_unfinished()
            self._refuse_query(may_override=True)
            if known is None:
                refuse_stale(plan, plan_again())
                began = Act(
                    act_id(records, _now_ms()), plan.remedy.value, {"plan": encode_plan(plan)}
                )
                records.journal.begin(began)
                with self._open_act(began, plan):
                    reach("plan.begun")
                    known = records.journal.read(began.id)
            return self._forwards(plan, known, acting, records, "applied", ends=not as_part)

    def would_change(self, plan: Plan) -> bool:
        """Whether applying a plan would do anything: it has steps, and is not applied yet."""
        return bool(plan.steps) and self._applied(plan.id) is None

    def end(self, plan: Plan) -> None:
        """Close the act of a plan that was applied as a part of another one."""
        with self._acting(plan.remedy.value) as (_, records):
            known = self._open(records)
            if known is not None and is_of(known, plan.id):
                records.journal.end(known.act, APPLIED)

    def known(self, plan: Plan) -> JournalledAct | None:
        """Return the act of a plan that is applied or open; None where there is none."""
        acts = self.records.journal.acts()
        undone = undone_acts(acts)
        of_plan = (one for one in acts if is_of(one, plan.id) and one.act.id not in undone)
        return next(of_plan, None)

    def refuse_lasting(self, known: JournalledAct) -> None:
        """Raise PlanError (HF4609) where a step of an act cannot be undone; nothing is changed."""
        with self._acting(UNDO) as (acting, records):
            self._refuse_lasting(known, acting, records)

    def finish(self) -> Applied:
        """Finish the interrupted act, or do nothing where there is none."""
        with self._acting("apply") as (acting, records):
            known = self._open(records)
            if known is None:
                return nothing_done(records.location)
            self._refuse_query()
            if known.act.kind == UNDO:
                return self._take_back(known, acting, records)
            return self._forwards(plan_of_act(known), known, acting, records, "finished")

    def to_undo(
        self, act: str | None, newer: Callable[[JournalledAct], str | None]
    ) -> JournalledAct | None:
        """Return the act that `undo` would take back, None where there is none.

        Nothing is changed. Raise PlanError where it is known already that it cannot be undone.
        """
        found = self._open(self.records)
        if found is not None:
            return found
        chosen = self._undoable(self.records, act)
        if chosen is not None:
            self._refuse_newer(chosen, newer)
        return chosen

    def undo(self, act: str | None, newer: Callable[[JournalledAct], str | None]) -> Applied:
        """Undo an act, by default the newest that was applied or interrupted.

        `newer` says what came after an applied act, so that it cannot be undone any more; it is
        asked under the lease. Raise PlanError (HF4609) then.
        """
        with self._acting(UNDO) as (acting, records):
            found = self._open(records)
            if found is not None and act not in (
                None,
                found.act.id,
                found.act.intent.get("undoes"),
            ):
                records.journal.refuse_unfinished()
            if found is not None and found.act.kind == UNDO:
                self._refuse_query()
                return self._take_back(found, acting, records)
            if found is not None:
                self._refuse_lasting(found, acting, records)
                self._refuse_query()
                with self._open_act(found.act, plan_of_act(found)):
                    return self._backwards(found, found, acting, records)
            chosen = self._undoable(records, act)
            if chosen is None:
                return nothing_done(records.location)
            self._refuse_newer(chosen, newer)
            refuse_lost_backup(chosen, records)
            self._refuse_lasting(chosen, acting, records)
            self._refuse_query()
            began = Act(act_id(records, _now_ms()), UNDO, {"undoes": chosen.act.id})
            records.journal.begin(began)
            with self._open_act(began, None):
                undoing = records.journal.read(began.id)
            return self._take_back(undoing, acting, records)

    def give_up(self, act: str | None) -> Applied:
        """Close an interrupted backfill: what its batches wrote stays, and no other one follows.

        Raise UsageError where no act is open that can be given up.
        """
        with self._acting(UNDO) as (acting, records):
            found = self._open(records)
            if found is None or found.act.kind == UNDO or act not in (None, found.act.id):
                raise UsageError("HF1001", NOTHING_TO_GIVE_UP)
            plan, results = plan_of_act(found), dict(found.results())
            step = plan.steps[-1]
            kind = STEP_KINDS[step.act]
            if not isinstance(kind, GivenUpKind):
                raise UsageError("HF1001", NOTHING_TO_GIVE_UP)
            if step.number in found.events():
                work = self._work(plan, found, acting, records, results)
                results[step.number] = result = kind.give_up(step, work)
                self._note(records, found, step, Event.GIVEN_UP, "plan.given-up", result)
            self._keep_evidence(records, found, Event.AFTER)
            records.journal.end(found.act, GIVEN_UP)
            return answered(
                records.journal.read(found.act.id), GIVEN_UP, plan.steps, results, records.location
            )

    def _forwards(
        self,
        plan: Plan,
        known: JournalledAct,
        acting: Acting,
        records: Records,
        outcome: str,
        *,
        ends: bool = True,
    ) -> Applied:
        with self._open_act(known.act, plan):
            return self._all_forwards(plan, known, acting, records, outcome, ends)

    def _all_forwards(
        self,
        plan: Plan,
        known: JournalledAct,
        acting: Acting,
        records: Records,
        outcome: str,
        ends: bool,
    ) -> Applied:
        events, results = known.events(), dict(known.results())
        if events:
            sweep_leftovers(records.checkpoint, records.writer())
        elif evidence_of(known, Event.BEFORE) is None:
            self._keep_evidence(records, known, Event.BEFORE)
        for step in plan.steps:
            event = events.get(step.number)
            if event is not None and event.event is Event.DONE:
                continue
            self._note(records, known, step, Event.BEGUN, "plan.step-begun")
            work = self._work(plan, known, acting, records, results)
            results[step.number] = result = STEP_KINDS[step.act].apply(step, work)
            reach("plan.step-applied")
            self._note(records, known, step, Event.DONE, "plan.step-done", result)
            self.watch(StepProgress.of(plan, step, "done"))
        self._keep_evidence(records, known, Event.AFTER)
        reach("plan.applied")
        if ends:
            records.journal.end(known.act, APPLIED)
        return answered(
            records.journal.read(known.act.id), outcome, plan.steps, results, records.location
        )

    def _take_back(self, undo: JournalledAct, acting: Acting, records: Records) -> Applied:
        """Undo the act that an act of undoing names; the steps are noted in the latter."""
        with self._open_act(undo.act, None):
            applied = records.journal.read(str(undo.act.intent["undoes"]))
        with self._open_act(
            undo.act, plan_of_act(applied) if applied.act.kind != RESTORE else None
        ):
            return self._all_back(applied, undo, acting, records)

    def _all_back(
        self, applied: JournalledAct, undo: JournalledAct, acting: Acting, records: Records
    ) -> Applied:
        if evidence_of(undo, Event.BEFORE) is None:
            self._keep_evidence(records, undo, Event.BEFORE)
        if applied.act.kind != RESTORE:
            return self._backwards(applied, undo, acting, records)
        backup = take_back(records, applied.act, self.open_store, self.progress)
        self._keep_evidence(records, undo, Event.AFTER)
        reach("plan.undone")
        records.journal.end(undo.act, UNDONE)
        return Applied(
            location=records.location,
            act=applied.act.id,
            remedy=RESTORE,
            plan=None,
            outcome=UNDONE,
            steps=(),
            backup=backup,
        )

    def _backwards(
        self, of: JournalledAct, noted: JournalledAct, acting: Acting, records: Records
    ) -> Applied:
        plan = plan_of_act(of)
        sweep_leftovers(records.checkpoint, records.writer())
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
            self.watch(StepProgress.of(plan, step, UNDONE))
        self._keep_evidence(records, noted, Event.AFTER)
        reach("plan.undone")
        records.journal.end(noted.act, UNDONE)
        steps = tuple(step for step in plan.steps if step.number in done)
        return answered(records.journal.read(of.act.id), UNDONE, steps, results, records.location)

    def _open_act(self, act: Act, plan: Plan | None) -> AbstractContextManager[None]:
        """Name the way on in whatever stops an act that is open from here on."""
        at = self.records.location
        target = at if plan is None else plan.request.target
        return nullcontext() if self.is_part else naming_the_way_on(act, target, at)

    def _refuse_lasting(self, known: JournalledAct, acting: Acting, records: Records) -> None:
        """Raise PlanError (HF4609) where a step that has begun cannot be taken back.

        It is asked before anything is undone: an act that is undone in part helps nobody.
        """
        if known.act.kind == RESTORE:
            return
        plan, events, results = plan_of_act(known), known.events(), known.results()
        work = self._work(plan, known, acting, records, results)
        for step in plan.steps:
            kind, event = STEP_KINDS[step.act], events.get(step.number)
            if event is None or event.event is Event.UNDONE or not isinstance(kind, LastingKind):
                continue
            refusal = kind.lasting(step, results.get(step.number), work)
            if refusal is not None:
                raise refusal

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
            part=self.part,
            open_elsewhere=self.open_elsewhere,
            confirm=acting.confirm,
            run_bounded=self.run_bounded,
            source=self.source,
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

    def _keep_evidence(self, records: Records, known: JournalledAct, event: Event) -> None:
        entry = evidence_entry(event, records.checkpoint, self.ask_sink)
        records.journal.append(known.act.id, entry)

    def _refuse_newer(
        self, chosen: JournalledAct, newer: Callable[[JournalledAct], str | None]
    ) -> None:
        reason = newer(chosen)
        if reason is not None:
            message = f"{chosen.act.kind} {chosen.act.id}: {reason}"
            raise PlanError("HF4609", message, at=self.records.location)

    def _refuse_query(self, *, may_override: bool = False) -> None:
        if not self.even_if_running:
            refuse_query(self.records, may_override=may_override)

    def _applied(self, plan_id: str) -> JournalledAct | None:
        """Return the act that applied a plan and is not undone; None where there is none."""
        acts = self.records.journal.acts()
        undone = undone_acts(acts)
        done = (one for one in acts if one.outcome == APPLIED and one.act.id not in undone)
        return next((one for one in done if is_of(one, plan_id)), None)

    def _open(self, records: Records) -> JournalledAct | None:
        """Return the act that was interrupted; raise HF4616 where its records were edited."""
        act = records.journal.unfinished()
        if act is None:
            return None
        if act.kind == RESTORE:
            records.journal.refuse_unfinished()
        known = next(one for one in records.journal.acts() if one.act.id == act.id)
        refuse_edited(known, records)
        return known

    def _undoable(self, records: Records, act: str | None) -> JournalledAct | None:
        """Return the chosen act, or the newest; None where the chosen one is undone already."""
        acts = records.journal.acts()
        undone = undone_acts(acts)
        left = [one for one in acts if one.act.kind != UNDO and one.act.id not in undone]
        changed = [one for one in left if one.outcome in CHANGED]
        chosen = next(iter(changed), None)
        if act is not None:
            chosen = next((one for one in acts if one.act.id == act), None)
            if chosen is None or chosen.act.kind == UNDO:
                raise PlanError("HF4610", f"the journal has no act {act}", at=records.location)
            if chosen.act.id in undone or chosen.outcome not in CHANGED:
                return None
            later = [one for one in changed if one.act.id > act]
            if later:
                message = f"{later[0].act.id} ({later[0].act.kind}) was applied after {act}"
                raise PlanError("HF4609", message, at=records.location)
        if chosen is not None:
            refuse_edited(chosen, records)
        return chosen

    @contextmanager
    def _acting(self, kind: str) -> Iterator[tuple[Acting, Records]]:
        with ExitStack() as held:
            acting = held.enter_context(self.records.acting(kind))
            held.enter_context(alone(self.records.store, kind, acting.generation))
            yield acting, self.records.under(acting)


def _now_ms() -> int:
    return int(time.time() * 1000)
