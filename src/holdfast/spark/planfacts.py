"""Tells what a query is from its plan, before it starts: sources, stateful operators, plan text.

The operators come from Spark itself: it is asked to plan the query as its first batch would be,
which gives every stateful operator the id and the name that its metadata in a checkpoint has.
Nothing is started, read or written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from py4j.java_gateway import JavaClass
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from holdfast.format.sources.readers import UNKNOWN, reader_named
from holdfast.records.run import PlanFacts
from holdfast.redaction import redact

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


def streaming_type(machine: Any, package: str, name: str) -> Any:
    """Give a type of the streaming engine: in a package of its own since 4.1, in none before."""
    place = f"{_STREAMING}.{package}"
    try:
        _loaded(machine, f"{place}.{name}")
    except Py4JError:
        place = _STREAMING
        _loaded(machine, f"{place}.{name}")
    return _java_class(machine, f"{place}.{name}")


def loaded_type(machine: Any, package: str, name: str) -> Any:
    """Give the class object of a type of the streaming engine, to ask about instances."""
    return _loaded(machine, streaming_type(machine, package, name)._fqn)


def _first_batch(machine: Any, output_mode: str) -> list[Any]:
    """Give the arguments that say: batch 0, no place, nothing known yet."""
    modes = _java_class(machine, "org.apache.spark.sql.streaming.OutputMode")
    mode = getattr(modes, output_mode.title())()
    metadata = streaming_type(machine, "checkpointing", "OffsetSeqMetadata").apply(_NOTHING_YET)
    propagator = streaming_type(machine, "runtime", "WatermarkPropagator").noop()
    identifiers = _java_class(machine, "java.util.UUID")
    query_id, run_id = (identifiers.randomUUID() for _ in range(2))
    nothing = _java_class(machine, "scala.Option").empty()
    # Were this True, Spark would write the operators' metadata below the checkpoint's place.
    checked_and_written = False
    return [mode, _NO_PLACE, query_id, run_id, 0, nothing, metadata, propagator,
            checked_and_written]  # fmt: skip


def _loaded(machine: Any, name: str) -> Any:
    loader = _java_class(machine, "java.lang.Thread").currentThread().getContextClassLoader()
    return _java_class(machine, "java.lang.Class").forName(name, True, loader)


def _java_class(machine: Any, name: str) -> Any:
    """Name a class at once: with dots, every part of its name is a question to the JVM."""
    return JavaClass(name, machine._gateway_client)


MOST_TEXT = 20_000
"""How many characters of a plan are kept."""
_CUT = "\n… (cut)"
_IDENTITY_HASH = re.compile(r"(?<=[A-Za-z0-9_$])@[0-9a-f]{1,8}\b")
_RELATIONS = frozenset(("StreamingRelation", "StreamingRelationV2", "StreamingExecutionRelation"))


def plan_facts(frame: DataFrame, code: Mapping[str, str], output_mode: str = "append") -> PlanFacts:
    """Give the facts of a streaming frame; `operators` is None where Spark would not plan it."""
    java_frame: Any = frame._jdf
    analysed = java_frame.queryExecution().analyzed()
    return PlanFacts(
        sources=tuple(_kind(node) for node in _nodes(analysed) if _name(node) in _RELATIONS),
        operators=_operators(frame, output_mode),
        text=_text(analysed),
        code=code,
    )


def _operators(frame: DataFrame, output_mode: str) -> tuple[str, ...] | None:
    """Name the stateful operators in the order of their ids."""
    try:
        names = operator_names(frame, output_mode)
    except (Py4JError, PySparkException):
        # A query that Spark refuses is told when it starts; a Spark that can't be asked is told
        # by None, which no guard may take for "has no state".
        return None
    return tuple(name for _, name in sorted(names.items()))


def operator_names(frame: DataFrame, output_mode: str) -> dict[int, str]:
    """Give the name of every stateful operator by its id; raises what Spark raises."""
    planned = plan_first_batch(frame, output_mode)
    machine: Any = frame.sparkSession.sparkContext._jvm
    writer = loaded_type(machine, "operators.stateful", "StateStoreWriter")
    return {
        node.getStateInfo().operatorId(): node.shortName()
        for node in _nodes(planned)
        if writer.isInstance(node)
    }


def _nodes(plan: Any) -> Iterator[Any]:
    """Walk a plan from its root, a node before its children, as Spark collects sources."""
    yield plan
    children = plan.children()
    for position in range(children.size()):
        yield from _nodes(children.apply(position))


def _kind(relation: Any) -> str:
    """Name a source's kind as a checkpoint's does; `unknown` where nothing known writes it."""
    readers = (reader_named(name) for name in _spellings(relation))
    return next((reader.kind for reader in readers if reader is not None), UNKNOWN.kind)


def _spellings(relation: Any) -> Iterator[str]:
    """Give what a relation's source is called, the surest first."""
    name = _name(relation)
    if name == "StreamingRelation":
        yield relation.dataSource().className()
    elif name == "StreamingExecutionRelation":
        yield relation.source().getClass().getSimpleName()
    else:
        if relation.source().isDefined():
            yield relation.source().get().getClass().getSimpleName()
        if relation.v1Relation().isDefined():
            yield from _spellings(relation.v1Relation().get())
        yield relation.sourceName()


def _name(node: Any) -> str:
    name: str = node.getClass().getSimpleName()
    return name


def _text(analysed: Any) -> str:
    """Spell the plan out, without secrets, without what differs from start to start, bounded."""
    text = redact(_IDENTITY_HASH.sub("", analysed.treeString()))
    return text if len(text) <= MOST_TEXT else text[: MOST_TEXT - len(_CUT)] + _CUT
