"""One life of a job: the lease, the guards, the query, its record, and how it ended."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.errors import HoldfastError, JvmDiedError, LeaseError
from holdfast.jobs.ready import ReadyJob
from holdfast.records.moments import moment_now
from holdfast.records.run import Ended, Failure, Run
from holdfast.running.admission import DID_NOT_RETURN, refused_outcome, unstarted_outcome
from holdfast.running.backups import LAST_SECONDS, ScheduledBackups
from holdfast.running.options import RunContext
from holdfast.running.recordkeeping import RecordKeeper, Report, SinkTracker, behind
from holdfast.running.report import (
    BatchDone,
    JobEnded,
    JobOutcome,
    JobReport,
    JobStarted,
    JobStarting,
)
from holdfast.running.stopping import SIGNALS
from holdfast.spark.failures import failure_of, job_error, jvm_deaths_raised, jvm_died
from holdfast.spark.query.gate import StoppedBeforeSinkError
from holdfast.spark.session.jvmdeath import JvmDeath
from holdfast.spark.start import RunningQuery, halt, start_job

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

_LOOK_SECONDS = 0.1
_RECORD_SECONDS = 1.0
"""A record that grows is written at most this often."""
_LAST_WORDS_SECONDS = 5.0
"""How long the reports of the last batches are waited for after a query ended."""
_LEAVE_SECONDS = 5.0
"""How long a delivery may take to notice that the JVM is gone."""
_ABANDON_SECONDS = 2.0
"""How long the end of a life from outside may take: somebody insists on a stop."""
_ASKED_BEFORE = "stopped before it began"


class JobRun:
    """Runs one job to its end. Whatever happens to the job becomes its report."""

    def __init__(self, job: ReadyJob, context: RunContext) -> None:
        self._job = job
        self._context = context
        self._began = time.monotonic()
        self._recorded = 0.0
        self._changed = threading.Event()
        self._recording = threading.Lock()
        self._over = threading.Event()
        """Set once the record says how the run ended: nothing is written after it."""
        self._end_told = threading.Event()
        self._keeper: RecordKeeper | None = None
        self._sink = SinkTracker()
        self._backups = ScheduledBackups(job)
        self.error: HoldfastError | None = None
        """What ended the job, where it was neither the end of its data nor a request to stop."""

    @property
    def job(self) -> ReadyJob:
        """The job that is run."""
        return self._job

    def run(self) -> JobOutcome:
        """Run the job; a failure of the job is reported, not raised."""
        self._context.watch(JobStarting(self._job.name))
        if (death := self._context.jvm.death()) is not None:
            return self._not_begun(death)
        try:
            started = start_job(self._job, self._context)
        except StoppedBeforeSinkError as asked:
            return unstarted_outcome(self._job, self._context.watch, Ended.STOPPED, str(asked))
        except HoldfastError as error:
            if isinstance(error, JvmDiedError) and self._was_asked_for():
                return unstarted_outcome(
                    self._job, self._context.watch, Ended.STOPPED, _ASKED_BEFORE
                )
            return refused_outcome(self._job, error, self._context.watch, self._seconds())
        with started.lease_held():
            report = self.live(started)
        records = () if self._keeper is None else tuple(self._keeper.findings())
        self._backups.end(0 if self._context.stopping.at_once else LAST_SECONDS)
        backups = tuple(self._backups.findings())
        return JobOutcome(report, self.error, started.findings + records + backups)

    def live(self, started: RunningQuery) -> JobReport:
        """Watch over a query until it ends; one that can't be watched over is stopped."""
        self._context.abandonable(lambda: self._abandoned(started))
        with self._context.stopping.work(self._job.name, lambda: started.writer.in_sink):
            try:
                with jvm_deaths_raised(self._context.jvm, self._job):
                    ended, failure = self._watched(started)
            except JvmDiedError as died:
                ended, failure = self._without_spark(started, died)
            except HoldfastError as error:
                started.stop(self._context.stopping, self._context.options.grace_seconds)
                self.error = self.error or error
                ended, failure = Ended.FAILED, failure_of(self.error, self.error)
            except BaseException:
                halt(started.query)
                raise
        return self._report(started, ended, failure)

    def _watched(self, started: RunningQuery) -> tuple[Ended, Failure | None]:
        self._watch_over(started)
        ended, failure = self._ending(started, started.query)
        self._keep_record(started, ended, failure)
        return ended, failure

    def _watch_over(self, started: RunningQuery) -> None:
        query, notes, jvm = started.query, started.progress, self._context.jvm
        started.listener.follow(
            str(query.runId), lambda report: self._heard(started, report), notes.over.set
        )
        # What was found is said before a row is delivered.
        self._context.watch(self._announced(started))
        started.writer.open_for(str(query.id))
        while jvm.death() is None and query.isActive and not notes.over.wait(_LOOK_SECONDS):
            if self._context.stopping.asked or started.lease.lost:
                started.stop(self._context.stopping, self._context.options.grace_seconds)
                break
            self._keep_record(started)
        if (death := jvm.death()) is not None:
            raise jvm_died(death, self._job)
        notes.over.wait(_LAST_WORDS_SECONDS)

    def _without_spark(
        self, started: RunningQuery, died: JvmDiedError
    ) -> tuple[Ended, Failure | None]:
        """End a run whose JVM is gone; a delivery in the user's own function may still go on."""
        if not started.writer.wait_until_left(self._context.stopping.wait_at_once, _LEAVE_SECONDS):
            started.release_when_left()
        ended, failure = Ended.STOPPED, None
        if not self._was_asked_for():
            self.error = died
            ended, failure = Ended.FAILED, failure_of(died, died)
        self._keep_record(started, ended, failure)
        return ended, failure

    def _abandoned(self, started: RunningQuery) -> JobOutcome:
        """End the run from outside; with its JVM gone it is over, whatever the user's code does."""
        if self._context.jvm.death(_ABANDON_SECONDS) is not None:
            # The storage may hang, and nobody waits for it now.
            writing = threading.Thread(
                target=self._keep_record, args=(started, Ended.STOPPED), daemon=True
            )
            writing.start()
            writing.join(_ABANDON_SECONDS)
        report = self._made_report(started, Ended.STOPPED, None)
        self._tell_end(report, DID_NOT_RETURN)
        return JobOutcome(report, None, started.findings)

    def _was_asked_for(self) -> bool:
        """Whether a signal to stop ended the JVM: by our hand, or because both got it."""
        stopping, death = self._context.stopping, self._context.jvm.death()
        terminated = death is not None and death.signal in SIGNALS
        return stopping.at_once or (stopping.asked and terminated)

    def _not_begun(self, death: JvmDeath) -> JobOutcome:
        """Return the outcome of a job whose turn came after the JVM had ended."""
        if self._context.stopping.asked:
            return unstarted_outcome(self._job, self._context.watch, Ended.STOPPED, _ASKED_BEFORE)
        why = f"not started: {death.words}"
        outcome = unstarted_outcome(self._job, self._context.watch, Ended.SKIPPED, why)
        return replace(outcome, error=jvm_died(death, self._job))

    def _announced(self, started: RunningQuery) -> JobStarted:
        query = started.query
        return JobStarted(
            job=self._job.name,
            query_id=str(query.id),
            run_id=str(query.runId),
            generation=started.lease.generation,
            next_batch=started.rerun,
            findings=started.findings,
            promise=started.sink.promise,
        )

    def _heard(self, started: RunningQuery, report: Report) -> None:
        note = started.progress.take(report)
        if note is None:
            return
        self._changed.set()
        self._backups.committed()
        notes = started.progress
        self._context.watch(
            BatchDone(
                job=self._job.name,
                batch=note,
                total_batches=notes.batches,
                total_rows=notes.rows,
                rows_per_second=float(report.get("processedRowsPerSecond", 0.0)),
                behind=behind(report, started.kinds),
                measures=notes.measures,
            )
        )

    def _ending(self, started: RunningQuery, query: StreamingQuery) -> tuple[Ended, Failure | None]:
        raised, failed = started.writer.raised, query.exception()
        if isinstance(raised, StoppedBeforeSinkError):
            return Ended.STOPPED, None
        if started.lease.lost or isinstance(raised, LeaseError):
            self.error = raised if isinstance(raised, LeaseError) else _loss(started)
            return Ended.LOST_LEASE, failure_of(self.error, self.error)
        if failed is not None and not self._context.stopping.at_once:
            if (death := self._context.jvm.death_after(raised or failed)) is not None:
                raise jvm_died(death, self._job, failed)
            self.error = job_error(failed, self._job, raised_in_batch=raised)
            return Ended.FAILED, failure_of(self.error, raised or failed)
        return (Ended.STOPPED if self._context.stopping.asked else Ended.FINISHED), None

    def _keep_record(
        self, started: RunningQuery, ended: Ended | None = None, failure: Failure | None = None
    ) -> None:
        """Write how far the run is: when it changed, not too often, and once at its end."""
        with self._recording:
            if not self._over.is_set():
                self._write_record(started, ended, failure)

    def _write_record(
        self, started: RunningQuery, ended: Ended | None, failure: Failure | None
    ) -> None:
        if self._keeper is None:
            self._keeper = RecordKeeper(started.history, self._context.watch)
        if ended is not None:
            self._keeper.end(self._record(started, ended, failure))
            self._over.set()
            return
        due = time.monotonic() - self._recorded >= _RECORD_SECONDS and self._changed.is_set()
        if not due:
            return
        self._changed.clear()
        self._recorded = time.monotonic()
        if not self._keeper.progress(self._record(started, ended, failure)):
            self._changed.set()

    def _record(self, started: RunningQuery, ended: Ended | None, failure: Failure | None) -> Run:
        notes = started.progress
        return replace(
            started.record,
            sink=self._sink.now(
                started.record,
                started.sink,
                started.writer.delivered,
                may_look=not self._context.stopping.at_once and self._context.jvm.death() is None,
            ),
            sources=notes.sources,
            batches=notes.batches,
            rows=notes.rows,
            skipped_batches=notes.skipped_batches,
            first_batch=notes.first_batch,
            last_batch=notes.last_batch,
            recent=tuple(notes.recent),
            measures=notes.measures,
            updated_at=moment_now(),
            ended_at=moment_now() if ended else None,
            seconds=self._seconds(),
            ended=ended,
            failure=failure,
        )

    def _report(self, started: RunningQuery, ended: Ended, failure: Failure | None) -> JobReport:
        report = self._made_report(started, ended, failure)
        self._tell_end(report, None if self.error is None else self.error.message)
        return report

    def _made_report(
        self, started: RunningQuery, ended: Ended, failure: Failure | None
    ) -> JobReport:
        notes, record = started.progress, started.record
        return JobReport(
            job=self._job.name,
            query_id=record.query_id,
            run_id=record.run_id,
            generation=started.lease.generation,
            batches=notes.batches,
            rows=notes.rows,
            skipped_batches=notes.skipped_batches,
            ended=ended,
            seconds=self._seconds(),
            checkpoint=self._job.checkpoint.shown,
            first_batch=notes.first_batch,
            last_batch=notes.last_batch,
            promise=started.sink.promise,
            failure=failure,
        )

    def _tell_end(self, report: JobReport, message: str | None) -> None:
        if self._end_told.is_set():
            return
        self._end_told.set()
        self._context.watch(
            JobEnded(
                job=report.job,
                ended=report.ended,
                batches=report.batches,
                rows=report.rows,
                seconds=report.seconds,
                message=message,
                trace=getattr(self.error, "trace", None),
            )
        )

    def _seconds(self) -> float:
        return round(time.monotonic() - self._began, 3)


def _loss(started: RunningQuery) -> LeaseError:
    """Return how the lease was lost."""
    try:
        started.lease.confirm()
    except LeaseError as error:
        return error
    return LeaseError(
        "HF2602", "no heartbeat could be written in time", at=started.checkpoint.location
    )
