"""Reset: start over, in the order that loses and doubles nothing.

The output is cleared, or another one named, before the checkpoint goes: a new query plans its
batches from 0 again, and whatever is still in the output would be there twice.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from holdfast.errors import PlanError, SinkError
from holdfast.jobs.options import starting_options
from holdfast.jobs.ready import named_output
from holdfast.ledgers.delta.batches import CLOSED
from holdfast.ledgers.sinkstate import SinkAnswer, refuse_other_queries
from holdfast.remedy.drafting import (
    archive_step,
    block_step,
    empty_step,
    note_step,
    output_arguments,
    refuse_protected,
)
from holdfast.remedy.facts import Facts
from holdfast.remedy.outputs import can_fence
from holdfast.remedy.plan import (
    Downstream,
    Draft,
    Effects,
    Plan,
    Remedy,
    Request,
    Step,
    encode_plan,
    plan_of,
)
from holdfast.remedy.readers import UNSTARTED, effect_of_clear, effect_of_new_output
from holdfast.remedy.remedies.reset.starting import HELP, starting_of
from holdfast.remedy.steps.sink import CLEAR, FENCE, MARK
from holdfast.wording import nearest

CLEARED, KEPT, NONE = "clear", "keep-new", "none"
PART_OF = "part_of"
"""The option of a plan that is a part of another job's: that job's name."""


def plan_reset(facts: Facts, options: Mapping[str, str]) -> Draft:
    """Return the plan of starting over; raise PlanError where it would lose or double rows."""
    job = facts.require_job()
    forced = refuse_protected(facts, options)
    choice, _, new = options.get("output", "").partition(":")
    _refuse_nothing_to_do(facts)
    starting = starting_of(job, options.get("starting_offsets"))
    others = tuple(_contained(facts, options)) if options.get("cascade") else ()
    steps = [archive_step(facts), block_step(facts)] if _has_files(facts) else []
    steps += [_reset_other(one) for one in others]
    start: dict[str, str] = {}
    if starting:
        start["starting"] = json.dumps(starting, sort_keys=True)
    if choice == CLEARED and not new:
        steps += _clearing(facts, options)
    elif choice == KEPT and new:
        start["output"] = _new_output(facts, options, new)
    elif choice == NONE and not new:
        _refuse_rows(facts)
        steps += _fencing(facts)
    else:
        raise _unknown_choice(facts, choice, options.get("output"))
    if start:
        steps.append(_start_step(facts, start, new))
    steps.append(note_step(facts, None, every_query=True))
    if _has_files(facts):
        steps.append(empty_step(facts))
    steps += [_release_other(one) for one in others]
    return Draft(tuple(steps), _effects(facts, options, choice, new, others),
                 (*forced, *_notes(facts, choice, new, starting)))  # fmt: skip


def _unknown_choice(facts: Facts, choice: str, given: str | None) -> PlanError:
    message = f"the output can be clear, keep-new:PATH or none, not {given}"
    near = nearest(choice, (CLEARED, KEPT, NONE))
    shown = {KEPT: f"{KEPT}:PATH"}.get(near or "", near)
    steps: tuple[str, ...] = (HELP,)
    if shown:
        message = f"{message}; did you mean {shown}?"
    elif given is not None and ("/" in given or "." in given):
        steps = ("to save the plan in a file: -o FILE", HELP)
    return PlanError("HF4643", message, at=facts.location, next_steps=steps)


def _refuse_nothing_to_do(facts: Facts) -> None:
    if not _has_files(facts) and facts.output.is_empty:
        message = "checkpoint and output are empty: the next start begins with batch 0 as it is"
        raise PlanError("HF4611", message, at=facts.location)


def _has_files(facts: Facts) -> bool:
    """Whether there is a checkpoint to archive; one that somebody deleted is not."""
    return bool(facts.subject.picture.layout.file_count)


def _queries_to_clear(facts: Facts, options: Mapping[str, str]) -> dict[str, str]:
    """Return whose batches may go besides the query's, as an argument: earlier ones of this
    checkpoint, and those that are named."""
    recorded = facts.subject.recorded
    known = {run.query_id for run in recorded.runs} | {one.query_id for one in recorded.rewinds}
    known |= set(options.get("clear_query", "").split(","))
    queries = sorted(one for one in known if one and one != facts.query_id)
    return {"queries": ",".join(queries)} if queries else {}


def _refuse_other_queries(facts: Facts, extra: str) -> None:
    """Raise PlanError (HF4602) where the sink is known to have batches of other queries."""
    sink = facts.subject.sink
    held: set[str] = set()
    if sink is not None and sink.own is not None:
        held |= set(sink.own.newest)
    if sink is not None and sink.delta is not None:
        held |= {one for one, newest in sink.delta.transactions.items() if newest != CLOSED}
    meant = {one for one in (facts.query_id, *extra.split(",")) if one}
    try:
        refuse_other_queries(held, meant or None, _shown_output(facts))
    except SinkError as error:
        raise PlanError(
            "HF4602", f"the output cannot be cleared: {error.message}", at=error.at,
            why=error.why, next_steps=error.next_steps,
        ) from error  # fmt: skip


def _clearing(facts: Facts, options: Mapping[str, str]) -> list[Step]:
    """Return the steps on the sink; raise PlanError (HF4602, HF4603) where it can't be cleared."""
    job = facts.require_job()
    if facts.output.not_clearable is not None:
        message = f"the output cannot be cleared: {facts.output.not_clearable}"
        steps = (
            "give the job a new output: holdfast plan reset TARGET --output keep-new:PATH",
            "or remove its rows yourself, then: holdfast plan reset TARGET --output none",
        )
        raise PlanError("HF4602", message, at=job.sink.at, next_steps=steps)
    extra = _queries_to_clear(facts, options)
    _refuse_other_queries(facts, extra.get("queries", ""))
    if facts.query_id is not None and facts.held.answer is SinkAnswer.UNKNOWN:
        message = f"what the sink holds of this query is unknown: {facts.held.basis}"
        raise PlanError("HF4603", message, at=facts.location)
    arguments = output_arguments(facts)
    if facts.query_id is not None:
        arguments["query_id"] = facts.query_id
    shown = _shown_output(facts)
    return [
        Step(0, MARK, shown, "note what is in the output", reversible=True, arguments=arguments),
        Step(0, CLEAR, shown, "remove every row and the memory of batches from the output",
             reversible=_comes_back(facts),
             arguments=arguments | extra),
    ]  # fmt: skip


def _fencing(facts: Facts) -> list[Step]:
    """Return the step that locks older drivers out of an empty output, where one is possible."""
    if not can_fence(facts.require_job().sink):
        return []
    run = facts.subject.recorded.started
    query_id = facts.query_id or (None if run is None else run.query_id)
    arguments = output_arguments(facts) | {"empty": "true"}
    arguments |= {} if query_id is None else {"query_id": query_id}
    return [
        Step(0, FENCE, _shown_output(facts), "lock every older driver out of the output: a late "
             "batch would be there twice", reversible=True, arguments=arguments),
    ]  # fmt: skip


def _comes_back(facts: Facts) -> bool:
    return facts.require_job().sink.format == "delta"


def _new_output(facts: Facts, options: Mapping[str, str], new: str) -> str:
    job = facts.require_job()
    output, former = named_output(job, new), named_output(job)
    if output is None:
        message = f"a {job.sink.format} sink has no path or table that could be replaced"
        raise PlanError("HF4602", message, at=job.sink.at)
    if output == former:
        raise _unfit(facts, f"{new} is the output of now; name another one, or clear it")
    if options.get("cascade"):
        message = (
            "readers are reset only where the output is cleared: declare them with the new path "
            "first, then reset each"
        )
        raise _unfit(facts, message)
    return output


def _refuse_rows(facts: Facts) -> None:
    """Raise PlanError where the sink is not known to be empty."""
    if facts.held.answer is SinkAnswer.BATCH or facts.output.is_empty is False:
        message = f"the output {_shown_output(facts)} is not empty: its rows would be there twice"
    elif facts.output.is_empty is None:
        message = f"whether the output {_shown_output(facts)} is empty cannot be determined"
    else:
        return
    steps = ("clear it: holdfast plan reset TARGET --output clear",)
    raise PlanError("HF4601" if facts.output.is_empty is False else "HF4603", message,
                    at=facts.location, next_steps=steps)  # fmt: skip


def _contained(facts: Facts, options: Mapping[str, str]) -> Iterator[Plan]:
    """Yield the plans of the jobs that read the output, those farthest away first."""
    given = {"output": CLEARED, PART_OF: facts.require_job().name}
    given |= {"force_protected": "true"} if options.get("force_protected") else {}
    for other in reversed(facts.readers):
        job = other.require_job()
        request = Request(Remedy.RESET, job.name, given)
        try:
            draft = plan_reset(other, given)
        except PlanError as error:
            if error.code.number == "HF4611":
                continue
            error.message = f"job {job.name}: {error.message}"
            raise
        yield plan_of(draft, request, other.location, job.name, other.looked_at())


def _reset_other(plan: Plan) -> Step:
    detail = (
        f"reset job {plan.job}, which reads the output: {len(plan.steps)} steps in its own journal"
    )
    arguments = {"job": str(plan.job), "plan": json.dumps(encode_plan(plan), sort_keys=True)}
    return Step(0, "reset-downstream", plan.target, detail,
                reversible=not plan.irreversible, arguments=arguments)  # fmt: skip


def _release_other(plan: Plan) -> Step:
    arguments = {"job": str(plan.job), "plan": json.dumps(encode_plan(plan), sort_keys=True)}
    detail = f"let job {plan.job} start again"
    return Step(0, "release-downstream", plan.target, detail, reversible=True, arguments=arguments)


def _start_step(facts: Facts, start: Mapping[str, str], new: str) -> Step:
    told = []
    if "starting" in start:
        told.append(f"the first start reads from {start['starting']}")
    if new:
        told.append(f"only {new} may be its output")
    return Step(0, "set-start", facts.location, f"note for the new query: {'; '.join(told)}",
                reversible=True, arguments=start)  # fmt: skip


def _effects(
    facts: Facts, options: Mapping[str, str], choice: str, new: str, others: tuple[Plan, ...]
) -> Effects:
    held, shown = facts.held.value, _shown_output(facts)
    batches = "" if held is None else f" (batches up to {held})"
    sink = {
        CLEARED: f"{shown} loses every row{batches}",
        KEPT: f"{shown} stays as it is{batches}; the new query writes to {new}",
        NONE: f"{shown} is empty already",
    }[choice]
    source = "each source begins as it is declared"
    if options.get("starting_offsets"):
        source = f"is read from {options['starting_offsets']}"
    reset = {plan.job for plan in others}
    return Effects(
        sink=sink,
        source=source,
        downstream=tuple(_downstream(facts, choice, reset)),
        next_start="begins with batch 0 under a new query id",
    )


def _downstream(facts: Facts, choice: str, reset: set[str | None]) -> Iterator[Downstream]:
    job = facts.require_job()
    for reader in job.downstream():
        if reader.job in reset:
            yield Downstream(
                reader.job, "is reset too: its output is cleared, its checkpoint archived"
            )
            continue
        effect = None
        if choice == CLEARED and reader.job in facts.unstarted:
            effect = UNSTARTED
        elif choice == CLEARED:
            effect = effect_of_clear(job.sink.format, reader)
        elif choice == KEPT:
            effect = effect_of_new_output(reader)
        if effect is not None:
            yield Downstream(reader.job, effect)


def _notes(
    facts: Facts,
    choice: str,
    new: str,
    starting: Mapping[str, Mapping[str, str | None]],
) -> Iterator[str]:
    job = facts.require_job()
    yield "stop the job first: applying the plan is refused while it runs, or files still change"
    if choice == CLEARED and _comes_back(facts):
        yield "undo restores the table's rows; streams that read the table fail at the deletion"
    elif choice == CLEARED:
        yield "rows that are cleared cannot be brought back: after that step undo is refused"
    elif choice == NONE and not can_fence(facts.require_job().sink):
        yield "a driver that still runs elsewhere is not locked out of the output: stop it first"
    if choice == KEPT:
        key = "path" if job.sink.path is not None else "table"
        yield f"declare the new output before the next start: sink.{key}: {new} at {job.sink.at}"
    for source in () if starting else job.sources:
        if source.format.lower() == "kafka" and not starting_options(source.options):
            yield (
                f"the Kafka source {source.name} begins with new records: those of before are "
                "missing from the new output, unless starting offsets say earliest"
            )
    if not starting:
        yield "rows that a source no longer has will be missing from the new output"


def _shown_output(facts: Facts) -> str:
    sink = facts.require_job().sink
    shown = sink.location.shown if sink.location is not None else None
    return shown or sink.path or sink.table or sink.format


def _unfit(facts: Facts, message: str) -> PlanError:
    return PlanError("HF4643", message, at=facts.location, next_steps=(HELP,))
