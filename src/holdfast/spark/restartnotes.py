"""Leaves a note beside a checkpoint while its job waits to be started again, for `status`.

Notes are written by a thread of their own: the storage that made a job fail may hang, and the
run has other jobs to look after.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress

from holdfast.errors import HoldfastError
from holdfast.jobs.ready import ReadyJob
from holdfast.records.folder import records_of
from holdfast.records.holder import this_holder
from holdfast.records.moments import moment_after, moment_now
from holdfast.records.restarts import NextRestart, Restarts
from holdfast.spark.events import Event, JobEnded, JobRestarting, Watcher

_LAST_SECONDS = 5.0
"""How long the end of a run waits for notes to be cleared."""


class RestartNotes:
    """The notes of one run; a note that cannot be written is left out."""

    def __init__(self, jobs: Sequence[ReadyJob]) -> None:
        self._jobs = {job.name: job for job in jobs}
        self._noted: set[str] = set()
        self._acts: queue.Queue[Callable[[], None] | None] = queue.Queue()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> RestartNotes:
        return self

    def __exit__(self, *_failure: object) -> None:
        for job in list(self._noted):
            self._clear(job)
        if self._thread is not None:
            self._acts.put(None)
            self._thread.join(_LAST_SECONDS)

    def watching(self, watch: Watcher) -> Watcher:
        """Return a watcher that keeps the notes and passes every event on."""

        def told(event: Event) -> None:
            if isinstance(event, JobRestarting):
                self._write(event)
            elif isinstance(event, JobEnded) and event.job in self._noted:
                self._clear(event.job)
            watch(event)

        return told

    def _write(self, event: JobRestarting) -> None:
        now = moment_now()
        due = moment_after(now, event.seconds) or now
        note = NextRestart(
            event.job, this_holder(None), now, due, event.restart, event.limit, event.code,
            event.message,
        )  # fmt: skip
        self._noted.add(event.job)
        restarts = self._restarts(event.job)
        self._put(lambda: restarts().write(note))

    def _clear(self, job: str) -> None:
        self._noted.discard(job)
        restarts = self._restarts(job)
        self._put(lambda: restarts().clear())

    def _restarts(self, job: str) -> Callable[[], Restarts]:
        ready = self._jobs[job]
        return lambda: Restarts(records_of(ready.checkpoint, ready.settings))

    def _put(self, act: Callable[[], None]) -> None:
        if self._thread is None:
            name = "holdfast-restart-notes"
            self._thread = threading.Thread(target=self._work, name=name, daemon=True)
            self._thread.start()
        self._acts.put(act)

    def _work(self) -> None:
        while (act := self._acts.get()) is not None:
            with suppress(HoldfastError):
                act()
