"""Has Spark plan the first batch of a query without starting it.

The plan gives every stateful operator the id and the name that its metadata in a checkpoint has.
Nothing is started, read or written.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from py4j.java_gateway import JavaClass
from py4j.protocol import Py4JError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


_STREAMING = "org.apache.spark.sql.execution.streaming"
_NO_PLACE = "<unknown>"
_AS_STREAMS_DO = {"spark.sql.adaptive.enabled": "false", "spark.sql.cbo.enabled": "false"}
"""What Spark sets in the session of every stateful query."""
_NOTHING_YET = '{"batchWatermarkMs":0,"batchTimestampMs":0,"conf":{}}'


def plan_first_batch(frame: DataFrame, output_mode: str) -> Any:
    """Give the physical plan of the first batch, a Java object; raises what Spark raises."""
    machine: Any = frame.sparkSession.sparkContext._jvm
    java_frame: Any = frame._jdf
    session = java_frame.sparkSession().cloneSession()
    for name, value in _AS_STREAMS_DO.items():
        session.conf().set(name, value)
    analysed = java_frame.queryExecution().analyzed()
    arguments = [session, analysed, *_first_batch(machine, output_mode)]
    execution = streaming_type(machine, "runtime", "IncrementalExecution")
    wanted = _loaded(machine, execution._fqn).getConstructors()[0].getParameterCount()
    for position in range(len(arguments) + 1, wanted + 1):
        arguments.append(getattr(execution, f"$lessinit$greater$default${position}")())
    return execution(*arguments).executedPlan()


@lru_cache(maxsize=64)
def streaming_type(machine: Any, package: str, name: str) -> Any:
    """Return a type of the streaming engine: in a package of its own since 4.1, not before."""
    places = (f"{_STREAMING}.{package}", _STREAMING, f"{_STREAMING}.state")
    for place in places[:-1]:
        try:
            _loaded(machine, f"{place}.{name}")
        except Py4JError:
            continue
        return java_class(machine, f"{place}.{name}")
    _loaded(machine, f"{places[-1]}.{name}")
    return java_class(machine, f"{places[-1]}.{name}")


@lru_cache(maxsize=8)
def loaded_type(machine: Any, package: str, name: str) -> Any:
    """Give the class object of a type of the streaming engine, to ask about instances."""
    return _loaded(machine, streaming_type(machine, package, name)._fqn)


def _first_batch(machine: Any, output_mode: str) -> list[Any]:
    """Give the arguments that say: batch 0, no place, nothing known yet."""
    modes = java_class(machine, "org.apache.spark.sql.streaming.OutputMode")
    mode = getattr(modes, output_mode.title())()
    metadata = streaming_type(machine, "checkpointing", "OffsetSeqMetadata").apply(_NOTHING_YET)
    propagator = streaming_type(machine, "runtime", "WatermarkPropagator").noop()
    identifiers = java_class(machine, "java.util.UUID")
    query_id, run_id = (identifiers.randomUUID() for _ in range(2))
    nothing = java_class(machine, "scala.Option").empty()
    # Were this True, Spark would write the operators' metadata below the checkpoint's place.
    checked_and_written = False
    return [mode, _NO_PLACE, query_id, run_id, 0, nothing, metadata, propagator,
            checked_and_written]  # fmt: skip


def _loaded(machine: Any, name: str) -> Any:
    loader = java_class(machine, "java.lang.Thread").currentThread().getContextClassLoader()
    return java_class(machine, "java.lang.Class").forName(name, True, loader)


def java_class(machine: Any, name: str) -> Any:
    """Name a class at once: with dots, every part of its name is a question to the JVM."""
    return JavaClass(name, machine._gateway_client)
