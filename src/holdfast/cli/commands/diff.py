"""`holdfast diff TARGET OTHER`."""

from __future__ import annotations

from pathlib import Path

import click

from holdfast import library
from holdfast.cli.options import Output, output_options, target_options
from holdfast.library import COMPARED_BATCHES


@click.command("diff")
@click.argument("target")
@click.argument("other")
@click.option(
    "--batches",
    type=click.IntRange(1, 100_000),
    default=COMPARED_BATCHES,
    show_default=True,
    help="How many of the newest batches to compare.",
)
@target_options
@output_options
def command(
    target: str,
    other: str,
    batches: int,
    project: Path | None,
    storage_options: tuple[str, ...],
    timeout: float | None,
    as_json: bool,
    quiet: bool,
    no_color: bool,
) -> int:
    """Tell what differs between the logs of two checkpoints.

    Identity, batches, offsets, commits, pinned settings and operators are compared. Nothing is
    written. The exit status is 0 whether they differ or not; `identical` in the JSON tells.
    """
    answer = library.diff(
        target,
        other,
        batches=batches,
        project=project,
        storage_options=storage_options,
        timeout=timeout,
    )
    return Output(as_json, quiet, no_color).give(answer, drawing="comparison")
