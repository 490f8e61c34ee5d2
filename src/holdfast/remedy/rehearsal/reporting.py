"""Makes the report of a rehearsal from what was seen of the originals and of the copies."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.findings import Finding, Place, Severity
from holdfast.jobs.ready import ReadyJob
from holdfast.ledgers.sinkstate import SinkAnswer
from holdfast.records.history import History
from holdfast.records.run import OperatorState
from holdfast.remedy.facts import Facts
from holdfast.remedy.plan import Plan
from holdfast.remedy.rehearsal.contained import ON_SINK
from holdfast.remedy.rehearsal.copying import Copied
from holdfast.remedy.rehearsal.results import (
    Rehearsal,
    RehearsedBatches,
    RehearsedStart,
    ScratchSink,
)
from holdfast.remedy.rehearsal.scratch import Scratch
from holdfast.remedy.rehearsal.workspace import Leftover
from holdfast.remedy.results import Applied
from holdfast.steps import Steps

if TYPE_CHECKING:
    from holdfast.spark.rehearsed import RunOnCopies


@dataclass(frozen=True, kw_only=True)
class Tried:
    """What was tried on copies, and how it went."""

    plan: Plan
    job: ReadyJob | None
    scratch: Scratch
    applied: Applied
    not_started: str | None
    ran: RunOnCopies | None

    def report(
        self, original: Facts, planned: Facts, after: Facts, originals: Iterable[Copied]
    ) -> Rehearsal:
        """Return the report; every original is looked at once more for it."""
        batches = after.inspection.batches
        return Rehearsal(
            location=original.location,
            plan=self.plan.id,
            remedy=self.plan.remedy.value,
            job=None if self.job is None else self.job.name,
            workspace=None,
            steps=self.applied.steps,
            verdict=None if self.ran is None else self.ran.verdict,
            start=None if self.ran is None else _start(self.ran),
            not_started=self.not_started,
            batches=RehearsedBatches(batches.last_planned, batches.last_committed, batches.pending),
            next_start=after.inspection.next_start.reason,
            state=self._state(after),
            sink=self._sink(original, planned, after),
            originals=tuple(one.compared() for one in originals),
            notes=tuple(self._notes()),
        )

    def findings(self, original: str, copies: Collection[str]) -> Iterator[Finding]:
        """Yield what the run reported, with the original named instead of its copies."""
        for finding in () if self.ran is None else self.ran.findings:
            if finding.severity.rank >= Severity.WARNING.rank:
                yield _of_original(finding, original, copies)

    def _state(self, after: Facts) -> tuple[OperatorState, ...]:
        if self.ran is None or not self.ran.report.batches:
            return ()
        run = next(iter(History(after.records.folder).runs(1)), None)
        return () if run is None or run.measures is None else run.measures.state

    def _sink(self, original: Facts, planned: Facts, after: Facts) -> ScratchSink | None:
        if self.job is None or self.scratch.missing is not None:
            return None
        return ScratchSink(
            kind=self.job.sink.format,
            place=self.scratch.place,
            before=original.held.value,
            planned=planned.held.value,
            after=after.held.value,
            rows_planned=None if self.ran is None else self.ran.rows_before,
            rows_after=None if self.ran is None else self.ran.rows_after,
            known=after.held.answer is not SinkAnswer.UNKNOWN,
        )

    def _notes(self) -> Iterator[str]:
        yield from self.scratch.notes
        left = [one for one in self.plan.steps if one.act in ON_SINK]
        if self.scratch.missing is not None and left:
            numbers = ", ".join(str(one.number) for one in left)
            yield f"left out, because there is no copy of the sink: step {numbers}"
        if self.job is not None and self.job.processing_time is not None:
            yield "the job ran what was available, instead of waiting for more"


def changed(result: Rehearsal) -> Iterator[Finding]:
    """Yield a warning for each original that was changed meanwhile."""
    for one in result.originals:
        if not one.unchanged:
            message = f"the {one.what} changed while the plan was rehearsed"
            place = Place("", root=one.location)
            yield Finding("HF4662", Severity.WARNING, message, place, {"what": one.what})


def left_behind(leftover: Leftover) -> Finding:
    """Return the note about the copies of a rehearsal that was killed."""
    folder, scratch = str(leftover.folder), leftover.mark.scratch
    message = f"a rehearsal that was killed left {folder}"
    if scratch is not None:
        message += f", and {scratch}, which no job uses"
    evidence = {"folder": folder, "scratch": scratch}
    steps = (f"rm -r {shlex.quote(folder)}",)
    return Finding(
        "HF4664", Severity.INFO, message, Place("", root=folder), evidence, next_steps=steps
    )


def _start(ran: RunOnCopies) -> RehearsedStart:
    report, error = ran.report, ran.error
    return RehearsedStart(
        starts=error is None,
        ended=report.ended.value,
        batches=report.batches,
        first_batch=report.first_batch,
        last_batch=report.last_batch,
        rows=report.rows,
        skipped_batches=report.skipped_batches,
        code=None if error is None else error.code.number,
        message=None if error is None else error.message,
    )


def naming_original(steps: Steps, original: str, copies: Collection[str]) -> Steps:
    """Return next steps that name the original instead of its copies."""
    for copy in copies:
        steps = tuple(step.replace(copy, original) for step in steps)
    return steps


def _of_original(finding: Finding, original: str, copies: Collection[str]) -> Finding:
    def renamed(text: str) -> str:
        for copy in copies:
            text = text.replace(copy, original)
        return text

    root = finding.place.root
    place = replace(finding.place, root=None if root is None else renamed(root))
    return replace(finding, message=renamed(finding.message), place=place)
