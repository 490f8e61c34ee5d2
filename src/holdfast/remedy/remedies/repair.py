"""Repair: bring back what a proven repair exists for, so that known batches only run again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from holdfast.backup.store import read_catalogue
from holdfast.checkpoint.layout import checked_name
from holdfast.checkpoint.reading import SHOWN_BATCHES, read_picture
from holdfast.checkpoint.recovery.forecast import next_start
from holdfast.checkpoint.recovery.outcome import Action, NextStart
from holdfast.codes import CODES
from holdfast.diagnosis.checks.picture import check_picture
from holdfast.diagnosis.inspection.keptoffsets import other_offsets
from holdfast.errors import PlanError
from holdfast.findings import Finding, Severity
from holdfast.ledgers.sinkstate import LastCommitted, SinkAnswer
from holdfast.remedy.drafting import (
    allow_step,
    backup_step,
    block_step,
    change_step,
    remove_step,
    restore_step,
)
from holdfast.remedy.facts import Facts
from holdfast.remedy.plan import BatchRange, Draft, Effects, Step
from holdfast.remedy.preview import Preview
from holdfast.remedy.repairs import REPAIRS
from holdfast.remedy.repairs.identity import METADATA
from holdfast.remedy.repairs.repair import Damaged, Fix, Repair, require_known
from holdfast.wording import nearest

_MOST_ROUNDS = 500
_NOTHING = "HF4611"
_NOT_OF_CHECKPOINT = frozenset(
    {
        "HF2248", "HF2366", "HF2367", "HF2368", "HF2369", "HF2370", "HF2452", "HF3013", "HF3014",
        "HF3016", "HF3017", "HF3018", "HF3019", "HF3020", "HF3034",
    }
)  # fmt: skip
"""Findings about rows of the output or data of a source: backups of the checkpoint have neither."""


def plan_repair(facts: Facts, options: Mapping[str, str]) -> Draft:
    """Return a plan that repairs what can be; raise PlanError where nothing can, or must not be."""
    chosen = _chosen(facts, options.get("finding"))
    found = _Search(facts, chosen).run()
    if not found.fixes:
        raise found.refusal
    before, after = facts.inspection.next_start, next_start(found.damaged.picture)
    _refuse_replan(found, after)
    if after.action is Action.FAIL and after.reason == before.reason:
        message = f"the next start would still fail: {after.reason}"
        raise PlanError("HF4618", message, at=facts.location)
    return Draft(_steps(facts, found.fixes), _effects(facts, after), _notes(found, after))


def _chosen(facts: Facts, code: str | None) -> tuple[Repair, ...]:
    """Return the repairs for a finding; raise PlanError where it is not there, or has none."""
    if code is None:
        return REPAIRS
    _refuse_unknown(facts, code)
    found = next((one for one in facts.findings if one.code == code), None)
    if found is None:
        message = f"the doctor does not find {code} here"
        raise PlanError(_NOTHING, message, at=facts.location)
    chosen = tuple(one for one in REPAIRS if code in one.codes)
    if not chosen:
        raise _unrepaired(found, f"no repair of {code} is known", facts.location)
    return chosen


def _refuse_unknown(facts: Facts, code: str) -> None:
    """Raise PlanError (HF4643) for a code that there is not, so that it does not seem healthy."""
    known = [one.number for one in CODES]
    if code in known:
        return
    near = nearest(code, {one.code for one in facts.findings}) or nearest(code, known)
    hint = f"; did you mean {near}?" if near else ""
    steps = ("pass another code: holdfast doctor TARGET shows which findings there are",)
    message = f"there is no finding {code}{hint}"
    raise PlanError("HF4643", message, at=facts.location, next_steps=steps)


def _unrepaired(finding: Finding, message: str, at: str) -> PlanError:
    """Return the refusal (HF4618); backups are named only where one may help."""
    steps = None
    if finding.code in _NOT_OF_CHECKPOINT:
        steps = ("holdfast doctor TARGET shows what is wrong, and what to do",)
    return PlanError("HF4618", message, at=at, next_steps=steps)


@dataclass
class _Search:
    """Looks for fixes, one round after the other: a fix may show what is wrong behind it."""

    facts: Facts
    repairs: tuple[Repair, ...]
    fixes: list[Fix] = field(default_factory=list)
    refusals: list[PlanError] = field(default_factory=list)
    damaged: Damaged = field(init=False)

    def __post_init__(self) -> None:
        preview = Preview(self.facts.records.checkpoint)
        findings = tuple(one for one in self.facts.findings if one.place.root is None)
        catalogue = read_catalogue(self.facts.records.store).snapshots
        known = sorted(catalogue, key=lambda one: one.made_ms, reverse=True)
        picture = self.facts.subject.picture
        self.damaged = Damaged(self.facts, preview, picture, findings, tuple(known))

    def run(self) -> _Search:
        """Look until a round finds nothing new."""
        for _ in range(_MOST_ROUNDS):
            self.refusals = []
            new = self._new()
            if not new:
                break
            self.fixes += new
            self._apply(new)
        return self

    @property
    def refusal(self) -> PlanError:
        """Why nothing is repaired: the first refusal, or that nothing is wrong."""
        serious = [one for one in self.refusals if one.code != _NOTHING]
        for one in (*serious, *self.refusals):
            return one
        at = self.facts.location
        worst = next((one for one in self.facts.findings if _matters(one)), None)
        if worst is None:
            return PlanError(_NOTHING, "the doctor finds nothing to repair", at=at)
        return _unrepaired(worst, f"no repair is known of {worst.code}: {worst.message}", at)

    def _new(self) -> list[Fix]:
        touched = {path for fix in self.fixes for path in fix.paths}
        for repair in self.repairs:
            new: list[Fix] = []
            try:
                for fix in repair.fixes(self.damaged):
                    if not fix.paths & touched:
                        new.append(fix)
                        touched |= fix.paths
            except PlanError as error:
                self.refusals.append(error)
            if new:
                return new
        return []

    def _apply(self, fixes: Iterable[Fix]) -> None:
        preview = self.damaged.reader
        for fix in fixes:
            preview = preview.with_changes(fix.writes, fix.removes)
        spark = self.facts.subject.picture.starting_spark
        picture = read_picture(preview, history=SHOWN_BATCHES)
        picture = replace(picture, starting_spark=spark)
        # What only a look at sink, sources or state tells is not looked at again.
        findings = check_picture(picture)
        self.damaged = replace(
            self.damaged, reader=preview, picture=picture, findings=tuple(findings)
        )


def _matters(finding: Finding) -> bool:
    return finding.severity.rank >= Severity.WARNING.rank


def _held(found: _Search) -> LastCommitted:
    """Return what the sink holds of the query, as the repaired checkpoint names it."""
    facts, query = found.facts, found.damaged.picture.query
    sink = facts.subject.sink
    if query is None or sink is None or query.id == facts.query_id:
        return facts.held
    return sink.last_committed(query.id)


def _refuse_replan(found: _Search, after: NextStart) -> None:
    """Raise PlanError where Spark would plan a batch id that the sink knows, or may know."""
    facts, held, batch = found.facts, _held(found), after.batch_id
    if any(fix.replans for fix in found.fixes):
        require_known(facts, held, f"batch {batch} would be planned")
    if held.answer is not SinkAnswer.BATCH or held.value is None or batch is None:
        return
    # Only the newest planned batch runs again; everything above it is planned.
    planned = batch + 1 if after.action is Action.RERUN else batch
    if held.value >= planned:
        message = f"Spark would plan batch {planned} again; the sink has batch {held.value}"
        raise PlanError("HF4601", f"{message} ({held.basis})", at=facts.location)
    query, sink = found.damaged.picture.query, facts.subject.sink
    if sink is None or query is None:
        return
    differs = other_offsets(found.damaged.reader, query.id, held.value, sink.offsets_of)
    if differs is not None:
        raise PlanError("HF4601", differs.message, at=facts.location)


def _steps(facts: Facts, fixes: Iterable[Fix]) -> tuple[Step, ...]:
    """Return the steps: metadata is written last, as the one thing that lets Spark in."""
    changes, metadata = list[Step](), None
    only_sides = True
    for fix in fixes:
        only_sides &= not fix.writes and all(map(checked_name, fix.removes))
        if METADATA in fix.writes:
            metadata = fix.writes[METADATA].decode("utf-8")
        rest = {path: content for path, content in fix.writes.items() if path != METADATA}
        if rest or fix.removes:
            changes.append(_change(facts, fix, rest))
    if only_sides:
        return (backup_step(facts), *changes)
    return (backup_step(facts), block_step(facts), *changes, allow_step(facts, metadata))


def _change(facts: Facts, fix: Fix, writes: Mapping[str, bytes]) -> Step:
    if fix.from_backup is not None:
        return restore_step(facts, fix.from_backup, writes, fix.removes, fix.detail)
    if not writes:
        return remove_step(facts, fix.removes, fix.detail)
    return change_step(facts, writes, fix.removes, fix.detail)


def _effects(facts: Facts, after: NextStart) -> Effects:
    batch = after.batch_id
    if after.action is not Action.RERUN or batch is None:
        return Effects(next_start=after.reason)
    held = facts.held.value
    if held is not None and held >= batch:
        sink = f"batch {batch} is already in the sink and is skipped"
    else:
        sink = f"gets batch {batch}, with the offsets that are recorded for it"
        if facts.held.answer is SinkAnswer.UNKNOWN:
            sink += "; whether it has it already is unknown"
    source = f"the range of batch {batch} is read again"
    return Effects(BatchRange(batch, batch), None, sink, source, next_start=after.reason)


def _notes(found: _Search, after: NextStart) -> tuple[str, ...]:
    return tuple(_left(found, after))


def _left(found: _Search, after: NextStart) -> Iterator[str]:
    for fix in found.fixes:
        if METADATA in fix.writes:
            yield fix.detail
    for refusal in found.refusals:
        if refusal.code != _NOTHING:
            yield f"not repaired: {refusal.message} ({refusal.code.number})"
    if after.action is Action.FAIL:
        yield f"the next start still fails: {after.reason}"
