"""Which sink a query has and in which output mode it writes: read from a log or a commit,
declared, or the only one that fits."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.checkpoint.picture import Picture
from holdfast.diagnosis.inspection.evidence import Basis, SinkEvidence, SinkFact, TextFact
from holdfast.diagnosis.inspection.result import Inspection
from holdfast.diagnosis.inspection.sink.deltacommits import DeltaCommit
from holdfast.jobs.target import DeclaredSink
from holdfast.ledgers.reading import SinkMemory
from holdfast.ledgers.sparkfilesink import FORMATS as FILE_FORMATS


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
    """Return the sink with the best basis there is."""
    if clues.log is not None:
        return _from_log(found, clues.log)
    if found.sink is not None:
        reason = "the commit names the sink, not what the sink holds"
        evidence = SinkEvidence(found.sink.kind, found.sink.identity, None, reason, None)
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
    """Return the query id that a Delta log names, where it names exactly one."""
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
        reason = f"the identifier of batch {last.value} has expired: Delta writes it again"
        forgotten = SinkEvidence("delta", identity, None, reason, False)
        return SinkFact(forgotten, Basis.UNKNOWN, f"{source}: {reason}")
    knows = True if last.value is not None else False if memory.delta.complete else None
    evidence = SinkEvidence("delta", identity, last.value, last.basis, knows)
    # A table that never heard of the query may still be its sink, through foreachBatch.
    return SinkFact(evidence, Basis.READ if knows else Basis.INFERRED, source)


def _unasked(clues: SinkClues) -> str:
    if clues.memory is not None:
        return clues.memory.last_committed(None).basis
    return "the sink was not asked"


EITHER = "append or update"
"""Without an aggregation both fit, and write the same rows; complete does not fit."""
_WITHOUT_AGGREGATION = frozenset(
    {"dedupe", "dedupeWithinWatermark", "globalLimit", "symmetricHashJoin"}
)
"""Operators that never change a row they gave out."""
_LIMIT = "globalLimit"
_AGGREGATION = "stateStoreSave"
_MODES = frozenset({"append", "update", "complete"})


def output_mode_fact(picture: Picture, clues: SinkClues) -> TextFact:
    """Return the output mode: recorded before declared, and declared before inferred."""
    return (
        _written_by_operator(picture)
        or _written_by_delta(clues)
        or _declared(clues)
        or _by_sink(clues)
        or _by_operators(picture)
        or TextFact(None, Basis.UNKNOWN, "Spark does not keep it in the checkpoint")
    )


def _written_by_operator(picture: Picture) -> TextFact | None:
    for operator_id, operator in sorted(picture.operators.items()):
        mode = (operator.properties or {}).get("outputMode")
        if isinstance(mode, str) and mode.lower() in _MODES:
            source = f"state/{operator_id}/_metadata/v2, what {operator.name} says of itself"
            return TextFact(mode.lower(), Basis.READ, source)
    return None


def _written_by_delta(clues: SinkClues) -> TextFact | None:
    commit = clues.commit
    if commit is None or commit.output_mode not in _MODES or clues.log is None:
        return None
    source = f"{clues.log.location}/_delta_log/{commit.version}"
    return TextFact(commit.output_mode, Basis.READ, source)


def _declared(clues: SinkClues) -> TextFact | None:
    if clues.declared is None:
        return None
    return TextFact(clues.declared.output_mode, Basis.INFERRED, clues.declared.at)


def _by_sink(clues: SinkClues) -> TextFact | None:
    if clues.log is None or clues.log.files is None:
        return None
    return TextFact("append", Basis.INFERRED, "Spark's file sink takes no other mode")


def _by_operators(picture: Picture) -> TextFact | None:
    if not picture.layout.offsets.ids or any(
        folder.split("/", 1)[0] in ("", "state") for folder in picture.unlisted or {}
    ):
        return None
    operators = picture.layout.state.operators
    if not operators:
        reason = "there is no state/ folder, and without an aggregation both write the same rows"
        return TextFact(EITHER, Basis.INFERRED, reason)
    if operators.keys() != picture.operators.keys():
        return None
    return _by_names([operator.name for operator in picture.operators.values()])


def _by_names(names: list[str]) -> TextFact | None:
    if set(names) <= _WITHOUT_AGGREGATION and _LIMIT in names:
        reason = "Spark allows a limit without an aggregation in append mode only"
        return TextFact("append", Basis.INFERRED, reason)
    if set(names) <= _WITHOUT_AGGREGATION:
        reason = f"{', '.join(names)}: without an aggregation both write the same rows"
        return TextFact(EITHER, Basis.INFERRED, reason)
    if names.count(_AGGREGATION) > 1:
        reason = "Spark allows an aggregation of an aggregation in append mode only"
        return TextFact("append", Basis.INFERRED, reason)
    return None


def contradicted_mode(fact: TextFact, clues: SinkClues) -> str | None:
    """Return the declared mode where what was read or recorded says another, else None."""
    declared = clues.declared.output_mode if clues.declared is not None else None
    reason = fact.basis in (Basis.READ, Basis.RECORDED)
    return declared if reason and declared not in (None, fact.value) else None


def contradicted_format(clues: SinkClues) -> str | None:
    """Return the declared format where the output folder's log is of another kind, else None."""
    if clues.log is None or clues.declared is None or clues.given:
        return None
    kind, declared = clues.log.kind, clues.declared.format
    fits = declared in FILE_FORMATS if kind == "files" else declared == kind
    return None if fits else declared
