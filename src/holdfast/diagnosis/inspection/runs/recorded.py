"""What the records beside a checkpoint tell at one look: runs and what became of the last one,
lease, an act begun and not ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

from holdfast.checkpoint.picture import Picture
from holdfast.errors import HoldfastError
from holdfast.records.busy import is_busy
from holdfast.records.folder import RecordsFolder
from holdfast.records.history import History
from holdfast.records.journal import Act, unfinished_act
from holdfast.records.leases.state import LeaseState, Standing, look_at_lease
from holdfast.records.offsetcopies import OffsetCopies
from holdfast.records.recordings import RECORDINGS_PART, KeptRecording, Recordings
from holdfast.records.run import Run
from holdfast.records.starts import (
    ATTEMPTS_PART,
    Attempt,
    Attempts,
    NextRestart,
    Restarts,
    awaited_restart,
)
from holdfast.records.starts import RESTARTS_PART as RESTARTS

BACKUPS_PART, SNAPSHOTS = "backups", "snapshots"
"""Where backups lie, and in it the list of files of each."""
OLDER_RUNS = 10
"""How far back a run that delivered something is looked for, where the newest did not."""

Part = TypeVar("Part")


CopyOf = Callable[[str, int], bytes | None]


def _no_copy(_query_id: str, _batch_id: int) -> None:
    return None


@dataclass(frozen=True)
class Recorded:
    """The records of one checkpoint."""

    location: str = ""
    """Their folder, as shown to people."""
    checkpoint: str | None = None
    """The canonical location of the checkpoint that they lie beside."""
    runs: tuple[Run, ...] = ()
    """The newest first, as many as were asked for."""
    lease: LeaseState | None = None
    """None where nobody ever held it, or it was not asked for."""
    attempts: tuple[Attempt, ...] = ()
    """Starts that failed before a run began, the newest first, as many as were asked for."""
    recordings: tuple[KeptRecording, ...] = ()
    """Recorded queries of programs that run elsewhere, the newest first, where asked for."""
    next_restart: NextRestart | None = None
    """A restart that a driver waits for, which may be on another machine; None where none is due,
    or the lease was not asked for."""
    act: Act | None = None
    """A restore that was begun and has no outcome."""
    act_at_work: bool = False
    """Somebody is at it right now."""
    backups: int = 0
    """How many backups of the checkpoint there are."""
    failures: tuple[str, ...] = ()
    """What could not be read, and why."""
    copy_of: CopyOf = _no_copy
    """Gives the bytes that were kept of a query's offsets entry; raises HoldfastError."""

    @property
    def attempts_since_run(self) -> tuple[Attempt, ...]:
        """The attempts after the newest run began, or after a driver that lives took the lease."""
        began = self.runs[0].started_at if self.runs else ""
        lease = self.lease
        if lease is not None and lease.runs and lease.since is not None:
            began = max(began, lease.since)
        return tuple(one for one in self.attempts if one.at > began)

    @property
    def restarting(self) -> NextRestart | None:
        """The restart that a driver of this machine, which lives, waits for."""
        note = self.next_restart
        return note if note is not None and note.is_here else None

    @property
    def started(self) -> Run | None:
        """The newest run that reached Spark, so that it knows its query."""
        return next((run for run in self.runs if run.query_id is not None), None)

    def contradicts(self, picture: Picture) -> bool:
        """Whether the checkpoint is another query's than the one that was recorded."""
        known, run = picture.query, self.started
        return known is not None and run is not None and known.id != run.query_id

    def run_of(self, picture: Picture) -> Run | None:
        """Return the newest run of this very checkpoint; None where there is none to rely on."""
        return None if self.contradicts(picture) else self.started

    def newest_where(self, wanted: Callable[[Run], bool]) -> Run | None:
        """Return the newest run that is wanted among those that were asked for."""
        return next(filter(wanted, self.runs), None)

    def runs_of(self, picture: Picture) -> tuple[Run, ...]:
        """Return all runs of this very checkpoint, the newest first."""
        return () if self.contradicts(picture) else self.runs


NOTHING_RECORDED = Recorded()

Recall = Callable[[], Recorded]
"""Looks at the records. It is called before the checkpoint is read, so that what was recorded is
never newer than what is read."""


def nothing() -> Recorded:
    """Recall nothing, where no records can be."""
    return NOTHING_RECORDED


def recall(
    folder: RecordsFolder,
    *,
    checkpoint: str | None = None,
    runs: int = 1,
    lease: bool = False,
    job: tuple[str, str | None] | None = None,
    all_attempts: bool = False,
) -> Recorded:
    """Look at the records; nothing is written.

    `job` is a job's name and its project: attempts of others, which were refused here, are not its
    own. With `all_attempts` they are given, those before the newest run as well, and recordings.
    """
    look = _RecordsReading(folder)
    names: frozenset[str] = look.at(folder.names, frozenset[str]())
    # Read before what voids it.
    note = look.next_restart() if lease and RESTARTS in names else None
    found = look.runs(runs) if "runs" in names else ()
    since = found[0] if found and not all_attempts else None
    attempts = look.attempts(since) if ATTEMPTS_PART in names else ()
    seen = look.lease() if lease and "lease" in names else None
    return Recorded(
        location=folder.location.shown,
        checkpoint=checkpoint,
        runs=found,
        attempts=tuple(one for one in attempts if job is None or all_attempts or one.is_of(*job)),
        lease=seen,
        recordings=look.recordings() if all_attempts and RECORDINGS_PART in names else (),
        next_restart=awaited_restart(note, _newest_start(found, attempts, seen)),
        act=(act := look.act() if "journal" in names else None),
        act_at_work=act is not None and look.at(lambda: is_busy(folder.place(BACKUPS_PART)), False),
        backups=look.backups() if BACKUPS_PART in names else 0,
        failures=tuple(look.failures),
        copy_of=OffsetCopies(folder).copy_of if "offsets" in names else _no_copy,
    )


def _newest_start(
    runs: Sequence[Run], attempts: Sequence[Attempt], lease: LeaseState | None
) -> str:
    """Return when somebody started the job last, or tried to."""
    began = [run.started_at for run in runs[:1]] + [one.at for one in attempts[:1]]
    if lease is not None and lease.since is not None:
        began.append(lease.since)
    return max(began, default="")


class _RecordsReading:
    """One look, which gathers what went wrong."""

    def __init__(self, folder: RecordsFolder) -> None:
        self.folder = folder
        self.failures: list[str] = []

    def at(self, read: Callable[[], Part], otherwise: Part) -> Part:
        try:
            return read()
        except HoldfastError as error:
            self.fail(error)
            return otherwise

    def fail(self, error: HoldfastError) -> None:
        self.failures.append(f"{error.at or self.folder.location.shown}: {error.message}")

    def runs(self, count: int) -> tuple[Run, ...]:
        history = History(self.folder)
        none: tuple[Run, ...] = ()
        found = self.at(lambda: history.runs(newest=count), none)
        if found and count < OLDER_RUNS and all(run.last_batch is None for run in found):
            found = self.at(lambda: history.runs(newest=OLDER_RUNS), found)
        for damage in history.damages:
            self.fail(damage)
        return found

    def attempts(self, since: Run | None) -> tuple[Attempt, ...]:
        attempts = Attempts(self.folder)
        none: tuple[Attempt, ...] = ()
        found = self.at(lambda: attempts.since(since), none)
        for damage in attempts.damages:
            self.fail(damage)
        return found

    def recordings(self) -> tuple[KeptRecording, ...]:
        recordings = Recordings(self.folder)
        none: tuple[KeptRecording, ...] = ()
        found = self.at(recordings.newest_first, none)
        for damage in recordings.damages:
            self.fail(damage)
        # One that cannot be read may be the one that counts.
        return none if recordings.damages else found

    def backups(self) -> int:
        place = self.folder.place(BACKUPS_PART)
        found = self.at(lambda: place.names(SNAPSHOTS), frozenset[str]())
        return sum(1 for name in found if name.endswith(".json"))

    def next_restart(self) -> NextRestart | None:
        return self.at(Restarts(self.folder).note, None)

    def lease(self) -> LeaseState | None:
        return self.at(lambda: look_at_lease(self.folder.reader("lease")), None)

    def act(self) -> Act | None:
        return self.at(
            lambda: unfinished_act(self.folder.place("journal"), self.folder.reader("runs")), None
        )


class RunState(str, Enum):
    """What one look at the lease and the newest run's record tells."""

    RUNNING = "running"
    """A holder of this machine lives: its Python process, not just a JVM that it left."""
    ENDED = "ended"
    """It wrote down how it ended."""
    KILLED = "killed"
    """It left no word, and its holder is gone."""
    UNCLEAR = "unclear"
    """It left no word, and its holder is on another machine."""


_MAY_LIVE = (Standing.HELD, Standing.UNCLEAR)
_BY_LEASE = {
    Standing.HELD: RunState.RUNNING,
    Standing.UNCLEAR: RunState.UNCLEAR,
    Standing.ABANDONED: RunState.KILLED,
    Standing.FREE: RunState.KILLED,
}


def last_run_state(recorded: Recorded) -> RunState | None:
    """Return how the newest run ended; None where nothing ever ran.

    A driver that followed it, and has not written a record yet, is the newest run. An act, such as
    a restore, is no run: it only tells that the run before it is over.
    """
    run, lease = recorded.runs[0] if recorded.runs else None, recorded.lease
    is_act = lease is not None and lease.act is not None
    newer = lease is not None and (run is None or lease.generation > run.generation)
    ends = lease is not None and lease.ends
    if lease is not None and newer and not is_act and not ends and lease.state in _MAY_LIVE:
        return _BY_LEASE[lease.state]
    if run is None:
        return None
    if run.ended is not None:
        return RunState.ENDED
    if is_act or ends:
        return RunState.KILLED
    return RunState.UNCLEAR if lease is None else _BY_LEASE[lease.state]
