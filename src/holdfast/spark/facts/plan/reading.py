"""Reads a frame's plans out of Spark as plain data, in few calls.

Spark gives a plan as JSON in one call. It leaves out what it has no spelling for: that is asked of
the node itself, which is found by its number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from holdfast.redaction import excerpt
from holdfast.spark.facts.plan.expressions import CONSTANTS, WITHOUT_MEANING
from holdfast.spark.facts.plan.literals import BYTES, literal
from holdfast.spark.facts.plan.planning import java_class, loaded_type, plan_first_batch
from holdfast.spark.facts.plan.tree import Node, parse

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

REFUSALS = (Py4JError, PySparkException)
"""What a question to Spark can raise."""
_BETWEEN = "\x01"


@dataclass(frozen=True)
class QueryPlan:
    """A plan of Spark: its tree, and the Java object to ask for more."""

    root: Node
    java: Any

    def java_node(self, node: Node) -> Any:
        """Return the Java object of a node of the plan."""
        return numbered(self.java, self.root, node)


@dataclass(frozen=True)
class PlannedOperator:
    """A stateful operator of the planned first batch."""

    operator_id: int
    name: str
    node: Node
    java: Any


@dataclass
class Reading:
    """What was read of a frame."""

    session: Any
    """The Java session."""
    machine: Any
    analysed: QueryPlan
    planned: QueryPlan | None = None
    operators: tuple[PlannedOperator, ...] | None = None
    """In the order of the plan, each after those below it; None where Spark would not plan it."""
    unknown: list[str] = field(default_factory=list)


def read_plans(frame: DataFrame, output_mode: str) -> Reading:
    """Read the analysed plan and the plan of the first batch."""
    machine: Any = frame.sparkSession.sparkContext._jvm
    java_frame: Any = frame._jdf
    analysed = java_frame.queryExecution().analyzed()
    unknown: list[str] = []
    plan = QueryPlan(_tree(analysed, "the expressions of the query", unknown), analysed)
    reading = Reading(java_frame.sparkSession(), machine, plan, unknown=unknown)
    try:
        _complete(plan)
    except REFUSALS as error:
        unknown.append(f"arguments of expressions ({brief(error)})")
    try:
        planned = plan_first_batch(frame, output_mode)
        reading.planned = QueryPlan(_tree(planned, "the planned first batch", unknown), planned)
        reading.operators = tuple(_operators(machine, reading.planned))
        _complete_constants(reading.planned)
    except REFUSALS as error:
        # A query that Spark refuses is reported when it starts; where Spark cannot be asked, None
        # says so, which no guard may take for "has no state".
        reading.unknown.append(f"the stateful operators: Spark did not plan them ({brief(error)})")
        reading.planned = reading.operators = None
    return reading


def _tree(plan: Any, what: str, unknown: list[str]) -> Node:
    """Return the tree of a plan; only the names of its nodes where Spark can't write the rest."""
    try:
        return parse(plan.toJSON())
    except (*REFUSALS, ValueError) as error:
        unknown.append(f"{what} ({brief(error)})")
        return _names_only(plan, 0)[0]


def _names_only(plan: Any, number: int) -> tuple[Node, int]:
    children = plan.children()
    found = []
    after = number + 1
    for position in range(children.size()):
        child, after = _names_only(children.apply(position), after)
        found.append(child)
    # Whether it keeps state is then asked of each.
    name = plan.getClass().getSimpleName()
    return Node(name, {"stateInfo": None}, tuple(found), number), after


def numbered(java_root: Any, root: Node, node: Node) -> Any:
    """Return the Java object of a node in the tree of `root`."""
    found = java_root.apply(node.number - root.number)
    if found.getClass().getSimpleName().strip("$") == node.name:
        return found
    # Spark counts subqueries in between: go down from the root.
    found = java_root
    for position in _path(root, node):
        found = found.children().apply(position)
    return found


def expressions_of(
    plan: QueryPlan, wanted: Callable[[Node], bool]
) -> Iterator[tuple[Node, Node, Any]]:
    """Yield the wanted expressions with the node of the plan and the Java object of each."""
    for node in plan.root.walk():
        for (name, place), tree in node.expressions():
            for one in tree.walk():
                if wanted(one):
                    java = getattr(plan.java_node(node), name)()
                    java = java if place is None else java.apply(place)
                    yield node, one, numbered(java, tree, one)


_NUMBERS = re.compile(r"\bo\d+\b|#\d+L?|@[0-9a-f]+\b|`\d+`")


def brief(error: BaseException) -> str:
    """Return the first line of an error, without secrets and what differs from start to start."""
    line = f"{type(error).__name__}: {error}".partition("\n")[0]
    return excerpt(_NUMBERS.sub("", line), 200)


def texts_of(collection: Any) -> list[str]:
    """Return the texts of a Scala collection's elements, in one call."""
    text = collection.mkString(_BETWEEN)
    return text.split(_BETWEEN) if text else []


def pairs_of(mapping: Any) -> dict[str, str]:
    """Return a Scala map of texts, in one call."""
    found = {}
    for pair in texts_of(mapping):
        key, _, value = pair.partition(" -> ")
        found[key] = value
    return found


def java_pairs(machine: Any, mapping: Any) -> dict[str, str]:
    """Return a Java map of texts, in few calls."""
    converters = java_class(machine, "scala.jdk.javaapi.CollectionConverters")
    return pairs_of(converters.asScala(mapping))


def _path(root: Node, node: Node) -> list[int]:
    for position, child in enumerate(root.children):
        if child is node:
            return [position]
        if child.number <= node.number and any(one is node for one in child.walk()):
            return [position, *_path(child, node)]
    return []


def _operators(machine: Any, plan: QueryPlan) -> Iterator[PlannedOperator]:
    writer = loaded_type(machine, "operators.stateful", "StateStoreWriter")
    for node in _upwards(plan.root):
        if "stateInfo" not in node.fields:
            continue
        java = plan.java_node(node)
        if writer.isInstance(java):
            yield PlannedOperator(java.getStateInfo().operatorId(), java.shortName(), node, java)


def _upwards(node: Node) -> Iterator[Node]:
    for child in node.children:
        yield from _upwards(child)
    yield node


_TRYING = frozenset(
    ("Cast", "Add", "Subtract", "Multiply", "Divide", "Remainder", "IntegralDivide", "UnaryMinus")
)


def _complete_constants(plan: QueryPlan) -> None:
    """Ask for constants that the JSON does not show: bytes, and long lists."""
    for _, one, java in expressions_of(plan, _hides_constants):
        if one.name == "Literal":
            one.fields["value"] = f"{BYTES}{bytes(java.value()).hex()}"
        else:
            kind = java.child().dataType().catalogString()
            texts = texts_of(java.hset())
            one.fields[CONSTANTS] = tuple(literal(each, kind) for each in texts)


def _hides_constants(node: Node) -> bool:
    if node.name == "Literal":
        return node.fields.get("dataType") == "binary" and node.fields.get("value") is not None
    return node.name == "InSet"


def _complete(plan: QueryPlan) -> None:
    """Ask for what changes the meaning of an expression and is not in the JSON."""
    _complete_constants(plan)
    for _, one, java in expressions_of(plan, _lacks):
        for name in _lacking(one):
            one.fields[name] = _asked(getattr(java, name)())
    if _tries(plan):
        for _, one, java in expressions_of(plan, lambda one: one.name in _TRYING):
            if "evalMode" in one.fields:
                one.fields["evalMode"] = java.evalMode().toString()
    for node in plan.root.walk():
        if node.name == "Expand" and node.fields.get("projections") is None:
            projections = plan.java_node(node).projections()
            node.fields["projections"] = tuple(
                tuple(parse(each.apply(place).toJSON()) for place in range(each.size()))
                for each in (projections.apply(at) for at in range(projections.size()))
            )


def _lacks(node: Node) -> bool:
    return bool(_lacking(node))


def _lacking(node: Node) -> list[str]:
    """Name the arguments that mean something and that Spark has left out."""
    if node.name in _WITHOUT_QUESTIONS:
        return []
    return [
        name for name, one in node.fields.items() if one is None and name not in WITHOUT_MEANING
    ]


_WITHOUT_QUESTIONS = frozenset(
    (
        *("Literal", "ScalaUDF", "ScalaAggregator", "ScalaUDAF", "CommonExpressionRef"),
        *("CommonExpressionDef", "PythonUDF", "PythonUDAF", "PythonUDTF", "NamedLambdaVariable"),
    )
)


_MAP = re.compile(r"\w*Map\((.*)\)$", re.DOTALL)


def _asked(value: Any) -> str | None:
    """Return the text of an argument; None where it shows an address or nothing of the kind."""
    if value is None:
        return "null"
    if isinstance(value, str | int | float | bool):
        return str(value)
    text: str = value.toString()
    if _NUMBERS.search(text) or "$Lambda" in text:
        return None
    pairs = _MAP.match(text)
    return text if pairs is None else ", ".join(sorted(pairs[1].split(", ")))


def _tries(plan: QueryPlan) -> bool:
    """Tell whether something like `try_cast` stands in the plan; the JSON does not say which."""
    if not any("evalMode" in one.fields for one in _expressions(plan.root)):
        return False
    return "try_" in plan.java.toString()


def _expressions(root: Node) -> Iterator[Node]:
    for node in root.walk():
        for _, tree in node.expressions():
            yield from tree.walk()
