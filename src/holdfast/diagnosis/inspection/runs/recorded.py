"""What the records beside a checkpoint tell at one look: runs and what became of the last one,
lease, an act begun and not ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.errors import HoldfastError, StorageError

if TYPE_CHECKING:
    from holdfast.checkpoint.picture import Picture
    from holdfast.records.folder import RecordsFolder
    from holdfast.records.journal import Act
    from holdfast.records.leases.state import LeaseState
    from holdfast.records.recordings import KeptRecording
    from holdfast.records.retirements import Retirement
    from holdfast.records.rewinds import Rewind
    from holdfast.records.run import Run
    from holdfast.records.settled import SettledAct
    from holdfast.records.starts import Attempt, NextRestart

CopyOf = Callable[[str, int], "bytes | None"]


def no_copy(_query_id: str, _batch_id: int) -> None:
    """Know no copy, where no offsets are kept."""


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
    settled: SettledAct | None = None
    """A restore or another remedy that was finished since the newest run began; None where there is
    none, or the lease was not asked for."""
    rewinds: tuple[Rewind, ...] = ()
    """Batches that a plan took back, so that they no longer count."""
    retirement: Retirement | None = None
    """That the job is over and its checkpoint archived; None where it is not retired."""
    moved_from: tuple[str, ...] = ()
    """Where the checkpoint was before it was moved here with these records."""
    backups: int = 0
    """How many backups of the checkpoint there are."""
    failures: tuple[str, ...] = ()
    """What could not be read, and why."""
    unseen: StorageError | None = None
    """Why the first of them could not even be looked at; None where its content is at fault."""
    copy_of: CopyOf = no_copy
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

    @property
    def was_reset(self) -> bool:
        """Whether a plan emptied the checkpoint since the newest run: a new query begins."""
        newest = self.runs[0].generation if self.runs else 0
        return any(
            one.every_query and one.through is None and one.generation > newest
            for one in self.rewinds
        )

    def left_of(self, run: Run) -> int | None:
        """Return the newest batch that a run delivered and that no plan took back since."""
        batch = run.last_batch
        for rewind in self.rewinds:
            batch = rewind.counts(run.query_id, run.generation, batch)
        return batch

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
    recordings: bool = False,
) -> Recorded:
    """Look at the records; nothing is written.

    `job` is a job's name and its project: attempts of others, which were refused here, are not its
    own. With `all_attempts` they are given, those before the newest run as well.
    """
    where = folder.location.shown
    try:
        names = folder.names()
    except HoldfastError as error:
        unseen = error if isinstance(error, StorageError) else None
        failure = f"{error.at or where}: {error.message}"
        return Recorded(where, checkpoint, failures=(failure,), unseen=unseen)
    if not names:
        return Recorded(where, checkpoint)
    # Most checkpoints that are looked at have no records, and their readers take longer to load
    # than such a checkpoint takes to read.
    from holdfast.diagnosis.inspection.runs.recalling import read_records

    return read_records(
        folder,
        names,
        checkpoint=checkpoint,
        runs=runs,
        lease=lease,
        job=job,
        all_attempts=all_attempts,
        recordings=recordings,
    )
