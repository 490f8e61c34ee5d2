"""A query of a program's own that runs under a lease; pyspark is not needed to describe it."""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING

from holdfast.answers import changing_steps, naming
from holdfast.spark.quietpython import quiet_disconnections
from holdfast.spark.report import JobReport
from holdfast.steps import steps_in_python

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

    from holdfast.spark.jobrun import JobRun
    from holdfast.spark.starting import Started
    from holdfast.spark.surroundings import Surroundings


class HeldQuery:
    """A query that runs under a lease. `query` is Spark's own object."""

    def __init__(self, run: JobRun, started: Started, around: Surroundings) -> None:
        self._around = around
        self._run = run
        self._started = started
        self._report: JobReport | None = None
        self._broken: BaseException | None = None
        name = f"holdfast-{started.record.job}"
        # A program that ends without waiting ends its query, as it would without us.
        self._thread = threading.Thread(target=self._live, name=name, daemon=True)
        self._thread.start()

    def __repr__(self) -> str:
        """Name the job, its newest batch, and how it stands."""
        delivering = self._started.gate.in_sink
        batch = self._started.notes.last_batch if delivering is None else delivering
        job = self._started.record.job
        return f"<HeldQuery job={job!r} generation={self.generation} batch={batch} {self._state()}>"

    @property
    def query(self) -> StreamingQuery:
        """Spark's own object."""
        return self._started.query

    @property
    def generation(self) -> int:
        """Which holder of the lease this is."""
        return self._started.lease.generation

    def wait(self, seconds: float | None = None) -> JobReport | None:
        """Wait until the query is over and give its report; None where it still runs.

        Raises HoldfastError where the query failed.
        """
        self._thread.join(seconds)
        if self._thread.is_alive():
            return None
        error = self._run.error or self._broken
        if error is not None:
            place, job = self._started.checkpoint.location, self._started.record.job
            with changing_steps(partial(steps_in_python, called="start")), naming(place, job):
                raise error
        return self._report

    def stop(self) -> JobReport | None:
        """Let the running delivery finish and Spark commit it, then stop; a second call insists."""
        self._around.stopping.ask()
        return self.wait()

    def _state(self) -> str:
        if self._thread.is_alive():
            return "running" if self._started.gate.in_sink is None else "delivering"
        error = self._run.error
        if error is not None:
            return f"failed: {error.code}"
        return "failed" if self._report is None else self._report.ended.value

    def _live(self) -> None:
        try:
            with quiet_disconnections(), self._started.lease_held():
                self._report = self._run.live(self._started)
            if self._around.jvm.death() is None:
                # The session goes on without us.
                self._started.listening.end(self._around.session)
        except BaseException as error:  # noqa: BLE001 - `wait` raises it where it can be seen
            self._broken = error
