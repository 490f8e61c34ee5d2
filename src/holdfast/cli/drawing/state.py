"""Draws the page of `state`: a table of rows, the file that was written, or the summary with a
bar for each partition."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from holdfast.answers import Answer
from holdfast.cli.drawing.console import draw_findings, size_text, time_text
from holdfast.state.results import Growth, PartitionSummary, StateRow, StateRows, StateSummary
from holdfast.wording import counted

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
        grid.add_row("skew", f"the largest partition is {found.skew:g} times the average")
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
        return f"unknown{note}"
    return f"{counted(found.dropped_next, 'key')}{note}"


def _growth(growth: Growth | None) -> str:
    if growth is None:
        return "unknown: no older batch was read"
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


_GAP = 2
_NUMBER = re.compile(r"-?\d+(\.\d+)?|null")


def draw_state(answer: Answer[StateRows], console: Console) -> None:
    """Draw the whole page."""
    found = answer.result
    console.print(Text(answer.location, "bold"))
    console.print(Padding(_heading(found), (0, 0, 0, 2)))
    console.print()
    if found.summary is not None:
        draw_summary(found.summary, console)
    elif found.output is not None:
        written = found.output
        count = counted(written.rows, "row")
        console.print(f"{count} written to {written.path} ({size_text(written.size_bytes)})")
    else:
        _draw_rows(found, console)
    if answer.findings:
        console.print()
        draw_findings(answer.findings, answer.location, console)


def _heading(found: StateRows) -> Text:
    name = f" ({found.operator_name})" if found.operator_name else ""
    text = f"operator {found.operator}{name}, store {found.store}, after batch {found.batch_id}"
    others = [one for one in found.stores if one != found.store]
    more = f"\nother stores: {', '.join(others)}" if others else ""
    return Text(f"{text}{more}")


def _draw_rows(found: StateRows, console: Console) -> None:
    if not found.rows:
        console.print("No rows.")
        return
    records = [_flat(row) for row in found.rows]
    table = _wide_table(records)
    if _width(records) > console.width - _GAP:
        table = _narrow_table(found.rows)
    console.print(Padding(table, (0, 0, 0, 2)))
    console.print(_rows_shown(found))


def _rows_shown(found: StateRows) -> str:
    if found.complete:
        return counted(found.total or 0, "row")
    shown = len(found.rows)
    first = "the first row" if shown == 1 else f"the first {shown:,} rows"
    if found.total is not None:
        return f"{first} of {found.total:,} (--limit shows more)"
    return f"{first}; there are many more (--summary counts them)"


def _flat(row: StateRow) -> dict[str, str]:
    """Return the cells of a row by the short name of each column."""
    cells = {"partition": str(row.partition)}
    for part in (row.key, row.user_map_key, row.value):
        for name, value in _leaves(part or {}):
            # Spark repeats columns of the key in some values; the second one gets a number.
            cells[name if name not in cells else f"value.{name}"] = _cell(value)
    if row.expires_at_ms is not None:
        cells["expires_at_ms"] = str(row.expires_at_ms)
    return cells


def _leaves(part: Mapping[str, object], prefix: str = "") -> list[tuple[str, object]]:
    found: list[tuple[str, object]] = []
    for name, value in part.items():
        if isinstance(value, Mapping) and set(value) == {"start", "end"} and all(value.values()):
            found.append((f"{prefix}{name}", _window(str(value["start"]), str(value["end"]))))
        elif isinstance(value, Mapping) and value:
            found += _leaves(value, f"{prefix}{name}.")
        else:
            found.append((f"{prefix}{name}", value))
    return found


def _window(start: str, end: str) -> str:
    """Spell a window in one cell; the day once, where it is the same."""
    day, _, clock = end.partition("T")
    until = clock if day == start.partition("T")[0] else f"{day} {clock}"
    return f"{start.replace('T', ' ').removesuffix('Z')} to {until}"


def _cell(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, str):
        return value if value.isprintable() else json.dumps(value, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False)


def _names(records: Sequence[Mapping[str, str]]) -> list[str]:
    return list(dict.fromkeys(name for record in records for name in record))


def _width(records: Sequence[Mapping[str, str]]) -> int:
    """Return how wide a table is in which no cell is folded."""
    widths = [
        max(cell_len(name), *(cell_len(record.get(name, "")) for record in records))
        for name in _names(records)
    ]
    return sum(widths) + _GAP * (len(widths) - 1)


def _wide_table(records: Sequence[Mapping[str, str]]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="underline")
    names = _names(records)
    for name in names:
        numbers = all(_NUMBER.fullmatch(record.get(name, "0")) for record in records)
        table.add_column(name, justify="right" if numbers else "left", overflow="fold")
    for record in records:
        table.add_row(*(Text(record.get(name, "")) for name in names))
    return table


def _narrow_table(rows: Sequence[StateRow]) -> Table:
    """Return key and value as one text each, folded as often as need be."""
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="underline")
    table.add_column("partition", justify="right", no_wrap=True)
    table.add_column("key", overflow="fold", ratio=1)
    table.add_column("value", overflow="fold", ratio=2)
    for row in rows:
        key = {**row.key, **(row.user_map_key or {})}
        value = dict(row.value or {})
        if row.expires_at_ms is not None:
            value["expires_at_ms"] = row.expires_at_ms
        table.add_row(str(row.partition), Text(_listed(key)), Text(_listed(value)))
    return table


def _listed(part: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {_cell(value)}" for name, value in _leaves(part))
