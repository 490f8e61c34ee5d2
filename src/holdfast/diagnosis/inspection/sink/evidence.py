"""Tells which sink a query has: from the sink's own log, a commit, or the project file."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.diagnosis.inspection.fact import Basis, SinkEvidence, SinkFact
from holdfast.diagnosis.inspection.result import Inspection
from holdfast.diagnosis.inspection.sink.deltacommits import DeltaCommit
from holdfast.jobs.declaredsink import DeclaredSink
from holdfast.ledgers.asking import SinkMemory


@dataclass(frozen=True)
class SinkClues:
    """What was found out about the sink besides the checkpoint."""

    memory: SinkMemory | None = None
    """What the sink remembers; None where it is not known, or can't be asked."""
    commit: DeltaCommit | None = None
    """The newest version of a Delta table that this query wrote."""
    declared: DeclaredSink | None = None
    """What the project file says."""
    given: bool = False
    """It is an output folder that was named with --sink, not taken from the project file."""

    @property
    def log(self) -> SinkMemory | None:
        """What it remembers, where that is a log of batches."""
        return self.memory if self.memory is not None and self.memory.kind != "none" else None


def sink_fact(found: Inspection, clues: SinkClues) -> SinkFact:
    """Give the sink with the best basis there is."""
    if clues.log is not None:
        return _from_log(found, clues.log)
    if found.sink is not None:
        told = "the commit names the sink, not what the sink holds"
        evidence = SinkEvidence(found.sink.kind, found.sink.identity, None, told, None)
        return SinkFact(evidence, Basis.READ, f"commits/{found.batches.last_committed}")
    if clues.declared is not None:
        declared = clues.declared
        evidence = SinkEvidence(
            declared.format, declared.identity, None, _unasked(clues), None, native=declared.native
        )
        return SinkFact(evidence, Basis.INFERRED, declared.at)
    if clues.memory is not None:
        return SinkFact(None, Basis.UNKNOWN, f"{clues.memory.location}: {_unasked(clues)}")
    return SinkFact(None, Basis.UNKNOWN, "a checkpoint names its sink from commit log v3 on only")


def identity_from_sink(clues: SinkClues) -> str | None:
    """Give the query id that a Delta log names, where it names exactly one."""
    ledger = clues.log.delta if clues.log is not None else None
    if ledger is None or not ledger.complete or len(ledger.transactions) != 1:
        return None
    return next(iter(ledger.transactions))


def _from_log(found: Inspection, memory: SinkMemory) -> SinkFact:
    last = memory.last_committed(found.query_id)
    identity = found.sink.identity if found.sink is not None else memory.location
    if memory.own is not None:
        is_known = last.value is not None
        evidence = SinkEvidence(memory.own.kind, identity, last.value, last.basis, is_known)
        basis = Basis.READ if is_known else Basis.INFERRED
        return SinkFact(evidence, basis, memory.own.location)
    if memory.delta is None:
        evidence = SinkEvidence("files", identity, last.value, last.basis, None)
        return SinkFact(evidence, Basis.READ, f"{memory.location}/_spark_metadata")
    source = f"{memory.location}/_delta_log"
    pending = found.batches.last_planned != found.batches.last_committed
    if pending and last.value is not None and memory.delta.has_expired(found.query_id):
        # The batch is in the table, but Delta writes it again: what it skips is no longer known.
        told = f"the identifier of batch {last.value} has expired: Delta writes it again"
        forgotten = SinkEvidence("delta", identity, None, told, False)
        return SinkFact(forgotten, Basis.UNKNOWN, f"{source}: {told}")
    knows = True if last.value is not None else False if memory.delta.complete else None
    evidence = SinkEvidence("delta", identity, last.value, last.basis, knows)
    # A table that never heard of the query may still be its sink, through foreachBatch.
    return SinkFact(evidence, Basis.READ if knows else Basis.INFERRED, source)


def _unasked(clues: SinkClues) -> str:
    if clues.memory is not None:
        return clues.memory.last_committed(None).basis
    return "the sink was not asked"
