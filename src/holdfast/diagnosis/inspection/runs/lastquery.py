"""The run or the recording whose query made what is in the checkpoint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from holdfast.checkpoint.picture import Picture, passed_over
from holdfast.diagnosis.inspection.runs.recorded import Recorded
from holdfast.diagnosis.inspection.sink.gone import Runs
from holdfast.records.facts import QueryFacts
from holdfast.records.folder import RecordsFolder
from holdfast.records.history import History
from holdfast.records.recordings import KeptRecording, QueryPart, Recording, Recordings, parts_named
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
            schema="holdfast.last-run/1",
            job=run.job or "",
            generation=0,
            query=run.plan.query,
            sink=run.sink,
            recorded_at=run.at,
            missing=run.missing,
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


BEGINS_WITHIN_MS = 120_000
"""How long after its recording a query may begin that had no checkpoint then."""
_CLOCK_STEP_MS = 2_000
"""Storages give whole seconds: what was written after may seem to be written before."""
_METADATA = "metadata"


def last_query(records: RecordsFolder, picture: Picture) -> Run | Recording | None:
    """Return what a start on this checkpoint is compared with; None where no record knows it.

    Raise HF2603 where a recording cannot be read: it may be the one that counts.
    """
    recordings = Recordings(records)
    kept = recordings.newest_first()
    for damage in recordings.damages:
        raise damage
    return newest_of_both(History(records), kept, picture)


def recorded_operators(recorded: Recorded, picture: Picture) -> tuple[str, ...]:
    """Return the stateful operators of the newest recorded query that committed a batch; none
    where no record tells."""
    if picture.newest_commit_id is None:
        return ()
    last = newest_of_both(recorded, recorded.recordings, picture)
    return (last.plan.operators or ()) if last is not None else ()


def newest_of_both(
    runs: Runs, kept: Sequence[KeptRecording], picture: Picture
) -> Run | Recording | None:
    """Return the newest run or recording of the checkpoint's query that made a batch of it."""
    query_id = None if picture.query is None else picture.query.id
    passed = passed_over(picture.newest_commit_id, picture.pending)
    run = last_compared(runs, query_id, passed)
    if query_id is None:
        return run
    own = list(_belonging(kept, runs, query_id, _begun_ms(picture)))
    made = [one for one in own if one.has_made(passed)] or (own if passed is None else [])
    newest = made[0] if made else None
    if newest is None or (run is not None and _is_newer(run, newest)):
        return run
    return newest


def _is_newer(run: Run, recording: Recording) -> bool:
    """Tell whether a run made later batches than those that a recording is about."""
    if run.generation > recording.after:
        return True
    delivered = run.newest_delivered
    passed = -1 if recording.passed is None else recording.passed
    return recording.ran and delivered is not None and delivered > passed


def _belonging(
    kept: Sequence[KeptRecording], runs: Runs, query_id: str, begun_ms: int | None
) -> Iterator[Recording]:
    """Yield the recordings of a query, newest first."""
    later: set[str] = set()
    for one in kept:
        recording = one.recording
        if recording.query_id == query_id:
            yield recording
        elif recording.query_id is None and _began_it(one, begun_ms):
            after = recording.after
            run = runs.newest_where(lambda run, after=after: _is_other(run, after, query_id))  # type: ignore[misc]
            if run is None and later <= {query_id}:
                yield recording
        if recording.query_id is not None:
            later.add(recording.query_id)


def _is_other(run: Run, after: int, query_id: str) -> bool:
    return run.generation > after and run.query_id not in (None, query_id)


def _began_it(kept: KeptRecording, begun_ms: int | None) -> bool:
    """Tell whether the query may be the one that began right after its recording.

    One that began later has perhaps a checkpoint that was deleted and begun again by another
    program.
    """
    if begun_ms is None or kept.written_ms is None:
        return False
    return -_CLOCK_STEP_MS <= begun_ms - kept.written_ms <= BEGINS_WITHIN_MS


def _begun_ms(picture: Picture) -> int | None:
    """Return when Spark wrote the query id, by the clock of the storage."""
    metadata = picture.layout.items.get(_METADATA)
    return None if metadata is None else metadata.modified_ms
