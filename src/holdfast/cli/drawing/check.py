"""Draws the page of `check`: the verdict first, then what changed, then what to do."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from holdfast.answers import Answer
from holdfast.checkpoint.recovery.outcome import Action
from holdfast.cli.drawing.console import draw_line
from holdfast.restart.result import Check, CheckedChange, CheckedJob
from holdfast.restart.verdict import Verdict

_STYLES = {
    Verdict.SAFE: "bold green",
    Verdict.CONDITIONAL: "bold yellow",
    Verdict.UNKNOWN: "bold yellow",
    Verdict.UNSAFE: "bold red",
}
_MEANING = {
    Verdict.SAFE: "the code may restart on this checkpoint",
    Verdict.CONDITIONAL: "right only if the conditions below hold",
    Verdict.UNKNOWN: "not everything that decides it is known",
    Verdict.UNSAFE: "Spark would fail, or rows or state would be wrong",
}


def draw_check(answer: Answer[Check], console: Console) -> None:
    """Draw the verdict on each job."""
    for number, job in enumerate(answer.result.jobs):
        if number:
            console.print()
        _draw_job(job, answer, console)


def _draw_job(job: CheckedJob, answer: Answer[Check], console: Console) -> None:
    name = job.job or job.location
    verdict = Text(f"{name}: {job.verdict.value}", _STYLES[job.verdict])
    console.print(Text.assemble(verdict, f" ({_meaning(job)})"))
    console.print(Text(f"  {_compared(job)}", "dim"))
    if job.changes:
        console.print(Padding(_changes(job), (1, 0, 0, 2)))
    stopping = [one for one in job.changes if one.verdict is not Verdict.SAFE]
    if stopping:
        console.print()
    for change in stopping:
        label = Text(f"{change.verdict.value} {change.rule}", _STYLES[change.verdict])
        console.print(Text.assemble(label, ": ", change.subject))
        draw_line("why", change.why, console)
        if change.error is not None:
            draw_line("error", change.error, console)
        if change.condition is not None:
            draw_line("if", change.condition, console)
        for step in _steps(change, answer):
            draw_line("next", step, console)


def _meaning(job: CheckedJob) -> str:
    start = job.next_start
    if job.verdict is Verdict.SAFE and start is not None and start.action is Action.FRESH:
        return f"there is no checkpoint at {job.location}: the first start begins with batch 0"
    return _MEANING[job.verdict]


def _steps(change: CheckedChange, answer: Answer[Check]) -> tuple[str, ...]:
    found = (one for one in answer.findings if one.code == change.rule)
    return next((one.next_steps for one in found if change.subject in one.message), ())


def _compared(job: CheckedJob) -> str:
    start = job.next_start
    if start is None:
        last = f"run {job.compared_with}"
        if job.recorded_at is not None:
            last = f"the query recorded at {job.recorded_at}"
        return f"compared with {last} in the bundle; the checkpoint was not read"
    batch = "" if start.batch_id is None else f" batch {start.batch_id}"
    next_start = f"next start: {start.action.value}{batch}"
    if job.recorded_at is not None:
        return f"compared with the query recorded at {job.recorded_at}; {next_start}"
    if job.compared_with is None:
        return f"no recorded run to compare with; {next_start}"
    return f"compared with run {job.compared_with}; {next_start}"


def _changes(job: CheckedJob) -> Table:
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for title in ("verdict", "rule", "what", "before → after"):
        grid.add_column(title, header_style="dim", overflow="fold")
    for one in job.changes:
        verdict = "accepted" if one.accepted else one.verdict.value
        place = "" if one.place is None else f"\n{one.place}"
        grid.add_row(
            Text(verdict, _STYLES[one.verdict]), one.rule, f"{one.subject}{place}", _both(one)
        )
    return grid


def _both(change: CheckedChange) -> str:
    if (change.before, change.after) == (None, None):
        return ""
    return f"{change.before or 'none'} → {change.after or 'none'}"


def draw_check_markdown(answer: Answer[Check], console: Console) -> None:
    """Draw the page as Markdown, for a pull request."""
    for line in _markdown(answer):
        console.print(line, soft_wrap=True)


def _markdown(answer: Answer[Check]) -> Iterator[str]:
    for job in answer.result.jobs:
        yield f"### `{job.job or job.location}`: {job.verdict.value}"
        yield ""
        yield f"{_MEANING[job.verdict].capitalize()}. {_compared(job).capitalize()}."
        yield ""
        if job.changes:
            yield "| verdict | rule | what | before | after | why |"
            yield "|---|---|---|---|---|---|"
        for one in job.changes:
            place = "" if one.place is None else f" ({one.place})"
            cells = (
                "accepted" if one.accepted else one.verdict.value, one.rule,
                f"{one.subject}{place}", one.before or "", one.after or "", one.why,
            )  # fmt: skip
            yield f"| {' | '.join(map(_cell, cells))} |"
        if job.conditions:
            yield ""
            yield "Right only if:"
            yield ""
            yield from (f"- {_cell(one)}" for one in job.conditions)
        yield ""
        steps = {step: None for one in job.changes for step in _steps(one, answer)}
        yield from (f"- {_cell(one)}" for one in steps)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
