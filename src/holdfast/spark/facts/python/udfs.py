"""The Python functions in a plan: Spark has them pickled, as it sends them to executors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pyspark import cloudpickle
from pyspark.core import broadcast

from holdfast.spark.facts.plan.expressions import type_of
from holdfast.spark.facts.plan.reading import QueryPlan, brief, expressions_of
from holdfast.spark.facts.plan.tree import Node

_PYTHON = frozenset(("PythonUDF", "PythonUDAF", "PythonUDTF"))
_WITH_STATE = frozenset(
    (
        *("FlatMapGroupsInPandasWithState", "TransformWithStateInPySpark"),
        "TransformWithStateInPandas",
    )
)
_STATE, SOURCE = "state", "source"
_FIRST_OF_PANDAS = 200
"""From this number on, pyspark's kinds of evaluation take pandas or Arrow."""


@dataclass(frozen=True)
class PlannedFunction:
    """A Python function of a plan."""

    kind: str
    name: str
    """As the plan shows it."""
    function: Any
    owner: Node
    """The node of the plan that calls it."""
    result: str | None = None
    """The type that Spark makes of its results; None where the plan shows it elsewhere."""


def python_functions(plan: QueryPlan, unknown: list[str]) -> Iterator[PlannedFunction]:
    """Yield each call of a Python function in a plan; those of one function have one object."""
    seen: dict[bytes, Any] = {}
    for owner, node, java in expressions_of(plan, lambda one: one.name in _PYTHON):
        name = str(node.fields.get("name"))
        function = _loaded(lambda java=java: java.func(), name, seen, unknown)  # type: ignore[misc]
        if function is None:
            continue
        kind = _kind(owner, node)
        result = None if kind == _STATE else type_of(node.fields.get("dataType"))
        yield PlannedFunction(kind, name, function, owner, result)


def python_sources(plan: QueryPlan, unknown: list[str]) -> Iterator[PlannedFunction]:
    """Yield the classes of sources that are written in Python."""
    for node in plan.root.walk():
        if node.name != "StreamingRelationV2":
            continue
        relation = plan.java_node(node)
        provider = relation.source()
        if not provider.isDefined() or not _is_python(provider.get()):
            continue
        source = provider.get().source()
        function = _loaded(source.dataSourceCls, relation.sourceName(), {}, unknown)
        if function is not None:
            yield PlannedFunction(SOURCE, relation.sourceName(), function, node)


@contextmanager
def _broadcasts(sent: Any) -> Iterator[None]:
    """Let what is unpickled find its broadcast variables, as it does in a worker."""
    variables = sent.broadcastVars()
    added = {}
    for place in range(variables.size()):
        variable = variables.get(place)
        number = int(variable.id())
        if number not in broadcast._broadcastRegistry:
            added[number] = broadcast.Broadcast(path=str(variable.value().path()))
    broadcast._broadcastRegistry.update(added)
    try:
        yield
    finally:
        for number in added:
            del broadcast._broadcastRegistry[number]


def _is_python(provider: Any) -> bool:
    return str(provider.getClass().getSimpleName()) == "PythonDataSourceV2"


def _loaded(
    ask: Callable[[], Any], name: str, seen: dict[bytes, Any], unknown: list[str]
) -> Callable[..., Any] | None:
    """Return what Spark sends to Python workers; None, and why, where it cannot be read."""
    try:
        sent = ask()
        command = bytes(sent.command().unsafeArray())
        if command not in seen:
            with _broadcasts(sent):
                seen[command] = cloudpickle.loads(command)
    except Exception as error:  # noqa: BLE001 - what is unpickled may raise anything
        unknown.append(f"the code of the Python function {name} ({brief(error)})")
        return None
    loaded = seen[command]
    function = loaded[0] if isinstance(loaded, tuple) else loaded
    if not callable(function):
        unknown.append(f"the code of the Python function {name}: it is sent as a broadcast")
        return None
    return function  # type: ignore[no-any-return]


def _kind(owner: Node, node: Node) -> str:
    if owner.name in _WITH_STATE:
        return _STATE
    number = node.fields.get("evalType")
    return "pandas" if isinstance(number, int) and number >= _FIRST_OF_PANDAS else "udf"
