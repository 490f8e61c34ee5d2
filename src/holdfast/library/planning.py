"""Makes plans of a target: everything that a planner may look at, and what a request asks for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from holdfast.errors import HoldfastError, NotFoundError
from holdfast.jobs.discovery import ProjectChoice
from holdfast.library.backfills import backfills_seen
from holdfast.library.reaching import names_in
from holdfast.storage.options import StorageOptions
from holdfast.targets.opening import resolved

if TYPE_CHECKING:
    from holdfast.backup.access import Records
    from holdfast.jobs.ready import ReadyJob
    from holdfast.jobs.target import Target
    from holdfast.remedy.elsewhere import Elsewhere
    from holdfast.remedy.facts import Facts
    from holdfast.remedy.plan import Plan, Request


def planned(request: Request, project: ProjectChoice, storage_options: StorageOptions) -> Plan:
    """Make the plan that a request asks for; nothing is written."""
    found = resolved(request.target, project, storage_options)
    return plan_at(found, request, project, storage_options)


def plan_at(
    found: Target, request: Request, project: ProjectChoice, storage_options: StorageOptions
) -> Plan:
    """Make a plan of a target that was found already, which may be a copy."""
    from holdfast.remedy.plan import Remedy
    from holdfast.remedy.remedies import make_plan

    facts = facts_at(found, request.target, storage_options, request.options.get("sink"))
    to = request.options.get("to") if request.remedy is Remedy.MOVE else None
    if to is not None:
        facts = replace(facts, elsewhere=elsewhere_of(found, to, storage_options))
    return make_plan(with_output(facts, request, project, storage_options), request)


def with_output(
    facts: Facts, request: Request, project: ProjectChoice, storage_options: StorageOptions
) -> Facts:
    """Return the facts with the output and its readers, where the remedy is about them."""
    from holdfast.remedy.outputs import look_at_job_output
    from holdfast.remedy.plan import Remedy

    job = facts.job
    if request.remedy not in (Remedy.RESET, Remedy.REPLAY) or job is None:
        return facts
    facts = replace(facts, unstarted=_unstarted(job, project, storage_options))
    if request.remedy is Remedy.REPLAY:
        return facts
    readers: tuple[Facts, ...] = ()
    if request.options.get("cascade"):
        names = [one.job for one in job.downstream()]
        plain = replace(request, options={})
        readers = tuple(
            with_output(facts_of(name, project, storage_options), plain, project, storage_options)
            for name in names
        )
    output = look_at_job_output(job, facts.subject.sight)
    return replace(facts, output=output, readers=readers)


def _unstarted(
    job: ReadyJob, project: ProjectChoice, storage_options: StorageOptions
) -> frozenset[str]:
    """Return the jobs that its rows reach and that are known to have no checkpoint."""
    names = (one.job for one in job.downstream())
    return frozenset(one for one in names if _is_unstarted(resolved(one, project, storage_options)))


def _is_unstarted(found: Target) -> bool:
    from holdfast.storage.opening import open_reader

    try:
        return not open_reader(found.location, found.settings).names("")
    except NotFoundError:
        return True
    except HoldfastError:
        return False


def elsewhere_of(found: Target, text: str, storage_options: StorageOptions) -> Elsewhere:
    """Open another place, with the settings that count for its storage."""
    from holdfast.backup.access import open_records
    from holdfast.jobs.target import resolve_place
    from holdfast.remedy.elsewhere import Elsewhere
    from holdfast.targets.opening import working_folder

    location, settings = resolve_place(
        text, found, storage_options=storage_options, relative_to=working_folder()
    )
    return Elsewhere(location, open_records(location, settings))


def facts_of(
    text: str, project: ProjectChoice, storage_options: StorageOptions, sink: str | None = None
) -> Facts:
    """Return everything that a planner may look at; nothing is written."""
    return facts_at(resolved(text, project, storage_options), text, storage_options, sink)


def facts_at(
    found: Target, text: str, storage_options: StorageOptions, sink: str | None = None
) -> Facts:
    """Return the facts of a target that was found already."""
    from holdfast.checkpoint.reading import SHOWN_BATCHES
    from holdfast.diagnosis.doctor.doctor import examined_subject
    from holdfast.diagnosis.inspection.result import inspection_of
    from holdfast.remedy.facts import Facts
    from holdfast.targets.jobs import examinee_of

    examinee = examinee_of(found, text, storage_options, sink)
    subject, findings = examined_subject(examinee)
    inspection = inspection_of(
        subject.picture,
        formats=found.source_formats,
        shown=SHOWN_BATCHES,
        spark=None,
        verified=False,
        run=subject.recorded.run_of(subject.picture),
    )
    return Facts(
        subject,
        inspection,
        findings,
        records_at(found),
        _ready(found),
        found.location,
        names_in=partial(names_in, found, storage_options),
        backfills=backfills_seen(found),
        sources=examinee.sources,
    )


def _ready(found: Target) -> ReadyJob | None:
    if found.project is None or found.job is None:
        return None
    from holdfast.jobs.readying import ready_job

    return ready_job(found.project, found.job)


def records_at(found: Target, waiting: Callable[[str], None] | None = None) -> Records:
    """Open a checkpoint with its records; `waiting` hears whose lease is waited for."""

    from holdfast.backup.access import open_records

    heard = None if waiting is None else lambda state: waiting(state.words)
    return open_records(found.location, found.settings, waiting=heard)
