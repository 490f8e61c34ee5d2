"""Reads the records next to a checkpoint, part by part; what cannot be read is named."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from holdfast.diagnosis.inspection.runs.recorded import Recorded, no_copy
from holdfast.errors import HoldfastError, StorageError
from holdfast.records.busy import is_busy
from holdfast.records.folder import RecordsFolder
from holdfast.records.history import History
from holdfast.records.journal import Act, unfinished_act
from holdfast.records.leases.state import LeaseState, look_at_lease
from holdfast.records.moves import MOVES_PART, Move, Moves
from holdfast.records.offsetcopies import OffsetCopies
from holdfast.records.recordings import RECORDINGS_PART, KeptRecording, Recordings
from holdfast.records.retirements import RETIREMENT_PART, Retirement, Retirements
from holdfast.records.rewinds import REWINDS_PART, Rewind, Rewinds
from holdfast.records.run import Run
from holdfast.records.settled import SettledAct, settled_since
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


def read_records(
    folder: RecordsFolder,
    names: frozenset[str],
    *,
    checkpoint: str | None,
    runs: int,
    lease: bool,
    job: tuple[str, str | None] | None,
    all_attempts: bool,
    recordings: bool,
) -> Recorded:
    """Return what the parts of these names have; the arguments are those of `recall`."""
    look = _RecordsReading(folder)
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
        recordings=look.recordings() if recordings and RECORDINGS_PART in names else (),
        next_restart=awaited_restart(note, _newest_start(found, attempts, seen)),
        act=(act := look.act() if "journal" in names else None),
        act_at_work=act is not None and look.at(lambda: is_busy(folder.place(BACKUPS_PART)), False),
        settled=look.settled(found) if lease and "journal" in names else None,
        rewinds=look.rewinds() if REWINDS_PART in names else (),
        retirement=look.retirement() if RETIREMENT_PART in names else None,
        moved_from=look.moved_from() if MOVES_PART in names else (),
        backups=look.backups() if BACKUPS_PART in names else 0,
        failures=tuple(look.failures),
        unseen=look.unseen,
        copy_of=OffsetCopies(folder).copy_of if "offsets" in names else no_copy,
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
        self.unseen: StorageError | None = None

    def at(self, read: Callable[[], Part], otherwise: Part) -> Part:
        try:
            return read()
        except HoldfastError as error:
            self.fail(error)
            return otherwise

    def fail(self, error: HoldfastError) -> None:
        if not self.failures and isinstance(error, StorageError):
            self.unseen = error
        self.failures.append(f"{error.at or self.folder.location.shown}: {error.message}")

    def moved_from(self) -> tuple[str, ...]:
        none: tuple[Move, ...] = ()
        moves = self.at(lambda: Moves(self.folder).all(), none)
        return tuple(move.moved_from for move in moves)

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

    def rewinds(self) -> tuple[Rewind, ...]:
        none: tuple[Rewind, ...] = ()
        return self.at(Rewinds(self.folder).all, none)

    def settled(self, runs: Sequence[Run]) -> SettledAct | None:
        newest = runs[0].generation if runs else 0
        return self.at(lambda: settled_since(self.folder.place("journal"), newest), None)

    def retirement(self) -> Retirement | None:
        return self.at(Retirements(self.folder).current, None)

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
