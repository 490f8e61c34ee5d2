"""Judge whether changed code may restart on its checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.answers import Answer, naming
from holdfast.errors import SparkStartError, UsageError
from holdfast.findings import Finding, named, rooted
from holdfast.jobs.discovery import ProjectChoice
from holdfast.jobs.target import ANY_PROJECT
from holdfast.library.answering import known_output_mode, repeats_project, several
from holdfast.library.looking import require_release
from holdfast.storage.options import StorageOptions, StorageSettings, settings_given
from holdfast.targets.opening import working_folder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from holdfast.jobs.built import Job
    from holdfast.restart.result import Check, CheckedJob

_WITHOUT_SPARK = frozenset({"HF5201", "HF5202", "HF5203", "HF5204"})
"""What is said where no Java or no pyspark is here that could plan: the rest is compared still."""


@repeats_project
def check(
    *jobs: str | Job | DataFrame,
    checkpoint: str | Path | None = None,
    output_mode: str = "append",
    spark: str | None = None,
    against: str | Path | None = None,
    accept: Sequence[str] = (),
    project: str | Path | None = None,
    profile: str | None = None,
    offline: bool = False,
    storage_options: StorageOptions = (),
    starting: Callable[[str], None] | None = None,
) -> Answer[Check]:
    """Judge whether the code as it is now may restart on its checkpoint; nothing is started.

    A job is a name in the project file, or one that is declared in Python; without any, all jobs
    of the project are checked. With `checkpoint` a program's own streaming DataFrame is checked
    against it, with the `output_mode` that it is started with. A Spark session is used or started
    to plan the queries. No byte is written to a checkpoint, a sink or a record.

    `against` is a bundle of `evidence`, with which one job is compared instead of its checkpoint.
    `spark` is the release that would start it (default: the one that plans). `accept` takes what
    `run` takes. `starting` is called with a line before Spark starts. Raises HoldfastError where a
    job cannot be planned at all.
    """
    if spark is not None:
        require_release(spark)
    if checkpoint is not None:
        found = [_checked_frame(jobs, checkpoint, output_mode, spark, accept, storage_options)]
        return _answer(found, lambda _: storage_options)
    choice = ProjectChoice.of(project, profile)
    bundle = None if against is None else Path(against)
    judged, declared = _checked_jobs(jobs, spark, bundle, accept, choice, offline, starting)
    return _answer(judged, lambda job: () if job.job in declared else None, choice)


def _checked_frame(
    frames: tuple[object, ...],
    checkpoint: str | Path,
    output_mode: str,
    spark: str | None,
    accept: Sequence[str],
    storage_options: StorageOptions,
) -> CheckedJob:
    from holdfast.spark.session.installation import installed_spark
    from holdfast.storage.location import parse_location

    if len(frames) != 1 or isinstance(frames[0], str):
        message = "with a checkpoint, one streaming DataFrame is checked"
        raise UsageError("HF1001", message, next_steps=("give the DataFrame of the query",))
    installed_spark()
    from holdfast.spark.planning import check_frame

    location = parse_location(str(checkpoint), relative_to=working_folder())
    settings: StorageSettings = settings_given(location.scheme, storage_options)
    return check_frame(
        frames[0],  # type: ignore[arg-type]
        location,
        settings,
        output_mode=known_output_mode(output_mode),
        release=spark,
        accepted=frozenset(several(accept)),
    )


def _checked_jobs(
    jobs: tuple[str | Job | DataFrame, ...],
    spark: str | None,
    against: Path | None,
    accept: Sequence[str],
    project: ProjectChoice,
    offline: bool,
    starting: Callable[[str], None] | None,
) -> tuple[list[CheckedJob], frozenset[str | None]]:
    """Return the verdicts, and the jobs among them whose plans the project file can make."""
    from holdfast.restart.bundles import read_bundle
    from holdfast.running.options import requested_jobs
    from holdfast.spark.session.installation import installed_spark

    if any(hasattr(one, "isStreaming") for one in jobs):
        message = "a DataFrame is checked against a checkpoint"
        raise UsageError("HF1001", message, next_steps=("give checkpoint=…",))
    ready, session = requested_jobs(
        jobs,  # type: ignore[arg-type]
        project,
        working_folder=working_folder(),
        offline=offline,
        ui=False,
        verbose=False,
    )
    accepted = frozenset(several(accept))
    last = None if against is None else read_bundle(against)
    if last is not None and len(ready) != 1:
        message = "a bundle is of one checkpoint: name the job that is compared with it"
        raise UsageError("HF1001", message, next_steps=("holdfast check JOB --against BUNDLE",))
    if last is not None and last.last.job not in ("", ready[0].name):
        message = f"the bundle is of job {last.last.job}, not of {ready[0].name}"
        raise UsageError("HF2506", message, at=str(against))
    only = ready[0].name if len(ready) == 1 else None
    declared = frozenset(one.name for one in ready if one.project is not None and last is None)
    try:
        installed_spark()
        from holdfast.spark.planning import check_jobs

        with naming(only, only):
            judged = check_jobs(
                ready, session, release=spark, accepted=accepted, against=last, step=starting
            )
            return judged, declared
    except SparkStartError as error:
        if last is not None or error.code.number not in _WITHOUT_SPARK:
            raise
        from holdfast.running.admission import check_unplanned

        return [
            check_unplanned(job, spark, error.message, accepted, session.conf) for job in ready
        ], declared


def _answer(
    jobs: Sequence[CheckedJob],
    options_of: Callable[[CheckedJob], StorageOptions | None] = lambda _: None,
    project: ProjectChoice = ANY_PROJECT,
) -> Answer[Check]:
    """Return the answer; a job without storage options is one that no plan can be made of here."""
    from holdfast.library.advising import with_plans_of_changes
    from holdfast.restart.acceptance import STATUSES
    from holdfast.restart.result import check_of

    result = check_of(jobs)
    findings: tuple[Finding, ...] = ()
    for job in jobs:
        found, options = _findings(job), options_of(job)
        findings += tuple(
            found if options is None else with_plans_of_changes(found, job, project, options)
        )
    location = jobs[0].location if len(jobs) == 1 else ""
    steps = tuple(dict.fromkeys(step for finding in findings for step in finding.next_steps))
    ending = STATUSES[result.verdict]
    return Answer("check", location, result, findings, steps, ending)


def _findings(job: CheckedJob) -> list[Finding]:
    """Return what keeps the job from starting, as findings with their next steps."""
    from holdfast.restart.acceptance import finding_of
    from holdfast.restart.verdict import Verdict

    stopping = [one for one in job.changes if one.verdict is not Verdict.SAFE]
    found = [rooted(finding_of(one, one.accept), job.location) for one in stopping]
    return [named(one, job.job or job.location, job.job) for one in found]
