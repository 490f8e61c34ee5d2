"""Hears what Spark reports of the queries of a session.

pyspark would build its own object of every report, field by field: dozens of calls into the JVM a
batch, 70 ms of two cores while the next batch runs. Here the JVM is asked once, for the JSON.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pyspark.java_gateway import ensure_callback_server_started

from holdfast.running.recordkeeping import Report

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_EARLY_REPORTS = 100


class ProgressListener:
    """Hears every query of a session, and passes on what belongs to the one that it follows."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._early: deque[tuple[str, Report | None]] = deque(maxlen=_EARLY_REPORTS)
        self._run_id: str | None = None
        self._heard: Callable[[Report], None] = _unheard
        self._over: Callable[[], None] = _nothing
        self._ear: Any = None

    def begin(self, session: SparkSession) -> None:
        """Hear the queries of a session."""
        context = session.sparkContext
        ensure_callback_server_started(context._gateway)  # type: ignore[no-untyped-call]
        jvm: Any = context._jvm
        streaming = jvm.org.apache.spark.sql.streaming
        self._ear = streaming.PythonStreamingQueryListenerWrapper(_JavaListener(self.take))
        _streams(session).addListener(self._ear)

    def end(self, session: SparkSession) -> None:
        """Hear nothing any more."""
        _streams(session).removeListener(self._ear)

    def follow(
        self, run_id: str, heard: Callable[[Report], None], over: Callable[[], None]
    ) -> None:
        """Pass the reports of a run on, beginning with those that came before we knew its id."""
        with self._lock:
            self._run_id, self._heard, self._over = run_id, heard, over
            for early_id, report in self._early:
                self._pass_on(early_id, report)
            self._early.clear()

    def take(self, run_id: str, report: Report | None) -> None:
        """Take the report of a batch, None for the end of its run."""
        with self._lock:
            if self._run_id is None:
                self._early.append((run_id, report))
            else:
                self._pass_on(run_id, report)

    def _pass_on(self, run_id: str, report: Report | None) -> None:
        if run_id != self._run_id:
            return
        if report is None:
            self._over()
        else:
            self._heard(report)


class _JavaListener:
    """What the JVM calls for every event of every query."""

    def __init__(self, take: Callable[[str, Report | None], None]) -> None:
        self._take = take

    def onQueryStarted(self, event: Any) -> None:  # noqa: N802  (Spark's names)
        """Nothing: the one who started it knows."""

    def onQueryProgress(self, event: Any) -> None:  # noqa: N802
        """Pass a batch on."""
        report = json.loads(event.progress().json())
        self._take(str(report["runId"]), report)

    def onQueryIdle(self, event: Any) -> None:  # noqa: N802
        """Nothing: no batch was run."""

    def onQueryTerminated(self, event: Any) -> None:  # noqa: N802
        """Pass the end on."""
        self._take(str(event.runId().toString()), None)

    class Java:
        """What py4j has to know of us."""

        implements = ("org.apache.spark.sql.streaming.PythonStreamingQueryListener",)


def _streams(session: SparkSession) -> Any:
    java: Any = session._jsparkSession
    return java.streams()


def _unheard(_report: Report) -> None:
    """Nobody follows yet."""


def _nothing() -> None:
    """Nobody follows yet."""
