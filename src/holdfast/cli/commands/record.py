"""`holdfast record JOB…`, `holdfast record CHECKPOINT --event-log FILE`."""

from __future__ import annotations

from pathlib import Path

import click

from holdfast import library
from holdfast.cli import pages
from holdfast.cli.commands.apply import show_line
from holdfast.cli.options import Output, complete_jobs, output_options, place_options


@click.command("record")
@click.argument("targets", nargs=-1, required=True, metavar="JOB...|CHECKPOINT",
                shell_complete=complete_jobs)  # fmt: skip
@click.option(
    "--event-log",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Read the query of one checkpoint from this event log of Spark: a file, plain or "
    "compressed, or an eventlog_v2_… directory. Spark is not needed.",
)
@click.option("--offline", is_flag=True, help="Use only cached Java libraries; fail if one is "
              "missing.")  # fmt: skip
@place_options
@output_options
def command(
    targets: tuple[str, ...],
    event_log: Path | None,
    offline: bool,
    project: Path | None,
    profile: str | None,
    storage_options: tuple[str, ...],
    as_json: bool,
    quiet: bool,
    no_color: bool,
) -> int:
    """Record the query of a program that Holdfast does not run.

    Each JOB is declared in the project file and runs elsewhere: its query is planned by Spark,
    started by nobody, and stored next to its checkpoint. Record the version that runs, before it is
    changed. With --event-log the query of a CHECKPOINT, or of a JOB, is read from Spark's event
    log, for programs in any language; what the log does not show is listed.

    `holdfast check` compares the next version with the record.
    """
    if event_log is None:
        if storage_options:
            raise click.UsageError("--storage-option is for --event-log")
        answer = library.record_jobs(
            *targets,
            project=project,
            profile=profile,
            offline=offline,
            starting=None if quiet or as_json else show_line,
        )
    else:
        if len(targets) != 1:
            raise click.UsageError("--event-log is of one checkpoint")
        answer = library.record_event_log(
            targets[0], event_log, project=project, profile=profile,
            storage_options=storage_options,
        )  # fmt: skip
    return Output(as_json, quiet, no_color).give(answer, page=pages.record)
