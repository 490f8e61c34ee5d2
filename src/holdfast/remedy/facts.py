"""What a planner looks at, and the digests that tell whether it is still so."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from holdfast.answers import plain
from holdfast.backup.access import Records
from holdfast.diagnosis.inspection.result import Inspection
from holdfast.diagnosis.inspection.sourcefiles import NamesIn
from holdfast.diagnosis.inspection.sources import NO_SOURCE_PLACES, SourcePlaces
from holdfast.diagnosis.inspection.subject import Subject
from holdfast.errors import PlanError
from holdfast.findings import Finding, Severity
from holdfast.jobs.ready import ReadyJob
from holdfast.ledgers.sinkstate import LastCommitted
from holdfast.records.documents import encode_document
from holdfast.records.journal import act_ids
from holdfast.remedy.elsewhere import Elsewhere
from holdfast.remedy.outputs import NOT_LOOKED, OutputSeen
from holdfast.storage.location import Location, canonical
from holdfast.storage.reading import FileKind


def unlisted(_folder: str) -> None:
    """List no folder, where none can be."""


@dataclass(frozen=True)
class BackfillSeen:
    """A backfill of the query that was begun."""

    plan_id: str
    is_open: bool
    """It is under way, or was interrupted."""


@dataclass(frozen=True)
class Facts:
    """One checkpoint with everything around it, as the doctor sees it, and what was declared."""

    subject: Subject
    inspection: Inspection
    findings: tuple[Finding, ...]
    """What the doctor finds."""
    records: Records
    job: ReadyJob | None = None
    """The job that the project declares; None for a target that is a path."""
    place: Location | None = None
    """Where the checkpoint is; None where only its files are known."""
    output: OutputSeen = NOT_LOOKED
    """Its output, where the remedy is about it."""
    readers: tuple[Facts, ...] = ()
    """The jobs that its rows reach, nearest first, where the remedy is about them too."""
    unstarted: frozenset[str] = frozenset()
    """Those of these jobs that have no checkpoint, where the remedy changes the output."""
    elsewhere: Elsewhere | None = None
    """Where it is to be moved to; None for every other remedy."""
    names_in: NamesIn = unlisted
    """Lists folders of sources, which are next to no checkpoint."""
    backfills: tuple[BackfillSeen, ...] = ()
    """Every backfill that was begun, the oldest plan's name first."""
    sources: SourcePlaces = NO_SOURCE_PLACES
    """Where the sources are, to be asked for more than the doctor asks."""

    @property
    def location(self) -> str:
        """The checkpoint, as shown to people."""
        return self.subject.picture.location

    @property
    def checkpoint(self) -> Location:
        """Where the checkpoint is."""
        assert self.place is not None
        return self.place

    @property
    def query_id(self) -> str | None:
        """The id in `metadata`."""
        return self.subject.query_id

    @property
    def held(self) -> LastCommitted:
        """The newest batch of the query in the sink."""
        if self.subject.sight is not None:
            return self.subject.sight.held
        if self.subject.sink is not None:
            return self.subject.sink.last_committed(self.query_id)
        return LastCommitted.unknown("no sink is known")

    @property
    def fatal(self) -> tuple[Finding, ...]:
        """What keeps the next start from going well."""
        return tuple(one for one in self.findings if one.severity is Severity.FATAL)

    def require_job(self) -> ReadyJob:
        """Return the declared job; raise PlanError (HF4614) where the target is no job."""
        if self.job is None:
            message = f"{self.location} is not declared as a job here"
            raise PlanError("HF4614", message, at=self.location)
        return self.job

    def looked_at(self) -> Mapping[str, str]:
        """Return what was looked at, each with what was seen or its digest: equal facts are equal.

        The lease is not part of it: applying a plan takes it.
        """
        run = next(iter(self.subject.recorded.runs), None)
        acts = act_ids(self.records.journal.reader)
        sight, held = self.subject.sight, self.held
        seen = {
            "checkpoint": self._checkpoint(),
            "query": self.query_id or "none",
            "sink": f"{held.answer.value} {held.value if held.value is not None else ''}".strip(),
            "newest run": "none" if run is None else f"{run.generation} {run.ended}",
            "newest act": acts[-1] if acts else "none",
        }
        if self.elsewhere is not None:
            seen["new place"] = canonical(self.elsewhere.location)
        if sight is not None:
            place = [sight.place, sight.incarnation, sight.contents.value, sight.generation]
            seen["sink's place"] = _digest(place)
        if self.output != NOT_LOOKED:
            seen["output"] = _digest([self.output.not_clearable, self.output.is_empty])
        if self.subject.job is not None:
            declared = self.subject.job.job.model_dump(mode="json")
            seen["declaration"] = _digest(declared)
        return seen

    def _checkpoint(self) -> str:
        items = self.subject.picture.layout.items.values()
        files = sorted(
            (one.path, one.size, one.modified_ms, one.tag)
            for one in items
            if one.kind is FileKind.FILE
        )
        return _digest([list(file) for file in files])


def _digest(value: object) -> str:
    return hashlib.sha256(encode_document({"value": plain(value)})).hexdigest()
