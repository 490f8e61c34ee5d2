"""Decides, without Spark, whether a sink can take rows again while a stream writes to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from holdfast.errors import PlanError
from holdfast.ledgers.sinkstate import SinkAnswer
from holdfast.remedy.facts import Facts
from holdfast.remedy.outputs import TABLE, TABLE_ID
from holdfast.storage.location import canonical

_SINKS = ("delta", "postgres")
_WHY = (
    "rows that are in the sink already would be there twice: only an upsert by a key replaces "
    "them. Use replay, which rewinds the sink and processes batches again, or reset"
)
_ORDER = (
    "a row that the stream wrote later would be replaced by an older one. Declare order_by in the "
    "sink, or pass --overwrite if the rows of the range are the right ones whatever came later"
)


@dataclass(frozen=True)
class SinkUpsert:
    """How rows get into the sink next to the stream."""

    shown: str
    order_by: str | None
    """The column that keeps newer rows; None where every row is replaced."""
    place: str
    """What identifies the table."""
    effect: str
    table: Mapping[str, str]
    """Arguments of the step that writes: which table this is, where only its log tells that."""


def sink_upsert(facts: Facts, *, overwrite: bool) -> SinkUpsert:
    """Return how the sink takes the rows; raise PlanError where it would duplicate or lose any."""
    sink = facts.require_job().sink
    if sink.native:
        message = f"Spark's own {sink.format} sink cannot take rows next to the stream"
        raise PlanError("HF4601", message, at=sink.at, why=_WHY)
    if sink.mode != "upsert" or not sink.key:
        message = f"a {sink.format} sink in mode {sink.mode} cannot replace rows by a key"
        raise PlanError("HF4601", message, at=sink.at, why=_WHY)
    if sink.format not in _SINKS:
        message = f"a backfill into a {sink.format} sink is not supported"
        why = f"supported are upserts into {' and '.join(_SINKS)}. Use reset, or replay"
        raise PlanError("HF4601", message, at=sink.at, why=why)
    if sink.order_by is None and not overwrite:
        message = "the sink declares no order_by, which decides which of two rows is newer"
        raise PlanError("HF4601", message, at=sink.at, why=_ORDER)
    if facts.held.answer is SinkAnswer.UNKNOWN and sink.format == "delta":
        message = f"what the sink holds of this query is unknown: {facts.held.basis}"
        raise PlanError("HF4603", message, at=sink.at)
    if facts.held.closed:
        message = f"the sink is closed for this query: {facts.held.basis}"
        raise PlanError("HF4603", message, at=sink.at)
    order_by = None if overwrite else sink.order_by
    shown = sink.location.shown if sink.location is not None else sink.table or sink.format
    key = ", ".join(sink.key)
    kept = f", unless the row there has a greater {order_by}" if order_by is not None else ""
    effect = f"gets the rows of the range by its key ({key}){kept}; no other row changes"
    return SinkUpsert(shown, order_by, _place(facts, shown), effect, _table(facts))


def _table(facts: Facts) -> Mapping[str, str]:
    memory, place = facts.subject.sink, facts.require_job().sink.location
    table_id = None if memory is None or memory.delta is None else memory.delta.table_id
    return (
        {} if table_id is None or place is None else {TABLE: canonical(place), TABLE_ID: table_id}
    )


def _place(facts: Facts, shown: str) -> str:
    """Name the table, so that a plan for one is not applied to another in its place."""
    sight, memory = facts.subject.sight, facts.subject.sink
    if memory is not None and memory.delta is not None:
        return f"{shown} {memory.delta.table_id or ''}".strip()
    if sight is not None and sight.incarnation is not None:
        return f"{shown} {sight.incarnation}"
    return shown
