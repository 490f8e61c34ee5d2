"""One function per page that a command draws; each imports its drawing when it is called.

`--json` and `--quiet` draw nothing and do not wait for rich.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from holdfast.answers import Answer

if TYPE_CHECKING:
    from rich.console import Console

    from holdfast.backup.results import BackupList, BackupReport, Restoration
    from holdfast.demonstration.story import Demonstration
    from holdfast.diagnosis.comparison.result import Comparison
    from holdfast.diagnosis.doctor.examination import Examination
    from holdfast.diagnosis.explain.explaining import Explanation
    from holdfast.diagnosis.inspection.evidence import Evidence
    from holdfast.diagnosis.inspection.result import Inspection
    from holdfast.diagnosis.status.result import Status
    from holdfast.jobs.scaffold import NewProject
    from holdfast.remedy.plan import Plan
    from holdfast.remedy.rehearsal.results import Rehearsal
    from holdfast.remedy.results import Applied, JournalReport
    from holdfast.restart.recorded import RecordReport
    from holdfast.restart.result import Check
    from holdfast.running.report import RunReport
    from holdfast.state.results import StateRows


def inspection(answer: Answer[Inspection], console: Console) -> None:
    from holdfast.cli.drawing.inspection import draw_inspection

    draw_inspection(answer, console)


def evidence(answer: Answer[Evidence], console: Console) -> None:
    from holdfast.cli.drawing.evidence import draw_evidence

    draw_evidence(answer, console)


def evidence_markdown(answer: Answer[Evidence], console: Console) -> None:
    from holdfast.cli.drawing.evidence import draw_evidence_markdown

    draw_evidence_markdown(answer, console)


def examination(answer: Answer[Examination], console: Console) -> None:
    from holdfast.cli.drawing.examination import draw_examination

    draw_examination(answer, console)


def check(answer: Answer[Check], console: Console) -> None:
    from holdfast.cli.drawing.check import draw_check

    draw_check(answer, console)


def check_markdown(answer: Answer[Check], console: Console) -> None:
    from holdfast.cli.drawing.check import draw_check_markdown

    draw_check_markdown(answer, console)


def record(answer: Answer[RecordReport], console: Console) -> None:
    from holdfast.cli.drawing.run import draw_record

    draw_record(answer, console)


def comparison(answer: Answer[Comparison], console: Console) -> None:
    from holdfast.cli.drawing.comparison import draw_comparison

    draw_comparison(answer, console)


def explanation(answer: Answer[Explanation], console: Console) -> None:
    from holdfast.cli.drawing.explanation import draw_explanation

    draw_explanation(answer, console)


def state(answer: Answer[StateRows], console: Console) -> None:
    from holdfast.cli.drawing.state import draw_state

    draw_state(answer, console)


def status(answer: Answer[Status], console: Console) -> None:
    from holdfast.cli.drawing.status import draw_status

    draw_status(answer, console)


def run(answer: Answer[RunReport], console: Console) -> None:
    from holdfast.cli.drawing.run import draw_run

    draw_run(answer, console)


def backup(answer: Answer[BackupReport], console: Console) -> None:
    from holdfast.cli.drawing.backups import draw_backup

    draw_backup(answer, console)


def backups(answer: Answer[BackupList], console: Console) -> None:
    from holdfast.cli.drawing.backups import draw_backups

    draw_backups(answer, console)


def restoration(answer: Answer[Restoration], console: Console) -> None:
    from holdfast.cli.drawing.backups import draw_restoration

    draw_restoration(answer, console)


def plan(answer: Answer[Plan], console: Console) -> None:
    from holdfast.cli.drawing.remedies import draw_plan

    draw_plan(answer, console)


def applied(answer: Answer[Applied], console: Console) -> None:
    from holdfast.cli.drawing.remedies import draw_applied

    draw_applied(answer, console)


def rehearsal(answer: Answer[Rehearsal], console: Console) -> None:
    from holdfast.cli.drawing.rehearsal import draw_rehearsal

    draw_rehearsal(answer, console)


def journal_markdown(answer: Answer[JournalReport], console: Console) -> None:
    from holdfast.cli.drawing.incident import draw_incident

    draw_incident(answer, console)


def journal(answer: Answer[JournalReport], console: Console) -> None:
    from holdfast.cli.drawing.remedies import draw_journal

    draw_journal(answer, console)


def new_project(answer: Answer[NewProject], console: Console) -> None:
    from holdfast.cli.drawing.status import draw_new_project

    draw_new_project(answer, console)


def demonstration(answer: Answer[Demonstration], console: Console) -> None:
    from holdfast.cli.drawing.run import draw_demonstration

    draw_demonstration(answer, console)


WIDTH = 100
"""Columns of a page; a notebook scrolls sideways where it is narrower."""
_FORMAT = '<pre style="white-space:pre;overflow-x:auto;line-height:normal">{code}</pre>'
_PAGES: Mapping[str, Callable[[Answer[Any], Console], None]] = {
    "init": new_project,
    "check": check,
    "record": record,
    "run": run,
    "status": status,
    "inspect": inspection,
    "evidence": evidence,
    "doctor": examination,
    "state": state,
    "diff": comparison,
    "plan": plan,
    "rehearse": rehearsal,
    "apply": applied,
    "undo": applied,
    "journal": journal,
    "backup": backup,
    "backups": backups,
    "restore": restoration,
    "explain": explanation,
    "demo": demonstration,
}
"""The page of each command."""


def html_of(answer: Answer[Any]) -> str | None:
    """Return the page of an answer as HTML, escaped and without secrets; None if it has none."""
    page = _PAGES.get(answer.command)
    if page is None:
        return None
    from rich.console import Console

    console = Console(
        file=io.StringIO(),
        record=True,
        width=WIDTH,
        color_system="truecolor",
        force_jupyter=False,
        highlight=False,
        markup=False,
        emoji=False,
    )
    page(answer.redacted(), console)
    return console.export_html(code_format=_FORMAT, inline_styles=True)
