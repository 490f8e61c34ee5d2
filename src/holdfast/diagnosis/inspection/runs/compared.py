"""The run whose query made what is in the checkpoint: the newest one that committed a batch."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.diagnosis.inspection.sink.gone import Runs
from holdfast.records.facts import QueryFacts
from holdfast.records.recordings import QueryPart, Recording, parts_named
from holdfast.records.run import Run, SinkFacts

LAST_RUN = "last-run.json"
"""The file of a bundle that holds what is compared."""


@dataclass(frozen=True)
class ComparedRun:
    """What is kept of a run for those who can't reach its records."""

    schema: str
    job: str
    generation: int
    query: QueryFacts
    sink: SinkFacts | None = None
    recorded_at: str | None = None
    """When a query was recorded that Holdfast did not run: then the generation is 0."""
    missing: tuple[str, ...] = ()
    """Parts of the query that are not known; values of `QueryPart`."""

    @property
    def is_recording(self) -> bool:
        """Whether it was recorded of a program that Holdfast did not run."""
        return self.recorded_at is not None

    @property
    def parts_missing(self) -> frozenset[QueryPart]:
        """The parts that are not known; a name of a newer Holdfast's is left out."""
        return parts_named(self.missing)


def last_compared(runs: Runs, query_id: str | None, passed: int | None) -> Run | None:
    """Return the run that a start is compared with, None where no record has facts of one.

    `passed` is the newest batch that Spark will not run again. A run that committed nothing left
    the state as it found it: then the one before counts, and the first one where none did.
    """
    if query_id is None:
        return None

    def has_committed(run: Run) -> bool:
        return run.query_id == query_id and _committed(run, passed)

    def is_known(run: Run) -> bool:
        return run.query_id == query_id and run.plan.query is not None

    run = runs.newest_where(has_committed) or runs.newest_where(is_known)
    return run if run is not None and is_known(run) else None


def compared_run(run: Run | Recording) -> ComparedRun | None:
    """Return what of a run or a recording is compared; None where it has no facts of its query."""
    if run.plan.query is None:
        return None
    if isinstance(run, Recording):
        return ComparedRun(
            "holdfast.last-run/1", run.job or "", 0, run.plan.query, run.sink, run.at, run.missing
        )
    return ComparedRun("holdfast.last-run/1", run.job, run.generation, run.plan.query, run.sink)


def _committed(run: Run, passed: int | None) -> bool:
    if run.last_batch is not None:
        return True
    since = None if run.sink is None else run.sink.since
    if since is not None:
        return passed is not None and passed >= since
    # A run that left no word of its end may have committed one without a note of it.
    return run.ended is None
