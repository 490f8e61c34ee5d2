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
    help="Only rewrite .holdfast/holdfast.schema.json, which editors use for completion.",
)
@output_options
def command(folder: Path, schema_only: bool, as_json: bool, quiet: bool, no_color: bool) -> int:
    """Create a new project: holdfast.yaml, transforms, and sample data to run them on.

    DIR is created if it does not exist (default: the working directory). If one of the files
    already exists, nothing is written; an existing .gitignore is kept.
    """
    answer = library.init_project(folder, schema_only=schema_only)
    return Output(as_json, quiet, no_color).give(answer, page=pages.new_project)
