"""`holdfast check [JOB…]`."""

from __future__ import annotations

from pathlib import Path

import click

from holdfast import library
from holdfast.cli import pages
from holdfast.cli.acceptance import Acceptance
from holdfast.cli.commands.apply import show_line
from holdfast.cli.options import Output, complete_jobs, output_options, project_options
from holdfast.library.looking import RELEASES

_PAGES = {"text": pages.check, "markdown": pages.check_markdown}


@click.command("check")
@click.argument("jobs", nargs=-1, metavar="[JOB]...", shell_complete=complete_jobs)
@click.option("--all", "every", is_flag=True, help="Check all jobs of the project (the default).")
@click.option(
    "--spark",
    type=click.Choice(RELEASES),
    help="Judge the start with this Spark release (default: the installed one).",
)
@click.option(
    "--against",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="BUNDLE.zip",
    help="Compare one job with a bundle of `holdfast evidence --bundle`; its checkpoint is not "
    "read.",
)
@click.option(
    "--accept",
    "accepted",
    multiple=True,
    type=Acceptance(),
    help="Judge as if this were accepted, as `holdfast run --accept` does; may be repeated.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(tuple(_PAGES)),
    default="text",
    show_default=True,
    help="As text, or as Markdown for a pull request.",
)
@click.option("--offline", is_flag=True, help="Use only cached Java libraries; fail if one is "
              "missing.")  # fmt: skip
@project_options
@output_options
def command(
    jobs: tuple[str, ...],
    every: bool,
    spark: str | None,
    against: Path | None,
    accepted: tuple[str, ...],
    form: str,
    offline: bool,
    project: Path | None,
    profile: str | None,
    as_json: bool,
    quiet: bool,
    no_color: bool,
) -> int:
    """Judge whether the code as it is now may restart on its checkpoint.

    The query of each job is planned by Spark and compared with the one that last ran: sources,
    state, watermarks, sink, settings and Python functions. Nothing is started, and nothing is
    written. The exit status is 0 (safe), 30 (unsafe), 31 (unknown) or 32 (conditional).
    """
    if as_json and form != "text":
        raise click.UsageError("--json and --format markdown exclude each other")
    if every and jobs:
        raise click.UsageError("--all and JOB exclude each other")
    answer = library.check(
        *jobs,
        spark=spark,
        against=against,
        accept=accepted,
        project=project,
        profile=profile,
        offline=offline,
        starting=None if quiet or as_json else show_line,
    )
    return Output(as_json, quiet, no_color).give(answer, page=_PAGES[form])
