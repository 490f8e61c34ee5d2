"""The public functions: what the commands do, for programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from holdfast.answers import Answer, changing_steps, naming
from holdfast.checkpoint.reading import SHOWN_BATCHES
from holdfast.checkpoint.verification import Progress
from holdfast.codes import CODES
from holdfast.errors import UsageError
from holdfast.jobs.discovery import ProjectChoice
from holdfast.nearest import nearest
from holdfast.spark.stopping import GRACE_SECONDS
from holdfast.state.bounds import MEMORY_BYTES
from holdfast.steps import Steps, lacks_job, named_steps, repeated_options
from holdfast.targets import (
    declared_sink_of,
    each_once,
    examinees_of,
    job_named,
    job_places,
    jobs_of,
    ledger_place,
    local_folder,
    open_recorded,
    open_target,
    sink_place,
    working_folder,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from holdfast.backup.results import BackupList, BackupReport, Restoration
    from holdfast.diagnosis.comparison.result import Comparison
    from holdfast.diagnosis.doctor.doctor import Examinee, Unopened
    from holdfast.diagnosis.doctor.examination import Examination
    from holdfast.diagnosis.inspection.fact import Evidence
    from holdfast.diagnosis.inspection.result import Inspection
    from holdfast.diagnosis.status.result import Status
    from holdfast.jobs.built import Job
    from holdfast.jobs.scaffold import NewProject
    from holdfast.spark.events import Watcher
    from holdfast.spark.heldquery import HeldQuery
    from holdfast.spark.report import RunReport
    from holdfast.spark.stopping import Stopping
    from holdfast.state.frames import StateAnswer
    from holdfast.state.opened import OpenedCheckpoint

COMPARED_BATCHES = 100
"""How many of the newest batches `diff` compares."""
SHOWN_ROWS = 20
"""How many rows that differ `diff` gives of each kind."""

Arguments = ParamSpec("Arguments")
Answered = TypeVar("Answered", bound=Answer[Any])


def _repeats_project(act: Callable[Arguments, Answered]) -> Callable[Arguments, Answered]:
    """Let the commands in next steps repeat --project and --profile where they were given."""

    @wraps(act)
    def repeating(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Answered:
        change = partial(repeated_options, options=_chosen(kwargs).options)
        with changing_steps(change):
            return act(*args, **kwargs).with_steps(change)

    return repeating


def _names_target(act: Callable[Arguments, Answered]) -> Callable[Arguments, Answered]:
    """Let the next steps of a function name its target, and the job that this is."""

    @wraps(act)
    def naming_target(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Answered:
        given = args[0] if args else kwargs.get("target", kwargs.get("backup"))
        change = partial(_named, target=_target_of(given), project=_chosen(kwargs))
        with changing_steps(change):
            return act(*args, **kwargs).with_steps(change)

    return _repeats_project(naming_target)


def _chosen(arguments: Mapping[str, Any]) -> ProjectChoice:
    return ProjectChoice.of(arguments.get("project"), arguments.get("profile"))


def _target_of(given: object) -> str | None:
    """Return the target that a function was given; that of a backup is before the @."""
    name = None if given is None else str(given)
    if name is not None and "@" in name:
        from holdfast.backup.naming import split_name

        name = split_name(name)[0]
    return name


def _named(steps: Steps, target: str | None, project: ProjectChoice) -> Steps:
    # The project is read once more where a step asks for the job, and not for every answer.
    job = job_named(target, project) if target is not None and lacks_job(steps) else None
    return named_steps(steps, target, job)


def init_project(folder: str | Path = ".", *, schema_only: bool = False) -> Answer[NewProject]:
    """Write a new project that runs as it is, all of its files or none; existing ones stay.

    With `schema_only`, only the JSON Schema that editors complete `holdfast.yaml` with is written.
    """
    from holdfast.jobs.scaffold import write_project, write_schema

    return write_schema(Path(folder)) if schema_only else write_project(Path(folder))


@_names_target
def inspect(
    target: str | Path,
    *,
    batches: int = SHOWN_BATCHES,
    spark: str | None = None,
    verify: bool = False,
    project: str | Path | None = None,
    profile: str | None = None,
    storage_options: Sequence[str] = (),
    timeout: float | None = None,
    progress: Progress | None = None,
) -> Answer[Inspection]:
    """Tell what is in a checkpoint and what the next start will do with it; nothing is written.

    `target` is a path, a URL or a job's name in the project. Raises HoldfastError.
    """
    from holdfast.diagnosis.checks.inspecting import inspect_checkpoint

    if spark is not None:
        _require_release(spark)
    chosen = ProjectChoice.of(project, profile)
    found, reader, recall = open_recorded(target, chosen, storage_options, timeout)
    asked = ledger_place(found, declared_sink_of(found), timeout)
    return inspect_checkpoint(
        reader,
        formats=found.source_formats,
        shown=batches,
        spark=spark,
        verified=verify,
        may_be_missing=found.job is not None,
        recall=recall,
        sink=asked,
        progress=progress,
    )


@_names_target
def diff(
    target: str | Path,
    other: str | Path | None = None,
    *,
    from_batch: int | None = None,
    to_batch: int | None = None,
    operator: int | None = None,
    store: str | None = None,
    limit: int = SHOWN_ROWS,
    logs_only: bool = False,
    batches: int = COMPARED_BATCHES,
    project: str | Path | None = None,
    profile: str | None = None,
    storage_options: Sequence[str] = (),
    timeout: float | None = None,
) -> Answer[Comparison]:
    """Tell what differs between two checkpoints, or between two batches of one.

    Without `other`, the state after `from_batch` is compared with that after `to_batch`; with it,
    they are the batches of either side. Of each store `limit` rows of each kind are given. Nothing
    is written.
    """
    # `inspect`, which must answer at once, does not wait for what only `diff` needs.
    from holdfast.diagnosis.comparison.comparing import Asked, compare_batches, compare_checkpoints

    asked = Asked(from_batch, to_batch, operator, store, limit, logs_only)
    chosen = ProjectChoice.of(project, profile)
    found, left = open_target(target, chosen, storage_options, timeout)
    if other is None:
        return compare_batches(left, asked, formats=found.source_formats)
    _, right = open_target(other, chosen, storage_options, timeout)
    return compare_checkpoints(left, right, asked, formats=found.source_formats, most=batches)


@_names_target
def evidence(
    target: str | Path,
    *,
    sink: str | Path | None = None,
    bundle: str | Path | None = None,
    project: str | Path | None = None,
    profile: str | None = None,
    storage_options: Sequence[str] = (),
    timeout: float | None = None,
) -> Answer[Evidence]:
    """Gather the nine facts to have before any advice, each with how it is known.

    `sink` is the output folder whose log is asked as well; for a job it is taken from the project
    file. `bundle` is an archive to write the logs and the evidence to, the only thing written.
    """
    from holdfast import __version__
    from holdfast.diagnosis.evidence.collecting import BundlePlace, collect_evidence
    from holdfast.records.history import KEPT_RUNS

    chosen = ProjectChoice.of(project, profile)
    found, reader, recall = open_recorded(
        target, chosen, storage_options, timeout, runs=KEPT_RUNS, all_attempts=True
    )
    declared = declared_sink_of(found)
    place, folder = sink_place(found, sink, declared, storage_options, timeout)
    kept = tuple(one for one in (local_folder(found.location), folder) if one is not None)
    answer = collect_evidence(
        reader,
        formats=found.source_formats,
        job=found.job,
        declared=declared,
        sink=place,
        bundle=None if bundle is None else BundlePlace(Path(bundle), kept, __version__),
        recall=recall,
    )
    missing = tuple(
        replace(one, how=repeated_options(one.how, chosen.options)) for one in answer.result.missing
    )
    return replace(answer, result=replace(answer.result, missing=missing))


@_repeats_project
def status(
    *jobs: str,
    project: str | Path | None = None,
    profile: str | None = None,
    metrics: str | Path | None = None,
    storage_options: Sequence[str] = (),
    timeout: float | None = None,
) -> Answer[Status]:
    """Return the state of the jobs of a project: batches, lease, last runs.

    Without any job, all jobs of the project. `metrics` is a file that is written as OpenMetrics
    text, the only thing written. Raises HoldfastError.
    """
    from holdfast.diagnosis.status.status import status_of

    chosen = ProjectChoice.of(project, profile)
    name, places = job_places(jobs, chosen, storage_options, timeout)
    if metrics is None:
        return status_of(name, places)
    from holdfast.metrics.reporting import status_with_metrics

    return status_with_metrics(name, places, Path(metrics))


@_repeats_project
def doctor(
    *targets: str | Path,
    sink: str | Path | None = None,
    only: Sequence[str] = (),
    ignore: Sequence[str] = (),
    spark: str | None = None,
    verify: bool = False,
    project: str | Path | None = None,
    profile: str | None = None,
    storage_options: Sequence[str] = (),
    timeout: float | None = None,
    progress: Progress | None = None,
) -> Answer[Examination]:
    """Tell what is wrong with checkpoints, their sinks and their jobs; nothing is written.

    A target is a checkpoint, a base folder whose checkpoints are all examined, or a job; without
    any, all jobs of the project are. `only` and `ignore` are codes. `spark` is the release of the
    next start; without it, every release that may have written a checkpoint. Raises HoldfastError.
    """
    from holdfast.diagnosis.doctor.doctor import Choice, examine

    if spark is not None:
        _require_release(spark)
    choice = Choice(frozenset(map(_known_code, only)), frozenset(map(_known_code, ignore)))
    chosen = ProjectChoice.of(project, profile)
    texts = [str(one) for one in targets] or jobs_of(chosen)
    examinees: list[Examinee | Unopened] = []
    for text in texts:
        examinees += examinees_of(text, sink, chosen, storage_options, timeout)
    examinees = each_once(examinees)
    if sink is not None and len(examinees) > 1:
        message = f"--sink belongs to one checkpoint, and {len(examinees)} are asked about"
        raise UsageError("HF1001", message, next_steps=("examine them one by one",))
    only_target = texts[0] if len(texts) == 1 else None
    with changing_steps(partial(_named, target=only_target, project=chosen)):
        return examine(examinees, choice=choice, spark=spark, verified=verify, progress=progress)


@_names_target
def read_state(
    target: str | Path,
    *,
    operator: int | None = None,
    store: str | None = None,
    batch: int | None = None,
    partition: int | None = None,
    key: Mapping[str, object] | str | int | None = None,
    where: str | None = None,
    limit: int | None = None,
    output: str | Path | None = None,
    force: bool = False,
    summary: bool = False,
    memory_bytes: int = MEMORY_BYTES,
    project: str | Path | None = None,
    profile: str | None = None,
    storage_options: Sequence[str] = (),
    timeout: float | None = None,
    progress: Progress | None = None,
) -> StateAnswer:
    """Show rows of the state at a batch, write them all to `output`, or sum them up.

    Without `limit` the first 20 rows are shown, and all are written; `to_pandas()`, `to_polars()`
    and `to_arrow()` of the answer return all of them as a table. An existing `output` is replaced
    only with `force`. The checkpoint stays as it is.
    """
    from holdfast.state.extras import require_state_extra

    require_state_extra()
    from holdfast.state.query.asking import Question, show_rows, sum_up, write_file

    if summary and (output is not None or limit is not None):
        raise UsageError("HF1001", "a summary is of all rows: it takes neither output nor limit")
    chosen = ProjectChoice.of(project, profile)
    found, reader = open_target(target, chosen, storage_options, timeout)
    question = Question(operator, store, batch, partition, key, where, memory_bytes)
    if summary:
        return sum_up(reader, question, progress)
    if output is None:
        return show_rows(reader, question, limit)
    folder = local_folder(found.location)
    return write_file(
        reader,
        question,
        Path(output),
        limit=limit,
        checkpoint=folder,
        force=force,
        progress=progress,
    )


def open_checkpoint(
    target: str | Path,
    *,
    project: str | Path | None = None,
    profile: str | None = None,
    storage_options: Sequence[str] = (),
    timeout: float | None = None,
) -> OpenedCheckpoint:
    """Open a checkpoint whose state is to be read as Arrow: `open_checkpoint(path).state()`."""
    from holdfast.state.opened import OpenedCheckpoint

    chosen = ProjectChoice.of(project, profile)
    _, reader = open_target(target, chosen, storage_options, timeout)
    return OpenedCheckpoint(reader)


@_names_target
def back_up(
    target: str | Path,
    *,
    verify: bool = False,
    sink_log: str | Path | None = None,
    keep_last: int | None = None,
    keep_within_days: float | None = None,
    project: str | Path | None = None,
    profile: str | None = None,
    storage_options: Sequence[str] = (),
    progress: Progress | None = None,
) -> Answer[BackupReport]:
    """Copy a checkpoint into its store beside it and verify the copy; with `verify`, only verify.

    With `verify`, `target` may be `TARGET@ID` for one backup; otherwise all are read again.
    """
    from holdfast.backup.calling import Caller
    from holdfast.backup.retention import Retention

    chosen = ProjectChoice.of(project, profile)
    caller = Caller(chosen, storage_options)
    if verify:
        return caller.verify(str(target), progress=progress)
    return caller.back_up(
        str(target),
        retention=Retention(keep_last, keep_within_days),
        sink_log=None if sink_log is None else str(sink_log),
        progress=progress,
    )


@_names_target
def list_backups(
    target: str | Path | None = None,
    *,
    project: str | Path | None = None,
    profile: str | None = None,
    storage_options: Sequence[str] = (),
) -> Answer[BackupList]:
    """List the backups of a checkpoint, or of every job of the project; nothing is written."""
    from holdfast.backup.calling import Caller

    chosen = ProjectChoice.of(project, profile)
    caller = Caller(chosen, storage_options)
    return caller.list_backups(None if target is None else str(target))


@_names_target
def restore(
    backup: str,
    *,
    to: str | Path | None = None,
    sink_log_to: str | Path | None = None,
    files: Sequence[str] = (),
    even_if_running: bool = False,
    confirm: Callable[[str], bool] | None = None,
    project: str | Path | None = None,
    profile: str | None = None,
    storage_options: Sequence[str] = (),
    progress: Progress | None = None,
    waiting: Callable[[str], None] | None = None,
) -> Answer[Restoration]:
    """Put a backup (`TARGET@ID` or `TARGET@newest`) back; what is there is backed up first.

    With `sink_log_to`, the log of the sink is written out to that empty place, and nothing else is.
    `confirm` is told what will be done, and nothing is written if it says no; it is asked before
    the lease is taken, and HF4505 is raised where files changed meanwhile. Raises HF2601 where
    somebody holds the lease on the checkpoint; `waiting` is called with who that is where it takes
    up to 30 seconds to find out whether they are alive.
    """
    from holdfast.backup.calling import Caller

    chosen = ProjectChoice.of(project, profile)
    caller = Caller(chosen, storage_options, waiting=waiting)
    if sink_log_to is not None:
        return caller.write_sink_log(
            backup, to=str(sink_log_to), files=files, confirm=confirm, progress=progress
        )
    return caller.restore(
        backup,
        to=None if to is None else str(to),
        files=files,
        even_if_running=even_if_running,
        confirm=confirm,
        progress=progress,
    )


@_names_target
def settle_restore(
    target: str | Path,
    *,
    finish: bool,
    project: str | Path | None = None,
    profile: str | None = None,
    storage_options: Sequence[str] = (),
    progress: Progress | None = None,
    waiting: Callable[[str], None] | None = None,
) -> Answer[Restoration]:
    """Finish the restore that was interrupted on a checkpoint, or take it back.

    Takes the lease on the checkpoint as `restore` does.
    """
    from holdfast.backup.calling import Caller

    chosen = ProjectChoice.of(project, profile)
    caller = Caller(chosen, storage_options, waiting=waiting)
    return caller.settle(str(target), finish=finish, progress=progress)


@_repeats_project
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
    """Run jobs, each on its own checkpoint, until they end or somebody asks them to stop.

    A job is a name in the project file, or one that is declared in Python; without any, all jobs
    of the project are run. A Spark session that this process has already is used and left open;
    `keep_settings` names settings of it that stay as they are where others are declared (`*` stands
    for any text), and HF5212 names those that differ.
    With `keep_running` a job that failed for a reason that passes is started again; with
    `fail_fast` all jobs stop when one has failed for good. `stopping` is asked from another thread
    to stop, `watch` is told what happens. With `metrics_port` metrics are served while the jobs
    run, on the loopback address unless `metrics_host` is given.

    Raises HoldfastError where a job failed or was refused: the error of the first one in lineage
    order, with the reports of all jobs in `error.answer`. With `raise_on_failure=False` that answer
    is returned, with the errors among its findings, and only what concerns all jobs is raised.
    """
    from holdfast.spark.release import installed_spark
    from holdfast.spark.stopping import Stopping
    from holdfast.spark.wanting import wanted_jobs

    ready, session = wanted_jobs(
        jobs,
        ProjectChoice.of(project, profile),
        working_folder=working_folder(),
        offline=offline,
        ui=ui,
        verbose=verbose,
        kept=_several(keep_settings),
    )
    installed_spark()
    from holdfast.spark.running import run_wanted
    from holdfast.spark.surroundings import Wishes

    wishes = Wishes(
        accepted=frozenset(_several(accept)),
        pending=pending_delivered,
        grace_seconds=grace_seconds,
        settings=session.conf,
        keep_running=keep_running,
        fail_fast=fail_fast,
    )
    from holdfast.metrics.reporting import reporting_metrics

    told = watch or (lambda _event: None)
    asked = stopping or Stopping()
    only_job = ready[0].name if len(ready) == 1 else None
    with (
        naming(only_job, only_job),
        reporting_metrics(ready, metrics_host, metrics_port, asked, told) as (watched, url),
    ):
        answer, error = run_wanted(
            ready, session, wishes, stopping=asked, watch=watched, progress=progress
        )
    answer = replace(answer, result=replace(answer.result, metrics_url=url))
    if error is not None:
        error.answer = answer
    if error is not None and raise_on_failure:
        # Where it was raised, in a thread of ours, says nothing to the caller.
        raise error.with_traceback(None)
    return answer


def start(
    frame: DataFrame,
    *,
    job: str,
    checkpoint: str | Path,
    sink: Mapping[str, object] | Callable[..., None],
    native: bool = False,
    output_mode: str | None = None,
    trigger: Mapping[str, object] | None = None,
    accept: Sequence[str] = (),
    pending_delivered: bool | None = None,
    grace_seconds: float = GRACE_SECONDS,
    storage: Mapping[str, Mapping[str, str | bool | int]] | None = None,
    watch: Watcher | None = None,
) -> HeldQuery:
    """Start a program's own streaming DataFrame as a job, on the checkpoint that it has.

    `sink` is declared as in the project file, or is a function of `(batch, batch_id)`. With
    `native`, Spark's own sink of this format writes. The query runs under a lease and leaves
    records beside the checkpoint. Raises HoldfastError.
    """
    from holdfast.jobs.built import job_of_program
    from holdfast.spark.guard import ACCEPTABLE
    from holdfast.spark.release import installed_spark

    installed_spark()
    from holdfast.spark.program import start_query
    from holdfast.spark.surroundings import Wishes

    declared = {"format": "custom", "function": sink} if callable(sink) else sink
    if native:
        declared = {**declared, "native": True}
    ready = job_of_program(
        job,
        checkpoint=checkpoint,
        sink=declared,
        output_mode=output_mode,
        trigger=trigger,
        storage=storage,
        accept=[name for name in _several(accept) if name not in ACCEPTABLE],
    )
    accepted = frozenset(name for name in _several(accept) if name in ACCEPTABLE)
    wishes = Wishes(accepted, pending_delivered, grace_seconds)
    with naming(str(checkpoint), job):
        return start_query(frame, ready, wishes, watch or (lambda _event: None))


def _several(names: Sequence[str]) -> tuple[str, ...]:
    """Return names as given; one alone is often given without a list."""
    return (names,) if isinstance(names, str) else tuple(names)


def _require_release(spark: str) -> None:
    from holdfast.checkpoint.releases import RELEASES

    if spark not in RELEASES:
        message = f"{spark} is not a known Spark release; known are {', '.join(RELEASES)}"
        raise UsageError("HF1001", message)


def _known_code(number: str) -> str:
    known = {code.number for code in CODES}
    if number.upper() in known:
        return number.upper()
    near = nearest(number, sorted(known), 0.6)
    hint = f"; the nearest is {near}" if near else ""
    raise UsageError("HF1001", f"{number} is no code of Holdfast{hint}")
