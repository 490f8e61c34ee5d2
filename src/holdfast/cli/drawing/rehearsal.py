"""Draws what a rehearsal showed."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from holdfast.answers import Answer
from holdfast.cli.drawing.console import draw_findings
from holdfast.remedy.rehearsal.results import Rehearsal, RehearsedStart, ScratchSink
from holdfast.wording import counted


def draw_rehearsal(answer: Answer[Rehearsal], console: Console) -> None:
    """Draw the whole page: what was tried, how the start went, what is there afterwards."""
    done = answer.result
    _draw("checkpoint", done.location, console)
    _draw("plan", done.plan, console)
    console.print()
    console.print(Text(_headline(done), "bold"))
    for step in done.steps:
        console.print(Text(f"  {step.number}. {step.detail} ({step.event})"))
    console.print()
    _draw_run(done, console)
    _draw("next start", done.next_start, console)
    _draw("originals", _originals(done), console)
    if done.workspace is not None:
        _draw("copies", done.workspace, console)
    for note in done.notes:
        _draw("note", note, console)
    if answer.findings:
        console.print()
        draw_findings(answer.findings, answer.location, console)
    if answer.next_steps:
        console.print()
    for command in answer.next_steps:
        _draw("next", command, console)


def _draw_run(done: Rehearsal, console: Console) -> None:
    if done.verdict is not None:
        _draw("check", done.verdict, console)
    if done.start is not None:
        _draw("start", _start(done.start), console)
    _draw("batches", _batches(done), console)
    for one in done.state:
        _draw("state", f"{one.name}: {counted(one.rows, 'row')}", console)
    if done.sink is not None:
        _draw("sink", _sink(done.sink), console)


def _draw(name: str, text: str, console: Console) -> None:
    console.print(Text.assemble((f"{name:<11}", "bold"), text))


def _headline(done: Rehearsal) -> str:
    tried = f"Rehearsed {counted(len(done.steps), 'step')} on copies"
    if done.start is None:
        return f"{tried}; the job was not started: {done.not_started}"
    return f"{tried}; the job {'starts' if done.start.starts else 'fails'}"


def _start(start: RehearsedStart) -> str:
    if start.code is not None:
        return f"{start.ended}: {start.code}: {start.message}"
    if not start.batches:
        return f"{start.ended}, without a batch: there is nothing to read"
    first, last = start.first_batch, start.last_batch
    which = f"batch {last}" if first == last else f"batches {first} to {last}"
    told = f"ran {which}, {counted(start.rows, 'row')} read"
    if start.skipped_batches:
        told += f", {counted(start.skipped_batches, 'batch', 'batches')} in the sink already"
    return told


def _batches(done: Rehearsal) -> str:
    batches = done.batches
    if batches.last_planned is None:
        return "none"
    told = f"planned up to {batches.last_planned}, committed up to "
    told += "none" if batches.last_committed is None else str(batches.last_committed)
    return told if batches.pending is None else f"{told}; {batches.pending} is pending"


def _sink(sink: ScratchSink) -> str:
    if not sink.known:
        return f"{sink.kind}: which batches it has is unknown"
    told = f"{sink.kind}: newest batch {_batch(sink.before)} before, {_batch(sink.planned)} after "
    told += f"the plan, {_batch(sink.after)} after the run"
    if sink.rows_planned is not None and sink.rows_after is not None:
        planned = counted(sink.rows_planned, "row")
        told += f"; {planned} after the plan, {sink.rows_after:,} after the run"
    return told


def _batch(number: int | None) -> str:
    return "none" if number is None else str(number)


def _originals(done: Rehearsal) -> str:
    changed = [one.what for one in done.originals if not one.unchanged]
    if changed:
        return f"changed meanwhile: {', '.join(changed)}"
    files = sum(one.files for one in done.originals)
    return f"byte-identical before and after ({counted(files, 'file')} compared by digest)"
