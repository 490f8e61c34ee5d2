"""Steps on the sink: note what it holds, clear or rewind it, lock late drivers out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

from holdfast.crashpoints import reach
from holdfast.errors import PlanError, SinkError
from holdfast.ledgers.sinkstate import LastCommitted, SinkAnswer
from holdfast.remedy.plan import Step
from holdfast.remedy.steps.work import Result, Work

if TYPE_CHECKING:
    from holdfast.spark.sinks.sink import HeldSink

MARK = "mark-sink"
CLEAR = "clear-sink"
REWIND = "rewind-sink"
FENCE = "fence-sink"
_ALONE = (
    "putting the checkpoint back alone would lose these rows: it takes their batches for delivered"
)
_REFUSED, _REPLACED = "HF5011", "HF4648"
_BACK = "holdfast undo TARGET puts metadata back: nothing else was changed"


class MarkSink:
    """Notes the newest batch in the sink, and what its rows can be brought back with."""

    name: ClassVar[str] = MARK

    def apply(self, step: Step, work: Work) -> Result:
        """Ask the sink; nothing is changed."""
        from holdfast.spark.sinks.sink import GivesBack

        query_id = step.arguments.get("query_id")
        with work.open_sink(step.arguments) as sink:
            held = _held(sink, query_id, work)
            result = {"held": None if held is None else held.value, "mark": None}
            if isinstance(sink, GivesBack):
                return result | {"mark": sink.mark()}
            named = {*sink.queries(), *(() if query_id is None else (query_id,))}
            queries = {one: sink.last_committed(one).value for one in sorted(named)}
        return result | {"queries": queries}

    def undo(self, step: Step, result: Result | None, work: Work) -> None:
        """Nothing was changed."""


class ClearSink:
    """Removes every row and the whole memory of batches, so that no batch id is known there."""

    name: ClassVar[str] = CLEAR

    def apply(self, step: Step, work: Work) -> Result:
        """Clear it; raise PlanError (HF4602) where the sink refuses, and nothing is removed."""
        with _changed(step, work, "cleared") as sink:
            work.confirm()
            reach("plan.sink-confirmed")
            sink.clear(generation=work.generation, queries=_meant(step))
        reach("plan.sink-cleared")
        return {}

    def undo(self, step: Step, result: Result | None, work: Work) -> None:
        """Bring back what the sink can bring back; raise PlanError where the rows are gone.

        The fence comes first: whoever was stopped right before it took the rows away fails then.
        """
        from holdfast.spark.sinks.sink import GivesBack

        mark = _marked(work).get("mark")
        with _opened_to_undo(step, result, work) as sink:
            if sink is None:
                return
            work.confirm()
            _fence_undone(sink, step, work)
            refusal = self._refusal(sink, step, result, work)
            if refusal is not None:
                raise refusal
            if isinstance(sink, GivesBack) and mark is not None:
                sink.give_back(mark, generation=work.generation)
        reach("plan.sink-brought-back")

    def lasting(self, step: Step, result: Result | None, work: Work) -> PlanError | None:
        """Return why the rows cannot be brought back; None where they can, or are still there.

        Where they are gone the old checkpoint must not come back: it takes them for delivered.
        """
        with _opened_to_undo(step, result, work) as sink:
            return None if sink is None else self._refusal(sink, step, result, work)

    def _refusal(
        self, sink: HeldSink, step: Step, result: Result | None, work: Work
    ) -> PlanError | None:
        reason = _why_gone(sink, step, result, _marked(work))
        if reason is None:
            return None
        message = f"the rows that were removed from the output cannot be brought back: {reason}"
        return PlanError("HF4609", message, at=work.records.location, why=_ALONE)


class RewindSink(ClearSink):
    """Takes back every batch of the query after one; undone as clearing is."""

    name: ClassVar[str] = REWIND

    def apply(self, step: Step, work: Work) -> Result:
        """Rewind; raise PlanError (HF4602) where the sink refuses, and nothing is removed."""
        query_id, through = step.arguments["query_id"], int(step.arguments["through"])
        with _changed(step, work, "rewound") as sink:
            work.confirm()
            reach("plan.sink-confirmed")
            sink.rewind(query_id, through, generation=work.generation)
        reach("plan.sink-rewound")
        return {}


class FenceSink:
    """Locks every older driver out of the sink; no row is changed."""

    name: ClassVar[str] = FENCE

    def apply(self, step: Step, work: Work) -> Result:
        """Leave the generation of the act in the sink, behind its newest batch.

        Raise PlanError (HF4601) where the plan counts on an empty sink and a batch came since.
        """
        from holdfast.spark.sinks.sink import Fences

        query_id = step.arguments.get("query_id")
        with _changed(step, work, "fenced") as sink:
            held = _held(sink, query_id, work, may_be_closed=True)
            newest = -1 if held is None or held.value is None else held.value
            work.confirm()
            if isinstance(sink, Fences):
                sink.fence(query_id, generation=work.generation)
            elif query_id is not None:
                sink.rewind(query_id, newest, generation=work.generation)
            if step.arguments.get("empty") == "true":
                _refuse_batches(sink, query_id, work)
        return {"held": newest}

    def undo(self, step: Step, result: Result | None, work: Work) -> None:
        """Keep the fence: a driver from before the act must never write again."""


def _meant(step: Step) -> tuple[str, ...] | None:
    """Return whose batches may go; None where no query is known."""
    named = (step.arguments.get("query_id"), *step.arguments.get("queries", "").split(","))
    return tuple(one for one in named if one) or None


def _held(
    sink: HeldSink, query_id: str | None, work: Work, *, may_be_closed: bool = False
) -> LastCommitted | None:
    """Return what the sink holds of a query; raise PlanError (HF4603) where that is unknown."""
    held = None if query_id is None else sink.last_committed(query_id)
    is_known = held is None or held.answer is not SinkAnswer.UNKNOWN
    if not (is_known or (may_be_closed and held is not None and held.closed)):
        assert held is not None
        message = f"what the sink holds is unknown: {held.basis}"
        raise PlanError("HF4603", message, at=work.records.location, next_steps=(_BACK,))
    return held


def _refuse_batches(sink: HeldSink, query_id: str | None, work: Work) -> None:
    """Raise PlanError (HF4601) where a driver delivered to a sink that was to be empty."""
    for one in sorted(sink.queries()) if query_id is None else (query_id,):
        held = sink.last_committed(one)
        if held.value is not None:
            message = (
                f"the output is not empty any more: batch {held.value} of the query {one} was "
                "committed after the plan was made"
            )
            steps = (_BACK, "then clear the output: holdfast plan reset TARGET --output clear")
            raise PlanError("HF4601", message, at=work.records.location, next_steps=steps)


@contextmanager
def _opened_to_undo(step: Step, result: Result | None, work: Work) -> Iterator[HeldSink | None]:
    """Open the sink; None where another table took its place before the step changed it.

    Raise PlanError (HF4609) where one did afterwards: the rows are nowhere any more.
    """
    with ExitStack() as held:
        sink = None
        try:
            sink = held.enter_context(work.open_sink(step.arguments))
        except PlanError as error:
            if error.code.number != _REPLACED:
                raise
            if result is not None:
                raise PlanError("HF4609", error.message, at=error.at, why=_ALONE) from error
        yield sink


def _why_gone(
    sink: HeldSink, step: Step, result: Result | None, marked: Mapping[str, Any]
) -> str | None:
    """Return why rows that were there before cannot be brought back; None where all are there."""
    from holdfast.spark.sinks.sink import GivesBack

    mark, query_id = marked.get("mark"), step.arguments.get("query_id")
    if isinstance(sink, GivesBack) and mark is not None:
        return sink.why_not_back(mark)
    before = marked.get("queries")
    if before is None:
        # Older releases noted the job's own query alone.
        if query_id is None:
            return None if result is None else "the checkpoint names no query"
        before = {} if marked.get("held") is None else {query_id: marked["held"]}
    for one, held in sorted(before.items()):
        now = sink.last_committed(one)
        if now.value != held:
            return f"the {sink.kind} sink had batch {held} of the query {one}; now {now.basis}"
    return None


def _fence_undone(sink: HeldSink, step: Step, work: Work) -> None:
    """Let no older generation take anything from the sink, or bring it anything.

    One query's driver is enough to fail whoever clears it. Of several only the job's own is known
    to be nobody else's; a sink that brings rows back fences each whose rows it brings.
    """
    from holdfast.spark.sinks.sink import Fences

    if not isinstance(sink, Fences):
        return
    noted = _marked(work).get("queries") or {}
    holding = [one for one, held in noted.items() if held is not None]
    own = step.arguments.get("query_id")
    fenced = {*(holding if len(holding) == 1 else ()), *(() if own is None else (own,))}
    for query_id in sorted(fenced) or (None,):
        sink.fence(query_id, generation=work.generation)


def _marked(work: Work) -> dict[str, Any]:
    return dict(work.result_of(MARK) or {})


@contextmanager
def _changed(step: Step, work: Work, change: str) -> Iterator[HeldSink]:
    """Open the sink for a change; raise PlanError (HF4602) where it refuses and changes nothing."""
    try:
        with work.open_sink(step.arguments) as sink:
            yield sink
    except SinkError as error:
        if error.code.number != _REFUSED:
            raise
        raise PlanError(
            "HF4602", f"the sink cannot be {change}: {error.message}",
            at=error.at, why=error.why, next_steps=(*error.next_steps, _BACK),
        ) from error  # fmt: skip
