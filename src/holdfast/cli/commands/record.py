"""`holdfast record JOB…`."""

from __future__ import annotations

from pathlib import Path

import click

from holdfast import library
from holdfast.cli import pages
from holdfast.cli.completion import complete_jobs
from holdfast.cli.options import Output, output_options, project_options


@click.command("record")
@click.argument("jobs", nargs=-1, required=True, metavar="JOB...", shell_complete=complete_jobs)
@click.option("--offline", is_flag=True, help="Use only cached Java libraries; fail if one is "
              "missing.")  # fmt: skip
@project_options
@output_options
def command(
    jobs: tuple[str, ...],
    offline: bool,
    project: Path | None,
    profile: str | None,
    as_json: bool,
    quiet: bool,
    no_color: bool,
) -> int:
    """Record the query of a program that Holdfast does not run.

    Each JOB is declared in the project file and runs elsewhere: its query is planned by Spark,
    started by nobody, and stored next to its checkpoint. `holdfast check JOB` compares the next
    version with it. Record the version that runs, before it is changed.
    """
    answer = library.record_jobs(*jobs, project=project, profile=profile, offline=offline)
    return Output(as_json, quiet, no_color).give(answer, page=pages.record)
