"""Draws the page of `evidence`: nine facts, what is missing, and findings, on the terminal or as
Markdown."""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from holdfast.answers import Answer
from holdfast.cli.drawing.console import draw_findings, size_text, time_text
from holdfast.diagnosis.evidence.report import (
    attempt_text,
    fact_text,
    lacking_text,
    markdown_report,
    run_text,
)
from holdfast.diagnosis.inspection.evidence import FACTS, Basis, Bundle, Evidence, Missing
from holdfast.diagnosis.inspection.runs.restarts import Restart
from holdfast.wording import counted

MOST_RUNS = 10
_STYLES = {Basis.UNKNOWN: "bold red", Basis.INFERRED: "yellow"}


def draw_evidence(answer: Answer[Evidence], console: Console) -> None:
    """Draw the whole page."""
    found = answer.result
    console.print(Text(answer.location, "bold"))
    console.print(_indented(_facts(found)))
    _draw_verdict(found, console)
    if found.missing:
        console.print()
        console.print(Text("What is missing, and how to get it", "bold"))
        console.print(_indented(_missing(found.missing)))
    if found.bundle is not None:
        _draw_bundle(found.bundle, console)
    if answer.findings:
        console.print()
        console.print(Text("Findings", "bold"))
        draw_findings(answer.findings, answer.location, console)


def _indented(table: Table) -> Padding:
    return Padding(table, (0, 0, 0, 2))


def _grid() -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    return grid


def _facts(found: Evidence) -> Table:
    grid = _grid()
    for name in FACTS:
        fact = found.fact(name)
        grid.add_row(name.replace("_", " "), fact_text(found, name))
        basis = Text(fact.basis.value, _STYLES.get(fact.basis, "green"))
        grid.add_row("", Text.assemble(basis, (f": {fact.source}", "dim")))
        if name == "sink" and found.sink.value is not None and found.sink.value.promise:
            grid.add_row("", f"delivery: {found.sink.value.promise}")
        if name == "restart_history" and found.restart_history.value is not None:
            for run in found.restart_history.value.runs[:MOST_RUNS]:
                grid.add_row("", run_text(run))
            for attempt in found.restart_history.value.attempts[:MOST_RUNS]:
                grid.add_row("", attempt_text(attempt))
            for one in found.restart_history.value.restarts:
                grid.add_row("", _restart(one))
    return grid


def _restart(one: Restart) -> str:
    when = f", {time_text(one.timestamp_ms)}" if one.timestamp_ms is not None else ""
    return f"before batch {one.batch_id}{when}, {one.certainty.value}: {'; '.join(one.signs)}"


def _draw_verdict(found: Evidence, console: Console) -> None:
    console.print()
    if found.ready:
        console.print(Text("Ready: nothing essential is unknown", "bold green"))
        return
    console.print(Text(f"Not ready for advice: {lacking_text(found)}", "bold red"))


def _missing(missing: tuple[Missing, ...]) -> Table:
    grid = _grid()
    for one in missing:
        need = "" if one.essential else " (helpful)"
        grid.add_row(one.fact.replace("_", " "), f"{one.what}{need}")
        for how in one.how:
            grid.add_row("", Text(f"→ {how}", "dim"))
    return grid


def _draw_bundle(bundle: Bundle, console: Console) -> None:
    console.print()
    console.print(Text(f"Bundle {bundle.path}", "bold"))
    grid = _grid()
    files = f"{counted(bundle.files, 'file')} in {size_text(bundle.size_bytes)}"
    size = f"{files}, {bundle.redacted} redacted"
    grid.add_row("holds", f"{size}; {bundle.left_out} left out (see the manifest)")
    grid.add_row("sha256", bundle.sha256)
    console.print(_indented(grid))


def draw_evidence_markdown(answer: Answer[Evidence], console: Console) -> None:
    """Print the report; no line is wrapped, because Markdown's tables would break."""
    console.out(markdown_report(answer).rstrip("\n"), highlight=False)
