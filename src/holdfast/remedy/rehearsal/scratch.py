"""Replaces the sink of a job by a scratch sink of the same kind, which holds what the sink holds.

What the sink remembers of batches comes with it, under the same query id: a copied Delta table
keeps its transaction identifiers, because the copied checkpoint names the same query. So the plan
meets in the copy what it would meet in the original.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.checkpoint.verification import Progress
from holdfast.errors import PlanError
from holdfast.jobs.ready import ReadyJob
from holdfast.ledgers.sparkfilesink import FORMATS
from holdfast.remedy.rehearsal.copying import Copied, Source, copied
from holdfast.remedy.rehearsal.rewriting import rewrite_sink_log
from holdfast.remedy.rehearsal.workspace import Workspace
from holdfast.storage.beside import beside
from holdfast.storage.location import Location, parse_location
from holdfast.storage.opening import open_reader

Values = Mapping[tuple[str, ...], "str | None"]
_WITHOUT_MEMORY = frozenset({"memory", "console"})


def _nothing() -> None:
    """Remove nothing."""


@dataclass(frozen=True)
class Scratch:
    """What stands in for the sink of a job."""

    values: Values = field(default_factory=dict)
    """What is declared differently, below the job."""
    place: str = ""
    """Where it is, as shown to people."""
    originals: tuple[Copied, ...] = ()
    drop: Callable[[], None] = _nothing
    """Removes what was made outside of the workspace."""
    notes: tuple[str, ...] = ()
    count: Callable[[], int] | None = None
    """Counts its rows without Spark; None where Spark counts them, or nobody does."""
    missing: str | None = None
    """Why there is none, so that neither steps on the sink nor a start are possible."""


def scratch_sink(
    job: ReadyJob, space: Workspace, onto: str | None, progress: Progress | None = None
) -> Scratch:
    """Make a scratch sink for a job; `onto` names another one where none can be made."""
    sink = job.sink
    if sink.location is not None:
        if onto is not None:
            message = f"the {sink.format} sink is copied into the workspace"
            raise PlanError("HF4663", message, at=onto, next_steps=("name no scratch sink",))
        return _copied_folder(job, sink.location, space, progress)
    if sink.format == "postgres":
        if onto is not None:
            message = "the table is copied into a schema of its own"
            raise PlanError("HF4663", message, at=onto, next_steps=("name no scratch sink",))
        return _copied_table(job, space)
    if sink.format == "custom" and onto is not None:
        note = f"batches went to {onto} instead of the function of the job"
        return Scratch({("sink", "function"): onto}, onto, notes=(note,))
    if sink.format == "kafka" and onto is not None and not sink.native:
        note = f"batches went to the topic {onto}, which Holdfast does not empty"
        return Scratch({("sink", "options", "topic"): onto}, onto, notes=(note,))
    if sink.format in _WITHOUT_MEMORY:
        return Scratch(place=sink.format)
    return Scratch(missing=_why_none(job))


def _why_none(job: ReadyJob) -> str:
    kind = f"Spark's own {job.sink.format}" if job.sink.native else f"a {job.sink.format}"
    named = {
        "custom": "name a function that delivers elsewhere as the scratch sink",
        "kafka": "name another topic as the scratch sink",
    }
    hint = None if job.sink.native else named.get(job.sink.format)
    return f"what {kind} sink holds cannot be copied" + (f"; {hint}" if hint else "")


def _copied_folder(
    job: ReadyJob, location: Location, space: Workspace, progress: Progress | None
) -> Scratch:
    name = location.url.rstrip("/").rpartition("/")[2]
    copy = parse_location(str(space.outputs / name))
    own = Source(open_reader(location, job.sink.settings), _local(location))
    around = beside(location)
    records = Source(open_reader(around, job.sink.settings), _local(around))
    originals = (
        copied("output", own, Path(copy.url), progress),
        copied("records of the output", records, Path(beside(copy).url), progress),
    )
    if job.sink.native and job.sink.format.lower() in FORMATS:
        rewrite_sink_log(copy, location)
    return Scratch({("sink", "path"): copy.url}, copy.shown, originals)


def _copied_table(job: ReadyJob, space: Workspace) -> Scratch:
    """Copy a table with its ledger into a new schema of the same database."""
    from holdfast.ledgers.database.connection import postgres_address
    from holdfast.ledgers.database.scratch import ScratchTable, fingerprint

    sink = job.sink
    assert sink.url is not None
    assert sink.table is not None
    address = postgres_address(sink.url, sink.table, sink.options, sink.at)
    table = ScratchTable(address, f"holdfast_rehearsal_{uuid.uuid4().hex[:12]}")
    space.note_scratch(table.shown)
    before = fingerprint(address)
    table.copy()
    original = Copied(
        what="table",
        location=address.shown,
        files=before.rows,
        size_bytes=None,
        digest=before.digest,
        digest_now=lambda: fingerprint(address).digest,
    )
    note = "triggers of the table are not copied, and did not run"
    return Scratch(
        {("sink", "table"): table.written}, table.shown, (original,), table.drop, (note,),
        count=table.rows,
    )  # fmt: skip


def _local(location: Location) -> Path | None:
    return Path(location.url) if location.is_local else None
