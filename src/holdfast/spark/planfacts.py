"""Tells what a query is from its plan, before it starts: sources, stateful operators, plan text.

The operators come from Spark itself: it is asked to plan the query as its first batch would be,
which gives every stateful operator the id and the name that its metadata in a checkpoint has.
Nothing is started, read or written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from holdfast.format.sources.readers import UNKNOWN, reader_named
from holdfast.records.run import PlanFacts
from holdfast.redaction import redact
from holdfast.spark.firstbatch import loaded_type, plan_first_batch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

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
