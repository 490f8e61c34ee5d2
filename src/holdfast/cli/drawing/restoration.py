"""Draws what `restore` did: what was written, what was set aside, what to mind."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from holdfast.answers import Answer
from holdfast.backup.results import Restoration, RestoreAct
from holdfast.backup.snapshot import SINK_LOG
from holdfast.cli.drawing.findings import draw_findings
from holdfast.cli.drawing.quantities import size_text
from holdfast.plurals import counted

_HEADLINES = {
    RestoreAct.RESTORED: "Restored",
    RestoreAct.UNCHANGED: "Nothing to restore: everything is there already",
    RestoreAct.FINISHED: "The interrupted restore is finished",
    RestoreAct.TAKEN_BACK: "The interrupted restore is taken back",
    RestoreAct.NOTHING: "No restore was interrupted here",
}


def draw(answer: Answer[Restoration], console: Console) -> None:
    """Draw the whole page."""
    done = answer.result
    part = "sink log  " if done.part == SINK_LOG else "checkpoint"
    console.print(Text.assemble((f"{part} ", "bold"), done.location))
    if done.backup is not None:
        console.print(Text.assemble(("backup     ", "bold"), done.backup))
    if done.safety_backup is not None:
        console.print(Text.assemble(("before it  ", "bold"), done.safety_backup))
    console.print()
    console.print(Text(_headline(done), "bold"))
    if answer.findings:
        console.print()
        draw_findings(answer.findings, answer.location, console)


def _headline(done: Restoration) -> str:
    headline = _HEADLINES[done.act]
    if done.act in (RestoreAct.UNCHANGED, RestoreAct.NOTHING):
        return headline
    files = counted(done.written_files, "file")
    return (
        f"{headline}: {files} written ({size_text(done.written_bytes)}), "
        f"{done.removed_files} removed, {done.verified_files} verified"
    )
