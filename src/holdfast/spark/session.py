"""Opens the session that jobs run in: all that can be refused is refused before Spark starts."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from holdfast.checkpoint.verification import Progress
from holdfast.errors import SparkStartError
from holdfast.redaction import redact
from holdfast.spark.jars.lock import locked_jars, locked_releases
from holdfast.spark.jars.merging import features_within, own_jars, without_doubles
from holdfast.spark.jars.obtaining import obtain
from holdfast.spark.java import find_java
from holdfast.spark.jvm import Jvm, end_jvm, lost_connection, start_jvm
from holdfast.spark.release import (
    installed_spark,
    refuse_connect,
    refuse_connect_session,
    release_of,
)
from holdfast.spark.serving import refuse_unfit
from holdfast.spark.settings import (
    JARS,
    SessionWish,
    launch_settings,
    refuse_master,
    session_settings,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["SessionWish", "has_session", "open_session", "stop_session"]

Step = Callable[[str], None]
"""Is called with a line about what is done now."""

_PYTHON = "PYSPARK_PYTHON"


def open_session(
    wish: SessionWish, progress: Progress | None = None, step: Step | None = None
) -> SparkSession:
    """Start Spark as wished and return its session; one that runs already is used if it serves.

    `progress` is called with the bytes of libraries that are fetched, `step` with what takes long.
    Interrupted, it leaves no JVM behind.
    """
    refuse_connect(wish.conf)
    refuse_master(wish.master, wish.master_at)
    spark = installed_spark()
    find_java()
    if has_session():
        running = _running_session()
        refuse_connect_session(running)
        refuse_unfit(running, wish)
        return running
    settings = session_settings(wish, _jars(wish, spark, progress, step))
    _end_idle_jvm()
    if step is not None:
        step(f"starting Spark {spark}…")
    return _start(wish, settings)


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


def _jars(
    wish: SessionWish, spark: str, progress: Progress | None, step: Step | None
) -> tuple[str, ...]:
    """Give all jars of the session: the user's, and those that the features need."""
    written = [*wish.jars, *wish.conf.get(JARS, "").split(",")]
    own = own_jars([text.strip() for text in written if text.strip()], wish.folder, wish.jars_at)
    known = locked_releases().get(release_of(spark), {})
    brought = {feature for feature in features_within(own) if feature not in known}
    locked = locked_jars(wish.features - brought, spark)
    own = without_doubles(own, locked, wish.jars_at)

    def fetching(count: int) -> None:
        if step is not None:
            step(f"fetching {count} Java {'library' if count == 1 else 'libraries'}…")

    fetched = obtain(locked, offline=wish.offline, progress=progress, fetching=fetching)
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
        message = "spark-submit has started the JVM already, without what the jobs need"
        raise SparkStartError("HF5212", message, next_steps=steps)
    if gateway is not None:
        # Without a session nothing runs in it, and what it was started with can't be changed.
        end_jvm(gateway)


def _start(wish: SessionWish, settings: Mapping[str, str]) -> SparkSession:
    from py4j.protocol import Py4JError
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    if wish.is_local:
        # Workers on this machine must be the Python that runs us, also where PATH has another.
        os.environ.setdefault(_PYTHON, wish.conf.get("spark.pyspark.python", sys.executable))
    gateway = start_jvm(launch_settings(settings), verbose=wish.verbose)
    conf = SparkConf(loadDefaults=False, _jvm=gateway.jvm)
    conf.setAll(list(settings.items()))
    try:
        SparkContext(conf=conf, gateway=gateway)
        return SparkSession.builder.config("spark.api.mode", "classic").getOrCreate()
    except (Py4JError, PySparkException, OSError, ValueError) as failure:
        message = f"Spark could not open a session on {wish.master}: {_cause(failure)}"
        end_jvm(gateway)
        raise SparkStartError("HF5213", redact(message)) from failure
    except BaseException:
        end_jvm(gateway, at_once=True)
        raise


def _cause(failure: Exception) -> str:
    """Give the first line of the innermost cause."""
    from py4j.protocol import Py4JJavaError

    if not isinstance(failure, Py4JJavaError):
        return str(failure).strip().partition("\n")[0]
    innermost = failure.java_exception
    while innermost.getCause() is not None:
        innermost = innermost.getCause()
    return str(innermost.toString()).partition("\n")[0]
