"""Draws an answer as HTML for notebooks: the page that a terminal shows."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from holdfast.answers import Answer
from holdfast.cli import pages

if TYPE_CHECKING:
    from rich.console import Console

WIDTH = 100
"""Columns of a page; a notebook scrolls sideways where it is narrower."""
_FORMAT = '<pre style="white-space:pre;overflow-x:auto;line-height:normal">{code}</pre>'
_PAGES: Mapping[str, Callable[[Answer[Any], Console], None]] = {
    "init": pages.new_project,
    "check": pages.check,
    "record": pages.record,
    "run": pages.run,
    "status": pages.status,
    "inspect": pages.inspection,
    "evidence": pages.evidence,
    "doctor": pages.examination,
    "state": pages.state,
    "diff": pages.comparison,
    "plan": pages.plan,
    "apply": pages.applied,
    "undo": pages.applied,
    "journal": pages.journal,
    "backup": pages.backup,
    "backups": pages.backups,
    "restore": pages.restoration,
    "explain": pages.explanation,
    "demo": pages.demonstration,
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
