"""Draws findings: the worst first, each with where, why and what to do next."""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from holdfast.findings import Finding, Severity

STYLES = {
    Severity.INFO: "cyan",
    Severity.WARNING: "yellow",
    Severity.ERROR: "red",
    Severity.FATAL: "bold red",
}
MOST = 20


def draw_findings(findings: tuple[Finding, ...], location: str, console: Console) -> None:
    """Draw the findings; information that needs no act takes one line."""
    for finding in findings[:MOST]:
        label = Text(f"{finding.severity.value} {finding.code}", STYLES[finding.severity])
        console.print(Text.assemble(label, ": ", finding.message))
        if finding.severity is Severity.INFO:
            continue
        grid = Table.grid(padding=(0, 1))
        grid.add_column(width=4)
        grid.add_column(overflow="fold")
        grid.add_row("at", finding.place.within(location))
        grid.add_row("why", finding.why)
        for step in finding.next_steps:
            grid.add_row("next", step)
        console.print(Padding(grid, (0, 0, 0, 2)))
    if len(findings) > MOST:
        console.print(f"… and {len(findings) - MOST} more (--json shows all)")
