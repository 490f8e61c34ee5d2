"""Draws what `init` wrote, and how to go on."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from holdfast.answers import Answer
from holdfast.jobs.scaffold import NewProject


def draw_new_project(answer: Answer[NewProject], console: Console) -> None:
    """Draw the whole page."""
    new = answer.result
    what = "the schema" if new.project is None else f"project {new.project}"
    console.print(Text(f"{what} in {new.folder}", "bold"), soft_wrap=True)
    for file in new.files:
        console.print(f"  wrote {file}", soft_wrap=True)
    for file in new.kept:
        console.print(f"  kept  {file}", soft_wrap=True)
    for step in answer.next_steps:
        console.print(f"next  {step}", soft_wrap=True)
