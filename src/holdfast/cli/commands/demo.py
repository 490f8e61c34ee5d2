"""`holdfast demo [DIR]`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import click

from holdfast.answers import Answer
from holdfast.cli import pages
from holdfast.cli.options import Output, output_options


@click.command("demo")
@click.argument("folder", required=False, metavar="[DIR]", type=click.Path(path_type=Path))
@output_options
def command(folder: Path | None, as_json: bool, quiet: bool, no_color: bool) -> int:
    """Show on real Spark that two kills lose and duplicate no rows.

    Copies the sensor pipeline into DIR (default: a temporary directory that is removed at the end),
    adds readings, runs its four jobs, kills one with SIGKILL before its sink commits and one
    afterwards, starts all jobs again, and compares every table with the input lines.
    """
    from holdfast.demonstration.story import Demonstration, demonstrate

    def say(line: str) -> None:
        if not (as_json or quiet):
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()

    if folder is not None:
        shown = demonstrate(folder.absolute(), say)
    else:
        with tempfile.TemporaryDirectory(prefix="holdfast-demo-") as place:
            shown = demonstrate(Path(place), say)
    answer: Answer[Demonstration] = Answer("demo", shown.folder, shown, ending=shown.verdict)
    return Output(as_json, quiet, no_color).give(answer, page=pages.demonstration)
