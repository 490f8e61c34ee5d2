"""`holdfast backup TARGET`."""

from __future__ import annotations

from pathlib import Path

import click

from holdfast import library
from holdfast.cli import pages
from holdfast.cli.completion import complete_target
from holdfast.cli.drawing.progress import ByteProgress
from holdfast.cli.options import Output, output_options, place_options


@click.command("backup")
@click.argument("target", shell_complete=complete_target)
@click.option(
    "--verify",
    "verified",
    is_flag=True,
    help="Make none; read every copy again and compare digests. TARGET@ID names one backup.",
)
@click.option(
    "--sink-log",
    metavar="PATH",
    help="Copy _spark_metadata, _delta_log and manifests of this output folder as well.",
)
@click.option(
    "--keep-last",
    type=click.IntRange(min=1),
    metavar="N",
    help="Then remove backups, except the newest N.",
)
@click.option(
    "--keep-within",
    type=click.FloatRange(min=0),
    metavar="DAYS",
    help="Then remove backups, except those of the last DAYS days.",
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
    """Copy a checkpoint into .holdfast beside it, and verify every byte of the copy.

    Files are kept once, by the digest of their bytes: a second backup of an unchanged checkpoint
    copies nothing. A backup that was interrupted is never listed. Nothing is written into the
    checkpoint.
    """
    if verified and (sink_log or keep_last is not None or keep_within is not None):
        raise click.UsageError("--verify makes no backup; give it alone")
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
