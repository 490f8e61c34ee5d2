"""What a query delivers against what its last run delivered: mode, sink, columns, last steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from holdfast.records.facts import ColumnFacts
from holdfast.restart.rules.rule import Needs, Rule, on_history
from holdfast.restart.start import QueryPair, StartFacts
from holdfast.restart.verdict import Change, Verdict

_STRICT = "transformWithState"


@on_history("HF3134")
def output_mode(pair: QueryPair) -> Iterator[Change]:
    """Judge another output mode; a query without state gives the same in append and update."""
    old, new = pair.before.output_mode, pair.now.output_mode
    if old == new:
        return
    names = [one.name for one in pair.now.operators or ()]
    if any(name.startswith(_STRICT) for name in names):
        why = "the operator keeps the mode with its state, and Spark refuses another one"
        error = "STATE_STORE_INVALID_CONFIG_AFTER_RESTART"
        yield Change("HF3134", Verdict.UNSAFE, "the output mode", old, new, why, error=error)
    elif not pair.has_state:
        why = "without state the same rows are delivered"
        yield Change("HF3134", Verdict.SAFE, "the output mode", old, new, why)
    else:
        yield Change(
            "HF3134",
            Verdict.CONDITIONAL,
            "the output mode",
            old,
            new,
            "Spark does not compare it: results that were delivered under the old mode are "
            "delivered again, or those that the watermark closed never",
            f"the sink takes results of {new} mode next to those of {old} mode",
        )


@on_history("HF3136")
def output_columns(pair: QueryPair) -> Iterator[Change]:
    """Show added and removed columns, and ask about one of another type."""
    then: Mapping[str, ColumnFacts] = {one.name.lower(): one for one in pair.before.output}
    after: Mapping[str, ColumnFacts] = {one.name.lower(): one for one in pair.now.output}
    for name in dict.fromkeys([*then, *after]):
        old, new = then.get(name), after.get(name)
        if old is not None and new is not None and old.type == new.type:
            continue
        was, now = _shown(old), _shown(new)
        subject = f"output column {(new or old or ColumnFacts(name, '')).name}"
        if old is None or new is None:
            why = "rows that were delivered stay as they are; the sink takes the new columns"
            yield Change("HF3136", Verdict.SAFE, subject, was, now, why)
        else:
            why = "files and tables may not take or give back two types of one column"
            condition = f"what reads the output takes {old.type} and {new.type} in {old.name}"
            yield Change("HF3136", Verdict.CONDITIONAL, subject, was, now, why, condition)


def _shown(column: ColumnFacts | None) -> str | None:
    return None if column is None else f"{column.name} {column.type}"


@on_history("HF3156")
def last_steps(pair: QueryPair) -> Iterator[Change]:
    """Show filters and projections without state that changed: later rows are made by them."""
    if pair.before.steps == pair.now.steps:
        return
    gone = [one for one in pair.before.steps if one not in pair.now.steps]
    added = [one for one in pair.now.steps if one not in pair.before.steps]
    if not gone and not added:
        gone, added = list(pair.before.steps), list(pair.now.steps)
    yield Change(
        "HF3156",
        Verdict.SAFE,
        "steps after the last state" if pair.has_state else "steps without state",
        "; ".join(gone) or "none",
        "; ".join(added) or "none",
        "later rows are made by the new steps; rows that were delivered stay as they are",
    )


def _sink_declaration(start: StartFacts) -> Iterator[Change]:
    """Ask about another mode or key of the sink; show another kind or place of it."""
    then, after = start.stored_sink, start.current_sink
    if start.is_fresh or then is None or after is None:
        return
    if then.mode != after.mode:
        why = f"rows were delivered as {then.mode}, and the next ones are as {after.mode}"
        condition = f"the output may have rows of both: {then.mode} before, {after.mode} from now"
        yield Change(
            "HF3135", Verdict.CONDITIONAL, "the sink's mode", then.mode, after.mode, why, condition
        )
    elif None not in (then.key, after.key) and then.key != after.key:
        old, new = (", ".join(one.key or ()) or "none" for one in (then, after))
        why = "rows that are there under the old key are not replaced by rows of the new one"
        condition = "no two rows of the output have the same new key"
        yield Change("HF3135", Verdict.CONDITIONAL, "the sink's key", old, new, why, condition)
    if (then.kind, then.identity) != (after.kind, after.identity):
        old, new = (f"{one.kind} {one.identity or ''}".strip() for one in (then, after))
        why = "later batches go there; other rules check whether the new output lacks earlier ones"
        yield Change("HF3135", Verdict.SAFE, "the sink", old, new, why)


sink_declaration = Rule(("HF3135",), Needs.CHECKPOINT, _sink_declaration)
