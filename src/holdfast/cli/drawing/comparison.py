"""Draws the page of `diff`: what one side has and the other has not, and what became of the rows
of each store."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from holdfast.answers import Answer
from holdfast.cli.drawing.console import amount_text, draw_findings
from holdfast.diagnosis.comparison.result import (
    Change,
    Comparison,
    LogComparison,
    RowDifference,
    Side,
    StoreComparison,
)
from holdfast.state.results import StateRow
from holdfast.wording import counted

_SIGNS = {
    Change.ADDED: ("+", "green"),
    Change.CHANGED: ("~", "yellow"),
    Change.REMOVED: ("-", "red"),
}


def draw_stores(stores: tuple[StoreComparison, ...], console: Console) -> None:
    """Draw each store: its numbers, and the first rows of each kind."""
    for store in stores:
        title = f"state of operator {store.operator}, {store.store}: "
        console.print(Text.assemble((title, "bold"), _numbers(store)))
        if not store.rows:
            continue
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
        for _ in range(3):
            table.add_column(overflow="fold")
        for row in store.rows:
            sign, style = _SIGNS[row.change]
            table.add_row(Text(sign, style), _key(row), _values(row))
        if not store.complete:
            table.add_row("…", "more (--limit, --json)", "")
        console.print(Padding(table, (0, 0, 0, 2)))


def _numbers(store: StoreComparison) -> str:
    if store.not_compared is not None:
        return f"not compared: {store.not_compared}"
    if store.identical:
        return f"the same {counted(store.left_rows or 0, 'row')}"
    changes = f"{store.added:,} added, {store.changed:,} changed, {store.removed:,} removed"
    return f"{changes} ({counted(store.left_rows or 0, 'row')}, then {store.right_rows:,})"


def _key(row: RowDifference) -> str:
    shown = row.right or row.left
    assert shown is not None
    key = _text(shown.key)
    return key if shown.user_map_key is None else f"{key} [{_text(shown.user_map_key)}]"


def _values(row: RowDifference) -> str:
    if row.left is not None and row.right is not None:
        return f"{_value(row.left)} -> {_value(row.right)}"
    shown = row.right or row.left
    assert shown is not None
    return _value(shown)


def _value(row: StateRow) -> str:
    value = _text(row.value or {})
    if row.expires_at_ms is None:
        return value
    return f"{value}, expires at {row.expires_at_ms} ms"


def _text(columns: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={_scalar(value)}" for name, value in columns.items())


def _scalar(value: object) -> str:
    if isinstance(value, Mapping):
        return f"({_text(value)})"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


MOST_ENTRIES = 20


def draw_comparison(answer: Answer[Comparison], console: Console) -> None:
    """Draw the whole page."""
    found = answer.result
    if _is_one_checkpoint(found):
        _draw_side("in   ", replace(found.right, batch_id=None), console)
    else:
        _draw_side("left ", found.left, console)
        _draw_side("right", found.right, console)
    console.print()
    console.print(Text(_headline(found), "bold"))
    table = _rows(found)
    if table.row_count:
        console.print(Padding(table, (0, 0, 0, 2)))
    if not found.identical:
        draw_stores(found.stores, console)
    if answer.findings:
        console.print()
        draw_findings(answer.findings, answer.location, console)


def _draw_side(label: str, side: Side, console: Console) -> None:
    console.print(Text.assemble((f"{label} ", "bold"), side.location))
    span = f"planned to {side.last_planned}, committed to {side.last_committed}"
    console.print(f"      query {side.query_id or 'without id'}, {span}")
    if side.batch_id not in (None, side.last_committed):
        console.print(f"      state after batch {side.batch_id}")


def _headline(found: Comparison) -> str:
    if found.identical:
        return "The logs and the state are identical" if found.stores else "The logs are identical"
    if _is_one_checkpoint(found):
        return f"From batch {found.left.batch_id} to batch {found.right.batch_id}"
    if found.same_query and _only_damage(found):
        return "The same query. Damaged entries were not compared"
    if found.same_query:
        return "The same query, with differences"
    return "Two different queries"


def _only_damage(found: Comparison) -> bool:
    """Nothing that was compared differs, but entries of the logs could not be decoded."""
    logs = (found.offsets, found.commits)
    differs = found.settings or found.operators or found.entries
    stores = any(not store.identical for store in found.stores)
    return not (differs or stores or any(replace(one, damaged=()).differs for one in logs))


def _is_one_checkpoint(found: Comparison) -> bool:
    """Two batches of one are compared; a checkpoint beside itself has its logs compared."""
    return found.left.location == found.right.location and not found.offsets.compared


def _rows(found: Comparison) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="underline")
    sides = ("left", "right")
    if _is_one_checkpoint(found):
        sides = (f"after {found.left.batch_id}", f"after {found.right.batch_id}")
    for title in ("what", *sides):
        table.add_column(title, overflow="fold")
    _add_log(table, "offsets", found.offsets)
    _add_log(table, "commits", found.commits)
    for source in found.sources:
        if source.left != source.right:
            distance = f" (+{amount_text(source.amount)})" if source.amount else ""
            table.add_row(f"source {source.name}", str(source.left), f"{source.right}{distance}")
    for key, (left, right) in found.settings.items():
        table.add_row(key, str(left), str(right))
    for operator, (before, after) in found.operators.items():
        table.add_row(f"operator {operator}", before or "none", after or "none")
    _add_entries(table, found)
    return table


def _add_entries(table: Table, found: Comparison) -> None:
    alone = _is_one_checkpoint(found)
    for entry in found.entries[:MOST_ENTRIES]:
        if entry.field == "settings" or (alone and entry.field.startswith("source ")):
            continue
        label = entry.field if alone else f"batch {entry.batch_id}, {entry.field}"
        table.add_row(label, str(entry.left), str(entry.right))
    if len(found.entries) > MOST_ENTRIES:
        table.add_row(f"… {len(found.entries) - MOST_ENTRIES} more (--json)", "", "")


def _add_log(table: Table, name: str, log: LogComparison) -> None:
    if log.only_left or log.only_right:
        table.add_row(f"{name} only here", _ranges(log.only_left), _ranges(log.only_right))
    if log.different:
        shown = ", ".join(str(one) for one in log.different[:8])
        more = ", …" if len(log.different) > 8 else ""
        table.add_row(f"{name} that differ", shown + more, "")
    if log.damaged:
        shown = ", ".join(str(one) for one in log.damaged[:8])
        more = ", …" if len(log.damaged) > 8 else ""
        table.add_row(f"{name} not compared: {shown}{more}", "", "")


def _ranges(ranges: tuple[tuple[int, int], ...]) -> str:
    texts = [str(low) if low == high else f"{low} to {high}" for low, high in ranges[:6]]
    return ", ".join(texts) + (", …" if len(ranges) > 6 else "")
