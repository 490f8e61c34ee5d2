"""Opens the session that jobs run in, and a session of its own in it for each job."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pyspark.sql import SparkSession

from holdfast import __version__
from holdfast.checkpoint.verification import Progress
from holdfast.errors import ProjectError, SparkStartError
from holdfast.jobs.ready import ReadyJob
from holdfast.records.run import Versions
from holdfast.redaction import redact
from holdfast.running.settings import (
    JARS,
    SessionOptions,
    launch_settings,
    refuse_master,
    session_settings,
)
from holdfast.spark.jars.cache import features_within, obtain, own_jars, without_doubles
from holdfast.spark.jars.lock import locked_jars, locked_releases
from holdfast.spark.session.existing import refuse_unfit
from holdfast.spark.session.installation import (
    find_java,
    installed_spark,
    refuse_connect,
    refuse_connect_session,
    release_of,
)
from holdfast.spark.session.jvm import Jvm, end_jvm, lost_connection, start_jvm
from holdfast.wording import CLOSE, nearest

Step = Callable[[str], None]
"""Is called with a line about what is done now."""

_PYTHON = "PYSPARK_PYTHON"
_ROCKSDB = "spark.sql.streaming.stateStore.rocksdb."


def open_session(
    options: SessionOptions, progress: Progress | None = None, step: Step | None = None
) -> SparkSession:
    """Start Spark as asked for and return its session; one that runs already is used if it serves.

    `progress` is called with the bytes of libraries that are fetched, `step` with what takes long.
    Interrupted, it leaves no JVM behind.
    """
    refuse_connect(options.conf)
    refuse_master(options.master, options.master_at)
    spark = installed_spark()
    find_java()
    if has_session():
        running = _running_session()
        refuse_connect_session(running)
        refuse_unfit(running, options)
        return running
    settings = session_settings(options, _jars(options, spark, progress, step))
    _end_idle_jvm()
    if step is not None:
        step(f"starting Spark {spark}…")
    return _start(options, settings)


def has_session() -> bool:
    """Whether this process runs Spark already; a session whose JVM has ended is forgotten."""
    from pyspark import SparkContext

    gateway: Any = SparkContext._gateway
    if gateway is not None and gateway.proc is not None and gateway.proc.poll() is not None:
        end_jvm(gateway)
    return SparkContext._active_spark_context is not None


def stop_session(session: SparkSession) -> None:
    """Stop the session and end its JVM; one whose JVM has ended already is only forgotten."""
    gateway: Any = session.sparkContext._gateway
    if Jvm.of(session).death() is None:
        try:
            session.stop()
        except Exception as error:
            if not lost_connection(error):
                raise
    end_jvm(gateway)


def end_session(session: SparkSession) -> None:
    """End the session's JVM at once, without asking it anything."""
    end_jvm(session.sparkContext._gateway, at_once=True)


def versions_of(session: SparkSession) -> Versions:
    """Return what runs here."""
    java = session._jvm.java.lang.System.getProperty("java.version")  # type: ignore[union-attr]
    return Versions(__version__, session.version, str(java), platform.python_version())


def _jars(
    options: SessionOptions, spark: str, progress: Progress | None, step: Step | None
) -> tuple[str, ...]:
    """Return all jars of the session: the user's, and those that the features need."""
    written = [*options.jars, *options.conf.get(JARS, "").split(",")]
    own = own_jars(
        [text.strip() for text in written if text.strip()], options.folder, options.jars_at
    )
    known = locked_releases().get(release_of(spark), {})
    brought = {feature for feature in features_within(own) if feature not in known}
    locked = locked_jars(options.features - brought, spark)
    own = without_doubles(own, locked, options.jars_at)

    def fetching(count: int) -> None:
        if step is not None:
            step(f"fetching {count} Java {'library' if count == 1 else 'libraries'}…")

    fetched = obtain(locked, offline=options.offline, progress=progress, fetching=fetching)
    return (*(str(path) for path in fetched), *own)


def _running_session() -> SparkSession:
    from pyspark.sql import SparkSession

    return SparkSession.builder.getOrCreate()


def _end_idle_jvm() -> None:
    """End the JVM that a stopped session left; raise HF5212 for one that is not this process's."""
    from pyspark import SparkContext

    gateway: Any = SparkContext._gateway
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        steps = ("start the program with python or holdfast, not with spark-submit",)
        message = "spark-submit has already started the JVM, without what the jobs need"
        raise SparkStartError("HF5212", message, next_steps=steps)
    if gateway is not None:
        # Without a session nothing runs in it, and what it was started with can't be changed.
        end_jvm(gateway)


def _start(options: SessionOptions, settings: Mapping[str, str]) -> SparkSession:
    from py4j.protocol import Py4JError
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    if options.is_local:
        # Workers on this machine must be the Python that runs us, also where PATH has another.
        os.environ.setdefault(_PYTHON, options.conf.get("spark.pyspark.python", sys.executable))
    gateway = start_jvm(launch_settings(settings), verbose=options.verbose)
    conf = SparkConf(loadDefaults=False, _jvm=gateway.jvm)
    conf.setAll(list(settings.items()))
    try:
        SparkContext(conf=conf, gateway=gateway)
        return SparkSession.builder.config("spark.api.mode", "classic").getOrCreate()
    except (Py4JError, PySparkException, OSError, ValueError) as failure:
        message = f"Spark could not open a session on {options.master}: {_cause(failure)}"
        end_jvm(gateway)
        raise SparkStartError("HF5213", redact(message)) from failure
    except BaseException:
        end_jvm(gateway, at_once=True)
        raise


def _cause(failure: Exception) -> str:
    """Return the first line of the innermost cause."""
    from py4j.protocol import Py4JJavaError

    if not isinstance(failure, Py4JJavaError):
        return str(failure).strip().partition("\n")[0]
    innermost = failure.java_exception
    while innermost.getCause() is not None:
        innermost = innermost.getCause()
    return str(innermost.toString()).partition("\n")[0]


def session_for(job: ReadyJob, session: SparkSession, settings: Mapping[str, str]) -> SparkSession:
    """Open a session with the job's own settings; those that need another Spark are refused.

    `settings` are the project's. A session that somebody else opened may have been started without
    them: those that Spark can change at run time are set here, and the open session stays as it is.
    """
    own = session.newSession()
    for name, value in settings.items():
        if _is_changeable(own, name) and own.conf.get(name, None) != value:
            own.conf.set(name, value)
    for name, value in job.conf.items():
        if not _is_changeable(own, name):
            raise _refused(own, job, name)
        own.conf.set(name, value)
    return own


def _is_changeable(session: SparkSession, name: str) -> bool:
    return session.conf.isModifiable(name) or name in _rocksdb_settings(session, name)


def _rocksdb_settings(session: SparkSession, like: str) -> frozenset[str]:
    """Return the settings of RocksDB state, where `like` may be one of them.

    A query takes them from its session, yet Spark does not list them among the settings of one.
    """
    if not like.lower().startswith(_ROCKSDB.lower()):
        return frozenset()
    jvm: Any = session._jvm
    declared = getattr(jvm.org.apache.spark.sql.execution.streaming.state, "RocksDBConf$")
    settings = getattr(declared, "MODULE$")
    names = []
    for entry in settings.getClass().getDeclaredFields():
        if entry.getType().getSimpleName() == "SQLConfEntry":
            entry.setAccessible(True)
            names.append(f"{_ROCKSDB}{entry.get(settings).name()}")
    return frozenset(names)


def _refused(session: SparkSession, job: ReadyJob, name: str) -> ProjectError:
    """Return why a setting cannot be one job's: Spark reads it once, or does not know it."""
    jvm: Any = session._jvm
    where = f"jobs.{job.name}.conf"
    if jvm.org.apache.spark.internal.config.ConfigEntry.findEntry(name) is not None:
        message = f"{where}: {name} cannot be changed for one job"
        steps = ("write it under spark.conf, where it counts for every job",)
        return ProjectError("HF1104", message, at=job.at, next_steps=steps)
    settings = jvm.org.apache.spark.sql.api.python.PythonSQLUtils.listRuntimeSQLConfigs()
    known = [settings[place]._1() for place in range(len(settings))]
    near = nearest(name, [*known, *_rocksdb_settings(session, name)], CLOSE)
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
