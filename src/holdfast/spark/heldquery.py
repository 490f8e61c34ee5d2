"""A query of a program's own that runs under a lease; pyspark is not needed to describe it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from holdfast.answers import changing_steps, naming
from holdfast.errors import HoldfastError, UsageError
from holdfast.running.report import JobReport
from holdfast.spark.session.jvm import quiet_disconnections
from holdfast.steps import steps_in_python

if TYPE_CHECKING:
    from pyspark.sql.streaming.listener import StreamingQueryProgress
    from pyspark.sql.streaming.query import StreamingQuery

    from holdfast.running.options import RunContext
    from holdfast.spark.jobrun import JobRun
    from holdfast.spark.start import RunningQuery


Answered = TypeVar("Answered")

_ENDING_SECONDS = 60.0
"""How long the end of a query is recorded at most, after Spark said that it is over."""


class HeldQuery:
    """A query that runs under a lease, with the face of pyspark's StreamingQuery.

    `id`, `runId`, `name`, `isActive`, `lastProgress`, `recentProgress`, `status`, `explain()`,
    `awaitTermination()`, `processAllAvailable()`, `exception()` and `stop()` are those of pyspark;
    errors are HoldfastErrors. `wait()` and `stop()` return a report. As a context manager it stops
    the query at the end of the block. `query` is Spark's own object.
    """

    def __init__(self, run: JobRun, started: RunningQuery, context: RunContext) -> None:
        self._context = context
        self._run = run
        self._started = started
        self._report: JobReport | None = None
        self._broken: BaseException | None = None
        self._failure: BaseException | None = None
        name = f"holdfast-{started.record.job}"
        # A program that ends without waiting ends its query, as it would without us.
        self._thread = threading.Thread(target=self._live, name=name, daemon=True)
        self._thread.start()

    def __repr__(self) -> str:
        """Name the job, its newest batch, and how it stands."""
        delivering = self._started.writer.in_sink
        batch = self._started.progress.last_batch if delivering is None else delivering
        job = self._started.record.job
        return f"<HeldQuery job={job!r} generation={self.generation} batch={batch} {self._state()}>"

    @property
    def query(self) -> StreamingQuery:
        """Spark's own object."""
        return self._started.query

    @property
    def id(self) -> str:
        """The id of the query: the same at every start from this checkpoint."""
        return self._started.record.query_id or str(self.query.id)

    @property
    def runId(self) -> str:  # noqa: N802 - pyspark's name
        """The id of this start of the query."""
        return self._started.record.run_id or str(self.query.runId)

    @property
    def name(self) -> str:
        """The name of the job, which is also the name of the query in Spark."""
        return self._started.record.job

    @property
    def isActive(self) -> bool:  # noqa: N802 - pyspark's name
        """Whether the query runs; True until its end is recorded and the lease is released."""
        return self._thread.is_alive()

    @property
    def status(self) -> dict[str, Any]:
        """What Spark says of the query now: `message`, `isDataAvailable`, `isTriggerActive`."""
        return self._asked(lambda query: query.status)

    @property
    def lastProgress(self) -> StreamingQueryProgress | None:  # noqa: N802 - pyspark's name
        """Spark's report of the newest batch; None before the first one."""
        return self._asked(lambda query: query.lastProgress)

    @property
    def recentProgress(self) -> list[StreamingQueryProgress]:  # noqa: N802 - pyspark's name
        """Spark's reports of the newest batches, oldest first."""
        return self._asked(lambda query: query.recentProgress)

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
        error = self.exception()
        if error is not None:
            raise error
        return self._report

    def awaitTermination(self, timeout: float | None = None) -> bool | None:  # noqa: N802
        """Wait until the query is over; with `timeout` in seconds, return whether it is.

        Raises HoldfastError where the query failed.
        """
        if timeout is not None and timeout < 0:
            raise UsageError("HF1001", f"timeout is {timeout:g}; it cannot be negative")
        self.wait(timeout)
        return None if timeout is None else not self.isActive

    def processAllAvailable(self) -> None:  # noqa: N802 - pyspark's name
        """Wait until everything that the sources have now is in the sink and committed.

        A source that always has new data keeps it waiting, as in pyspark. A query that ends
        meanwhile ends the wait. Raises HoldfastError where the query failed.
        """
        try:
            active = self.isActive
            if active:
                self.query.processAllAvailable()
                active = self.query.isActive
        except Exception as error:
            self.wait(_ENDING_SECONDS)
            if self.isActive:
                from holdfast.spark.failures import job_error

                raise job_error(error, self._run.job) from error
        else:
            if not active:
                self.wait(_ENDING_SECONDS)

    def exception(self) -> BaseException | None:
        """Return the error that the query failed with, a HoldfastError; None if it did not fail."""
        if self._thread.is_alive():
            return None
        error = self._run.error or self._broken
        if error is None or self._failure is error:
            return error
        place, job = self._started.checkpoint.location, self._started.record.job
        trace = error.__traceback__
        try:
            with changing_steps(partial(steps_in_python, called="start")), naming(place, job):
                raise error
        except BaseException as named:  # noqa: BLE001 - what it says is changed, and returned
            self._failure = named.with_traceback(trace)
        return self._failure

    def explain(self, extended: bool = False) -> None:
        """Print the plan of the query, as pyspark does."""
        self._asked(lambda query: query.explain(extended))

    def __enter__(self) -> HeldQuery:
        """Return the query."""
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        raised: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        """Stop the query; a failure of it is raised unless the block raised something itself."""
        try:
            if self.isActive:
                self.stop()
            else:
                self.wait()
        except HoldfastError:
            if raised is None:
                raise

    def _asked(self, ask: Callable[[StreamingQuery], Answered]) -> Answered:
        """Ask Spark; raise JvmDiedError where its JVM is gone."""
        # Notebooks describe this class also where pyspark is not installed.
        from holdfast.spark.failures import jvm_deaths_raised

        with jvm_deaths_raised(self._context.jvm, self._run.job):
            return ask(self.query)

    def stop(self) -> JobReport | None:
        """Let the running delivery finish and Spark commit it, then stop; a second call insists."""
        self._context.stopping.ask()
        return self.wait()

    def _state(self) -> str:
        if self._thread.is_alive():
            return "running" if self._started.writer.in_sink is None else "delivering"
        error = self._run.error
        if error is not None:
            return f"failed: {error.code}"
        return "failed" if self._report is None else self._report.ended.value

    def _live(self) -> None:
        try:
            with quiet_disconnections(), self._started.lease_held():
                self._report = self._run.live(self._started)
            if self._context.jvm.death() is None:
                # The session goes on without us.
                self._started.listener.end(self._context.session)
        except BaseException as error:  # noqa: BLE001 - `wait` raises it where it can be seen
            self._broken = error
