"""`holdfast status [JOB…]`."""

from __future__ import annotations

from pathlib import Path

import click

from holdfast import library
from holdfast.cli.options import Output, output_options, target_options


@click.command("status")
@click.argument("jobs", nargs=-1, metavar="[JOB]...")
@target_options
@output_options
def command(
    jobs: tuple[str, ...],
    project: Path | None,
    storage_options: tuple[str, ...],
    timeout: float | None,
    as_json: bool,
    quiet: bool,
    no_color: bool,
) -> int:
    """Tell how the jobs of the project stand, without Spark.

    For each JOB, or for all of them: its checkpoint's last and pending batch, who holds its lease,
    and its last runs. Nothing is written. The exit status is 3 where the last run of a job failed
    or was killed, where a restore was interrupted, and where a checkpoint can't be read.
    """
    answer = library.status(
        *jobs, project=project, storage_options=storage_options, timeout=timeout
    )
    return Output(as_json, quiet, no_color).give(answer, drawing="status")
