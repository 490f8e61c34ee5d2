"""`holdfast status [JOB…]`."""

from __future__ import annotations

from pathlib import Path

import click

from holdfast import library
from holdfast.cli import pages
from holdfast.cli.options import Output, complete_jobs, output_options, target_options


@click.command("status")
@click.argument("jobs", nargs=-1, metavar="[JOB]...", shell_complete=complete_jobs)
@click.option(
    "--metrics",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help=(
        "Also write the status as OpenMetrics text to FILE, for the textfile collector of a node "
        "exporter. FILE must end in .prom and is replaced by each call."
    ),
)
@target_options
@output_options
def command(
    jobs: tuple[str, ...],
    metrics: Path | None,
    project: Path | None,
    profile: str | None,
    storage_options: tuple[str, ...],
    timeout: float | None,
    as_json: bool,
    quiet: bool,
    no_color: bool,
) -> int:
    """Show the state of the project's jobs, without Spark.

    For each JOB (default: all): last and pending batch of its checkpoint, the holder of its lease,
    its last runs, and a start that failed since. Only the --metrics file is written. The exit
    status is 3 if the last run or start of a job failed, if a run was killed, if a restore was
    interrupted, or if a checkpoint cannot be read or a log entry is missing.
    """
    answer = library.status(
        *jobs,
        metrics=metrics,
        project=project,
        profile=profile,
        storage_options=storage_options,
        timeout=timeout,
    )
    return Output(as_json, quiet, no_color).give(answer, page=pages.status)
