"""Lets a program that has its own DataFrame keep its checkpoint under a lease, with a history.

The program's session is used and left as it is; signals stay the program's own.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from holdfast.errors import SourceError
from holdfast.findings import Finding, Severity
from holdfast.jobs.ready import ReadyJob
from holdfast.redaction import redact
from holdfast.spark.admission import admit
from holdfast.spark.events import Watcher
from holdfast.spark.failures import jvm_died
from holdfast.spark.features import features_of
from holdfast.spark.heldquery import HeldQuery
from holdfast.spark.jobrun import JobRun
from holdfast.spark.jvm import Jvm
from holdfast.spark.refusal import attempt_recorded
from holdfast.spark.release import refuse_connect_session, refuse_stopped_session
from holdfast.spark.serving import refuse_lacking
from holdfast.spark.sinks.opening import check_function
from holdfast.spark.starting import start_job
from holdfast.spark.stopping import Stopping
from holdfast.spark.surroundings import Surroundings, Wishes, versions_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def start_query(frame: DataFrame, job: ReadyJob, wishes: Wishes, watch: Watcher) -> HeldQuery:
    """Start a program's own query as a job; raises HoldfastError, and then nothing is started."""
    with attempt_recorded(job):
        if not hasattr(frame, "sparkSession"):
            message = f"{job.name} was given {type(frame).__name__}, not a DataFrame"
            raise SourceError("HF5118", message, at=job.at)
        session = frame.sparkSession
        refuse_connect_session(session)
        refuse_stopped_session(session)
        jvm = Jvm.of(session)
        if (death := jvm.death()) is not None:
            raise jvm_died(death, job)
        if not frame.isStreaming:
            raise SourceError("HF5118", f"{job.name} was given a batch DataFrame", at=job.at)
        check_function(job.sink)
    admit(job)
    with attempt_recorded(job):
        refuse_lacking(session, features_of([job]), job.settings, job.at)
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
