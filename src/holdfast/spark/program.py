"""Lets a program that has its own DataFrame keep its checkpoint under a lease, with a history.

The program's session is used and left as it is; signals stay the program's own.
"""

from __future__ import annotations

import threading
import warnings
from typing import TYPE_CHECKING

from holdfast.findings import Finding, Severity
from holdfast.jobs.ready import ReadyJob
from holdfast.redaction import redact
from holdfast.spark.admission import admit
from holdfast.spark.events import Watcher
from holdfast.spark.failures import jvm_died
from holdfast.spark.jobrun import JobRun
from holdfast.spark.jvm import Jvm
from holdfast.spark.quietpython import quiet_disconnections
from holdfast.spark.refusal import attempt_recorded
from holdfast.spark.release import refuse_connect_session
from holdfast.spark.report import JobReport
from holdfast.spark.starting import Started, start_job
from holdfast.spark.stopping import Stopping
from holdfast.spark.surroundings import Surroundings, Wishes, versions_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery


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
            raise error
        return self._report

    def stop(self) -> JobReport | None:
        """Let the running delivery finish and Spark commit it, then stop; a second call insists."""
        self._around.stopping.ask()
        return self.wait()

    def _live(self) -> None:
        try:
            with quiet_disconnections(), self._started.lease_held():
                self._report = self._run.live(self._started)
            if self._around.jvm.death() is None:
                # The session goes on without us.
                self._started.listening.end(self._around.session)
        except BaseException as error:  # noqa: BLE001 - `wait` raises it where it can be seen
            self._broken = error


def start_query(frame: DataFrame, job: ReadyJob, wishes: Wishes, watch: Watcher) -> HeldQuery:
    """Start a program's own query as a job; raises HoldfastError, and then nothing is started."""
    with attempt_recorded(job):
        refuse_connect_session(frame.sparkSession)
    admit(job)
    session = frame.sparkSession
    jvm = Jvm.of(session)
    with attempt_recorded(job):
        if (death := jvm.death()) is not None:
            raise jvm_died(death, job)
    around = Surroundings(session, jvm, versions_of(session), wishes, Stopping(), watch)
    run, started = JobRun(job, around), start_job(job, around, frame)
    _warn(started.findings)
    return HeldQuery(run, started, around)


def _warn(findings: tuple[Finding, ...]) -> None:
    """Say what was found before a row is delivered; a program has no other place to see it."""
    for finding in findings:
        if finding.severity.rank >= Severity.WARNING.rank:
            words = f"{finding.code}: {redact(finding.message)}"
            warnings.warn(words, UserWarning, stacklevel=4)
