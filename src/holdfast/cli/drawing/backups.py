"""Draws what `backup`, `backups` and `restore` did: the backups, what was copied or written, what
was let go or set aside."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from holdfast.answers import Answer
from holdfast.backup.results import (
    BackupAct,
    BackupList,
    BackupPlace,
    BackupReport,
    BackupSummary,
    Restoration,
    RestoreAct,
)
from holdfast.backup.snapshot import ARCHIVE, BEFORE_PLAN, BEFORE_RESTORE, SINK_LOG
from holdfast.cli.drawing.console import draw_findings, size_text
from holdfast.wording import counted

MOST_BACKUPS = 50
_UNBOUNDED = 10_000
_FOLDED = 16
"""To how few characters a note may be folded."""


def draw_backups(answer: Answer[BackupList], console: Console) -> None:
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
        console.print("  no backups yet; create one with holdfast backup")
        return
    console.print(f"  {counted(len(place.backups), 'backup')} in {size_text(place.stored_bytes)}")
    _draw_table(place.backups[:MOST_BACKUPS], console)
    if len(place.backups) > MOST_BACKUPS:
        console.print(f"  … and {len(place.backups) - MOST_BACKUPS} more (--json shows all)")


def _draw_table(backups: Sequence[BackupSummary], console: Console) -> None:
    """Draw some backups: a table, or a few short lines for each on a narrow terminal."""
    table = backup_table(backups)
    longest = max((len(_note(one)) for one in backups), default=0)
    unbounded = console.options.update(width=_UNBOUNDED)
    others = console.measure(table, options=unbounded).maximum - longest
    if console.width - others >= min(longest, _FOLDED):
        console.print(table)
        return
    for one in backups:
        console.print(Padding(Text(one.id, "bold", overflow="fold"), (0, 0, 0, 2)))
        batches = f"planned {_batch(one.last_planned)}, committed {_batch(one.last_committed)}"
        size = f"{counted(one.file_count, 'file')}, {size_text(one.total_bytes)}"
        for line in filter(None, (f"{batches}, {size}", _note(one))):
            console.print(Padding(Text(line), (0, 0, 0, 4)))


def backup_table(backups: Sequence[BackupSummary]) -> Padding:
    """Return the table of some backups."""
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


_PURPOSES = {
    BEFORE_RESTORE: "before a restore",
    BEFORE_PLAN: "before a plan",
    ARCHIVE: "archive",
}


def _note(one: BackupSummary) -> str:
    notes = [_PURPOSES[one.purpose]] if one.purpose in _PURPOSES else []
    notes += ["running"] if one.running else []
    notes += ["with sink log"] if one.sink_log else []
    if one.mismatched:
        notes.append(f"damaged: {counted(len(one.mismatched), 'checksum mismatch')}")
    return ", ".join(notes)


def draw_backup(answer: Answer[BackupReport], console: Console) -> None:
    """Draw the whole page."""
    report = answer.result
    console.print(Text.assemble(("checkpoint ", "bold"), report.location))
    console.print(Text.assemble(("backups    ", "bold"), report.store))
    console.print()
    console.print(Text(_backup_headline(report), "bold"))
    if report.backups:
        _draw_table(report.backups, console)
    if report.removed_files or report.removed_backups:
        console.print(
            f"removed {counted(len(report.removed_backups), 'old backup')} and "
            f"{counted(report.removed_files, 'copy')} that no backup uses "
            f"({size_text(report.freed_bytes)})"
        )
    if answer.findings:
        console.print()
        draw_findings(answer.findings, answer.location, console)


def _backup_headline(report: BackupReport) -> str:
    read = f"{counted(report.verified_files, 'copy')} verified, {size_text(report.verified_bytes)}"
    if report.act is BackupAct.MADE:
        new = f"{counted(report.copied_files, 'new file')}, {size_text(report.copied_bytes)} copied"
        return f"Backed up: {new}; {read}"
    if report.damaged:
        return f"{counted(len(report.damaged), 'damaged file')} in the backups; {read}"
    return f"Every copy is intact: {read}"


_HEADLINES = {
    RestoreAct.RESTORED: "Restored",
    RestoreAct.UNCHANGED: "Nothing to restore: all files are already in place",
    RestoreAct.FINISHED: "The interrupted restore was finished",
    RestoreAct.TAKEN_BACK: "The interrupted restore was undone",
    RestoreAct.NOTHING: "No interrupted restore found",
}


def draw_restoration(answer: Answer[Restoration], console: Console) -> None:
    """Draw the whole page."""
    done = answer.result
    part = "sink log  " if done.part == SINK_LOG else "checkpoint"
    console.print(Text.assemble((f"{part} ", "bold"), done.location))
    if done.backup is not None:
        console.print(Text.assemble(("backup     ", "bold"), done.backup))
    if done.safety_backup is not None:
        console.print(Text.assemble(("before it  ", "bold"), done.safety_backup))
    console.print()
    is_damaged = any(one.code == "HF4525" for one in answer.findings)
    console.print(Text(_restoration_headline(done, is_damaged=is_damaged), "bold"))
    if answer.findings:
        console.print()
        draw_findings(answer.findings, answer.location, console)


def _restoration_headline(done: Restoration, *, is_damaged: bool) -> str:
    headline = _HEADLINES[done.act]
    if done.act is RestoreAct.UNCHANGED and is_damaged:
        return "Nothing written: the backup has the same bytes, and they do not match the checksum"
    if done.act in (RestoreAct.UNCHANGED, RestoreAct.NOTHING):
        return headline
    files = counted(done.written_files, "file")
    return (
        f"{headline}: {files} written ({size_text(done.written_bytes)}), "
        f"{done.removed_files} removed, {done.verified_files} verified"
    )
