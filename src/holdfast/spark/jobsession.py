"""Gives each job a session of its own in the one Spark: its settings and views touch no other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pyspark.sql import SparkSession

from holdfast.errors import ProjectError
from holdfast.jobs.ready import ReadyJob
from holdfast.nearest import CLOSE, nearest


def session_for(job: ReadyJob, session: SparkSession, settings: Mapping[str, str]) -> SparkSession:
    """Open a session with the job's own settings; those that need another Spark are refused.

    `settings` are the project's. A session that somebody else opened may have been started without
    them: those that Spark can change at run time are set here, and the open session stays as it is.
    """
    own = session.newSession()
    for name, value in settings.items():
        if own.conf.isModifiable(name) and own.conf.get(name, None) != value:
            own.conf.set(name, value)
    for name, value in job.conf.items():
        if not own.conf.isModifiable(name):
            raise _refused(own, job, name)
        own.conf.set(name, value)
    return own


def _refused(session: SparkSession, job: ReadyJob, name: str) -> ProjectError:
    """Return why a setting cannot be one job's: Spark reads it once, or does not know it."""
    jvm: Any = session._jvm
    where = f"jobs.{job.name}.conf"
    if jvm.org.apache.spark.internal.config.ConfigEntry.findEntry(name) is not None:
        message = f"{where}: {name} can't be changed for one job"
        steps = ("write it under spark.conf, where it counts for every job",)
        return ProjectError("HF1104", message, at=job.at, next_steps=steps)
    settings = jvm.org.apache.spark.sql.api.python.PythonSQLUtils.listRuntimeSQLConfigs()
    near = nearest(name, [settings[place]._1() for place in range(len(settings))], CLOSE)
    if near is not None:
        message = f"{where}: Spark does not know {name}; did you mean {near}?"
        steps = (f"write {near}",)
        return ProjectError("HF1104", message, at=job.at, next_steps=steps)
    message = f"{where}: Spark does not know {name}, so it cannot be set for one job"
    steps = (
        "correct the name; a setting of a library goes under spark.conf, where it counts for "
        "every job",
    )
    return ProjectError("HF1104", message, at=job.at, next_steps=steps)


@contextmanager
def active(session: SparkSession) -> Iterator[None]:
    """Make a session the active one of this thread, and put the former one back.

    Without one, Spark's session catalog reads default settings: it does not know that Delta's
    catalog stands before it, and `toTable` is given a Delta table of a name as one of a path
    (DELTA_INVALID_V1_TABLE_CALL). Only the thread that opened Spark has one by itself.
    """
    sessions: Any = SparkSession._get_j_spark_session_class(session._jvm)
    former = sessions.getActiveSession()
    sessions.setActiveSession(session._jsparkSession)
    try:
        yield
    finally:
        if former.isDefined():
            sessions.setActiveSession(former.get())
        else:
            sessions.clearActiveSession()
