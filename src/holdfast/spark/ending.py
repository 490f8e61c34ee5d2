"""Brings a query to its end: a running delivery may finish and be committed, then it is stopped."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from holdfast.spark.jvm import lost_connection
from holdfast.spark.stopping import Stopping

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

    from holdfast.spark.starting import Started

_LOOK_SECONDS = 0.05
_STOPPED = "stopped SparkContext"
_COMMIT_SECONDS = 60.0
"""How long Spark's commit of a delivered batch is waited for."""
_STOP_SECONDS = 10.0
"""How long Spark may take to stop; it waits for a delivery that does not listen without end."""


def stop_query(started: Started, stopping: Stopping, grace_seconds: float) -> None:
    """Stop, and let the running delivery finish first, as far as the user lets us."""
    if not started.lease.lost and started.gate.wait_until_left(
        stopping.wait_at_once, grace_seconds
    ):
        _await_commit(started, stopping)
    halt(started.query)


def halt(query: StreamingQuery) -> None:
    """Stop without waiting for a delivery; return although one goes on in the user's function."""
    # Spark's call returns only when the delivery does: it is waited for elsewhere.
    thread = threading.Thread(target=_stop, args=(query,), name="holdfast-halt", daemon=True)
    thread.start()
    thread.join(_STOP_SECONDS)


def _stop(query: StreamingQuery) -> None:
    try:
        query.stop()
    except Exception as error:
        # With its JVM the query is over, and so it is when a signal to both stopped Spark first.
        if not lost_connection(error) and _STOPPED not in str(error):
            raise


def _await_commit(started: Started, stopping: Stopping) -> None:
    batch = started.gate.delivered
    until = time.monotonic() + _COMMIT_SECONDS
    while batch is not None and started.query.isActive and time.monotonic() < until:
        if str(batch) in started.checkpoint.names("commits"):
            return
        if stopping.wait_at_once(_LOOK_SECONDS):
            return
