"""Look at a checkpoint, its sink and its job; nothing is written to any of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.answers import Answer, changing_steps
from holdfast.checkpoint.reading import SHOWN_BATCHES
from holdfast.checkpoint.releases import RELEASES
from holdfast.checkpoint.verification import Progress
from holdfast.codes import CODES
from holdfast.errors import UsageError
from holdfast.jobs.discovery import ProjectChoice
from holdfast.library.answering import named, names_target, repeating_options, repeats_project
from holdfast.storage.options import StorageOptions
from holdfast.targets.jobs import jobs_of
from holdfast.targets.opening import (
    declared_job_of,
    declared_sink_of,
    ledger_place,
    local_folder,
    open_recorded,
    open_target,
    sink_place,
)
from holdfast.wording import nearest

if TYPE_CHECKING:
    from holdfast.diagnosis.comparison.result import Comparison
    from holdfast.diagnosis.doctor.doctor import Examinee, Unopened
    from holdfast.diagnosis.doctor.examination import Examination, FindingChange
    from holdfast.diagnosis.inspection.evidence import Evidence
    from holdfast.diagnosis.inspection.result import Inspection

__all__ = [
    "COMPARED_BATCHES",
    "RELEASES",
    "SHOWN_BATCHES",
    "SHOWN_ROWS",
    "diff",
    "doctor",
    "evidence",
    "inspect",
    "watch",
]

COMPARED_BATCHES = 100
"""How many of the newest batches `diff` compares."""
SHOWN_ROWS = 20
"""How many rows that differ `diff` gives of each kind."""


@names_target
def inspect(
    target: str | Path,
    *,
    batches: int = SHOWN_BATCHES,
    spark: str | None = None,
    verify: bool = False,
    project: str | Path | None = None,
    profile: str | None = None,
    storage_options: StorageOptions = (),
    timeout: float | None = None,
    progress: Progress | None = None,
) -> Answer[Inspection]:
    """Return what is in a checkpoint and what the next start does with it; nothing is written.

    `target` is a path, a URL or a job's name in the project. `storage_options` are settings of the
    storage, such as `{"endpoint": …}`. Raises HoldfastError.

    >>> import holdfast
    >>> answer = holdfast.inspect("demo/orders")
    >>> answer.result.next_start.action, answer.result.next_start.batch_id
    (<Action.RERUN: 'rerun'>, 5)
    """
    from holdfast.diagnosis.checks.picture import inspect_checkpoint

    if spark is not None:
        require_release(spark)
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


@names_target
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
    storage_options: StorageOptions = (),
    timeout: float | None = None,
) -> Answer[Comparison]:
    """Return the differences between two checkpoints, or between two batches of one.

    Without `other`, the state after `from_batch` is compared with that after `to_batch`; with it,
    they are the batches of either side. Of each store `limit` rows of each kind are given. Nothing
    is written.

    >>> import holdfast
    >>> (store,) = holdfast.diff("demo/orders", from_batch=3, to_batch=4).result.stores
    >>> store.added, store.changed, store.removed
    (3, 0, 3)
    """
    # `inspect`, which must answer at once, does not wait for what only `diff` needs.
    from holdfast.diagnosis.comparison.comparing import (
        DiffOptions,
        compare_batches,
        compare_checkpoints,
    )

    asked = DiffOptions(from_batch, to_batch, operator, store, limit, logs_only)
    chosen = ProjectChoice.of(project, profile)
    found, left = open_target(target, chosen, storage_options, timeout)
    if other is None:
        return compare_batches(left, asked, formats=found.source_formats)
    _, right = open_target(other, chosen, storage_options, timeout)
    return compare_checkpoints(left, right, asked, formats=found.source_formats, most=batches)


@names_target
def evidence(
    target: str | Path,
    *,
    sink: str | Path | None = None,
    bundle: str | Path | None = None,
    project: str | Path | None = None,
    profile: str | None = None,
    storage_options: StorageOptions = (),
    timeout: float | None = None,
) -> Answer[Evidence]:
    """Return the nine facts a diagnosis needs, each with its source.

    `sink` is the output directory whose log is read too (default for a job: from the project file).
    `bundle` is an archive to write the logs and the evidence to, the only thing written.

    >>> import holdfast
    >>> found = holdfast.evidence("demo/orders").result
    >>> found.spark_version.basis.value, [one.fact for one in found.missing]
    ('inferred', ['sink', 'output_mode', 'restart_history'])
    """
    from holdfast import __version__
    from holdfast.diagnosis.evidence.collecting import BundlePlace, collect_evidence
    from holdfast.records.history import KEPT_RUNS

    chosen = ProjectChoice.of(project, profile)
    found, reader, recall = open_recorded(
        target,
        chosen,
        storage_options,
        timeout,
        runs=KEPT_RUNS,
        lease=True,
        all_attempts=True,
        recordings=True,
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
        declared_job=declared_job_of(found),
    )
    repeated = repeating_options(chosen, storage_options)
    missing = tuple(replace(one, how=repeated(one.how)) for one in answer.result.missing)
    return replace(answer, result=replace(answer.result, missing=missing))


@repeats_project
def doctor(
    *targets: str | Path,
    sink: str | Path | None = None,
    only: Sequence[str] = (),
    ignore: Sequence[str] = (),
    spark: str | None = None,
    verify: bool = False,
    project: str | Path | None = None,
    profile: str | None = None,
    storage_options: StorageOptions = (),
    timeout: float | None = None,
    progress: Progress | None = None,
) -> Answer[Examination]:
    """Return what is wrong with checkpoints, their sinks and their jobs; nothing is written.

    A target is a checkpoint, a directory of checkpoints (all are examined), or a job (default: all
    jobs of the project). `only` and `ignore` are codes. `spark` is the release of the
    next start; without it, every release that may have written a checkpoint. Raises HoldfastError.

    >>> import holdfast
    >>> answer = holdfast.doctor("demo/orders")
    >>> answer.status, [finding.code for finding in answer.findings]
    ('ok', ['HF2302', 'HF2335'])
    """
    from holdfast.diagnosis.doctor.doctor import Choice, examine
    from holdfast.targets.jobs import each_once, examinees_of

    if spark is not None:
        require_release(spark)
    choice = Choice(frozenset(map(_known_code, only)), frozenset(map(_known_code, ignore)))
    chosen = ProjectChoice.of(project, profile)
    texts = [str(one) for one in targets] or jobs_of(chosen)
    examinees: list[Examinee | Unopened] = []
    for text in texts:
        examinees += examinees_of(text, sink, chosen, storage_options, timeout)
    examinees = each_once(examinees)
    if sink is not None and len(examinees) > 1:
        message = f"a sink belongs to one checkpoint, and {len(examinees)} are examined"
        raise UsageError("HF1001", message, next_steps=("examine them one by one",))
    only_target = texts[0] if len(texts) == 1 else None
    with changing_steps(partial(named, target=only_target, project=chosen)):
        answer = examine(examinees, choice=choice, spark=spark, verified=verify, progress=progress)
    from holdfast.library.advising import repeated_in_targets, with_plans

    advised = with_plans(answer, None if sink is None else str(sink), chosen, storage_options)
    return repeated_in_targets(advised, chosen, storage_options)


def watch(
    look: Callable[[], Answer[Examination]], wait: Callable[[], None]
) -> Iterator[tuple[Answer[Examination], tuple[FindingChange, ...]]]:
    """Examine again and again; yield each answer with what appeared and what is gone since."""
    from holdfast.diagnosis.doctor.examination import watch as examine_again

    return examine_again(look, wait)


def require_release(spark: str) -> None:
    """Raise UsageError for a Spark release that nothing is known about."""
    if spark not in RELEASES:
        message = f"{spark} is not a known Spark release; known releases: {', '.join(RELEASES)}"
        raise UsageError("HF1001", message)


def _known_code(number: str) -> str:
    known = {code.number for code in CODES}
    if number.upper() in known:
        return number.upper()
    near = nearest(number, sorted(known), 0.6)
    hint = f"; the nearest is {near}" if near else ""
    raise UsageError("HF1001", f"{number} is not a Holdfast code{hint}")
