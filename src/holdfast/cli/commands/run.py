"""`holdfast run [JOB…]`."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

import click

from holdfast import library
from holdfast.cli import pages
from holdfast.cli.acceptance import Acceptance
from holdfast.cli.drawing.liverun import EventLines
from holdfast.cli.drawing.progress import ByteProgress
from holdfast.cli.options import Duration, Output, complete_jobs, output_options, project_options
from holdfast.library.running import GRACE_SECONDS, Stopping
from holdfast.redaction import redact
from holdfast.running.report import Event, JobEnded

_STATED = {"delivered": True, "not-delivered": False}


@click.command("run")
@click.argument("jobs", nargs=-1, metavar="[JOB]...", shell_complete=complete_jobs)
@project_options
@click.option(
    "--grace",
    type=Duration(min=0),
    default=GRACE_SECONDS,
    show_default=True,
    metavar="SECONDS",
    help=(
        "How long the batch in progress may take to finish after a signal; a second signal stops "
        "at once."
    ),
)
@click.option(
    "--pending",
    type=click.Choice(sorted(_STATED)),
    help="State whether the pending batch of an adopted checkpoint is already in the sink.",
)
@click.option(
    "--accept",
    "accepted",
    multiple=True,
    type=Acceptance(),
    help=(
        "Start despite this finding; may be repeated. CODE:DIGEST, as the refusal "
        "prints it: a change of the query that is intended; empty-sink: the output was removed or "
        "emptied on purpose; sink-behind: its newest rows were removed on purpose; shared-sink: "
        "several jobs write to it; new-checkpoint: the checkpoint was removed on purpose, and the "
        "output emptied; changing-source: upserts into the Delta table that the job reads only "
        "insert rows; shared-mount: local paths are the same network mount on every machine of "
        "the cluster."
    ),
)
@click.option(
    "--keep-running",
    is_flag=True,
    help=(
        "Restart a job after a transient failure (server unreachable, executor lost, storage "
        "throttled, timeout), after a pause and up to a limit: see restart in holdfast.yaml."
    ),
)
@click.option("--fail-fast", is_flag=True, help="Stop all jobs when one fails permanently.")
@click.option(
    "--offline", is_flag=True, help="Use only cached Java libraries; fail if one is missing."
)
@click.option("--ui", is_flag=True, help="Serve Spark's web UI while the jobs run.")
@click.option("--trace", is_flag=True, help="Show Spark's full stack trace for a failed job.")
@click.option(
    "--events",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Append one JSON line per batch, start and end to this file.",
)
@click.option(
    "--metrics-port",
    type=click.IntRange(0, 65535),
    metavar="N",
    help="Serve metrics for Prometheus on this port while the jobs run; 0 chooses a free port.",
)
@click.option(
    "--metrics-host",
    metavar="ADDRESS",
    help="Address that --metrics-port listens on (default: 127.0.0.1, this machine only).",
)
@output_options
def command(
    jobs: tuple[str, ...],
    project: Path | None,
    profile: str | None,
    grace: float,
    pending: str | None,
    accepted: tuple[str, ...],
    keep_running: bool,
    fail_fast: bool,
    offline: bool,
    ui: bool,
    trace: bool,
    events: Path | None,
    metrics_port: int | None,
    metrics_host: str | None,
    as_json: bool,
    quiet: bool,
    no_color: bool,
) -> int:
    """Run jobs of the project in one Spark session, each on its own checkpoint.

    Without JOB, all jobs run. Jobs that end by themselves run first, in the order of their
    dependencies; the others then run in parallel until a signal arrives, each after the first
    commit of the jobs it reads from. If a job fails, only jobs that read its output stop too; the
    exit status is that of the first failed job in lineage order.
    """
    from holdfast.cli.drawing.liverun import LiveRun

    # A driver lives long, unlike the other commands.
    gc.enable()
    silent = quiet or as_json
    traces: list[str] = []
    stopping = Stopping()
    with (
        EventLines(events) as lines,
        LiveRun(silent=silent, no_color=no_color, delivering=lambda: stopping.working) as live,
        ByteProgress("fetching Java libraries", silent=silent) as progress,
    ):

        def watch(event: Event) -> None:
            lines.write(event)
            live.show(event)
            if trace and isinstance(event, JobEnded) and event.trace:
                traces.append(event.trace)

        answer = library.run(
            *jobs,
            project=project,
            profile=profile,
            grace_seconds=grace,
            pending_delivered=None if pending is None else _STATED[pending],
            accept=accepted,
            keep_running=keep_running,
            fail_fast=fail_fast,
            offline=offline,
            ui=ui,
            verbose=trace,
            metrics_port=metrics_port,
            metrics_host=metrics_host,
            stopping=stopping,
            watch=watch,
            progress=progress.advance,
            raise_on_failure=False,
        )
    for text in traces:
        sys.stderr.write(redact(text) + "\n")
    status = Output(as_json, quiet, no_color).give(answer, page=pages.run)
    if stopping.at_once:
        # A delivery may still run in the user's function, and Python would wait for it.
        sys.stdout.flush()
        os._exit(status)
    return status
