"""What a person may accept about a start, and how an acceptance names exactly one change."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, Protocol

from holdfast.codes import code_of
from holdfast.errors import RefusedError
from holdfast.findings import Finding, Place, Severity
from holdfast.records.documents import encode_document
from holdfast.records.run import SHARED_SINK
from holdfast.restart.verdict import Change, Verdict

SHARED_MOUNT = "shared-mount"
ACCEPTABLE: Mapping[str, str] = {
    "empty-sink": "HF3013",
    "new-checkpoint": "HF3025",
    "sink-behind": "HF3006",
    SHARED_SINK: "HF3007",
    "changing-source": "HF2372",
    SHARED_MOUNT: "HF3028",
}
"""What a user can accept by name, and the finding that it softens."""

ACCEPTABLE_RULES = frozenset(
    {"HF3103", "HF3104", "HF3105", "HF3106", "HF3112", "HF3113", "HF3114", "HF3115", "HF3116",
     "HF3118",
     "HF3119", "HF3120", "HF3121", "HF3122", "HF3123", "HF3130", "HF3131", "HF3132", "HF3133",
     "HF3134", "HF3135", "HF3136", "HF3140", "HF3150", "HF3152", "HF3155", "HF3157"}
)  # fmt: skip
"""Rules in which a person can know better, each accepted as CODE:DIGEST. What Spark itself would
fail on is never accepted, whatever its rule."""

UNSAFE_STATUS = 30
STATUSES: Mapping[Verdict, int] = {
    Verdict.SAFE: 0,
    Verdict.UNSAFE: UNSAFE_STATUS,
    Verdict.UNKNOWN: 31,
    Verdict.CONDITIONAL: 32,
}
"""The exit status of each verdict."""

_OWN_STATUS = frozenset({"HF2230"})
"""What could not be read is refused with the status of its code."""
_ACCEPTANCE = re.compile(r"(HF31\d\d):([0-9a-f]{8})")
_DIGEST = "DIGEST"
"""Stands in the next steps of a code for the digest of the change."""


def digest_of(change: Change) -> str:
    """Return the digest that an acceptance of this very change names."""
    named = {"rule": change.rule, "subject": change.subject, "before": change.before,
             "after": change.after}  # fmt: skip
    return hashlib.sha256(encode_document(named)).hexdigest()[:8]


def acceptance_of(change: Change) -> str | None:
    """Return what accepts a change, such as `HF3116:ab12cd34`; None where nothing does."""
    if change.verdict is Verdict.SAFE or change.error is not None:
        return None
    return f"{change.rule}:{digest_of(change)}" if change.rule in ACCEPTABLE_RULES else None


def is_acceptance(text: str) -> bool:
    """Tell whether a text may be given with `--accept`: a name, or a rule with a digest."""
    found = _ACCEPTANCE.fullmatch(text)
    return text in ACCEPTABLE or (found is not None and found[1] in ACCEPTABLE_RULES)


class ShownChange(Protocol):
    """A change as a rule judges it, or as a check shows it."""

    @property
    def rule(self) -> str: ...
    @property
    def verdict(self) -> Verdict: ...
    @property
    def subject(self) -> str: ...
    @property
    def before(self) -> str | None: ...
    @property
    def after(self) -> str | None: ...
    @property
    def why(self) -> str: ...
    @property
    def condition(self) -> str | None: ...
    @property
    def error(self) -> str | None: ...
    @property
    def place(self) -> str | None: ...


_SEVERITIES: Mapping[Verdict, Severity] = {
    Verdict.SAFE: Severity.INFO,
    Verdict.CONDITIONAL: Severity.ERROR,
    Verdict.UNKNOWN: Severity.ERROR,
    Verdict.UNSAFE: Severity.FATAL,
}


def finding_of(change: ShownChange, accept: str | None) -> Finding:
    """Return a change as the finding that a check shows, and a start is refused with.

    `accept` is what accepts it, None where nothing does.
    """
    shown = change.subject
    if (change.before, change.after) != (None, None):
        shown += f": {change.before or 'none'} → {change.after or 'none'}"
    evidence: dict[str, Any] = {
        "verdict": change.verdict.value,
        "before": change.before,
        "after": change.after,
        "condition": change.condition,
    }
    evidence |= {"error": change.error} if change.error is not None else {}
    evidence |= {"accept": accept} if accept is not None else {}
    steps = _steps_of(code_of(change.rule).next_steps, change.rule, accept)
    place = Place("", root=change.place)
    return Finding(
        change.rule, _SEVERITIES[change.verdict], shown, place, evidence, change.why, steps
    )


def _steps_of(steps: tuple[str, ...], rule: str, accept: str | None) -> tuple[str, ...]:
    """Return the next steps of a code with the digest of a change, without it where none is."""
    return tuple(
        step.replace(f"{rule}:{_DIGEST}", accept or "")
        for step in steps
        if accept is not None or _DIGEST not in step
    )


def refuse_unaccepted(
    findings: Collection[Finding], accepted: Collection[str], location: str
) -> tuple[Finding, ...]:
    """Return findings, those softened that are accepted; raise RefusedError for a serious one."""
    for finding in findings:
        if finding.severity.rank >= Severity.ERROR.rank and not _accepted_as(finding, accepted):
            raise _refusal(finding, location)
    return tuple(_softened(finding) if _accepted_as(finding, accepted) else finding
                 for finding in findings)  # fmt: skip


def accepted_by_name(findings: Collection[Finding], accepted: Collection[str]) -> tuple[str, ...]:
    """Name what was accepted and indeed found."""
    return tuple(sorted({name for one in findings for name in _accepted_as(one, accepted)}))


def _accepted_as(finding: Finding, accepted: Collection[str]) -> list[str]:
    """Return which of the acceptances are of this finding."""
    own = finding.evidence.get("accept")
    return [name for name in accepted if ACCEPTABLE.get(name) == finding.code or name == own]


def _refusal(finding: Finding, location: str) -> RefusedError:
    verdict = finding.evidence.get("verdict")
    status = STATUSES[Verdict(verdict)] if isinstance(verdict, str) else None
    if finding.severity is Severity.FATAL and finding.code not in _OWN_STATUS:
        # Also what the doctor calls fatal, whatever the status of a command that can't go on.
        status = UNSAFE_STATUS
    return RefusedError(
        finding.code,
        finding.message,
        at=finding.place.within(location),
        why=finding.why,
        next_steps=finding.next_steps,
        status=status,
    )


def _softened(finding: Finding) -> Finding:
    return replace(
        finding,
        severity=Severity.INFO,
        message=f"{finding.message} (accepted)",
        next_steps=(),
        accepted=True,
    )
