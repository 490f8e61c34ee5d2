"""`holdfast init [DIR]`."""

from __future__ import annotations

from pathlib import Path

import click

from holdfast import library
from holdfast.cli import pages
from holdfast.cli.options import Output, output_options


@click.command("init")
@click.argument("folder", type=click.Path(path_type=Path), default=Path(), metavar="[DIR]")
@click.option(
    "--schema",
    "schema_only",
    is_flag=True,
    help="Write only .holdfast/holdfast.schema.json anew, with which editors complete the file.",
)
@output_options
def command(folder: Path, schema_only: bool, as_json: bool, quiet: bool, no_color: bool) -> int:
    """Write a new project: holdfast.yaml, transforms, and a little data to run them on.

    DIR is made where it is not there; without it, the project is written here. Where one of the
    files is there already, nothing is written; a .gitignore is left as it is.
    """
    answer = library.init_project(folder, schema_only=schema_only)
    return Output(as_json, quiet, no_color).give(answer, page=pages.new_project)
