"""`holdfast backup TARGET`."""

from __future__ import annotations

from pathlib import Path

import click

from holdfast import library
from holdfast.cli import pages
from holdfast.cli.drawing.progress import ByteProgress
from holdfast.cli.options import Duration, Output, complete_target, output_options, place_options


@click.command("backup")
@click.argument("target", shell_complete=complete_target)
@click.option(
    "--verify",
    "verified",
    is_flag=True,
    help="Make no new backup; read every copy and compare its digest. TARGET@ID selects one.",
)
@click.option(
    "--sink-log",
    metavar="PATH",
    help="Also copy _spark_metadata, _delta_log and manifests of this output directory.",
)
@click.option(
    "--keep-last",
    type=click.IntRange(min=1),
    metavar="N",
    help="Afterwards remove all backups except the newest N.",
)
@click.option(
    "--keep-within",
    type=Duration(min=0),
    metavar="DAYS",
    help="Afterwards remove backups older than DAYS days.",
)
@place_options
@output_options
def command(
    target: str,
    verified: bool,
    sink_log: str | None,
    keep_last: int | None,
    keep_within: float | None,
    project: Path | None,
    profile: str | None,
    storage_options: tuple[str, ...],
    as_json: bool,
    quiet: bool,
    no_color: bool,
) -> int:
    """Copy a checkpoint into the .holdfast directory next to it and verify every byte.

    Files are stored once, by digest: a second backup of an unchanged checkpoint copies nothing. An
    interrupted backup is never listed. Nothing is written to the checkpoint.
    """
    if verified and (sink_log or keep_last is not None or keep_within is not None):
        raise click.UsageError("--verify makes no backup; it cannot be combined with other options")
    label = "verifying" if verified else "copying"
    with ByteProgress(label, silent=quiet or as_json) as progress:
        answer = library.back_up(
            target,
            verify=verified,
            sink_log=sink_log,
            keep_last=keep_last,
            keep_within_days=keep_within,
            project=project,
            profile=profile,
            storage_options=storage_options,
            progress=progress.advance,
        )
    return Output(as_json, quiet, no_color).give(answer, page=pages.backup)
