"""`holdfast doctor TARGET…`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NoReturn

import click

from holdfast import library
from holdfast.answers import Answer
from holdfast.cli import pages
from holdfast.cli.drawing.progress import ByteProgress
from holdfast.cli.options import Duration, Output, complete_target, output_options, target_options
from holdfast.diagnosis.doctor.examination import Examination
from holdfast.library.looking import RELEASES, watch

INTERVAL_SECONDS = 5.0


@click.command("doctor")
@click.argument("targets", nargs=-1, metavar="[TARGET]...", shell_complete=complete_target)
@click.option(
    "--sink",
    metavar="PATH",
    help="Output directory of the sink (default for a job: from the project file).",
)
@click.option("--only", multiple=True, metavar="CODE", help="Report this code; may be repeated.")
@click.option(
    "--ignore", multiple=True, metavar="CODE", help="Do not report this code; may be repeated."
)
@click.option(
    "--spark",
    type=click.Choice(RELEASES),
    help="Judge the next start with this Spark release (default: any that may have written the "
    "checkpoint).",
)
@click.option(
    "--verify",
    "verified",
    is_flag=True,
    help="Read every file, compare it with its checksums, and decode all state, not only what the "
    "next start needs.",
)
@click.option(
    "--watch",
    "watched",
    is_flag=True,
    help="Repeat until interrupted; print only what changes.",
)
@click.option(
    "--interval",
    type=Duration(min=0, min_open=True),
    metavar="SECONDS",
    help=f"Pause between two examinations of --watch (default: {INTERVAL_SECONDS:g}).",
)
@target_options
@output_options
def command(
    targets: tuple[str, ...],
    sink: str | None,
    only: tuple[str, ...],
    ignore: tuple[str, ...],
    spark: str | None,
    verified: bool,
    watched: bool,
    interval: float | None,
    project: Path | None,
    profile: str | None,
    storage_options: tuple[str, ...],
    timeout: float | None,
    as_json: bool,
    quiet: bool,
    no_color: bool,
) -> int:
    """Find out what is wrong with checkpoints, their sinks and their jobs.

    TARGET is the path or URL of a checkpoint, a directory of checkpoints (all are examined), or a
    job in holdfast.yaml (default: all jobs of the project). Each finding says why it matters, what
    to do next, and which commonly advised fix does harm. Nothing is written. The exit status is 3
    if there is a warning or worse.
    """
    if watched and (as_json or quiet):
        raise click.UsageError("--watch cannot be combined with --json or --quiet")
    if interval is not None and not watched:
        raise click.UsageError("--interval is the pause of --watch; pass --watch too")

    def look() -> Answer[Examination]:
        with ByteProgress("verifying", silent=quiet or as_json or watched) as progress:
            return library.doctor(
                *targets,
                sink=sink,
                only=only,
                ignore=ignore,
                spark=spark,
                verify=verified,
                project=project,
                profile=profile,
                storage_options=storage_options,
                timeout=timeout,
                progress=progress.advance,
            )

    if watched:
        _watch(lambda: look().redacted(), interval or INTERVAL_SECONDS, no_color)
    return Output(as_json, quiet, no_color).give(look(), page=pages.examination)


def _watch(look: Callable[[], Answer[Examination]], interval: float, no_color: bool) -> NoReturn:
    """Look until interrupted."""
    from holdfast.cli.drawing.examination import draw_changes

    looks = enumerate(watch(look, partial(time.sleep, interval)))
    for number, (answer, changes) in looks:
        draw_changes(answer, changes, first=number == 0, no_color=no_color)
        sys.stdout.flush()
    raise AssertionError("watching never ends by itself")
