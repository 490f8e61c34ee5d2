"""`holdfast journal [TARGET]`."""

from __future__ import annotations

from typing import Any

import click

from holdfast import library
from holdfast.cli import pages
from holdfast.cli.options import Output, complete_target, output_options, place_options


@click.command("journal")
@click.argument("target", required=False, shell_complete=complete_target)
@click.option(
    "--format",
    "shape",
    type=click.Choice(["text", "markdown"]),
    default="text",
    show_default=True,
    help="Draw a table, or write an incident report in Markdown.",
)
@place_options
@output_options
def command(target: str | None, shape: str, **given: Any) -> int:
    """Show what was done to a checkpoint, or to every job of the project: who, when, and how far.

    Each record names the digest of the one before it; a journal that was edited is reported.
    """
    output = Output(given.pop("as_json"), given.pop("quiet"), given.pop("no_color"))
    answer = library.journal(target, **given)
    page = pages.journal if shape == "text" else pages.journal_markdown
    return output.give(answer, page=page)
