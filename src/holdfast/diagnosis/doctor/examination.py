"""The result of `doctor`: what was found at each target, what could not be examined, and what
changed since the last look."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from holdfast.answers import Answer, OneLine
from holdfast.findings import Finding, Severity


@dataclass(frozen=True)
class SinkSeen:
    """What the sink itself remembers."""

    location: str
    """The output directory, the table or the function."""
    kind: str
    """`delta`, `files` (Spark's file sink, or manifests), `postgres`, `custom` or `none`."""
    last_committed: int | None
    """The newest batch that the sink holds of this query."""
    basis: str
    """How that is known, or why not."""
    readable: bool = True
    """False where the sink could not be read: nothing in it was checked."""


@dataclass(frozen=True)
class Reported:
    """A finding of this target, in the words of every document."""

    code: str
    """Its page: holdfast explain CODE."""
    severity: Severity
    """How bad."""
    message: str
    """What was found."""
    at: str
    """Where: in the checkpoint, or in the sink's log."""
    evidence: Mapping[str, object]
    """What it rests on; `wrong_fixes` names commonly advised fixes that do harm here."""
    why: str
    """What Spark, or the data, would suffer."""
    next: tuple[str, ...]
    """What to do next, the safest first."""


@dataclass(frozen=True, repr=False)
class Examined(OneLine):
    """One target."""

    SHOWN: ClassVar = ("target", "job", "worst", "findings")

    target: str
    """As requested, or as found in a base directory."""
    location: str
    """Where it was read, without secrets."""
    job: str | None
    """The job's name in the project, null for a path."""
    readable: bool
    """False where the place could not be read as a checkpoint; the finding says why."""
    query_id: str | None
    """The id in `metadata`."""
    last_planned: int | None
    """The newest batch with an offsets entry."""
    last_committed: int | None
    """The newest batch with a commit."""
    sink: SinkSeen | None
    """Null where no sink is known: give --sink, or declare the job."""
    worst: Severity | None
    """The worst severity among the findings; null where there are none."""
    findings: tuple[Reported, ...]
    """The worst first."""


@dataclass(frozen=True, repr=False)
class Examination(OneLine):
    """What was found, a target each."""

    SHOWN: ClassVar = ("checks", "targets")
    COMMAND: ClassVar = "doctor"

    checks: int
    """How many checks were made at each target."""
    targets: tuple[Examined, ...]
    """In the order in which they were asked for."""


def reported(findings: tuple[Finding, ...], location: str) -> tuple[Reported, ...]:
    """Spell findings out for one target."""
    return tuple(
        Reported(
            code=one.code,
            severity=one.severity,
            message=one.message,
            at=one.place.within(location),
            evidence=one.evidence,
            why=one.why,
            next=one.next_steps,
        )
        for one in findings
    )


@dataclass(frozen=True)
class FindingChange:
    """One finding that came or went at a target."""

    location: str
    appeared: bool
    finding: Reported


def watch(
    look: Callable[[], Answer[Examination]], wait: Callable[[], None]
) -> Iterator[tuple[Answer[Examination], tuple[FindingChange, ...]]]:
    """Examine, report and wait, until interrupted; the first report has all findings."""
    before: dict[tuple[str, str, str], Reported] = {}
    while True:
        answer = look()
        now = _by_place(answer)
        came = [FindingChange(key[0], True, one) for key, one in now.items() if key not in before]
        went = [FindingChange(key[0], False, one) for key, one in before.items() if key not in now]
        yield answer, (*came, *went)
        before = now
        wait()


def _by_place(answer: Answer[Examination]) -> dict[tuple[str, str, str], Reported]:
    """A finding is the same while target, code and place are; its numbers may move."""
    return {
        (target.location, one.code, one.at): one
        for target in answer.result.targets
        for one in target.findings
    }
