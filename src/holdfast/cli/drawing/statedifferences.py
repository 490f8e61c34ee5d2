"""Draws what became of the rows of each store between two states."""

from __future__ import annotations

import json
from collections.abc import Mapping

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from holdfast.diagnosis.comparison.statedifferences import Change, RowDifference, StoreComparison
from holdfast.plurals import counted
from holdfast.state.results import StateRow

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
