"""What only the record of a run tells: the Spark that it ran on, its sink, modes and operators."""

from __future__ import annotations

from dataclasses import replace

from holdfast.checkpoint.operatorview import Operator
from holdfast.diagnosis.inspection.fact import (
    Basis,
    HistoryFact,
    OperatorsFact,
    SinkEvidence,
    SinkFact,
    SparkVersionFact,
    TextFact,
)
from holdfast.diagnosis.inspection.runs.restarts import NO_RESTARTS, UNRECORDED
from holdfast.diagnosis.inspection.runs.shown import attempt_shown, run_shown
from holdfast.diagnosis.inspection.runs.version import recorded_version
from holdfast.ledgers.sparkfilesink import FORMATS as FILE_FORMATS
from holdfast.records.attempts import Attempt
from holdfast.records.run import Run

_NOT_ASKED = "the sink was not asked"


def source_of(run: Run) -> str:
    """Name a record for people."""
    return f"the record of run {run.generation} of job {run.job}"


def with_recorded_version(fact: SparkVersionFact, run: Run | None) -> SparkVersionFact:
    """Give the exact release where the checkpoint tells a range of them at most."""
    if run is None or fact.basis is Basis.READ:
        return fact
    version = recorded_version(run, fact.value)
    if version is None:
        return fact
    return SparkVersionFact(version, Basis.RECORDED, source_of(run))


def with_recorded_sink(fact: SinkFact, run: Run | None) -> SinkFact:
    """Give the recorded sink where nothing of its own says that this is the one."""
    if run is None or run.sink is None:
        return fact
    asked, sink = fact.value, run.sink
    kind = "files" if sink.kind in FILE_FORMATS else sink.kind
    told = _NOT_ASKED
    if asked is not None and asked.kind in (kind, sink.kind):
        told = asked.last_committed_basis
        asked = replace(asked, promise=sink.promise, native=sink.native)
        if fact.basis is Basis.READ:
            return replace(fact, value=asked)
        if asked.knows_query is not None:
            return SinkFact(asked, Basis.RECORDED, source_of(run))
    if fact.basis is Basis.READ:
        return fact
    if run.last_batch is not None:
        told += f"; a record says that batch {run.last_batch} was delivered"
    evidence = SinkEvidence(sink.kind, sink.identity, None, told, None, sink.promise, sink.native)
    return SinkFact(evidence, Basis.RECORDED, source_of(run))


def with_recorded_mode(fact: TextFact, run: Run | None) -> TextFact:
    """Give the recorded output mode where neither state nor sink kept it."""
    if run is None or run.output_mode is None or fact.basis is Basis.READ:
        return fact
    return TextFact(run.output_mode, Basis.RECORDED, source_of(run))


def with_recorded_query(fact: TextFact, run: Run | None) -> TextFact:
    """Give the recorded query id where `metadata` is gone."""
    if run is None or run.query_id is None or fact.basis is Basis.READ:
        return fact
    return TextFact(run.query_id, Basis.RECORDED, source_of(run))


def with_recorded_operators(fact: OperatorsFact, run: Run | None) -> OperatorsFact:
    """Give the recorded operators where the checkpoint has none, or none with a name."""
    names = _operator_names(run)
    if run is None or names is None or (fact.basis is Basis.READ and fact.value is None):
        return fact
    seen = fact.value or ()
    if fact.basis is not Basis.READ:
        operators = tuple(Operator(number, name, (), None) for number, name in enumerate(names))
        return OperatorsFact(operators, Basis.RECORDED, source_of(run))
    if len(seen) != len(names) or all(operator.name is not None for operator in seen):
        return fact
    named = tuple(
        Operator(one.id, one.name or name, one.stores, one.partitions)
        for one, name in zip(seen, names, strict=True)
    )
    return OperatorsFact(named, Basis.RECORDED, f"state/, with names from {source_of(run)}")


def with_recorded_provider(fact: TextFact, run: Run | None) -> TextFact:
    """Give the recorded provider where no entry pins it; a query without operators has none."""
    names = _operator_names(run)
    if run is None or fact.basis is Basis.READ or names is None:
        return fact
    if not names:
        return TextFact(None, Basis.RECORDED, f"{source_of(run)}: it keeps no state")
    if run.state_store_provider is None:
        return fact
    return TextFact(_provider_name(run.state_store_provider), Basis.RECORDED, source_of(run))


def with_recorded_runs(
    fact: HistoryFact, runs: tuple[Run, ...], attempts: tuple[Attempt, ...]
) -> HistoryFact:
    """Return the recorded runs and attempts beside what the batches give away."""
    if attempts:
        seen = replace(fact.value or NO_RESTARTS, attempts=tuple(map(attempt_shown, attempts)))
        fact = replace(fact, value=seen)
    if not runs:
        return fact
    seen = fact.value or NO_RESTARTS
    history = replace(seen, runs=tuple(map(run_shown, runs)), not_visible=UNRECORDED)
    return HistoryFact(history, Basis.RECORDED, f"the record of every run, {len(runs)} of them")


def _operator_names(run: Run | None) -> tuple[str, ...] | None:
    """Give the names, None where no plan was recorded."""
    return run.plan.operators if run is not None and run.plan.text else None


def _provider_name(recorded: str) -> str:
    if "HDFSBacked" in recorded:
        return "hdfs"
    return "rocksdb" if "RocksDB" in recorded else recorded
