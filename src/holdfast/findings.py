"""What a check reports: a code, how bad, where, the evidence, why it matters, what to do next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from holdfast.codes import code_of
from holdfast.steps import named_steps


class Severity(str, Enum):
    """How bad. `fatal` is kept for: the next start fails, or corrupts."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"
    FATAL = "fatal"

    @property
    def rank(self) -> int:
        """Order from info (0) to fatal (3)."""
        return list(Severity).index(self)


@dataclass(frozen=True)
class Place:
    """Where in a checkpoint: a file relative to its root, and line (from 1) or byte (from 0)."""

    file: str
    line: int | None = None
    byte: int | None = None
    root: str | None = None
    """The root of the file, if that is not the examined checkpoint."""

    def within(self, location: str) -> str:
        """Spell the place out for people, below its root or else the checkpoint's location."""
        root = location if self.root is None else self.root
        path = f"{root.rstrip('/')}/{self.file}" if self.file else root
        if self.line is not None and self.byte is not None:
            return f"{path} line {self.line} (byte {self.byte})"
        if self.line is not None:
            return f"{path} line {self.line}"
        return path if self.byte is None else f"{path} byte {self.byte}"


@dataclass(frozen=True)
class Finding:
    """One thing found in a checkpoint, with what it rests on."""

    code: str
    severity: Severity
    message: str
    place: Place
    evidence: Mapping[str, object] = field(default_factory=dict)
    why: str = ""
    next_steps: tuple[str, ...] = ()
    accepted: bool = False
    """The user accepted it by name: it is a note, and there is nothing left to do."""

    def __post_init__(self) -> None:
        registered = code_of(self.code)
        if not self.why:
            object.__setattr__(self, "why", registered.why)
        if not self.next_steps and not self.accepted:
            object.__setattr__(self, "next_steps", registered.next_steps)


def named(finding: Finding, target: str | None, job: str | None = None) -> Finding:
    """Return a finding whose next steps name the target and the job that it is about."""
    return replace(finding, next_steps=named_steps(finding.next_steps, target, job))


def rooted(finding: Finding, root: str) -> Finding:
    """Return a finding with its own checkpoint, among those of others."""
    if finding.place.root is not None:
        return finding
    return replace(finding, place=replace(finding.place, root=root))


_CAUSES = frozenset({"HF2111", "HF2114", "HF2604"})
"""The bytes of a file are not those that were written: whatever else is found in it follows."""


def worst_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Put the worst findings first, and a cause before what follows from it.

    That a file was changed counts as much as the worst that is found in that file. Findings that
    are equal in this keep their order.
    """
    given = tuple(findings)
    worst_of: dict[Place, int] = {}
    for one in given:
        worst_of[_file_of(one)] = max(worst_of.get(_file_of(one), 0), one.severity.rank)

    def order(one: Finding) -> tuple[int, bool]:
        is_cause = one.code in _CAUSES
        return -(worst_of[_file_of(one)] if is_cause else one.severity.rank), not is_cause

    return tuple(sorted(given, key=order))


def _file_of(finding: Finding) -> Place:
    return Place(finding.place.file, root=finding.place.root)


def worst(findings: tuple[Finding, ...]) -> Severity | None:
    """Return the worst severity among the findings, None when there are none."""
    return max((finding.severity for finding in findings), key=lambda s: s.rank, default=None)
