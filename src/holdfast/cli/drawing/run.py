"""Draws how the jobs of a run ended, what the demonstration showed, and what was recorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from holdfast.answers import Answer
from holdfast.cli.drawing.console import draw_findings, draw_line
from holdfast.records.run import Ended
from holdfast.restart.recorded import RecordedQuery, RecordReport
from holdfast.running.report import JobReport, RunReport
from holdfast.wording import counted

if TYPE_CHECKING:
    from holdfast.demonstration.story import Demonstration, Kill


_STYLES = {
    Ended.FINISHED: "green",
    Ended.STOPPED: "cyan",
    Ended.FAILED: "bold red",
    Ended.REFUSED: "bold red",
    Ended.LOST_LEASE: "bold red",
    Ended.SKIPPED: "yellow",
}


def draw_run(answer: Answer[RunReport], console: Console) -> None:
    """Draw the table of jobs, then what was found."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    restarted = any(job.restarts for job in answer.result.jobs)
    numbers = ("batches", "rows", "seconds", *(("restarts",) if restarted else ()))
    for name in ("job", "ended", *numbers):
        right = name in numbers
        table.add_column(name, justify="right" if right else "left", overflow="fold")
    for job in answer.result.jobs:
        table.add_row(
            job.job,
            Text(job.ended.value, _STYLES[job.ended]),
            _batches(job),
            f"{job.rows:,}",
            f"{job.seconds:.1f}",
            *((str(job.restarts),) if restarted else ()),
        )
    console.print(table)
    for job in answer.result.jobs:
        if job.pending is not None:
            words = f"batch {job.pending} is pending (planned, not committed)"
            console.print(f"{job.job}: {words}; the next start runs it again", markup=False)
    _draw_promises(answer.result.jobs, console)
    if answer.findings:
        console.print()
        draw_findings(answer.findings, answer.location, console)


def _draw_promises(jobs: Sequence[JobReport], console: Console) -> None:
    """Draw each promise once, with the jobs that it is about where not all have the same."""
    promises: dict[str, list[str]] = {}
    for job in jobs:
        if job.promise:
            promises.setdefault(job.promise, []).append(job.job)
    for promise, names in promises.items():
        whose = "" if len(promises) == 1 else f"{', '.join(names)}: "
        console.print(f"{whose}delivery: {promise}", markup=False)


def _batches(job: JobReport) -> str:
    if job.first_batch is None:
        return str(job.batches)
    span = f"{job.first_batch}" + (f" to {job.last_batch}" if job.batches > 1 else "")
    held = f", {job.skipped_batches} skipped" if job.skipped_batches else ""
    return f"{job.batches} ({span}{held})"


def draw_demonstration(answer: Answer[Demonstration], console: Console) -> None:
    """Draw the kills, the tables, and the sum."""
    shown = answer.result
    for kill in shown.kills:
        console.print(Text(f"killed: {kill.job}, batch {kill.batch_id}", "bold"))
        console.print(Padding(_killed(kill), (0, 0, 0, 2)))
    console.print()
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("table", "expected", "found", "lost", "duplicated"):
        table.add_column(name, justify="left" if name == "table" else "right")
    for count in shown.counts:
        figures = (count.expected, count.found, count.lost, count.doubled)
        table.add_row(count.table, *(f"{figure:,}" for figure in figures))
    console.print(table)
    console.print()
    style = "bold green" if shown.lost == shown.doubled == 0 else "bold red"
    lost, doubled = counted(shown.lost, "row"), counted(shown.doubled, "row")
    console.print(Text(f"{lost} lost, {doubled} duplicated", style))
    held = shown.skipped_batches
    console.print(f"{counted(held, 'batch')} run again, not written twice")


def _killed(kill: Kill) -> str:
    planned = "planned" if kill.planned else "not planned"
    held = "in the table" if kill.in_sink else "not in the table"
    committed = "committed by Spark" if kill.committed else "not committed by Spark"
    return f"{planned}, {held}, {committed}; the next start: {kill.next_start}"


def draw_record(answer: Answer[RecordReport], console: Console) -> None:
    """Draw each recorded query."""
    for number, one in enumerate(answer.result.recorded):
        if number:
            console.print()
        done = "recorded" if one.is_new else "already recorded"
        console.print(Text.assemble(Text(f"{one.job or one.location}: {done}", "bold green"),
                                    " (Holdfast did not run it)"))  # fmt: skip
        for label, text in _lines(one):
            draw_line(label, text, console)
    if answer.findings:
        console.print()
        draw_findings(answer.findings, answer.location, console)


def _lines(one: RecordedQuery) -> Iterator[tuple[str, str]]:
    yield "id", one.query_id or "the checkpoint does not exist yet"
    mode = "unknown output mode" if one.output_mode is None else f"{one.output_mode} mode"
    yield "plan", f"Spark {one.spark}, {mode}, {_operators(one)}"
    yield "from", "; ".join(one.sources) or "nothing known"
    yield "sink", one.sink or "not known"
    if one.functions:
        yield "code", counted(len(one.functions), "Python function")
    if one.missing:
        yield "note", f"not known: {'; '.join(one.missing)}"
    yield "at", f"{one.recorded_at} in {one.file}"
    yield "next", _counts(one)


def _operators(one: RecordedQuery) -> str:
    if one.operators is None:
        return "stateful operators unknown"
    return ", ".join(one.operators) or "no state"


def _counts(one: RecordedQuery) -> str:
    if one.counts:
        return "holdfast check compares with it now"
    return "holdfast check compares with it once the next batch is committed"
