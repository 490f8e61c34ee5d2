"""A Spark in which queries are planned, or a sink is changed, and no query is started."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from holdfast.jobs.ready import ReadyJob
from holdfast.running.options import RunContext, RunOptions
from holdfast.running.settings import SessionOptions
from holdfast.running.stopping import Stopping
from holdfast.spark.jvm import Jvm
from holdfast.spark.session import (
    has_session,
    open_session,
    session_for,
    stop_session,
    versions_of,
)
from holdfast.spark.sinks.native import NativeSink
from holdfast.spark.sinks.opening import open_sink
from holdfast.spark.sinks.sink import JobSink


@contextmanager
def planning(wish: SessionOptions) -> Iterator[RunContext]:
    """Open a session, or use the one that is there, which is left as it was found."""
    found = has_session()
    session = open_session(wish)
    try:
        options = RunOptions(settings=wish.conf)
        yield RunContext(
            session, Jvm.of(session), versions_of(session), options, Stopping(), lambda _: None
        )
    finally:
        if not found:
            stop_session(session)


@contextmanager
def opened_sink(job: ReadyJob, wish: SessionOptions) -> Iterator[JobSink]:
    """Open the sink of a job, to take batches back from it; the session is left as it was found."""
    with planning(wish) as context:
        session = session_for(job, context.session, context.options.settings)
        yield NativeSink(session, job) if job.sink.native else open_sink(session, job)
