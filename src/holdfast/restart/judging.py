"""Judges a start by every rule: the verdict, the changes it rests on, what must be confirmed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from holdfast.codes import code_of
from holdfast.findings import Finding, Severity
from holdfast.records.facts import fingerprint
from holdfast.restart.acceptance import acceptance_of, finding_of, refuse_unaccepted
from holdfast.restart.rules import RULES
from holdfast.restart.rules.rule import Needs, Rule
from holdfast.restart.start import StartFacts
from holdfast.restart.verdict import Change, Verdict, worst_verdict

_UNKNOWN_STATUS = 31
_UNREAD = "HF2230"


@dataclass(frozen=True)
class Fingerprints:
    """What the query was and is, each as one digest; null where it is not known."""

    stored: str | None
    """The query of the last run."""
    current: str | None
    """The query that would start now."""


@dataclass(frozen=True)
class Judgement:
    """What is judged of a start."""

    verdict: Verdict
    conditions: tuple[str, ...]
    """What must hold for a conditional or unknown verdict to be right."""
    changes: tuple[Change, ...]
    """What is different, the worst first."""
    fingerprint: Fingerprints
    findings: tuple[Finding, ...] = ()
    """What rules on the checkpoint and the sink found, in their order."""
    uncompared: frozenset[str] = field(default_factory=frozenset)
    """Codes of changes that are seen without the last run: they do not stop a start."""
    noted: frozenset[str] = field(default_factory=frozenset)
    """Codes of changes of data: a start notes them."""


def judge(start: StartFacts, rules: Sequence[Rule] = RULES) -> Judgement:
    """Judge a start; nothing is read or asked any more."""
    findings: list[Finding] = []
    changes: list[Change] = []
    uncompared: set[str] = set()
    noted: set[str] = set()
    for rule in rules:
        for one in rule.look(start) if rule.applies(start) else ():
            if isinstance(one, Finding):
                findings.append(one)
                changes.extend(_as_change(one))
            else:
                changes.append(one)
                if rule.is_of_data:
                    noted.add(one.rule)
                if rule.is_of_gaps or (rule.needs is Needs.PLAN and start.lacks_history):
                    uncompared.add(one.rule)
    ordered = tuple(sorted(changes, key=lambda one: -one.verdict.rank))
    open_ones = [one for one in ordered if one.condition and one.verdict is not Verdict.SAFE]
    return Judgement(
        verdict=worst_verdict(ordered),
        conditions=tuple(dict.fromkeys(one.condition for one in open_ones if one.condition)),
        changes=ordered,
        fingerprint=Fingerprints(
            None if start.stored is None else fingerprint(start.stored),
            None if start.current is None else fingerprint(start.current),
        ),
        findings=tuple(findings),
        uncompared=frozenset(uncompared),
        noted=frozenset(noted),
    )


def admit_start(start: StartFacts, accepted: Collection[str] = ()) -> tuple[Finding, ...]:
    """Return what is found of a start; raise RefusedError for what forbids it, unless accepted.

    A change that is safe is not reported, nor one that is seen without the last run: what is known
    then has always been left to Spark.
    """
    judged = judge(start)
    refusing = [
        _found(one, is_noted=one.rule in judged.noted)
        for one in judged.changes
        if one.rule.startswith("HF31") and one.verdict is not Verdict.SAFE
        if one.rule not in judged.uncompared
    ]
    return refuse_unaccepted([*judged.findings, *refusing], accepted, start.inspection.location)


def _found(change: Change, *, is_noted: bool) -> Finding:
    found = finding_of(change, acceptance_of(change))
    return replace(found, severity=Severity.INFO) if is_noted else found


def _as_change(finding: Finding) -> Iterator[Change]:
    """Yield what a finding of a rule means for the verdict."""
    verdict = Verdict.SAFE
    if finding.severity.rank >= Severity.ERROR.rank:
        status = code_of(finding.code).exit_status
        is_unknown = finding.code == _UNREAD or status == _UNKNOWN_STATUS
        verdict = Verdict.UNKNOWN if is_unknown else Verdict.UNSAFE
    yield Change(finding.code, verdict, finding.message, None, None, finding.why)
