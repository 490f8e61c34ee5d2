"""Draws a project: what `init` wrote, and in `status` one line per job, who runs now, and what
needs a look."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from holdfast.answers import Answer
from holdfast.cli.drawing.console import draw_findings
from holdfast.diagnosis.status.result import JobState, JobStatus, Status
from holdfast.records.leases.state import Standing

if TYPE_CHECKING:
    from holdfast.jobs.scaffold import NewProject

_STYLES = {
    **dict.fromkeys((JobState.RUNNING, JobState.FINISHED, JobState.STOPPED), "green"),
    **dict.fromkeys((JobState.KILLED, JobState.UNCLEAR, JobState.SKIPPED), "yellow"),
    **dict.fromkeys((JobState.RESTARTING, JobState.RESTORED, JobState.REMEDIED), "yellow"),
    JobState.RETIRED: "dim",
    **dict.fromkeys((JobState.FAILED, JobState.REFUSED, JobState.LOST_LEASE), "red"),
    **dict.fromkeys((JobState.INTERRUPTED, JobState.UNREADABLE, JobState.GONE), "bold red"),
}


_UNBOUNDED = 10_000
_FOLDED = 12
"""So much of a job's name is shown in one piece."""


def draw_status(answer: Answer[Status], console: Console) -> None:
    """Draw the whole page."""
    status = answer.result
    console.print(Text.assemble(("project ", "bold"), status.project))
    table = _table(status.jobs)
    if _fits(table, status.jobs, console):
        console.print(table)
    else:
        _draw_blocks(status.jobs, console)
    _draw_holders(status.jobs, console)
    _draw_restarts(status.jobs, console)
    _draw_remedies(status.jobs, console)
    _draw_sinks(status.jobs, console)
    for one in status.jobs:
        if one.backup_every is not None:
            newest = "none yet" if one.newest_backup is None else _moment(one.newest_backup)
            shown = f"backup of {one.job}: every {one.backup_every}, newest {newest}"
            console.print(Text(shown))
    if status.metrics_file is not None:
        console.print(Text(f"metrics written to {status.metrics_file}"))
    if answer.findings:
        console.print()
        console.print(Text("Findings", "bold"))
        draw_findings(answer.findings, answer.location, console)


def _table(jobs: Iterable[JobStatus]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="underline")
    table.add_column("job", overflow="fold")
    table.add_column("state", no_wrap=True)
    table.add_column("batch", justify="right", no_wrap=True)
    table.add_column("last run", no_wrap=True)
    table.add_column("rows", justify="right", no_wrap=True)
    table.add_column("sink", no_wrap=True)
    for one in jobs:
        state = Text(one.state.value, _STYLES.get(one.state, ""))
        table.add_row(one.job, state, _batch(one), *_last_run(one), _sink(one))
    return table


def _fits(table: Table, jobs: Iterable[JobStatus], console: Console) -> bool:
    """Whether the terminal has room for all columns; long names of jobs may be folded."""
    longest = max((len(one.job) for one in jobs), default=0)
    unbounded = console.options.update(width=_UNBOUNDED)
    others = console.measure(table, options=unbounded).maximum - longest
    return console.width - others >= min(longest, _FOLDED)


def _draw_blocks(jobs: Iterable[JobStatus], console: Console) -> None:
    """Draw each job in a few short lines, for a narrow terminal."""
    for one in jobs:
        console.print(Text(one.job, "bold", overflow="fold"))
        batch, (moment, rows) = _batch(one), _last_run(one)
        state = Text(one.state.value, _STYLES.get(one.state, ""))
        said = [state.append(f", batch {batch}", "default") if batch else state]
        if moment:
            said.append(Text(f"{moment}, {rows} {'row' if rows == '1' else 'rows'}"))
        said.append(Text(_sink(one)))
        for line in said:
            console.print(Padding(line, (0, 0, 0, 2)))


def _sink(one: JobStatus) -> str:
    return f"{one.sink} (native)" if one.sink_native else one.sink


def _batch(one: JobStatus) -> str:
    if one.pending is not None:
        return f"{one.pending} pending"
    return "" if one.last_committed is None else str(one.last_committed)


def _last_run(one: JobStatus) -> tuple[str, str]:
    if not one.runs:
        return "", ""
    run = one.runs[0]
    return _moment(run.ended_at or run.started_at), f"{run.rows:,}"


def _moment(text: str) -> str:
    """Spell a time to the minute, in UTC as it was recorded."""
    return f"{text[:16].replace('T', ' ')}Z"


def _draw_sinks(jobs: Iterable[JobStatus], console: Console) -> None:
    """Draw what the sinks said that were asked."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(overflow="fold")
    grid.add_column(overflow="fold")
    for one in jobs:
        if one.sink_basis is not None:
            held = "" if one.sink_holds is None else f"has batches up to {one.sink_holds}: "
            grid.add_row(one.job, f"{held}{one.sink_basis}")
    if grid.row_count:
        console.print()
        console.print(Text("Sinks that were read", "bold"))
        console.print(Padding(grid, (0, 0, 0, 2)))


def _draw_restarts(jobs: Iterable[JobStatus], console: Console) -> None:
    """Draw when a job is started again."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(overflow="fold")
    grid.add_column(overflow="fold")
    for one in jobs:
        if (note := one.next_restart) is not None:
            due = f"{note.due_at[:19].replace('T', ' ')}Z"
            grid.add_row(one.job, f"{due}, restart {note.restart} of {note.limit}: {note.holder}")
    if grid.row_count:
        console.print()
        console.print(Text("Next restarts", "bold"))
        console.print(Padding(grid, (0, 0, 0, 2)))


def _draw_remedies(jobs: Iterable[JobStatus], console: Console) -> None:
    """Draw what was done to a checkpoint since its last run, and how the next start goes on."""
    for one in jobs:
        if (done := one.remedy) is None:
            continue
        what = f"restored from backup {done.backup}" if done.backup else f"{done.kind} applied"
        follows = "" if one.next_start is None else f"; the next start {one.next_start}"
        console.print(Text(f"{one.job}: {what} at {_moment(done.ended_at)}{follows}"))


def _draw_holders(jobs: Iterable[JobStatus], console: Console) -> None:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(overflow="fold")
    grid.add_column(overflow="fold")
    for one in jobs:
        lease = one.lease
        if lease is not None and lease.state in (Standing.HELD, Standing.UNCLEAR):
            since = f", since {_moment(lease.since)}" if lease.since is not None else ""
            act = f"{lease.act} by " if lease.act is not None else ""
            grid.add_row(one.job, f"{act}{lease.holder or 'its claim cannot be read'}{since}")
    if grid.row_count:
        console.print()
        console.print(Text("Leases", "bold"))
        console.print(Padding(grid, (0, 0, 0, 2)))


def draw_new_project(answer: Answer[NewProject], console: Console) -> None:
    """Draw which files were written, and how to go on."""
    new = answer.result
    what = "the schema" if new.project is None else f"project {new.project}"
    console.print(Text(f"{what} in {new.folder}", "bold"), soft_wrap=True)
    for file in new.files:
        console.print(f"  wrote {file}", soft_wrap=True)
    for file in new.kept:
        console.print(f"  kept  {file}", soft_wrap=True)
    for step in answer.next_steps:
        console.print(f"next  {step}", soft_wrap=True)
