"""Plans a backfill: what is read again, by which batches, and what refuses it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping

from holdfast.errors import PlanError, UsageError
from holdfast.format.logs.offsets import OffsetsEntry
from holdfast.remedy.drafting import output_arguments
from holdfast.remedy.facts import Facts
from holdfast.remedy.plan import Downstream, Draft, Effects, Step
from holdfast.remedy.remedies.backfill.ranges import SourceRange, source_range
from holdfast.remedy.remedies.backfill.sinkfitness import SinkUpsert, sink_upsert
from holdfast.remedy.steps.backfill import (
    PREPARE,
    RUN,
    prepare_arguments,
    reads_digest,
    run_arguments,
)

_INSTEAD = "Use replay, which rewinds the sink and processes batches again"
_MOST_BATCHES = 10_000


def plan_backfill(facts: Facts, options: Mapping[str, str]) -> Draft:
    """Return the plan that computes a range of the source again; raise PlanError.

    Refused for a query with state, a sink that does not upsert by a key, a source whose range can
    be neither written down nor read any more, and while another act is unfinished.
    """
    job = facts.require_job()
    query_id, entry = _stateless_query(facts)
    upsert = sink_upsert(facts, overwrite=options.get("overwrite") == "true")
    batches = _batches(options)
    found = source_range(facts, entry, options, batches)
    arguments = prepare_arguments(query_id, entry, found.ends, found.folder, found.logs)
    noted = (
        output_arguments(facts)
        | dict(upsert.table)
        | run_arguments(job.sink.key, upsert.order_by, _reads(facts))
    )
    last = len(found.ends) - 1
    ran = "1 batch" if last == 1 else f"{last} batches, one after the other"
    steps = (
        Step(0, PREPARE, _place(facts), _PREPARED.format(found.shown), True, arguments),
        Step(0, RUN, upsert.shown, f"run {ran}, and upsert the rows into the sink", False, noted),
    )
    effects = Effects(
        batches=None,
        rows_estimate=None,
        sink=upsert.effect,
        source=f"{found.shown} is read again" if found.single else f"{found.shown} are read again",
        downstream=tuple(_downstream(facts)),
        next_start=f"unchanged: checkpoint and lease of {job.name} are not touched, and it may run",
    )
    looked_at = _looked_at(facts, query_id, upsert, found)
    asked = dict(options) | dict(found.options)
    return Draft(steps, effects, tuple(_notes(upsert, found)), looked_at, asked)


def _reads(facts: Facts) -> str | None:
    return None if facts.subject.job is None else reads_digest(facts.subject.job.job)


_PREPARED = "write a checkpoint of its own, which reads {} and nothing else"


def _stateless_query(facts: Facts) -> tuple[str, OffsetsEntry]:
    """Return id and newest offsets of the query; raise where it cannot be computed in parts."""
    picture = facts.subject.picture
    if facts.query_id is None:
        message = "metadata, which contains the query id, is missing or damaged"
        why = "a backfill belongs to a query, and writes under a name that says to which"
        raise PlanError("HF4601", message, at=facts.location, why=why)
    if picture.newest_offsets is None:
        message = "no batch was planned yet, so that there is nothing to compute again"
        why = "the offsets of the query show what its source is, and with which settings it runs"
        raise PlanError("HF4601", message, at=facts.location, why=why)
    if picture.layout.state.operators:
        message = "the query keeps state, and a range alone does not give its results"
        why = (
            "aggregates, joins and deduplication depend on all rows that came before. "
            f"{_INSTEAD}, with the state that the batch before left"
        )
        raise PlanError("HF4601", message, at=facts.location, why=why)
    return facts.query_id, picture.newest_offsets


def _batches(options: Mapping[str, str]) -> int:
    text = options.get("batches", "1")
    if not text.isdecimal() or not text.isascii() or not 1 <= int(text) <= _MOST_BATCHES:
        raise UsageError("HF1001", f"batches is to be a number from 1 to {_MOST_BATCHES}")
    return int(text)


def _place(facts: Facts) -> str:
    return f"{facts.records.folder.location.shown}/backfills"


def _looked_at(
    facts: Facts, query_id: str, upsert: SinkUpsert, found: SourceRange
) -> Mapping[str, str]:
    """Return what the plan depends on; what a running stream changes is not part of it."""
    seen = {
        "query": query_id,
        "sink's place": upsert.place,
        "source": _digest([*found.ends, found.folder, *sorted(found.logs.items())]),
        "backfills": " ".join(one.plan_id for one in facts.backfills) or "none",
    }
    if facts.subject.job is not None:
        seen["declaration"] = _digest(facts.subject.job.job.model_dump(mode="json"))
    return seen


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _downstream(facts: Facts) -> Iterator[Downstream]:
    for reader in facts.require_job().downstream():
        effect = "gets the rows that change, as from every upsert of this job"
        yield Downstream(reader.job, effect)


def _notes(upsert: SinkUpsert, found: SourceRange) -> Iterator[str]:
    yield (
        "undo cannot bring back the rows that a batch replaced; once one is in the sink, the plan "
        "can be finished, or given up with the rows that are there"
    )
    if upsert.order_by is None:
        yield (
            "as requested, a row of the range replaces the row of its key in the sink, even "
            "one that the stream wrote later"
        )
    else:
        yield (
            f"a row of the sink stays where its {upsert.order_by} is greater; an equal one is "
            "replaced"
        )
    yield "no row is removed: one that the transform no longer gives stays in the sink"
    yield from found.notes
