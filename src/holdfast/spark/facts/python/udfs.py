"""The Python functions in a plan: Spark has them pickled, as it sends them to executors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pyspark import cloudpickle

from holdfast.spark.facts.plan.expressions import type_of
from holdfast.spark.facts.plan.reading import REFUSALS, QueryPlan, brief, expressions_of
from holdfast.spark.facts.plan.tree import Node

_PYTHON = frozenset(("PythonUDF", "PythonUDAF", "PythonUDTF"))
_WITH_STATE = frozenset(
    (
        *("FlatMapGroupsInPandasWithState", "TransformWithStateInPySpark"),
        "TransformWithStateInPandas",
    )
)
_STATE = "state"
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
        name = node.fields.get("name")
        try:
            command = bytes(java.func().command().unsafeArray())
            if command not in seen:
                seen[command] = cloudpickle.loads(command)
            loaded = seen[command]
        except REFUSALS as error:
            unknown.append(f"the code of the Python function {name} ({brief(error)})")
            continue
        except Exception as error:  # noqa: BLE001 - what is unpickled may raise anything
            unknown.append(f"the code of the Python function {name} ({brief(error)})")
            continue
        function = loaded[0] if isinstance(loaded, tuple) else loaded
        if not callable(function):
            unknown.append(f"the code of the Python function {name}: it is sent as a broadcast")
            continue
        kind = _kind(owner, node)
        result = None if kind == _STATE else type_of(node.fields.get("dataType"))
        yield PlannedFunction(kind, str(name), function, owner, result)


def _kind(owner: Node, node: Node) -> str:
    if owner.name in _WITH_STATE:
        return _STATE
    number = node.fields.get("evalType")
    return "pandas" if isinstance(number, int) and number >= _FIRST_OF_PANDAS else "udf"
