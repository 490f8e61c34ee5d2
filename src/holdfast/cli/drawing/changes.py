"""Draws what changed between two looks of `doctor --watch`."""

from __future__ import annotations

from rich.text import Text

from holdfast.answers import Answer
from holdfast.cli.drawing.console import drawing_console
from holdfast.cli.drawing.examination import draw, draw_reported
from holdfast.cli.drawing.findings import STYLES
from holdfast.diagnosis.doctor.examination import Examination
from holdfast.diagnosis.doctor.watching import Change


def draw_changes(
    answer: Answer[Examination], changes: tuple[Change, ...], *, first: bool, no_color: bool
) -> None:
    """Draw the whole page at the first look, later the findings that came and went."""
    with drawing_console(no_color=no_color) as console:
        if first:
            draw(answer, console)
            return
        for change in changes:
            if change.appeared:
                draw_reported(change.finding, console)
            else:
                label = Text(f"gone {change.finding.code}", STYLES[change.finding.severity])
                console.print(Text.assemble(label, ": ", change.finding.message))
