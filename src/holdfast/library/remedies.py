"""Plan remedies, apply and undo them, and show what was done."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.answers import Answer
from holdfast.checkpoint.verification import Progress
from holdfast.errors import PlanError, UsageError
from holdfast.findings import Finding
from holdfast.jobs.discovery import ProjectChoice
from holdfast.library.answering import names_target, repeats_project
from holdfast.library.backfills import (
    BACKFILL,
    backfill_to_undo,
    backfills_of,
    beside_the_stream,
    finish_each,
    open_backfills,
)
from holdfast.library.planfiles import read_plan_file, write_plan_file
from holdfast.library.planning import elsewhere_of, planned, records_at
from holdfast.library.reaching import opened_sink
from holdfast.storage.options import StorageOptions
from holdfast.targets.opening import resolved

if TYPE_CHECKING:
    from holdfast.backup.access import Records
    from holdfast.backup.store import BackupStore
    from holdfast.jobs.target import Target
    from holdfast.records.journal import Act, JournalledAct
    from holdfast.remedy.applying import Applying
    from holdfast.remedy.evidence import AskSink
    from holdfast.remedy.plan import Plan
    from holdfast.remedy.results import Applied, JournalPlace, JournalReport, StepProgress

Options = Mapping[str, str | int | bool | None]


@names_target
def plan(
    target: str | Path,
    remedy: str,
    options: Options | None = None,
    *,
    output: str | Path | None = None,
    project: str | Path | None = None,
    profile: str | None = None,
    storage_options: StorageOptions = (),
) -> Answer[Plan]:
    """Return the plan of a remedy for a checkpoint; nothing is changed.

    `remedy` is resume, replay, backfill, reset, move, repair, retire or clean; `options` are its
    own. `output` is a file to write the plan to. The same facts give the same plan. Raises
    PlanError where the remedy is refused.

    >>> import holdfast
    >>> holdfast.plan("demo/orders", "resume").result.effects.next_start
    'runs batch 5 again'
    """
    from holdfast.remedy.plan import Remedy, Request

    known = [one.value for one in Remedy]
    if str(getattr(remedy, "value", remedy)) not in known:
        message = f"{remedy} is not a remedy; known remedies: {', '.join(known)}"
        raise UsageError("HF1001", message)
    chosen = ProjectChoice.of(project, profile)
    found = resolved(target, chosen, storage_options)
    # A relative path would mean another place where the plan is applied from another directory.
    named = found.job or (found.location.url if found.location.is_local else str(target))
    request = Request(Remedy(remedy), named, _as_text(options or {}))
    made = planned(request, chosen, storage_options)
    steps: tuple[str, ...] = ()
    if output is not None:
        write_plan_file(Path(output), made)
        steps = (f"holdfast apply {output}",)
    elif made.steps:
        steps = ("save the plan with -o PLAN.json, then: holdfast apply PLAN.json",)
    else:
        steps = ("holdfast run JOB",) if made.job is not None else ()
    return Answer("plan", made.target, made, (), steps)


@repeats_project
def apply(
    plan: Plan | str | Path,
    *,
    confirm: Callable[[Plan], bool] | None = None,
    even_if_running: bool = False,
    project: str | Path | None = None,
    profile: str | None = None,
    storage_options: StorageOptions = (),
    watch: Callable[[StepProgress], None] | None = None,
    progress: Progress | None = None,
    waiting: Callable[[str], None] | None = None,
    starting: Callable[[str], None] | None = None,
) -> Answer[Applied]:
    """Apply a plan, or the plan in a file; done already, it says so.

    Takes the lease. Raises PlanError (HF4605) if something changed since the plan was made.
    `confirm` gets the plan and answers whether it may be applied; None asks nobody, nor does a plan
    that would change nothing. `starting` is called with a line before Spark starts for a sink.

    >>> import holdfast
    >>> made = holdfast.plan("demo/orders", "resume").result
    >>> holdfast.apply(made).result.outcome
    'nothing'
    """
    from holdfast.remedy.acts import refuse_other_target
    from holdfast.remedy.plan import Plan as PlanType

    given = plan if isinstance(plan, PlanType) else read_plan_file(Path(plan))
    chosen = ProjectChoice.of(project, profile)
    target = resolved(given.request.target, chosen, storage_options)
    heard = Heard(watch, progress, waiting, starting)
    applying = applying_at(target, even_if_running, heard, storage_options)
    refuse_other_target(given, applying.records.location)
    applying = _with_parts(applying, chosen, storage_options, starting)
    if given.remedy.value == BACKFILL:
        applying = beside_the_stream(applying, target, given.id, storage_options, starting)
    if confirm is not None and applying.would_change(given) and not confirm(given):
        raise _unconfirmed(given.target)
    done = applying.apply(given, lambda: planned(given.request, chosen, storage_options))
    return _applied("apply", done, target)


@names_target
def finish_plan(
    target: str | Path,
    *,
    confirm: Callable[[str], bool] | None = None,
    project: str | Path | None = None,
    profile: str | None = None,
    storage_options: StorageOptions = (),
    watch: Callable[[StepProgress], None] | None = None,
    progress: Progress | None = None,
    waiting: Callable[[str], None] | None = None,
    starting: Callable[[str], None] | None = None,
) -> Answer[Applied]:
    """Finish the plan that was interrupted on a checkpoint.

    `confirm` gets the name of the act and answers whether it may be finished; None asks nobody.

    >>> import holdfast
    >>> holdfast.finish_plan("demo/orders").result.outcome
    'nothing'
    """
    chosen = ProjectChoice.of(project, profile)
    found = resolved(target, chosen, storage_options)
    _refuse_part(found, None, chosen, storage_options)
    heard = Heard(watch, progress, waiting, starting)
    applying = applying_at(found, False, heard, storage_options)
    applying = _with_parts(applying, chosen, storage_options, starting)
    left, act = open_backfills(found), applying.records.journal.unfinished()
    _ask(confirm, ", ".join(left) if act is None else f"{act.kind} {act.id}", found)
    if not left or act is not None:
        return _applied("apply", applying.finish(), found)
    # The job may run, and then it holds its lease.
    beside = [beside_the_stream(applying, found, one, storage_options, starting) for one in left]
    return _applied("apply", finish_each(beside), found)


@names_target
def undo(
    target: str | Path,
    act: str | None = None,
    *,
    keep_rows: bool = False,
    confirm: Callable[[str], bool] | None = None,
    project: str | Path | None = None,
    profile: str | None = None,
    storage_options: StorageOptions = (),
    watch: Callable[[StepProgress], None] | None = None,
    progress: Progress | None = None,
    waiting: Callable[[str], None] | None = None,
    starting: Callable[[str], None] | None = None,
) -> Answer[Applied]:
    """Undo the newest plan that was applied to a checkpoint, or the act of this id.

    Raises PlanError (HF4609) once the job has run again. `keep_rows` gives up an interrupted
    backfill instead: rows of its batches that are in the sink stay, the others are not computed.
    `confirm` gets the name of the act and answers whether it may be undone; None asks nobody.

    >>> import holdfast
    >>> holdfast.undo("demo/orders").result.outcome
    'nothing'
    """
    chosen = ProjectChoice.of(project, profile)
    found = resolved(target, chosen, storage_options)
    _refuse_part(found, act, chosen, storage_options)
    heard = Heard(watch, progress, waiting, starting)
    applying = applying_at(found, False, heard, storage_options)
    applying = _with_parts(applying, chosen, storage_options, starting)
    from holdfast.remedy.acts import NOTHING_TO_GIVE_UP

    newer, plan_id = _nothing_newer, backfill_to_undo(found, act)
    if plan_id is None:
        newer = partial(_newer, found, ask_sink=applying.ask_sink)
    if keep_rows:
        if plan_id is None or applying.records.journal.unfinished() is not None:
            raise UsageError("HF1001", NOTHING_TO_GIVE_UP)
        _ask(confirm, plan_id, found)
        beside = beside_the_stream(applying, found, plan_id, storage_options, starting)
        return _applied("undo", beside.give_up(act), found)
    if plan_id is not None:
        # Its own step knows whether rows are in the sink; runs of the job say nothing about it.
        applying = beside_the_stream(applying, found, plan_id, storage_options, starting)
    meant = applying.to_undo(act, newer)
    _ask(confirm, "" if meant is None else _name_of(meant.act), found)
    done = applying.undo(act, newer)
    return _applied("undo", done, found)


@repeats_project
def journal(
    target: str | Path | None = None,
    *,
    project: str | Path | None = None,
    profile: str | None = None,
    storage_options: StorageOptions = (),
) -> Answer[JournalReport]:
    """Return what was done to a checkpoint, or to every job of the project; nothing is written.

    >>> import holdfast
    >>> (place,) = holdfast.journal("demo/orders").result.places
    >>> len(place.acts)
    0
    """
    from holdfast.remedy.journal import journal_of
    from holdfast.remedy.results import JournalReport
    from holdfast.targets.jobs import jobs_of

    chosen = ProjectChoice.of(project, profile)
    names = [str(target)] if target is not None else jobs_of(chosen)
    places: list[JournalPlace] = []
    findings: list[Finding] = []
    for name in names:
        found = resolved(name, chosen, storage_options)
        for records in (records_at(found), *backfills_of(found).values()):
            place, of_place = journal_of(records, found.job)
            places.append(place)
            findings += of_place
    location = places[0].location if len(places) == 1 else ""
    return Answer("journal", location, JournalReport(tuple(places)), tuple(findings))


def _as_text(options: Options) -> dict[str, str]:
    """Return the options that were given; a flag is `true`."""
    # A batch id may be 0, which equals False.
    given = {
        name: value for name, value in options.items() if value is not None and value is not False
    }
    return {name: "true" if value is True else str(value) for name, value in given.items()}


@dataclass(frozen=True)
class Heard:
    """Who hears how it goes on while a plan is applied or undone."""

    watch: Callable[[StepProgress], None] | None = None
    """Of each step that is done."""
    progress: Progress | None = None
    """Of bytes that are copied."""
    waiting: Callable[[str], None] | None = None
    """Whose lease is waited for."""
    starting: Callable[[str], None] | None = None
    """A line before Spark starts."""


def applying_at(
    found: Target, even_if_running: bool, heard: Heard, storage_options: StorageOptions
) -> Applying:
    """Return what applies plans to a target."""
    from holdfast.remedy.applying import Applying
    from holdfast.targets.opening import asking_sink

    return Applying(
        records=records_at(found, heard.waiting),
        open_sink=partial(opened_sink, found, starting=heard.starting),
        watch=heard.watch or (lambda _: None),
        progress=heard.progress,
        even_if_running=even_if_running,
        ask_sink=asking_sink(found, storage_options),
        open_store=_store_opener(found),
        open_elsewhere=lambda text: elsewhere_of(found, text, storage_options),
    )


def _with_parts(
    applying: Applying,
    project: ProjectChoice,
    storage_options: StorageOptions,
    starting: Callable[[str], None] | None,
) -> Applying:
    """Return the same, which also opens the other jobs that a plan contains plans of."""
    from holdfast.remedy.parts import JobPart
    from holdfast.targets.opening import asking_sink

    def part(job: str) -> JobPart:
        found = resolved(job, project, storage_options)
        asking = asking_sink(found, storage_options)
        of_job = replace(
            applying,
            records=records_at(found),
            open_sink=partial(opened_sink, found, starting=starting),
            ask_sink=asking,
            part=None,
            is_part=True,
        )
        return JobPart(
            of_job,
            lambda request: planned(request, project, storage_options),
            lambda act: _newer(found, act, asking),
        )

    return replace(applying, part=part)


def _refuse_part(
    found: Target, act: str | None, project: ProjectChoice, storage_options: StorageOptions
) -> None:
    """Raise PlanError (HF4644) where the act is a part of another job's plan."""
    from holdfast.remedy.parts import refuse_part

    refuse_part(
        records_at(found), act, lambda job: records_at(resolved(job, project, storage_options))
    )


def _ask(confirm: Callable[[str], bool] | None, act: str, found: Target) -> None:
    """Raise PlanError (HF4608) where somebody is to be asked about an act, and says no."""
    if confirm is not None and act and not confirm(act):
        raise _unconfirmed(found.location.shown)


def _unconfirmed(at: str) -> PlanError:
    return PlanError("HF4608", "not confirmed", at=at)


def _name_of(act: Act) -> str:
    """Name what is undone; an act of undoing goes on with the one that it began with."""
    undoes = act.intent.get("undoes")
    return f"{act.kind} {act.id}" if undoes is None else str(undoes)


def _nothing_newer(_act: JournalledAct) -> str | None:
    return None


def _newer(found: Target, act: JournalledAct, ask_sink: AskSink | None) -> str | None:
    """Return what came after an applied act, so that it can no longer be undone."""
    from holdfast.backup.settling import not_to_take_back
    from holdfast.records.history import History
    from holdfast.records.journal import RESTORE
    from holdfast.remedy.evidence import what_came_after

    records = records_at(found)
    since, newest = act.act.generation or 0, History(records.folder).newest_generation()
    if newest > since:
        return f"the job ran again since (run of generation {newest})"
    if act.act.kind == RESTORE:
        return not_to_take_back(records, act.act, _store_opener(found)) or _delivered_since(
            records, act, ask_sink
        )
    return what_came_after(act, records.checkpoint, ask_sink)


def _delivered_since(records: Records, act: JournalledAct, ask_sink: AskSink | None) -> str | None:
    """Return what the sink took after a restore: a batch that neither backup planned."""
    names = [act.act.intent["backup"], act.act.intent["safety_backup"]]
    own = set(records.store.snapshot_ids())
    snapshots = [records.store.snapshot(str(name)) for name in names if name in own]
    newest = [one.last_planned for one in snapshots if one.last_planned is not None]
    query = next((one.query_id for one in snapshots if one.query_id is not None), None)
    if ask_sink is None or query is None:
        return None
    held = ask_sink(query).value
    if held is not None and held > max(newest, default=-1):
        return f"the sink has batch {held} since"
    return None


def _store_opener(found: Target) -> Callable[[str], BackupStore]:
    from holdfast.backup.access import open_store, reopened

    return lambda url: open_store(reopened(url), found.settings)


def _applied(command: str, done: Applied, found: Target) -> Answer[Applied]:
    steps: tuple[str, ...] = ()
    if done.outcome != "nothing":
        named = shlex.quote(found.job or done.location)
        steps = (f"holdfast inspect {named}", *((f"holdfast run {named}",) if found.job else ()))
    return Answer(command, done.location, done, (), steps)
