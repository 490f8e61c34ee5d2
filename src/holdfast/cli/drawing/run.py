"""Draws how the jobs of a run ended, and what the runs of the demonstration showed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from holdfast.answers import Answer
from holdfast.cli.drawing.findings import draw_findings
from holdfast.plurals import counted
from holdfast.records.run import Ended
from holdfast.running.report import JobReport, RunReport

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
