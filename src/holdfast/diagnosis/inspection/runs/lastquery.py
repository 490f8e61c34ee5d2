"""The query that last made something in a checkpoint: of a run of Holdfast's, or recorded for a
program that runs elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holdfast.checkpoint.picture import Picture, passed_over
from holdfast.diagnosis.inspection.runs.compared import last_compared
from holdfast.diagnosis.inspection.runs.recorded import Recorded
from holdfast.diagnosis.inspection.sink.gone import Runs
from holdfast.records.folder import RecordsFolder
from holdfast.records.history import History
from holdfast.records.recordings import KeptRecording, Recording, Recordings
from holdfast.records.run import Run

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
    told = -1 if recording.passed is None else recording.passed
    return recording.ran and delivered is not None and delivered > told


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
