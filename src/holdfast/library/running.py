"""Run jobs on Spark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.answers import Answer, naming
from holdfast.checkpoint.verification import Progress
from holdfast.jobs.discovery import ProjectChoice
from holdfast.library.answering import repeats_project, several
from holdfast.restart.acceptance import ACCEPTABLE, is_acceptance
from holdfast.running.stopping import GRACE_SECONDS, Stopping
from holdfast.targets.opening import working_folder

if TYPE_CHECKING:
    from holdfast.jobs.built import Job
    from holdfast.running.report import RunReport, Watcher

__all__ = ["ACCEPTABLE", "GRACE_SECONDS", "Stopping", "is_acceptance", "run"]


@repeats_project
def run(
    *jobs: str | Job,
    project: str | Path | None = None,
    profile: str | None = None,
    grace_seconds: float = GRACE_SECONDS,
    pending_delivered: bool | None = None,
    accept: Sequence[str] = (),
    keep_running: bool = False,
    fail_fast: bool = False,
    offline: bool = False,
    ui: bool = False,
    verbose: bool = False,
    metrics_port: int | None = None,
    metrics_host: str | None = None,
    keep_settings: Sequence[str] = (),
    stopping: Stopping | None = None,
    watch: Watcher | None = None,
    progress: Progress | None = None,
    raise_on_failure: bool = True,
) -> Answer[RunReport]:
    """Run jobs, each on its own checkpoint, until they end or are stopped.

    A job is a name in the project file or a job declared in Python (default: all jobs of the
    project). An existing Spark session of this process is used and left open; `keep_settings` names
    settings of it that stay although others are declared (`*` matches any text), and HF5212 names
    those that differ.
    With `keep_running` a job is restarted after a transient failure; with `fail_fast` all jobs stop
    when one fails permanently. `stopping` stops the run from another thread, `watch` is called with
    every event. With `metrics_port` metrics are served while the jobs run, on the loopback address
    unless `metrics_host` is set.

    Raises HoldfastError if a job failed or was refused: the error of the first one in lineage
    order, with the reports of all jobs in `error.answer`. With `raise_on_failure=False` that answer
    is returned, with the errors among its findings; only errors that concern all jobs are raised.
    """
    from holdfast.running.admission import attempt_recorded
    from holdfast.running.options import requested_jobs
    from holdfast.spark.session.installation import installed_spark

    ready, session = requested_jobs(
        jobs,
        ProjectChoice.of(project, profile),
        working_folder=working_folder(),
        offline=offline,
        ui=ui,
        verbose=verbose,
        kept=several(keep_settings),
    )
    with attempt_recorded(*ready):
        installed_spark()
    from holdfast.running.options import RunOptions
    from holdfast.spark.run import run_jobs

    options = RunOptions(
        accepted=frozenset(several(accept)),
        pending=pending_delivered,
        grace_seconds=grace_seconds,
        settings=session.conf,
        keep_running=keep_running,
        fail_fast=fail_fast,
    )
    from holdfast.metrics.exposition import reporting_metrics

    heard = watch or (lambda _event: None)
    asked = stopping or Stopping()
    only_job = ready[0].name if len(ready) == 1 else None
    with (
        naming(only_job, only_job),
        reporting_metrics(ready, metrics_host, metrics_port, asked, heard) as (watched, url),
    ):
        answer, error = run_jobs(
            ready, session, options, stopping=asked, watch=watched, progress=progress
        )
    answer = replace(answer, result=replace(answer.result, metrics_url=url))
    if error is not None:
        error.answer = answer
    if error is not None and raise_on_failure:
        # Where it was raised, in a thread of ours, says nothing to the caller.
        raise error.with_traceback(None)
    return answer
