"""Finds the backfills of a checkpoint, and opens one to apply, finish or undo its plan.

Each has a place of its own in the records of the job, with its own checkpoint, lease and journal:
`<records>/backfills/<id of the plan>`. The running stream has nothing to do with any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from holdfast.errors import HoldfastError, NotFoundError
from holdfast.library.reaching import names_in, seen_sources
from holdfast.storage.options import StorageOptions

if TYPE_CHECKING:
    from holdfast.backup.access import Records
    from holdfast.jobs.target import Target
    from holdfast.remedy.applying import Applying
    from holdfast.remedy.facts import BackfillSeen
    from holdfast.remedy.results import Applied
    from holdfast.running.bounded import BoundedBatches
    from holdfast.storage.location import Location

BACKFILL = "backfill"
_PART = "backfills"


def backfills_of(found: Target) -> Mapping[str, Records]:
    """Return the records of every backfill that was begun, by the ids of the plans."""
    from holdfast.backup.access import open_records
    from holdfast.records.folder import records_of
    from holdfast.storage.beside import FOLDER

    part = records_of(found.location, found.settings).reader(_PART)
    try:
        names = part.names(FOLDER)
    except NotFoundError:
        names = frozenset()
    begun = sorted(one for one in names if one.startswith(BACKFILL))
    return {one: open_records(place_of(found, one), found.settings) for one in begun}


def backfills_seen(found: Target) -> tuple[BackfillSeen, ...]:
    """Return every backfill that was begun, and whether it is open."""
    from holdfast.records.journal import act_ids
    from holdfast.remedy.facts import BackfillSeen

    return tuple(
        BackfillSeen(plan_id, records.journal.unfinished() is not None)
        for plan_id, records in backfills_of(found).items()
        if act_ids(records.journal.reader)
    )


def open_backfills(found: Target) -> tuple[str, ...]:
    """Return the plans of the backfills that are open."""
    return tuple(one.plan_id for one in backfills_seen(found) if one.is_open)


def backfill_to_undo(found: Target, act: str | None) -> str | None:
    """Return the plan of the backfill that an act is of; without an act, of one that is open."""
    if act is None:
        return next(iter(open_backfills(found)), None)
    of_act = (
        plan_id
        for plan_id, records in backfills_of(found).items()
        if any(one.act.id == act for one in records.journal.acts())
    )
    return next(of_act, None)


def place_of(found: Target, plan_id: str) -> Location:
    """Return where the checkpoint of a backfill is."""
    from holdfast.records.folder import part_of_records, records_beside

    return part_of_records(part_of_records(records_beside(found.location), _PART), plan_id)


def finish_each(open_ones: Sequence[Applying]) -> Applied:
    """Finish every backfill, and return what became of the last one.

    Raise HoldfastError where one cannot be finished, after all others were.
    """
    done: list[Applied] = []
    failures: list[HoldfastError] = []
    for one in open_ones:
        try:
            done.append(one.finish())
        except HoldfastError as error:
            failures.append(error)
    if not failures:
        return done[-1]
    first = failures[0]
    if len(open_ones) > 1:
        shown = [f"{one.code.number} at {one.at}: {one.message}" for one in failures]
        shown += [f"finished: {', '.join(str(one.plan) for one in done)}"] if done else []
        first.message = "; ".join(shown)
    raise first


def beside_the_stream(
    applying: Applying,
    found: Target,
    plan_id: str,
    storage_options: StorageOptions,
    starting: Callable[[str], None] | None = None,
) -> Applying:
    """Return what applies the plan of a backfill at its own place, under a lease of its own.

    `starting` is called with a line before Spark starts.
    """
    from holdfast.backup.access import open_records
    from holdfast.remedy.sourcedata import SourceNow

    place = place_of(found, plan_id)
    return replace(
        applying,
        records=open_records(place, found.settings),
        # Only its own act writes there, with a Spark that it runs itself.
        even_if_running=True,
        # Spark's id of the backfill is not the name under which the sink has its batches.
        ask_sink=None,
        run_bounded=lambda batches: _run_bounded(found, place, batches, starting),
        source=SourceNow(
            partial(names_in, found, storage_options), partial(seen_sources, found, storage_options)
        ),
    )


def _run_bounded(
    found: Target,
    place: Location,
    batches: BoundedBatches,
    starting: Callable[[str], None] | None,
) -> int:
    from holdfast.jobs.projectfile.model import Project
    from holdfast.running.options import jobs_of_project, session_of_project
    from holdfast.spark.session.installation import installed_spark

    project, name = found.project, found.job
    assert isinstance(project, Project)
    assert name is not None
    batches.fits_job(project.shown_job(name))
    installed_spark()
    from holdfast.spark.bounded import run_bounded

    (job,) = jobs_of_project(project, [name])
    session = session_of_project(project, (job,), offline=False, ui=False, verbose=False)
    return run_bounded(job, place, batches, session, starting)
