"""Backs a checkpoint up while its job runs: after a commit, in a thread, and never in its way.

A backup is one consistent moment also while a query goes on, so that nothing waits for it. What
fails is a warning in the report; the stream goes on.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from functools import partial

from holdfast.backup.access import open_records
from holdfast.backup.commands import back_up
from holdfast.backup.snapshot import ID, moment_ms
from holdfast.backup.store import Retention
from holdfast.errors import HoldfastError
from holdfast.findings import Finding, Place, Severity
from holdfast.jobs.ready import BackupPolicy, ReadyJob
from holdfast.records.folder import RecordsFolder, records_of
from holdfast.wording import counted

AGAIN_SECONDS = 300.0
"""A backup that failed is tried again after this long, or after the declared time if that is less.
"""
LAST_SECONDS = 60.0
"""How long the end of a run waits for a backup that is being made."""
_SNAPSHOTS = "backups/snapshots"


class ScheduledBackups:
    """Makes the backups of one run."""

    def __init__(
        self,
        job: ReadyJob,
        *,
        make: Callable[[], object] | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._policy, self._job, self._now = job.backup, job, now
        self._make = make or partial(_made, job)
        self._thread: threading.Thread | None = None
        self._due: float | None = None
        self._failure: HoldfastError | None = None
        self._failed = 0

    def committed(self) -> None:
        """Begin a backup if one is due: Spark has just committed a batch."""
        if self._policy is None or (self._thread is not None and self._thread.is_alive()):
            return
        if self._due is None:
            self._due = self._first_due(self._policy)
        if self._now() < self._due:
            return
        self._thread = threading.Thread(
            target=self._back_up, args=(self._policy,), name="holdfast-backup", daemon=True
        )
        self._thread.start()

    def end(self, seconds: float = LAST_SECONDS) -> None:
        """Wait for a backup that is being made; one that takes longer is left to itself."""
        if self._thread is not None:
            self._thread.join(seconds)

    def findings(self) -> Iterator[Finding]:
        """Yield a warning where backups failed."""
        if self._failure is None:
            return
        many = self._failed > 1
        what = counted(self._failed, "scheduled backup") if many else "a scheduled backup"
        message = f"{what} of job {self._job.name} failed: {self._failure.message}"
        place = Place("", root=self._failure.at or self._job.checkpoint.shown)
        evidence = {"code": self._failure.code.number, "failed": self._failed}
        yield Finding("HF4650", Severity.WARNING, message, place, evidence)

    def _back_up(self, policy: BackupPolicy) -> None:
        try:
            self._make()
        except HoldfastError as error:
            self._failure, self._failed = error, self._failed + 1
            self._due = self._now() + min(policy.every_seconds, AGAIN_SECONDS)
        else:
            self._due = self._now() + policy.every_seconds

    def _first_due(self, policy: BackupPolicy) -> float:
        """Return when the first backup of this run is due: a run before it may have made one."""
        try:
            newest = newest_backup_ms(records_of(self._job.checkpoint, self._job.settings))
        except HoldfastError:
            return self._now()
        return self._now() if newest is None else newest / 1000 + policy.every_seconds


def newest_backup_ms(records: RecordsFolder) -> int | None:
    """Return when the newest backup was made, in milliseconds since 1970; None where none was."""
    names = records.reader(_SNAPSHOTS).names()
    found = [one for name in names if ID.fullmatch(one := name.removesuffix(".json"))]
    return max(map(moment_ms, found), default=None)


def _made(job: ReadyJob) -> object:
    assert job.backup is not None
    records = open_records(job.checkpoint, job.settings)
    retention = Retention(keep_last=job.backup.keep)
    return back_up(records, now_ms=int(time.time() * 1000), retention=retention)
