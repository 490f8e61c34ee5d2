"""`holdfast backups [TARGET]`."""

from __future__ import annotations

from pathlib import Path

import click

from holdfast import library
from holdfast.cli import pages
from holdfast.cli.options import Output, complete_target, output_options, place_options


@click.command("backups")
@click.argument("target", required=False, shell_complete=complete_target)
@place_options
@output_options
def command(
    target: str | None,
    project: Path | None,
    profile: str | None,
    storage_options: tuple[str, ...],
    as_json: bool,
    quiet: bool,
    no_color: bool,
) -> int:
    """List the backups of a checkpoint, or of every job in holdfast.yaml.

    Also reports an interrupted restore. Nothing is written.
    """
    answer = library.list_backups(
        target, project=project, profile=profile, storage_options=storage_options
    )
    return Output(as_json, quiet, no_color).give(answer, page=pages.backups)
