"""What is known of a start before it happens: everything that the rules look at."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.recovery.outcome import Action
from holdfast.checkpoint.releases import RELEASES
from holdfast.diagnosis.checks.location import NO_PLACES, WrittenPlaces
from holdfast.diagnosis.inspection.result import Inspection
from holdfast.diagnosis.inspection.runs.lastquery import ComparedRun, compared_run, last_query
from holdfast.diagnosis.inspection.sink.gone import SinkBefore
from holdfast.errors import ProjectError
from holdfast.findings import Finding, Place, Severity
from holdfast.jobs.ownership import check_owner
from holdfast.jobs.ready import ReadyJob
from holdfast.ledgers.sinkstate import LastCommitted, SinkState
from holdfast.records.facts import UNLOCATED, OperatorFacts, QueryFacts, fingerprint
from holdfast.records.folder import RecordsFolder
from holdfast.records.history import History
from holdfast.records.recordings import QueryPart
from holdfast.records.run import PlanFacts, SinkFacts
from holdfast.restart.partial import completed
from holdfast.restart.samefunctions import with_new_names

_NO_SETTINGS: Mapping[str, str] = {}


def last_run(records: RecordsFolder, picture: Picture) -> ComparedRun | None:
    """Return the run, or the recording, whose query a start on this checkpoint is compared with."""
    last = last_query(records, picture)
    return None if last is None else compared_run(last)


def owned_by_other(job: ReadyJob, records: RecordsFolder) -> tuple[Finding, ...]:
    """Return that a start is refused because the checkpoint is another job's."""
    try:
        check_owner(job, next(iter(History(records).runs(newest=1)), None))
    except ProjectError as error:
        number, why, steps = error.code.number, error.why, error.next_steps
        return (Finding(number, Severity.FATAL, error.message, Place(""), {}, why, steps),)
    return ()


@dataclass(frozen=True)
class QueryPair:
    """A query as it last ran on the checkpoint, and as it would start now."""

    before: QueryFacts
    now: QueryFacts

    @property
    def has_state(self) -> bool:
        """Whether either keeps state; one that could not be planned may."""
        return bool(self.before.operators or self.now.operators) or None in (
            self.before.operators,
            self.now.operators,
        )

    @property
    def is_other_release(self) -> bool:
        """Whether another release of Spark planned it: its defaults differ, the pinned ones not."""
        return self.before.spark.split(".")[:2] != self.now.spark.split(".")[:2]

    @property
    def operators(self) -> tuple[tuple[OperatorFacts, OperatorFacts], ...]:
        """The operators of the same id and name, both of each."""
        then = {one.operator_id: one for one in self.before.operators or ()}
        return tuple(
            (then[one.operator_id], one)
            for one in self.now.operators or ()
            if one.operator_id in then and then[one.operator_id].name == one.name
        )


@dataclass(frozen=True)
class StartFacts:
    """Everything that the rules look at."""

    inspection: Inspection
    plan: PlanFacts
    sight: SinkState
    """What is seen of the sink."""
    sink_queries: Collection[str]
    """Other queries whose batches the sink knows."""
    settings: Mapping[str, str]
    """What the user sets."""
    before: SinkBefore | None = None
    """The sink of earlier runs, as the records know it."""
    mode: str = "append"
    """How the sink takes a batch: append, upsert or complete."""
    recorded: int | None = None
    """The newest batch that a recorded run delivered from this checkpoint."""
    recorded_query: str | None = None
    """The query whose batch that is."""
    unread: tuple[str, ...] = ()
    """Why newer records of runs cannot be read."""
    declared: tuple[Finding, ...] = ()
    """What is known of the declared sources without asking Spark."""
    master: str = "local"
    """Where Spark runs."""
    places: WrittenPlaces = NO_PLACES
    """Local places that its tasks write to."""
    emptied: tuple[Finding, ...] = ()
    """What is said of a checkpoint in a temporary directory."""
    fatal: tuple[Finding, ...] = ()
    """What the doctor's checks call fatal."""
    unasked: Finding | None = None
    """Why the sink could not be compared; None where it was, or nobody asked for it."""
    stored: QueryFacts | None = None
    """The query that last ran on this checkpoint; None where no record knows it."""
    missing: frozenset[QueryPart] = frozenset()
    """Parts of that query that its recording does not know."""
    current: QueryFacts | None = None
    """The query that would start; None where Spark was not asked."""
    stored_sink: SinkFacts | None = None
    """Where the last run delivered to."""
    current_sink: SinkFacts | None = None
    """Where the start would deliver to."""
    spark: str | None = None
    """The version of Spark that would start it; None where that is not known."""
    unplanned: str | None = None
    """Why the query could not be planned here; None where it was, or nobody asked for it."""

    @classmethod
    def without_sink(
        cls,
        inspection: Inspection,
        plan: PlanFacts,
        last: ComparedRun | None,
        *,
        spark: str | None,
        settings: Mapping[str, str] = _NO_SETTINGS,
    ) -> StartFacts:
        """Return what is known of a start whose sink nobody asked."""
        start = cls(
            inspection,
            plan,
            SinkState(LastCommitted.unknown("the sink was not asked")),
            frozenset(),
            settings,
            current=plan.query,
            spark=spark,
        )
        return start.after(last)

    def after(self, last: ComparedRun | None) -> StartFacts:
        """Return the start as it follows the last run, or the last recording of a program."""
        if last is None:
            return self
        missing = last.parts_missing
        return replace(self, stored=last.query, missing=missing, stored_sink=last.sink)

    @property
    def sink(self) -> LastCommitted:
        """What the sink says of this query."""
        return self.sight.held

    @property
    def foreign_queries(self) -> frozenset[str]:
        """Queries in the sink that are not an earlier one of this job, whose checkpoint is gone."""
        return frozenset(self.sink_queries) - {self.recorded_query or ""}

    @property
    def is_fresh(self) -> bool:
        """Whether no batch was ever planned."""
        return self.inspection.batches.last_planned is None

    @property
    def delivered_before(self) -> int | None:
        """The newest batch that earlier runs of this query delivered."""
        return None if self.inspection.query_id is None else self.recorded

    @property
    def rerun(self) -> int | None:
        """The pending batch that Spark runs again first."""
        next_start = self.inspection.next_start
        return next_start.batch_id if next_start.action is Action.RERUN else None

    @cached_property
    def pair(self) -> QueryPair | None:
        """Both queries where they can be compared and differ, or may; None for a first start."""
        if self.is_fresh or self.stored is None or self.current is None or not self.has_history:
            return None
        stored = completed(self.stored, self.current, self.missing)
        is_same = fingerprint(stored) == fingerprint(self.current)
        is_located = UNLOCATED not in self.current.code.values()
        if is_same and is_located and stored.code == self.current.code:
            return None
        return QueryPair(with_new_names(stored, self.current), self.current)

    @property
    def has_history(self) -> bool:
        """Whether the query that last ran is known, in the form of the current one."""
        if self.stored is None or self.current is None:
            return False
        return self.stored.version == self.current.version

    @property
    def lacks_history(self) -> bool:
        """Whether a checkpoint with batches is not known to be of any recorded query."""
        return not self.is_fresh and self.current is not None and not self.has_history

    @property
    def release(self) -> str | None:
        """The known release of Spark that would start it, such as `4.2`; else None."""
        asked = self.spark or (None if self.current is None else self.current.spark)
        release = ".".join((asked or "").split(".")[:2])
        return release if release in RELEASES else None
