"""Draws the summary of a store: numbers, and a bar for each partition."""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from holdfast.cli.drawing.quantities import size_text, time_text
from holdfast.plurals import counted
from holdfast.state.results import Growth, PartitionSummary, StateSummary

_BAR_WIDTH = 30
_MOST_PARTITIONS = 32


def draw_summary(found: StateSummary, console: Console) -> None:
    """Draw the numbers, then the partitions."""
    console.print(Padding(_numbers(found), (0, 0, 0, 2)))
    if not found.partitions:
        return
    console.print()
    console.print(Text("Partitions", "bold"))
    shown = found.partitions
    if len(shown) > _MOST_PARTITIONS:
        largest = sorted(shown, key=lambda one: (-one.keys, one.partition))
        shown = tuple(largest[:_MOST_PARTITIONS])
    console.print(Padding(_bars(shown), (0, 0, 0, 2)))
    if len(shown) < len(found.partitions):
        left = len(found.partitions) - len(shown)
        console.print(f"  … and {left} smaller ones (--json shows all)")


def _numbers(found: StateSummary) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row("keys", f"{found.keys:,}")
    grid.add_row("size", f"{size_text(found.row_bytes)} of rows, {size_text(found.file_bytes)} of "
                         "files of all kept batches")  # fmt: skip
    if found.skew is not None and len(found.partitions) > 1:
        grid.add_row("skew", f"the largest partition holds {found.skew:g} times the average")
    if found.event_time is not None and found.event_time.oldest is not None:
        times = found.event_time
        grid.add_row("event time", f"{times.column} from {times.oldest} to {times.newest}")
    if found.next_watermark_ms:
        grid.add_row("watermark", f"{time_text(found.next_watermark_ms)} for the next batch")
    grid.add_row("dropped next", _dropped(found))
    grid.add_row("growth", _growth(found.growth))
    return grid


def _dropped(found: StateSummary) -> str:
    note = f" ({found.dropped_next_note})" if found.dropped_next_note else ""
    if found.dropped_next is None:
        return f"not known{note}"
    return f"{counted(found.dropped_next, 'key')}{note}"


def _growth(growth: Growth | None) -> str:
    if growth is None:
        return "not known: no older batch was looked at"
    first = f"{counted(growth.first_keys, 'key')} after batch {growth.first_batch}"
    text = f"{first}, {growth.last_keys:,} now"
    if not growth.changes:
        return text
    mean = sum(one.change_bytes for one in growth.changes) // len(growth.changes)
    return f"{text}; a batch writes {size_text(mean)} on average"


def _bars(partitions: tuple[PartitionSummary, ...]) -> Table:
    most = max(one.keys for one in partitions)
    grid = Table.grid(padding=(0, 2))
    grid.add_column(justify="right")
    grid.add_column(no_wrap=True)
    grid.add_column(justify="right")
    grid.add_column(justify="right")
    for one in partitions:
        length = round(_BAR_WIDTH * one.keys / most) if most else 0
        bar = Text("█" * (length or bool(one.keys)), "cyan")
        keys = counted(one.keys, "key")
        grid.add_row(str(one.partition), bar, keys, size_text(one.row_bytes))
    return grid
