"""Compares what is about to start with the checkpoint and the sink; a start may be refused.

Each guard is a function that yields findings. One of error or worse refuses the start; what the
user accepts by name is told instead.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from holdfast.checkpoint.outcome import Action
from holdfast.diagnosis.inspection import Inspection
from holdfast.errors import RefusedError
from holdfast.findings import Finding, Place, Severity
from holdfast.ledgers.lastcommitted import LastCommitted
from holdfast.records.run import PlanFacts
from holdfast.redaction import redact

ACCEPTABLE: Mapping[str, str] = {"sink-behind": "HF3006", "shared-sink": "HF3007"}
"""What a user can accept by name, and the finding that it softens."""

_HERE = Place("")


@dataclass(frozen=True)
class Start:
    """Everything that the guards look at."""

    inspection: Inspection
    facts: PlanFacts
    sink: LastCommitted
    """What the sink says of this query."""
    sink_queries: Collection[str]
    """Other queries whose batches the sink knows."""
    settings: Mapping[str, str]
    """What the user sets."""

    @property
    def is_fresh(self) -> bool:
        """Whether no batch was ever planned."""
        return self.inspection.batches.last_planned is None


def refuse_or_tell(start: Start, accepted: Collection[str]) -> tuple[Finding, ...]:
    """Run every guard; raise RefusedError for the first finding that forbids the start."""
    softened = {ACCEPTABLE[name] for name in accepted if name in ACCEPTABLE}
    findings = [finding for guard in GUARDS for finding in guard(start)]
    for finding in findings:
        if finding.severity.rank >= Severity.ERROR.rank and finding.code not in softened:
            raise _refusal(finding, start.inspection.location)
    return tuple(_softened(finding) if finding.code in softened else finding
                 for finding in findings)  # fmt: skip


def guard_next_start(start: Start) -> Iterator[Finding]:
    """Refuse where Spark itself would fail."""
    told = start.inspection.next_start
    if told.action is Action.FAIL:
        reached = "; the batch would reach the sink before that" if told.sink_touched else ""
        yield Finding("HF3001", Severity.FATAL, f"Spark would fail: {told.reason}{reached}", _HERE)


def guard_sources(start: Start) -> Iterator[Finding]:
    """Refuse another number of sources, or a source of another kind at its place."""
    before, now = start.inspection.sources, start.facts.sources
    if start.is_fresh:
        return
    if len(before) != len(now):
        message = f"the job has {_sources(len(now))}, its checkpoint {_sources(len(before))}"
        evidence = {"job": list(now), "checkpoint": [source.kind for source in before]}
        yield Finding("HF3002", Severity.FATAL, message, _HERE, evidence)
        return
    for source, kind in zip(before, now, strict=True):
        if not {kind, source.kind} & {"unknown"} and kind not in (source.kind, *source.candidates):
            message = f"source {source.index} is {kind} in the job and {source.kind} in the "
            message += "checkpoint"
            told = {"offset": source.summary, "basis": source.basis}
            yield Finding("HF3003", Severity.FATAL, message, _HERE, told)


def guard_operators(start: Start) -> Iterator[Finding]:
    """Refuse other stateful operators than those whose state there is."""
    if start.is_fresh:
        return
    if start.facts.operators is None:
        message = "the stateful operators of the job can't be told from its plan"
        yield Finding("HF3011", Severity.WARNING, message, _HERE)
        return
    before = [operator.name for operator in start.inspection.operators]
    if not before and start.inspection.batches.last_committed is None:
        return  # killed before the first batch wrote any state
    now = list(start.facts.operators)
    same = len(before) == len(now) and all(
        name is None or name == other for name, other in zip(before, now, strict=True)
    )
    if not same:
        message = f"the job has the operators {_listed(now)}, its checkpoint {_listed(before)}"
        evidence = {"job": now, "checkpoint": before}
        yield Finding("HF3004", Severity.FATAL, message, _HERE, evidence)


def guard_sink_ahead(start: Start) -> Iterator[Finding]:
    """Refuse where the sink holds a batch that this checkpoint would plan anew."""
    planned = start.inspection.batches.last_planned
    held = start.sink.value
    is_ahead = held is not None and held > (-1 if planned is None else planned)
    if is_ahead or start.sink.closed:
        shown = "none" if planned is None else f"batch {planned}"
        has = f"holds batch {held}" if is_ahead else "is closed for this query"
        message = f"the sink {has}; the newest that the checkpoint knows is {shown}"
        evidence = {"sink": held, "planned": planned, "basis": start.sink.basis}
        yield Finding("HF3005", Severity.FATAL, message, _HERE, evidence)


def guard_sink_behind(start: Start) -> Iterator[Finding]:
    """Refuse where the checkpoint takes batches for delivered that the sink does not hold."""
    committed = start.inspection.batches.last_committed
    held = start.sink.value
    if committed is not None and held is not None and held < committed:
        message = f"the checkpoint committed batch {committed}; the sink holds only up to {held}"
        evidence = {"sink": held, "committed": committed, "basis": start.sink.basis}
        yield Finding("HF3006", Severity.ERROR, message, _HERE, evidence)


def guard_foreign_sink(start: Start) -> Iterator[Finding]:
    """Refuse a new checkpoint on a sink that another query filled."""
    if start.is_fresh and start.sink.value is None and start.sink_queries:
        others = sorted(start.sink_queries)
        message = f"the sink holds batches of {len(others)} other quer"
        message += "y" if len(others) == 1 else "ies"
        yield Finding("HF3007", Severity.ERROR, message, _HERE, {"query_ids": others[:10]})


def guard_settings(start: Start) -> Iterator[Finding]:
    """Tell which given settings Spark will overrule with those of the checkpoint."""
    for name, pinned in start.inspection.settings.items():
        given = start.settings.get(name)
        if given is not None and given != pinned:
            message = f"{name} is {redact(given)} here and {pinned} in the checkpoint"
            evidence = {"setting": name, "given": given, "pinned": pinned}
            yield Finding("HF3008", Severity.INFO, message, _HERE, evidence)


Guard = Callable[[Start], Iterator[Finding]]

GUARDS: tuple[Guard, ...] = (
    guard_next_start,
    guard_sources,
    guard_operators,
    guard_sink_ahead,
    guard_sink_behind,
    guard_foreign_sink,
    guard_settings,
)
"""In the order in which they are told."""


def _refusal(finding: Finding, location: str) -> RefusedError:
    return RefusedError(
        finding.code,
        finding.message,
        at=finding.place.within(location),
        why=finding.why,
        next_steps=finding.next_steps,
    )


def _softened(finding: Finding) -> Finding:
    return replace(finding, severity=Severity.WARNING, message=f"{finding.message} (accepted)")


def _sources(count: int) -> str:
    return f"{count} source" if count == 1 else f"{count} sources"


def _listed(names: Collection[str | None]) -> str:
    return ", ".join(name or "unnamed" for name in names) or "none"
