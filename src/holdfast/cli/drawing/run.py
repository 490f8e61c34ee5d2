"""Draws how the jobs of a run ended."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from holdfast.answers import Answer
from holdfast.cli.drawing.findings import draw_findings
from holdfast.records.run import Ended
from holdfast.running.report import JobReport, RunReport

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
    for promise in dict.fromkeys(job.promise for job in answer.result.jobs if job.promise):
        console.print(f"delivery: {promise}")
    if answer.findings:
        console.print()
        draw_findings(answer.findings, answer.location, console)


def _batches(job: JobReport) -> str:
    if job.first_batch is None:
        return str(job.batches)
    span = f"{job.first_batch}" + (f" to {job.last_batch}" if job.batches > 1 else "")
    held = f", {job.skipped_batches} skipped" if job.skipped_batches else ""
    return f"{job.batches} ({span}{held})"
