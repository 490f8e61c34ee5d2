"""`holdfast inspect TARGET`."""

from __future__ import annotations

from pathlib import Path

import click

from holdfast import library
from holdfast.cli import pages
from holdfast.cli.drawing.progress import ByteProgress
from holdfast.cli.options import Output, complete_target, output_options, target_options
from holdfast.library.looking import RELEASES, SHOWN_BATCHES


@click.command("inspect")
@click.argument("target", shell_complete=complete_target)
@click.option(
    "--batches",
    type=click.IntRange(1, 100_000),
    default=SHOWN_BATCHES,
    show_default=True,
    help="Number of newest batches to show.",
)
@click.option(
    "--spark",
    type=click.Choice(RELEASES),
    help="Forecast for this Spark release (default: the release that wrote the checkpoint).",
)
@click.option(
    "--verify",
    "verified",
    is_flag=True,
    help="Read every file and compare it with its checksums, not only what the next start needs.",
)
@target_options
@output_options
def command(
    target: str,
    batches: int,
    spark: str | None,
    verified: bool,
    project: Path | None,
    profile: str | None,
    storage_options: tuple[str, ...],
    timeout: float | None,
    as_json: bool,
    quiet: bool,
    no_color: bool,
) -> int:
    """Show what is in a checkpoint and what the next start does with it.

    TARGET is the path or URL of a checkpoint, or a job's name in holdfast.yaml. Nothing is
    written, neither to the checkpoint nor next to it. The exit status is 3 if there is a warning or
    worse.
    """
    with ByteProgress("verifying", silent=quiet or as_json) as progress:
        answer = library.inspect(
            target,
            batches=batches,
            spark=spark,
            verify=verified,
            project=project,
            profile=profile,
            storage_options=storage_options,
            timeout=timeout,
            progress=progress.advance,
        )
    return Output(as_json, quiet, no_color).give(answer, page=pages.inspection)
