"""Draws findings: the worst first, each with where, why and what to do next."""

from __future__ import annotations

import textwrap

from rich.console import Console
from rich.text import Text

from holdfast.findings import Finding, Severity

STYLES = {
    Severity.INFO: "cyan",
    Severity.WARNING: "yellow",
    Severity.ERROR: "red",
    Severity.FATAL: "bold red",
}
MOST = 20
_INDENT = 7
_NARROWEST = 20


def draw_findings(findings: tuple[Finding, ...], location: str, console: Console) -> None:
    """Draw the findings; information that needs no act takes one line."""
    for finding in findings[:MOST]:
        label = Text(f"{finding.severity.value} {finding.code}", STYLES[finding.severity])
        console.print(Text.assemble(label, ": ", finding.message))
        if finding.severity is Severity.INFO:
            continue
        draw_line("at", finding.place.within(location), console)
        draw_line("why", finding.why, console)
        for step in finding.next_steps:
            draw_line("next", step, console)
    if len(findings) > MOST:
        console.print(f"… and {len(findings) - MOST} more (--json shows all)")


def draw_line(label: str, text: str, console: Console) -> None:
    """Draw a text beside its label, wrapped between words: a path or command stays in one piece."""
    width = max(_NARROWEST, console.width - _INDENT)
    lines = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
    for number, line in enumerate(lines):
        beginning = f"  {label:<4} " if number == 0 else " " * _INDENT
        console.print(f"{beginning}{line}", soft_wrap=True)
