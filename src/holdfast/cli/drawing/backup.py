"""Draws what `backup` did: the backup, what it took to copy it, what was let go."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from holdfast.answers import Answer
from holdfast.backup.results import BackupAct, BackupReport
from holdfast.cli.drawing.backups import backup_table
from holdfast.cli.drawing.findings import draw_findings
from holdfast.cli.drawing.quantities import size_text
from holdfast.plurals import counted


def draw(answer: Answer[BackupReport], console: Console) -> None:
    """Draw the whole page."""
    report = answer.result
    console.print(Text.assemble(("checkpoint ", "bold"), report.location))
    console.print(Text.assemble(("backups    ", "bold"), report.store))
    console.print()
    console.print(Text(_headline(report), "bold"))
    if report.backups:
        console.print(backup_table(report.backups))
    if report.removed_files or report.removed_backups:
        console.print(
            f"removed {counted(len(report.removed_backups), 'old backup')} and "
            f"{counted(report.removed_files, 'copy')} that no backup names "
            f"({size_text(report.freed_bytes)})"
        )
    if answer.findings:
        console.print()
        draw_findings(answer.findings, answer.location, console)


def _headline(report: BackupReport) -> str:
    read = f"{counted(report.verified_files, 'copy')} verified, {size_text(report.verified_bytes)}"
    if report.act is BackupAct.MADE:
        new = f"{counted(report.copied_files, 'new file')}, {size_text(report.copied_bytes)} copied"
        return f"Backed up: {new}; {read}"
    if report.damaged:
        return f"{counted(len(report.damaged), 'damaged file')} in the backups; {read}"
    return f"Every copy is whole: {read}"
