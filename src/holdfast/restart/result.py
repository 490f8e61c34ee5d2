"""The result of `check`: the verdict on each job, and the changes that it rests on."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar

from holdfast.answers import OneLine
from holdfast.checkpoint.recovery.outcome import NextStart
from holdfast.diagnosis.inspection.runs.lastquery import ComparedRun
from holdfast.restart.acceptance import ACCEPTABLE, acceptance_of
from holdfast.restart.judging import Fingerprints, judge
from holdfast.restart.rules import RULES
from holdfast.restart.rules.rule import Rule
from holdfast.restart.start import StartFacts
from holdfast.restart.verdict import Change, Verdict, worst_verdict


@dataclass(frozen=True)
class CheckedChange:
    """One difference between what ran before and what would start now."""

    rule: str
    """The code of the rule; `holdfast explain` shows its page."""
    verdict: Verdict
    """What it means for the start by itself; safe where it is accepted."""
    subject: str
    """What changed."""
    before: str | None
    """As the last run had it; null where that is not known."""
    after: str | None
    """As it would start now; null where it is gone."""
    why: str
    """Why it matters."""
    condition: str | None
    """What must hold for the change to be right."""
    error: str | None
    """The error condition that Spark itself would fail with."""
    place: str | None
    """File and line of the user's code, where known."""
    accept: str | None
    """What `--accept` takes to start despite it; null where nothing does."""
    accepted: bool
    """It is accepted by this call."""


@dataclass(frozen=True)
class CheckedJob:
    """The verdict on one job."""

    job: str | None
    """Its name; null for a query of a program."""
    location: str
    """Its checkpoint."""
    verdict: Verdict
    """What all of its changes allow together."""
    conditions: tuple[str, ...]
    """What must hold for a conditional or unknown verdict to be right."""
    changes: tuple[CheckedChange, ...]
    """The worst first."""
    fingerprint: Fingerprints
    """The query of the last run and the current one."""
    next_start: NextStart | None
    """What Spark does with the checkpoint as it is; null where only a bundle of it is here."""
    compared_with: int | None
    """The generation of the run whose query the current one is compared with."""
    recorded_at: str | None = None
    """When the query was recorded that the current one is compared with, where Holdfast did not
    run it; else null."""


@dataclass(frozen=True, repr=False)
class Check(OneLine):
    """May the code as it is now restart on its checkpoint?"""

    SHOWN: ClassVar = ("verdict", "changes", "jobs")
    COMMAND: ClassVar = "check"

    verdict: Verdict
    """The worst of all jobs."""
    conditions: tuple[str, ...]
    """Those of all jobs."""
    changes: tuple[CheckedChange, ...]
    """Those of all jobs, each job's worst first."""
    fingerprint: Fingerprints
    """Of a single job; both null for several."""
    next_start: NextStart | None
    """Of a single job; null for several, and where only a bundle is here."""
    jobs: tuple[CheckedJob, ...]
    """The verdict on each job, in the order in which they were named."""


def checked_start(
    start: StartFacts,
    *,
    job: str | None,
    compared_with: ComparedRun | None,
    accepted: Collection[str] = (),
    rules: Sequence[Rule] = RULES,
) -> CheckedJob:
    """Judge a start, where some changes may be accepted."""
    judgement = judge(start, rules)
    changes = [_checked(one, accepted) for one in judgement.changes]
    still = [one for one in changes if one.verdict is not Verdict.SAFE]
    conditions = dict.fromkeys(one.condition for one in still if one.condition is not None)
    return CheckedJob(
        job=job,
        location=start.inspection.location,
        verdict=worst_verdict(still),
        conditions=tuple(conditions),
        changes=tuple(sorted(changes, key=lambda one: -one.verdict.rank)),
        fingerprint=judgement.fingerprint,
        next_start=start.inspection.next_start,
        compared_with=None
        if compared_with is None or compared_with.is_recording
        else compared_with.generation,
        recorded_at=None if compared_with is None else compared_with.recorded_at,
    )


def check_of(jobs: Sequence[CheckedJob]) -> Check:
    """Return the result of all jobs together."""
    only = jobs[0] if len(jobs) == 1 else None
    return Check(
        worst_verdict(jobs),
        tuple(dict.fromkeys(one for job in jobs for one in job.conditions)),
        tuple(one for job in jobs for one in job.changes),
        Fingerprints(None, None) if only is None else only.fingerprint,
        None if only is None else only.next_start,
        tuple(jobs),
    )


def _checked(change: Change, accepted: Collection[str]) -> CheckedChange:
    accept = acceptance_of(change)
    if accept is None and change.verdict is not Verdict.SAFE:
        accept = next((name for name, code in ACCEPTABLE.items() if code == change.rule), None)
    is_accepted = accept is not None and accept in accepted
    return CheckedChange(
        rule=change.rule,
        verdict=Verdict.SAFE if is_accepted else change.verdict,
        subject=change.subject,
        before=change.before,
        after=change.after,
        why=change.why,
        condition=change.condition,
        error=change.error,
        place=change.place,
        accept=accept,
        accepted=is_accepted,
    )
