"""The kinds of sources and operators that Spark plans, against those of the checkpoint."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from holdfast.checkpoint.recovery.outcome import Action
from holdfast.diagnosis.checks.state.operators import lost_state
from holdfast.findings import Finding, Place, Severity
from holdfast.restart.rules.rule import on_checkpoint
from holdfast.restart.start import StartFacts
from holdfast.wording import counted

_HERE = Place("")


@on_checkpoint("HF3002", "HF3003")
def planned_sources(start: StartFacts) -> Iterator[Finding]:
    """Refuse another number of sources, or a source of another kind at its place."""
    before, now = start.inspection.sources, start.plan.sources
    if start.is_fresh or (start.inspection.next_start.action is Action.UNKNOWN and not before):
        # Without offsets that can be read there is nothing to compare with.
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


@on_checkpoint("HF2372", "HF2373", "HF2374", "HF2375")
def declared_sources(start: StartFacts) -> Iterator[Finding]:
    """Refuse sources at another path, and streams of tables in which another job changes rows."""
    yield from start.declared


@on_checkpoint("HF2221")
def operators_with_state(start: StartFacts) -> Iterator[Finding]:
    """Refuse where the state of an operator of the last run is gone."""
    if not _lacks_files(start):
        yield from _lost(start)


@on_checkpoint("HF3011", "HF3004")
def planned_operators(start: StartFacts) -> Iterator[Finding]:
    """Refuse other stateful operators than those whose state there is."""
    if start.is_fresh:
        return
    if start.plan.operators is None:
        message = "the stateful operators of the job cannot be determined from its plan"
        yield Finding("HF3011", Severity.WARNING, message, _HERE)
        return
    before = [operator.name for operator in start.inspection.operators]
    if not before and start.inspection.batches.last_committed is None:
        return  # killed before the first batch wrote any state
    now = list(start.plan.operators)
    if _lacks_files(start) or any(_lost(start)):
        return  # the operator is not new: its state is gone
    same = len(before) == len(now) and all(
        name is None or name == other for name, other in zip(before, now, strict=True)
    )
    if not same:
        message = f"the job has the operators {_listed(now)}, its checkpoint {_listed(before)}"
        evidence = {"job": now, "checkpoint": before}
        yield Finding("HF3004", Severity.FATAL, message, _HERE, evidence)


def _lost(start: StartFacts) -> Iterator[Finding]:
    if start.stored is not None and start.inspection.batches.last_committed is not None:
        names = [one.name for one in start.stored.operators or ()]
        yield from lost_state([one.id for one in start.inspection.operators], names)


def _lacks_files(start: StartFacts) -> bool:
    """Whether the files of the checkpoint show already that state is missing."""
    return any(one.code == "HF2221" for one in start.fatal)


def _sources(count: int) -> str:
    return counted(count, "source")


def _listed(names: Collection[str | None]) -> str:
    return ", ".join(name or "unnamed" for name in names) or "none"
