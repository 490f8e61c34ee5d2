"""Move: bring the checkpoint with its records to another place, and close the old one."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping

from holdfast.errors import PlanError
from holdfast.jobs.registry import remembered_checkpoint
from holdfast.remedy.drafting import backup_step, block_step
from holdfast.remedy.elsewhere import Elsewhere
from holdfast.remedy.facts import Facts
from holdfast.remedy.plan import Draft, Effects, Step
from holdfast.remedy.preview import sides_of
from holdfast.remedy.repairs.places import ELSEWHERE, relocated
from holdfast.storage.location import canonical


def plan_move(facts: Facts, options: Mapping[str, str]) -> Draft:
    """Return a plan that moves the checkpoint; raise PlanError where it cannot be moved there."""
    del options
    there = _free_place(facts)
    picture = facts.subject.picture
    _refuse_damaged(facts)
    rewrites = relocated(facts.records.checkpoint, picture, there.location)
    known = {one for path in rewrites for one in sides_of(path) if picture.layout.has_file(one)}
    drops = sorted({*known, *picture.layout.orphan_checksums, *picture.layout.temporary})
    to = there.location.url
    arguments = {
        "to": to,
        "rewrites": json.dumps(
            {path: base64.b64encode(content).decode() for path, content in rewrites.items()},
            sort_keys=True,
        ),
        "drops": json.dumps(drops),
    }
    shown = there.location.shown
    steps = (
        backup_step(facts),
        block_step(facts),
        _step("copy-checkpoint", shown, _copying(len(rewrites)), arguments),
        _step("copy-records", shown, "copy the records of runs, offsets and acts", {"to": to}),
        _step("close-old-place", facts.location, "leave a metadata there that names the new place "
              "and that no Spark starts on", {"to": to}),
        *_registered(facts, there),
        _step("open-new-place", shown, "write metadata there: a query can start", {"to": to}),
    )  # fmt: skip
    told = facts.inspection.next_start
    effects = Effects(next_start=f"at the new place: {told.reason}")
    return Draft(steps, effects, tuple(_notes(facts, there)))


def _free_place(facts: Facts) -> Elsewhere:
    there = facts.elsewhere
    if there is None:
        raise PlanError("HF4619", "the new place is not named", at=facts.location)
    here, other = canonical(facts.checkpoint), canonical(there.location)
    shown = there.location.shown
    if here == other or _is_inside(here, other) or _is_inside(other, here):
        raise PlanError("HF4619", "one place is inside the other, or they are the same", at=shown)
    if not there.is_free():
        message = "the new place, or the records next to it, are not empty"
        raise PlanError("HF4619", message, at=shown)
    return there


def _is_inside(inner: str, outer: str) -> bool:
    return inner.startswith(f"{outer.rstrip('/')}/")


def _refuse_damaged(facts: Facts) -> None:
    """Raise PlanError where the start at the new place would fail: repair comes first."""
    worst = [one for one in facts.fatal if one.code not in ELSEWHERE]
    if worst:
        message = f"the next start would fail or corrupt data: {worst[0].message}"
        at = worst[0].place.within(facts.location)
        raise PlanError("HF4601", f"{message} ({worst[0].code})", at=at,
                        next_steps=worst[0].next_steps)  # fmt: skip
    if facts.subject.runs_now:
        raise PlanError("HF4601", "a driver runs on it now", at=facts.location)


def _registered(facts: Facts, there: Elsewhere) -> Iterator[Step]:
    """Yield the step that changes the project's list of places, where the job is in it."""
    job = facts.job
    if job is None:
        return
    before = remembered_checkpoint(job.folder, job.name, job.profile)
    if before is not None:
        given = {
            "to": there.location.url,
            "folder": str(job.folder),
            "job": job.name,
            "before": before,
            "after": canonical(there.location),
        }
        given |= {} if job.profile is None else {"profile": job.profile}
        detail = f"let the project know the new place of {job.name}"
        yield _step("remember-place", str(job.folder), detail, given)


def _notes(facts: Facts, there: Elsewhere) -> Iterator[str]:
    shown = there.location.shown
    if facts.job is not None:
        yield f"then set checkpoint: {shown} for job {facts.job.name} in holdfast.yaml"
    else:
        yield f"then set the query's checkpointLocation to {shown}"
    yield f"the files at {facts.location} stay there, closed; the backups stay next to them"
    yield f"holdfast undo {facts.location} takes the move back, until a query ran at the new place"


def _copying(rewritten: int) -> str:
    detail = "copy every file there, and read it again"
    if rewritten:
        detail += f"; write the paths of state schemas in {rewritten} of them as they are there"
    return detail


def _step(act: str, target: str, detail: str, arguments: Mapping[str, str]) -> Step:
    return Step(0, act, target, detail, reversible=True, arguments=arguments)
