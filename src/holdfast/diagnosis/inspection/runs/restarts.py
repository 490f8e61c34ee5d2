"""Runs as results show them: those on record, and restarts inferred from the batches themselves.

Some signs are certain, because nothing can change them while a query runs: another set of pinned
settings (another Spark release), another log version, other sources, another active sink, operator
metadata written again. Others only make a restart likely: a changed value of a pinned setting (the
query's own code may set one between two batches), a pause far beyond the rhythm (a source may have
been silent), a clock that went back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from statistics import median

from holdfast.checkpoint.picture import Picture
from holdfast.format.logs.offsets import OffsetsEntry, OffsetsMetadata
from holdfast.records.moments import moment_after
from holdfast.records.run import Ended, Failure, Measures, OperatorState, Run, SourceLag
from holdfast.records.starts import Attempt
from holdfast.wording import counted


@dataclass(frozen=True)
class RunShown:
    """One life of a job."""

    generation: int
    """Which holder of the lease it was; it grows with every run."""
    job: str
    """The job's name at that time."""
    started_at: str
    """When it began, in UTC."""
    ended_at: str | None
    """When it ended; null for one that runs, or was killed."""
    ended: Ended | None
    """How it ended; null for one that runs, or was killed: the lease tells which."""
    first_batch: int | None
    """The first batch that it delivered."""
    last_batch: int | None
    """The last batch that it delivered, as far as it got to note it."""
    batches: int
    """How many batches it delivered."""
    rows: int
    """How many rows these had."""
    skipped_batches: int
    """How many of them were in the sink already."""
    seconds: float
    """How long it ran."""
    spark: str
    """The Spark that it ran on."""
    failure: Failure | None
    """Why it failed; null where it did not."""


@dataclass(frozen=True)
class BatchShown:
    """The newest batch that a run recorded."""

    batch_id: int
    """Its id."""
    rows: int
    """How many rows the sources gave."""
    started_at: str
    """When it began, in UTC."""
    committed_at: str | None
    """When it was over, in UTC; null if the record has no readable start."""
    seconds: float
    """How long it took."""
    skipped: bool
    """Whether it was already in the sink."""
    phase_seconds: Mapping[str, float]
    """How long each phase took, by Spark's name of it; empty in records of older releases."""
    state: tuple[OperatorState, ...]
    """The stateful operators after it."""
    lag: tuple[SourceLag, ...]
    """What its sources had left to read, for sources that report it."""


@dataclass(frozen=True)
class AttemptShown:
    """A start that failed before its run began."""

    at: str
    """When it failed, in UTC."""
    job: str
    """The job's name at that time."""
    ended: Ended
    """`refused` or `failed`."""
    code: str
    """The code of the error."""
    message: str
    """What was wrong."""
    place: str | None
    """Where the error is, such as a line of the project file; null where it has no place."""
    next: tuple[str, ...]
    """The next steps that were given with the error."""
    page: str
    """What `holdfast explain` shows the page of."""
    exit_status: int
    """The exit status of the error; 22 means that the checkpoint was in use."""
    holder: str
    """Who tried: user, host and process."""
    spark: str | None
    """The Spark that was to run it; null where Spark was not started yet."""


def attempt_shown(attempt: Attempt) -> AttemptShown:
    """Show an attempt."""
    return AttemptShown(
        at=attempt.at,
        job=attempt.job,
        ended=attempt.ended,
        code=attempt.code,
        message=attempt.message,
        place=attempt.place,
        next=attempt.next,
        page=attempt.page,
        exit_status=attempt.exit_status,
        holder=f"{attempt.user} on {attempt.host} (process {attempt.process})",
        spark=attempt.spark,
    )


def newest_batch_shown(runs: Sequence[Run]) -> BatchShown | None:
    """Show the newest batch that these runs recorded; the newest run is the first."""
    run = next((one for one in runs if one.recent), None)
    if run is None:
        return None
    note, measures = run.recent[-1], run.measures
    if measures is None or measures.batch_id != note.batch_id:
        measures = Measures(note.batch_id, {})
    return BatchShown(
        batch_id=note.batch_id,
        rows=note.rows,
        started_at=note.started_at,
        committed_at=moment_after(note.started_at, note.seconds),
        seconds=note.seconds,
        skipped=note.skipped,
        phase_seconds=measures.phase_seconds,
        state=measures.state,
        lag=measures.lag,
    )


def run_shown(run: Run) -> RunShown:
    """Show a run."""
    return RunShown(
        generation=run.generation,
        job=run.job,
        started_at=run.started_at,
        ended_at=run.ended_at,
        ended=run.ended,
        first_batch=run.first_batch,
        last_batch=run.last_batch,
        batches=run.batches,
        rows=run.rows,
        skipped_batches=run.skipped_batches,
        seconds=run.seconds,
        spark=run.versions.spark,
        failure=run.failure,
    )


SHORTEST_PAUSE_MS = 60_000
"""A cluster needs about this long to bring a driver back; a shorter pause tells nothing."""
TIMES_THE_RHYTHM = 10
"""How many times longer than the median of the other pauses one has to be."""
FEWEST_OTHER_PAUSES = 2
"""One pause alone has no rhythm to be compared with."""
NOT_VISIBLE = (
    "a restart within the rhythm of the batches that changed neither settings, sources, sink nor "
    "release leaves no mark, and a start that failed before it planned a batch leaves none either"
)


UNRECORDED = "starts before the oldest record that is kept, and starts without Holdfast"


class Certainty(str, Enum):
    """How sure a sign is."""

    CERTAIN = "certain"
    """Nothing but a new start can have done it."""
    LIKELY = "likely"
    """A new start explains it best, but something else may have done it."""


@dataclass(frozen=True)
class Restart:
    """One restart that the files give away."""

    batch_id: int
    """The first batch that was planned after it."""
    timestamp_ms: int | None
    """When that batch was planned; null where its entry does not tell."""
    pause_ms: int | None
    """The time since the batch before it was planned."""
    certainty: Certainty
    """The surest of its signs."""
    signs: tuple[str, ...]
    """What gives it away."""


@dataclass(frozen=True)
class RestartHistory:
    """The restarts that can be seen: the least number that there were, not all."""

    restarts: tuple[Restart, ...]
    """Oldest first."""
    certain: int
    """How many of them are certain."""
    likely: int
    """How many are only likely."""
    first_batch: int | None
    """The oldest batch that was looked at; what came before is purged, or was not read."""
    last_batch: int | None
    """The newest batch that was looked at."""
    unfinished_batch: int | None
    """Planned without a commit: the last run ended in this batch, or is in it now."""
    not_visible: str
    """Which restarts can't be seen."""
    runs: tuple[RunShown, ...] = ()
    """Every recorded run, the newest first; empty where Holdfast kept no record."""
    attempts: tuple[AttemptShown, ...] = ()
    """Starts that failed before a run began, the newest first; the newest 20 are kept."""


NO_RESTARTS = RestartHistory(
    restarts=(),
    certain=0,
    likely=0,
    first_batch=None,
    last_batch=None,
    unfinished_batch=None,
    not_visible=NOT_VISIBLE,
)
"""Where no batch tells anything."""


def restart_history(picture: Picture) -> RestartHistory:
    """Find the restarts that the picture's batches give away."""
    found = tuple(_restarts(picture))
    certain = sum(one.certainty is Certainty.CERTAIN for one in found)
    ids = sorted(picture.offsets)
    return RestartHistory(
        restarts=found,
        certain=certain,
        likely=len(found) - certain,
        first_batch=ids[0] if ids else None,
        last_batch=ids[-1] if ids else None,
        unfinished_batch=picture.pending,
        not_visible=NOT_VISIBLE,
    )


def _restarts(picture: Picture) -> Iterator[Restart]:
    ids = sorted({*picture.offsets, *_metadata_batches(picture)})
    pauses = _pauses(picture)
    for at, batch_id in enumerate(ids):
        before = ids[at - 1] if at else None
        certain = list(_certain_signs(picture, before, batch_id))
        likely = list(_likely_signs(picture, before, batch_id, pauses))
        if certain or likely:
            certainty = Certainty.CERTAIN if certain else Certainty.LIKELY
            moment = _timestamp(picture, batch_id)
            signs = (*certain, *likely)
            yield Restart(batch_id, moment, pauses.get(batch_id), certainty, signs)


def _certain_signs(picture: Picture, before: int | None, batch_id: int) -> Iterator[str]:
    if batch_id > 0 and batch_id in _metadata_batches(picture):
        yield "operator metadata was rewritten, which Spark does once per start"
    one, other = _entries(picture, before, batch_id)
    if one is not None and other is not None:
        yield from _entry_signs(one, other)
    was, now = _active_sink(picture, before), _active_sink(picture, batch_id)
    if was is not None and now is not None and was != now:
        yield f"the active sink changed from {was} to {now}"


def _entry_signs(one: OffsetsEntry, other: OffsetsEntry) -> Iterator[str]:
    if one.version != other.version:
        yield f"the offsets log went from v{one.version} to v{other.version}"
    if {source.name for source in one.sources} != {source.name for source in other.sources}:
        yield f"the sources changed from {_names(one)} to {_names(other)}"
    before, after = _settings(one.metadata), _settings(other.metadata)
    if before and after and before.keys() != after.keys():
        pinned = counted(len(after), "setting is", "settings are")
        yield (
            f"{pinned} pinned where there were {len(before)}: another Spark release, or another "
            "build of it"
        )


def _likely_signs(
    picture: Picture, before: int | None, batch_id: int, pauses: dict[int, int]
) -> Iterator[str]:
    one, other = _entries(picture, before, batch_id)
    if one is None or other is None:
        return
    was, now = _settings(one.metadata), _settings(other.metadata)
    for key in sorted(was.keys() & now.keys()):
        if was[key] != now[key]:
            yield f"{key} changed from {was[key]} to {now[key]}"
    pause = pauses.get(batch_id)
    if pause is not None and pause < 0:
        yield "the clock went back: another machine, or a corrected clock"
    elif pause is not None and _stands_out(pause, batch_id, pauses):
        yield f"{pause / 1000:,.0f} s passed since the batch before, far beyond the rhythm"


def _stands_out(pause: int, batch_id: int, pauses: dict[int, int]) -> bool:
    if pause < SHORTEST_PAUSE_MS:
        return False
    others = [one for at, one in pauses.items() if at != batch_id]
    return len(others) >= FEWEST_OTHER_PAUSES and pause >= TIMES_THE_RHYTHM * median(others)


def _pauses(picture: Picture) -> dict[int, int]:
    """Return each batch's distance from the batch before it; a gap in the ids gives none."""
    pauses: dict[int, int] = {}
    for batch_id in picture.offsets:
        was, now = _timestamp(picture, batch_id - 1), _timestamp(picture, batch_id)
        if was is not None and now is not None:
            pauses[batch_id] = now - was
    return pauses


def _timestamp(picture: Picture, batch_id: int) -> int | None:
    entry = picture.offsets.get(batch_id)
    return entry.metadata.timestamp_ms if entry is not None and entry.metadata else None


def _entries(
    picture: Picture, before: int | None, batch_id: int
) -> tuple[OffsetsEntry | None, OffsetsEntry | None]:
    earlier = picture.offsets.get(before) if before is not None else None
    return earlier, picture.offsets.get(batch_id)


def _metadata_batches(picture: Picture) -> set[int]:
    operators = picture.layout.state.operators.values()
    return {batch_id for operator in operators for batch_id in operator.metadata_by_batch}


def _settings(metadata: OffsetsMetadata | None) -> dict[str, str]:
    return dict(metadata.settings) if metadata is not None else {}


def _names(entry: OffsetsEntry) -> str:
    return ", ".join(source.name for source in entry.sources) or "none"


def _active_sink(picture: Picture, batch_id: int | None) -> str | None:
    commit = picture.commits.get(batch_id) if batch_id is not None else None
    records = (commit.sinks or {}).values() if commit is not None else ()
    return next((record.sink_name for record in records if record.is_active), None)
