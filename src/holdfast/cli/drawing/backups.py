"""Draws the backups of one or more checkpoints, the newest first."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from holdfast.answers import Answer
from holdfast.backup.results import BackupList, BackupPlace, BackupSummary
from holdfast.backup.snapshot import BEFORE_RESTORE
from holdfast.cli.drawing.findings import draw_findings
from holdfast.cli.drawing.quantities import size_text
from holdfast.plurals import counted

MOST = 50


def draw(answer: Answer[BackupList], console: Console) -> None:
    """Draw every place."""
    for place in answer.result.places:
        _draw_place(place, console)
    if answer.findings:
        console.print()
        draw_findings(answer.findings, answer.location, console)


def _draw_place(place: BackupPlace, console: Console) -> None:
    console.print(Text.assemble(("checkpoint ", "bold"), place.location))
    console.print(Text.assemble(("backups    ", "bold"), place.store))
    if not place.backups:
        console.print("  none yet: holdfast backup makes one")
        return
    console.print(f"  {counted(len(place.backups), 'backup')} in {size_text(place.stored_bytes)}")
    console.print(backup_table(place.backups[:MOST]))
    if len(place.backups) > MOST:
        console.print(f"  … and {len(place.backups) - MOST} more (--json shows all)")


def backup_table(backups: Sequence[BackupSummary]) -> Padding:
    """Give the table of some backups."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="underline")
    table.add_column("backup", no_wrap=True)
    for title in ("planned", "committed", "files", "size"):
        table.add_column(title, justify="right")
    table.add_column("note")
    for one in backups:
        table.add_row(
            one.id,
            _batch(one.last_planned),
            _batch(one.last_committed),
            str(one.file_count),
            size_text(one.total_bytes),
            _note(one),
        )
    return Padding(table, (0, 0, 0, 2))


def _batch(batch: int | None) -> str:
    return "none" if batch is None else str(batch)


def _note(one: BackupSummary) -> str:
    notes = ["before a restore"] if one.purpose == BEFORE_RESTORE else []
    notes += ["running"] if one.running else []
    notes += ["with sink log"] if one.sink_log else []
    return ", ".join(notes)
