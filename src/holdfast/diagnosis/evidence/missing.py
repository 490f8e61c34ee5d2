"""Says what would complete the evidence and how to get it, in commands and places to look."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace

from holdfast.diagnosis.inspection.evidence import ESSENTIAL, FACTS, Basis, Evidence, Missing
from holdfast.findings import Finding

_PROGRESS = (
    "the newest line 'Streaming query made progress' in the driver's log, or query.lastProgress"
)
_STARTS = "the driver's log: every start writes a line 'Starting … [id = …, runId = …]'"
_WITH_SINK = "holdfast evidence TARGET --sink PATH   (reads its _spark_metadata or _delta_log)"
_FORGOTTEN = (
    "holdfast doctor TARGET --sink PATH   (says what to do before the next start)",
    "the rows of that batch in the table itself",
)

HOW: dict[str, tuple[str, ...]] = {
    "checkpoint_location": ("the option checkpointLocation in the job's code",),
    "query_id": (
        "a backup of the checkpoint's metadata file",
        "holdfast evidence TARGET --sink PATH   (a Delta sink's log names the query)",
        _STARTS,
    ),
    "source_offsets": (
        "holdfast inspect TARGET   (says which entry is damaged or missing)",
        "a backup of offsets/",
        f"endOffset in {_PROGRESS}",
    ),
    "sink": (
        _WITH_SINK,
        "writeStream.format(…) and its path, table or foreachBatch in the job's code",
        f"sink.description in {_PROGRESS}",
        "declare the job in holdfast.yaml and give its name instead of the path",
    ),
    "output_mode": (
        "writeStream.outputMode(…) in the job's code; if it is not called, Spark uses append",
        "holdfast evidence TARGET --sink PATH   (a Delta sink's log keeps it)",
        "declare the job in holdfast.yaml and give its name instead of the path",
    ),
    "stateful_operators": (
        "query.explain() on the running query, or the SQL tab of the Spark UI",
        f"stateOperators in {_PROGRESS}",
    ),
    "state_store_provider": (
        "spark.sql.streaming.stateStore.providerClass in the job's settings; Spark's default is "
        "HDFSBackedStateStoreProvider",
    ),
    "spark_version": (
        "the first lines of the driver's log: 'Running Spark version …'",
        "spark.version in the job, or the image or cluster that runs it",
    ),
    "restart_history": (
        _STARTS,
        "the attempts of the application in the cluster manager or the history server",
    ),
}
"""Fact to how it is got, the best first."""


def missing_facts(evidence: Evidence, target: str) -> tuple[Missing, ...]:
    """Name what is unknown, and then what is known only in part; commands name the target."""
    named = shlex.quote(target)
    return tuple(
        replace(one, how=tuple(how.replace("TARGET", named) for how in one.how))
        for one in (*_unknown(evidence), *_partly_known(evidence))
    )


def refused_by_sink(evidence: Evidence, refusals: Sequence[Finding], job: str | None) -> Evidence:
    """Return the evidence, not ready where the next start is refused because of its sink."""
    if not refusals:
        return evidence
    target = shlex.quote(job or evidence.checkpoint_location.value or "")
    how = f"holdfast doctor {target}   (says what to do before the next start)"
    lost = tuple(Missing("sink", True, f"{one.message} ({one.code})", (how,)) for one in refusals)
    return replace(evidence, ready=False, missing=(*lost, *evidence.missing))


def _unknown(evidence: Evidence) -> Iterator[Missing]:
    for name in FACTS:
        fact = evidence.fact(name)
        if fact.basis is Basis.UNKNOWN:
            # A sink that was asked and has forgotten tells no more when it is asked again.
            how = HOW[name] if name != "sink" or fact.value is None else _FORGOTTEN
            yield Missing(name, name in ESSENTIAL, fact.source, how)


def _partly_known(evidence: Evidence) -> Iterator[Missing]:
    sink = evidence.sink.value
    known = evidence.sink.basis is not Basis.UNKNOWN
    if sink is not None and sink.last_committed is None and known:
        what = f"which batch the sink last committed: {sink.last_committed_basis}"
        yield Missing("sink", False, what, (_WITH_SINK, "the newest batch in the sink itself"))
    operators = evidence.stateful_operators.value or ()
    if any(operator.name is None for operator in operators):
        what = "the names of the operators, which Spark 3.5 does not record"
        yield Missing("stateful_operators", False, what, HOW["stateful_operators"])
    version = evidence.spark_version.value
    if version is not None and version.value is None:
        what = f"which release of {version.low or 'any'} to {version.high} it was"
        yield Missing("spark_version", False, what, HOW["spark_version"])
    history = evidence.restart_history
    if history.value is not None and history.basis is Basis.INFERRED:
        what = f"every start: {history.value.not_visible}"
        yield Missing("restart_history", False, what, HOW["restart_history"])
