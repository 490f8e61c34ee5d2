"""Replay: process again from a batch on, once the sink has given the batches back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.reading import read_picture
from holdfast.errors import PlanError
from holdfast.remedy.drafting import (
    allow_step,
    backup_step,
    block_step,
    note_step,
    output_arguments,
    refuse_protected,
    remove_step,
)
from holdfast.remedy.facts import Facts
from holdfast.remedy.plan import BatchRange, Downstream, Draft, Effects, Step
from holdfast.remedy.readers import UNSTARTED, effect_of_rewind
from holdfast.remedy.remedies.replay.beginnings import first_batch
from holdfast.remedy.remedies.replay.shortened import Removal, refuse_unstartable, removal_from
from holdfast.remedy.remedies.replay.sinkfitness import SinkRewind, sink_rewind
from holdfast.remedy.remedies.replay.sourcefitness import refuse_lost_source
from holdfast.remedy.steps.sink import MARK, REWIND

_EVERY_BATCH = 10**9


def plan_replay(facts: Facts, options: Mapping[str, str]) -> Draft:
    """Return the plan that processes a batch and all later ones again; raise PlanError.

    Refused where the batch before is not there whole, the state that it left cannot be loaded, a
    source lost its data, or the sink cannot give batches back.
    """
    facts.require_job()
    refuse_protected(facts, options)
    batch = first_batch(read_picture(facts.records.checkpoint, history=_EVERY_BATCH), options)
    newest = _newest(facts, batch)
    removal = removal_from(facts.subject.picture.layout, batch)
    spark = facts.inspection.next_start.assumes_spark
    after = refuse_unstartable(facts.records.checkpoint, removal, batch, spark)
    refuse_lost_source(facts, after)
    through = batch - 1
    rewind = sink_rewind(facts, through)
    shown = f"batches {batch} to {newest}" if newest > batch else f"batch {batch}"
    steps = (
        backup_step(facts),
        block_step(facts),
        *_sink_steps(facts, rewind, through),
        *_removing(facts, removal, shown),
        _copies_step(facts, batch),
        note_step(facts, through if batch else None),
        allow_step(facts),
    )
    effects = Effects(
        BatchRange(batch, newest),
        None,
        _sink_effect(rewind, through),
        f"everything from batch {batch} on is read again",
        tuple(_downstream(facts)),
        f"plans batch {batch}",
    )
    return Draft(steps, effects, tuple(_notes(facts, rewind, batch, newest)))


def _removing(facts: Facts, removal: Removal, shown: str) -> Iterator[Step]:
    """Yield the step that removes files; a checkpoint that was rolled back may have none."""
    if removal.files:
        detail = f"remove the offsets, the commits and the state of {shown}"
        yield remove_step(facts, removal.files, detail, removal.folders)


def _newest(facts: Facts, batch: int) -> int:
    """Return the newest batch; raise PlanError where the checkpoint does not allow this replay."""
    picture = facts.subject.picture
    newest, ids = picture.newest_offsets_id, picture.layout.offsets.ids
    if facts.query_id is None:
        message = "metadata, which contains the query id, is missing or damaged"
        why = "without it the sink would treat the job as another query: repair it first"
        raise PlanError("HF4601", message, at=facts.location, why=why)
    ahead = _sink_ahead(facts, newest, batch)
    if newest is None or (batch > newest and ahead is None):
        ends = "no batch was planned yet" if newest is None else f"batch {newest} is the newest"
        why = f"the next start plans what comes after it: there is no batch {batch} to replay"
        raise PlanError("HF4611", ends, at=facts.location, why=why)
    needed = range(max(batch - 1, 0), newest + 1)
    missing = [one for one in needed if one not in ids]
    if missing:
        message = f"offsets/{missing[0]} is missing; the oldest batch that is kept is {ids[0]}"
        raise PlanError("HF4601", message, at=facts.location, why=_OLDEST.format(ids[0] + 1))
    if batch and batch - 1 not in picture.layout.commits.ids:
        message = f"commits/{batch - 1} is missing: batch {batch - 1} was never committed"
        raise PlanError("HF4601", message, at=facts.location, why=_OLDEST.format(batch - 1))
    return newest if ahead is None else ahead


def _sink_ahead(facts: Facts, newest: int | None, batch: int) -> int | None:
    """Return the sink's newest batch where the checkpoint was rolled back to before this one."""
    held = facts.held.value
    if newest is None or held is None or batch != newest + 1 or held < batch:
        return None
    return held


_OLDEST = (
    "the offsets and the commit of the batch before are where replay begins. Replay from batch {} "
    "or later, restore a backup that has older ones, or use reset, which starts over"
)


def _sink_steps(facts: Facts, rewind: SinkRewind, through: int) -> tuple[Step, ...]:
    of_query = output_arguments(facts) | {"query_id": facts.query_id or ""}
    arguments = {**of_query, "through": str(through)}
    kept = f"every batch after {through}" if through >= 0 else "every batch"
    reversible = rewind.comes_back or not rewind.takes(through)
    shown, noted = _sink_shown(facts), "note what is in the sink"
    taken = f"take {kept} of this query back from the sink"
    return (
        Step(0, MARK, shown, noted, reversible=True, arguments=of_query),
        Step(0, REWIND, shown, taken, reversible, arguments),
    )


def _copies_step(facts: Facts, batch: int) -> Step:
    arguments = {"query_id": facts.query_id or "", "from": str(batch)}
    detail = f"set the kept copies of the offsets from batch {batch} on aside"
    return Step(0, "set-copies-aside", facts.location, detail, True, arguments)


def _sink_shown(facts: Facts) -> str:
    sink = facts.require_job().sink
    if sink.location is not None:
        return sink.location.shown
    return sink.table or sink.format


def _sink_effect(rewind: SinkRewind, through: int) -> str:
    if not rewind.known:
        return f"loses every batch after {through}; gets them again, with what the source has now"
    if rewind.held is None or rewind.held <= through:
        return "loses nothing: it holds none of these batches; gets them from the next start on"
    first = through + 1
    lost = f"batches {first} to {rewind.held}" if rewind.held > first else f"batch {first}"
    return f"loses {lost} and their rows; gets them again, with what the source has now"


def _downstream(facts: Facts) -> Iterator[Downstream]:
    job = facts.require_job()
    for reader in job.downstream():
        started = reader.job not in facts.unstarted
        effect = effect_of_rewind(job.sink.format, reader) if started else UNSTARTED
        yield Downstream(reader.job, effect)


def _notes(facts: Facts, rewind: SinkRewind, batch: int, newest: int) -> Iterator[str]:
    if rewind.takes(batch - 1) and not rewind.comes_back:
        yield (
            "undo cannot bring back the rows that the sink loses; once it lost them, the plan can "
            "only be finished"
        )
    if rewind.takes(batch - 1) and rewind.comes_back:
        yield "undo restores the table until the job has run again, or VACUUM removed its files"
    if newest > batch and _has_file_source(facts.subject.picture):
        yield (
            "a file source remembers every file that it has listed: those of the replayed batches "
            "arrive in one batch, whatever maxFilesPerTrigger says"
        )
    if facts.subject.picture.layout.state.operators:
        yield (
            "batches may be cut differently than before; with a watermark, rows that were dropped "
            "as late may count now, or the other way round"
        )
        if not _has_state_ids(facts.subject.picture):
            yield (
                "a task of a killed driver can overwrite the state of replayed batches: make sure "
                "that no executor of it is left (with state checkpoint format 2 it cannot)"
            )


def _has_state_ids(picture: Picture) -> bool:
    """Whether commits name their state files, so that Spark loads no other ones."""
    newest = picture.commits.get(picture.newest_commit_id or 0)
    return newest is not None and newest.state_ids is not None


def _has_file_source(picture: Picture) -> bool:
    return bool(picture.source_logs)
