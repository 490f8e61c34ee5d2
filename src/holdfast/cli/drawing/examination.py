"""Draws the page of `doctor`: each target with its findings, the worst first; with --watch, what
came and went."""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from holdfast.answers import Answer
from holdfast.cli.drawing.console import (
    MOST,
    STYLES,
    draw_line,
    drawing_console,
    hidden_text,
)
from holdfast.diagnosis.doctor.examination import (
    Examination,
    Examined,
    FindingChange,
    Reported,
    SinkSeen,
)
from holdfast.diagnosis.doctor.wrongfixes import WRONG_FIXES
from holdfast.findings import Severity
from holdfast.wording import counted


def draw_examination(answer: Answer[Examination], console: Console) -> None:
    """Draw the whole page."""
    for number, target in enumerate(answer.result.targets):
        if number:
            console.print()
        _draw_target(target, answer.result.checks, console)


def _draw_target(target: Examined, checks: int, console: Console) -> None:
    console.print(Text(target.location, "bold"))
    console.print(Padding(_identity(target), (0, 0, 0, 2)))
    console.print(Text(f"  {_summary(target, checks)}", _style(target)))
    for finding in target.findings[:MOST]:
        draw_reported(finding, console)
    if len(target.findings) > MOST:
        hidden = hidden_text(target.findings[MOST:])
        console.print(f"{hidden} (--only CODE shows those of one code, --json all)")


def draw_reported(finding: Reported, console: Console) -> None:
    """Draw one finding; information that needs no act takes one line."""
    label = Text(f"{finding.severity.value} {finding.code}", STYLES[finding.severity])
    console.print(Text.assemble(label, ": ", finding.message))
    if finding.severity is Severity.INFO:
        return
    draw_line("at", finding.at, console)
    draw_line("why", finding.why, console)
    for step in finding.next:
        draw_line("next", step, console)
    fixes = finding.evidence.get(WRONG_FIXES)
    for fix in fixes if isinstance(fixes, list) else []:
        draw_line("not", str(fix), console)


def _identity(target: Examined) -> Table:
    grid = _pairs()
    if target.job is not None:
        grid.add_row("job", target.job)
    if target.readable:
        grid.add_row("query id", target.query_id or "none")
        planned, committed = _batch(target.last_planned), _batch(target.last_committed)
        grid.add_row("batches", f"planned up to {planned}, committed up to {committed}")
    if target.sink is not None:
        grid.add_row("sink", f"{target.sink.location}: {_held(target.sink)}")
    return grid


def _held(sink: SinkSeen) -> str:
    if sink.last_committed is None:
        return sink.basis
    return f"has batches up to {sink.last_committed} ({sink.basis})"


def _batch(batch_id: int | None) -> str:
    return "none" if batch_id is None else str(batch_id)


def _summary(target: Examined, checks: int) -> str:
    if not target.readable:
        return "could not be examined"
    counts = {one: sum(f.severity is one for f in target.findings) for one in Severity}
    found = [_counted(one, count) for one, count in reversed(counts.items()) if count]
    return f"{checks} checks, {', '.join(found) or 'nothing to report'}. {_sink_checked(target)}"


def _sink_checked(target: Examined) -> str:
    if target.sink is None:
        return "Sink not checked: pass --sink"
    return "Sink checked" if target.sink.readable else "Sink not checked: it could not be read"


def _counted(severity: Severity, count: int) -> str:
    if severity is Severity.FATAL:
        return f"{count} fatal"
    return counted(count, "note" if severity is Severity.INFO else severity.value)


def _style(target: Examined) -> str:
    return STYLES[target.worst] if target.worst is not None else "green"


def _pairs() -> Table:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    return grid


def draw_changes(
    answer: Answer[Examination], changes: tuple[FindingChange, ...], *, first: bool, no_color: bool
) -> None:
    """Draw the whole page at the first look, later the findings that came and went."""
    with drawing_console(no_color=no_color) as console:
        if first:
            draw_examination(answer, console)
            return
        for change in changes:
            if change.appeared:
                draw_reported(change.finding, console)
            else:
                label = Text(f"gone {change.finding.code}", STYLES[change.finding.severity])
                console.print(Text.assemble(label, ": ", change.finding.message))
