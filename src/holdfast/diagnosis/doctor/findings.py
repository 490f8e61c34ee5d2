"""What every check finds about one checkpoint: for the doctor all of it, for a start what forbids
it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from holdfast.diagnosis.checks.picture import check_picture, without_unseen
from holdfast.diagnosis.checks.records import check_records
from holdfast.diagnosis.checks.state.operators import judged_by_old_place
from holdfast.diagnosis.checks.state.rocksdb import judged_by_snapshots
from holdfast.diagnosis.checks.subject import check_around
from holdfast.diagnosis.inspection.keptoffsets import with_kept_copy
from holdfast.diagnosis.inspection.subject import DeclaredJob, Subject, with_loadable_batch
from holdfast.findings import Finding, Severity, worst_first

_BY_PLAN = frozenset({"HF2323", "HF2324", "HF2362"})
"""Number, kinds and folders of sources, and operators: a start knows them from Spark's plan, where
the doctor has only the declaration."""
_ASK_THE_SINK = "holdfast doctor TARGET --sink PATH"
_DATA_LOSS = frozenset({"HF2325", "HF2367", "HF2369"})
"""What a source with failOnDataLoss=false passes over without an error."""


def unknown_place(_path: str) -> bool | None:
    """Look nowhere outside of the checkpoint."""
    return None


def findings_about(
    subject: Subject,
    others: Sequence[Subject] = (),
    exists_at: Callable[[str], bool | None] = unknown_place,
) -> list[Finding]:
    """Run every check on one checkpoint, and judge what they find by everything that is known."""
    picture = subject.picture
    found = [*check_picture(picture), *check_records(picture, subject.recorded)]
    return _judged([*found, *check_around(subject, others)], subject, exists_at)


def fatal_at_start(
    subject: Subject, *, planned: bool = True, passes_loss: bool = False
) -> tuple[Finding, ...]:
    """Return the fatal findings that a start would run into, the worst first.

    What a start compares by itself is left out: its sink, its records, and what Spark's plan tells,
    where the query was planned. With `passes_loss` a source goes on where its data is lost.
    """
    found = [*check_picture(subject.picture), *check_around(subject)]
    by_plan = _BY_PLAN if planned else frozenset[str]()
    passes = passes_loss or _passes_data_loss(subject.job)
    left_out = by_plan | (_DATA_LOSS if passes else frozenset())
    return worst_first(
        finding
        for finding in _judged(found, subject, unknown_place)
        if finding.severity is Severity.FATAL and finding.code not in left_out
    )


def _judged(
    found: Sequence[Finding], subject: Subject, exists_at: Callable[[str], bool | None]
) -> list[Finding]:
    return [
        judged_by_old_place(
            with_loadable_batch(
                with_kept_copy(
                    judged_by_snapshots(_with_the_sink_asked(finding, subject), subject),
                    subject.kept,
                ),
                subject.state,
                subject.picture,
            ),
            exists_at,
        )
        for finding in without_unseen(found, subject.picture)
    ]


def _with_the_sink_asked(finding: Finding, subject: Subject) -> Finding:
    """Return a finding that does not advise to ask the sink, where this look has asked it."""
    if subject.sink is None or not any(map(_asks_the_sink, finding.next_steps)):
        return finding
    return replace(finding, next_steps=_without_asking(finding.next_steps))


def _without_asking(steps: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(one for one in steps if not _asks_the_sink(one))


def _asks_the_sink(step: str) -> bool:
    return step.startswith(_ASK_THE_SINK)


def _passes_data_loss(job: DeclaredJob | None) -> bool:
    return any(value == "false" for value in _loss_options(job))


def _loss_options(job: DeclaredJob | None) -> Iterator[str]:
    for source in job.job.named_sources.values() if job is not None else ():
        for name, value in source.options.items():
            if name.lower() == "failondataloss":
                yield value.lower()
