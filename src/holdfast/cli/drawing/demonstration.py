"""Draws what the demonstration showed, with its numbers."""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from holdfast.answers import Answer
from holdfast.demonstration.story import Demonstration, Kill
from holdfast.plurals import counted


def draw_demonstration(answer: Answer[Demonstration], console: Console) -> None:
    """Draw the kills, the tables, and the sum."""
    shown = answer.result
    for kill in shown.kills:
        console.print(Text(f"killed: {kill.job}, batch {kill.batch_id}", "bold"))
        console.print(Padding(_state(kill), (0, 0, 0, 2)))
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


def _state(kill: Kill) -> str:
    planned = "planned" if kill.planned else "not planned"
    held = "in the table" if kill.in_sink else "not in the table"
    committed = "committed by Spark" if kill.committed else "not committed by Spark"
    return f"{planned}, {held}, {committed}; the next start: {kill.next_start}"
