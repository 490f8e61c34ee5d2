"""Draws plans, what applying or undoing one did, and the journal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from holdfast.answers import Answer
from holdfast.cli.drawing.console import draw_findings
from holdfast.remedy.plan import Effects, Plan
from holdfast.remedy.results import Applied, JournalPlace, JournalReport, StepDone
from holdfast.wording import counted


def draw_plan(answer: Answer[Plan], console: Console) -> None:
    """Draw the whole page: what is done, what is different afterwards, what cannot be undone."""
    plan = answer.result
    console.print(Text.assemble(("checkpoint ", "bold"), plan.target))
    console.print(Text.assemble(("plan       ", "bold"), plan.id))
    console.print()
    if not plan.steps:
        console.print(Text(f"{plan.remedy.value.capitalize()}: nothing has to be changed", "bold"))
    else:
        console.print(Text(f"{plan.remedy.value.capitalize()}: {counted(len(plan.steps), 'step')}",
                           "bold"))  # fmt: skip
        console.print(_steps(plan))
    console.print()
    _draw_effects(plan.effects, console)
    for note in plan.notes:
        console.print(Text(f"note       {note}"))
    if plan.irreversible:
        numbers = ", ".join(str(step.number) for step in plan.irreversible)
        console.print(Text(f"cannot be undone: step {numbers}", "bold"))
    if answer.findings:
        console.print()
        draw_findings(answer.findings, answer.location, console)
    _draw_next(answer.next_steps, console)


def _steps(plan: Plan) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="underline")
    table.add_column("#", justify="right")
    table.add_column("step", no_wrap=True)
    table.add_column("what it does")
    table.add_column("undo", no_wrap=True)
    for step in plan.steps:
        table.add_row(str(step.number), step.act, step.detail, "yes" if step.reversible else "no")
    return table


def _draw_effects(effects: Effects, console: Console) -> None:
    if effects.batches is not None:
        first, last = effects.batches.first, effects.batches.last
        shown = f"batch {first}" if first == last else f"batches {first} to {last}"
        about = effects.rows_estimate
        rows = "" if about is None else f", about {counted(about, 'row')}"
        console.print(Text.assemble(("again      ", "bold"), f"{shown}{rows}"))
    pairs = (("sink", effects.sink), ("source", effects.source), ("next start", effects.next_start))
    for name, effect in pairs:
        if effect:
            console.print(Text.assemble((f"{name:<11}", "bold"), effect))
    for one in effects.downstream:
        console.print(Text.assemble(("downstream ", "bold"), f"{one.job}: {one.effect}"))


_OUTCOMES = {
    "applied": "Applied",
    "finished": "Finished the plan that was interrupted",
    "already-applied": "Already applied: nothing was changed",
    "undone": "Undone",
    "given-up": "Given up: the rows that it wrote stay",
    "nothing": "Nothing to do",
}


def draw_applied(answer: Answer[Applied], console: Console) -> None:
    """Draw what was done."""
    done = answer.result
    console.print(Text.assemble(("checkpoint ", "bold"), done.location))
    if done.act is not None:
        console.print(Text.assemble(("act        ", "bold"), f"{done.act} ({done.remedy})"))
    if done.backup is not None:
        console.print(Text.assemble(("before it  ", "bold"), done.backup))
    console.print()
    console.print(Text(_OUTCOMES[done.outcome], "bold"))
    _draw_steps(done.steps, console)
    if answer.findings:
        console.print()
        draw_findings(answer.findings, answer.location, console)
    _draw_next(answer.next_steps, console)


def _draw_steps(steps: Sequence[StepDone], console: Console) -> None:
    for step in steps:
        console.print(Text(f"  {step.number}. {step.detail} ({step.event})"))


def draw_journal(answer: Answer[JournalReport], console: Console) -> None:
    """Draw every act of every checkpoint."""
    for place in answer.result.places:
        _draw_place(place, console)
    if answer.findings:
        console.print()
        draw_findings(answer.findings, answer.location, console)


def _draw_place(place: JournalPlace, console: Console) -> None:
    console.print(Text.assemble(("checkpoint ", "bold"), place.location))
    if not place.acts:
        console.print("  nothing was applied, restored or undone here")
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="underline")
    for title in ("act", "kind", "state", "began", "by", "steps done"):
        table.add_column(title, overflow="fold", no_wrap=title in ("act", "began"))
    for act in place.acts:
        done = sum(1 for step in act.steps if step.event in ("done", "undoing"))
        steps = f"{done} of {len(act.steps)}" if act.steps else ""
        table.add_row(
            act.id, act.kind, act.state, (act.at or "")[:16].replace("T", " "), act.by or "", steps
        )
    console.print(table)


def _draw_next(steps: Sequence[str], console: Console) -> None:
    if steps:
        console.print()
    for step in steps:
        console.print(Text.assemble(("next       ", "bold"), step))
