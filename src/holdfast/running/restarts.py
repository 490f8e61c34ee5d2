"""Decides whether a job that failed is started again, after how long, and what its report sums up.

`REASONS` is the one table of what passes by itself. A reason that is not in it stays: starting
again would only repeat it.
"""

from __future__ import annotations

import queue
import re
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from holdfast.errors import HoldfastError
from holdfast.findings import Finding, Place, Severity
from holdfast.jobs.ready import ReadyJob, RestartPolicy
from holdfast.records.folder import records_of
from holdfast.records.moments import moment_after, moment_now
from holdfast.records.processes import this_holder
from holdfast.records.starts import NextRestart, Restarts
from holdfast.redaction import excerpt
from holdfast.running.report import Event, JobEnded, JobOutcome, JobReport, JobRestarting, Watcher

LONGEST_BACKOFF_SECONDS = 300.0
_KEPT_FAILURES = 20
_KEPT_FINDINGS = 50
_LONGEST = 300
"""How much of a failure is repeated in the note of a restart."""
_SPARK = r"HF510[67]|HF5302|HF5303"
"""Codes that hold whatever Spark says: its own words decide."""


@dataclass(frozen=True)
class Reason:
    """One row: which failures it is about, and whether they pass by themselves."""

    name: str
    passes: bool
    codes: str
    """A pattern for the code of the error."""
    words: str | None = None
    """A pattern for its message and trace; None for any."""

    def fits(self, error: HoldfastError) -> bool:
        """Whether an error is of this kind."""
        if not re.fullmatch(self.codes, error.code.number):
            return False
        text = f"{error.message}\n{error.trace or ''}"
        return self.words is None or re.search(self.words, text) is not None


REASONS: tuple[Reason, ...] = (
    Reason("refused: project, checkpoint, lease or guard", False, r"HF[1-4]\d{3}"),
    Reason("the user's code", False, r"HF5301|HF511[1-7]"),
    Reason("Spark's JVM ended", True, r"HF530[456]"),
    Reason("Spark could not be started again", True, r"HF5213"),
    Reason(
        "PostgreSQL rejects the login",
        False,
        r"HF5041",
        r"authentication failed|no pg_hba\.conf entry|(?:role|database) .* does not exist",
    ),
    Reason("the database is unreachable", True, r"HF5041|HF5071"),
    Reason("conflict with other writers", True, r"HF5010"),
    Reason("the database lost the staged rows", True, r"HF5045|HF5073"),
    Reason("the storage is unreachable, slow or throttled", True, r"HF7007|HF7011|HF7012"),
    Reason(
        "access was denied",
        False,
        _SPARK,
        r"\b(?:Sasl|Ssl)AuthenticationException|AuthorizationException|AccessDenied"
        r"|AccessControlException|InvalidAccessKeyId|SignatureDoesNotMatch|Status Code: 403"
        r"|Permission denied",
    ),
    Reason(
        "the broker is unreachable",
        True,
        _SPARK,
        r"org\.apache\.kafka\.common\.errors\.(?:Timeout|Disconnect|Network|BrokerNotAvailable"
        r"|LeaderNotAvailable|NotLeaderOrFollower|CoordinatorNotAvailable"
        r"|NotEnoughReplicas(?:AfterAppend)?)Exception",
    ),
    Reason(
        "an executor was lost",
        True,
        _SPARK,
        r"ExecutorLostFailure|Executor heartbeat timed out|FetchFailedException"
        r"|MetadataFetchFailedException|Remote RPC client disassociated",
    ),
    Reason(
        "the storage throttled",
        True,
        _SPARK,
        r"AWSServiceThrottledException|\bSlowDown\b|ThrottlingException|TooManyRequests"
        r"|Status Code: (?:429|503)\b|ServerBusy",
    ),
    Reason(
        "the database of a source is unreachable",
        True,
        _SPARK,
        r"java\.sql\.SQL(?:TransientConnection|NonTransientConnection|Recoverable)Exception",
    ),
    Reason(
        "the network failed",
        True,
        _SPARK,
        r"java\.net\.(?:Connect|SocketTimeout|Socket|NoRouteToHost|UnknownHost|PortUnreachable)"
        r"Exception|NoHttpResponseException|HttpHostConnectException|ConnectTimeoutException"
        r"|AWSClientIOException",
    ),
    Reason(
        "a call timed out",
        True,
        _SPARK,
        r"RpcTimeoutException|java\.util\.concurrent\.TimeoutException|ApiCallTimeoutException",
    ),
    Reason(
        "conflict with another Delta commit",
        True,
        _SPARK,
        r"DELTA_CONCURRENT_\w+|Concurrent(?:Append|Write|DeleteRead|DeleteDelete|Transaction)"
        r"Exception",
    ),
)
"""The first row that fits decides."""


def reason_of(error: HoldfastError) -> Reason | None:
    """Return the row that an error is of; None where nobody knows, and then it stays."""
    return next((one for one in REASONS if one.fits(error)), None)


def passes(error: HoldfastError) -> bool:
    """Whether a failure may be gone when the job is started again."""
    reason = reason_of(error)
    return reason is not None and reason.passes


def backoff_seconds(policy: RestartPolicy, restart: int) -> float:
    """Return the pause before a restart, the first of a row being 1: doubled each time."""
    doubled = policy.backoff_seconds * 2.0 ** min(restart - 1, 60)
    return min(doubled, LONGEST_BACKOFF_SECONDS)


class JobRestarts:
    """All lives of one job in a run: how often it may start again, and what they come to."""

    def __init__(self, job: ReadyJob) -> None:
        self._job = job
        self._failures: deque[dict[str, object]] = deque(maxlen=_KEPT_FAILURES)
        self._ended: JobOutcome | None = None
        self.tries = 0
        """How often the job was started, or was tried to be."""
        self.in_a_row = 0
        """How many failures there were since the last committed batch."""

    @property
    def restarts(self) -> int:
        """How often the job was started again."""
        return max(self.tries - 1, 0)

    @property
    def may_restart(self) -> bool:
        """Whether the limit allows one more."""
        return self.in_a_row <= self._job.restart.limit

    def end(self, outcome: JobOutcome) -> JobOutcome:
        """Take how a life ended, and return what all of them come to."""
        self.tries += 1
        if outcome.report.batches:
            self.in_a_row = 0
        if outcome.error is not None:
            self.in_a_row += 1
            self._failures.append(
                {
                    "code": outcome.error.code.number,
                    "message": outcome.error.message,
                    "generation": outcome.report.generation,
                }
            )
        self._ended = _together(self._ended, outcome, self.restarts)
        return self._ended

    def final(self, *, limited: bool) -> tuple[Finding, ...]:
        """Return what is to be said of the restarts when the job is over."""
        found = []
        if self.restarts:
            times = "once, after" if self.restarts == 1 else f"{self.restarts} times, last after"
            message = f"was restarted {times} {self._cause()}"
            found.append(self._finding("HF5312", Severity.INFO, message))
        if limited:
            limit = self._job.restart.limit
            message = f"is not restarted again: {limit} restarts in a row committed no batch"
            if limit == 1:
                message = "is not restarted again: its one restart committed no batch"
            elif limit == 0:
                message = "is not restarted: restart.limit is 0"
            found.append(self._finding("HF5313", Severity.WARNING, message))
        return tuple(found)

    def _cause(self) -> str:
        """Say what the last restart came after; a later failure is how the job ended."""
        failed = self._ended is not None and self._ended.error is not None
        cause = self._failures[-2 if failed else -1]
        first, _, _ = str(cause["message"]).partition("\n")
        return f"{cause['code']}: {excerpt(first, _LONGEST)}"

    def _finding(self, code: str, severity: Severity, message: str) -> Finding:
        evidence = {
            "job": self._job.name,
            "restarts": self.restarts,
            "failures": tuple(self._failures),
        }
        return Finding(code, severity, f"{self._job.name} {message}", Place(""), evidence)


def _together(before: JobOutcome | None, now: JobOutcome, restarts: int) -> JobOutcome:
    """Return one outcome of two lives: it ended as the later one did."""
    if before is None:
        return now
    report = _summed(before.report, now.report, restarts)
    new = tuple(one for one in now.findings if one not in before.findings)
    return JobOutcome(report, now.error, (before.findings + new)[-_KEPT_FINDINGS:])


def _summed(before: JobReport, now: JobReport, restarts: int) -> JobReport:
    first, last = before.first_batch, now.last_batch
    return replace(
        now,
        query_id=now.query_id or before.query_id,
        run_id=now.run_id or before.run_id,
        generation=before.generation if now.generation is None else now.generation,
        batches=before.batches + now.batches,
        rows=before.rows + now.rows,
        skipped_batches=before.skipped_batches + now.skipped_batches,
        seconds=round(before.seconds + now.seconds, 3),
        first_batch=now.first_batch if first is None else first,
        last_batch=before.last_batch if last is None else last,
        promise=now.promise or before.promise,
        restarts=restarts,
    )


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

        def reported(event: Event) -> None:
            if isinstance(event, JobRestarting):
                self._write(event)
            elif isinstance(event, JobEnded) and event.job in self._noted:
                self._clear(event.job)
            watch(event)

        return reported

    def _write(self, event: JobRestarting) -> None:
        now = moment_now()
        due = moment_after(now, event.seconds) or now
        note = NextRestart(
            job=event.job,
            holder=this_holder(None),
            at=now,
            due_at=due,
            restart=event.restart,
            limit=event.limit,
            code=event.code,
            message=event.message,
        )
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
