"""Draws the page of `explain`."""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from holdfast.answers import Answer
from holdfast.cli.commands.explain import Explanation


def draw(answer: Answer[Explanation], console: Console) -> None:
    """Draw the page."""
    page = answer.result
    console.print(f"{page.code}: {page.title}")
    grid = Table.grid(padding=(0, 2))
    grid.add_row("why", page.why)
    for step in page.next:
        grid.add_row("next", step)
    console.print(Padding(grid, (0, 0, 0, 2)))
