"""The schemas of state stores, as Spark would write them for a first batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from holdfast.format.state.schema import columns
from holdfast.records.facts import ColumnFacts, StoreFacts
from holdfast.spark.facts.plan.expressions import expression_id, type_of
from holdfast.spark.facts.plan.planning import java_class, streaming_type
from holdfast.spark.facts.plan.reading import PlannedOperator
from holdfast.spark.facts.plan.tree import Node

_DEFAULT = "default"
_NOTHING = ColumnFacts("__dummy__", "void")
_LIMIT = StoreFacts(_DEFAULT, (ColumnFacts("key", "void"),), (ColumnFacts("value", "bigint"),))
_EXPIRES = ColumnFacts("expiresAtMicros", "bigint", nullable=False)
_SESSION_START = ColumnFacts("sessionStartTime", "timestamp", nullable=False)
_SIDES = ("Left", "Right")


def attributes(nodes: Sequence[Node]) -> tuple[ColumnFacts, ...]:
    """Return the columns of attributes."""
    return tuple(
        ColumnFacts(
            str(one.fields.get("name")),
            type_of(one.fields.get("dataType")),
            bool(one.fields.get("nullable")),
        )
        for one in nodes
    )


def schema_columns(schema: Any) -> tuple[ColumnFacts, ...]:
    """Return the columns of a schema of Spark."""
    return tuple(
        ColumnFacts(one.name, one.type_text, one.nullable) for one in columns(schema.json())
    )


def stores_of(machine: Any, operator: PlannedOperator) -> tuple[StoreFacts, ...]:
    """Return the stores of an operator; none where only a run would show them."""
    node, java = operator.node, operator.java
    if node.name == "StreamingSymmetricHashJoinExec":
        return _join_stores(machine, operator)
    if node.name == "StreamingGlobalLimitExec":
        return (_LIMIT,)
    keys = attributes(node.trees("keyExpressions") or node.trees("groupingAttributes"))
    values: tuple[ColumnFacts, ...]
    if node.name == "StreamingDeduplicateExec":
        values = (_NOTHING,)
    elif node.name == "StreamingDeduplicateWithinWatermarkExec":
        values = (_EXPIRES,)
    elif node.name == "SessionWindowStateStoreSaveExec":
        keys = (*attributes(node.trees("keyWithoutSessionExpressions")), _SESSION_START)
        values = schema_columns(java.child().schema())
    elif node.name.startswith("FlatMapGroups"):
        values = schema_columns(java.stateManager().stateSchema())
    elif node.name.startswith("TransformWithState"):
        return ()
    else:
        values = schema_columns(java.stateManager().getStateValueSchema())
    return (StoreFacts(_DEFAULT, keys, values),)


def _join_stores(machine: Any, operator: PlannedOperator) -> tuple[StoreFacts, ...]:
    java = operator.java
    manager = streaming_type(machine, "operators.stateful.join", "SymmetricHashJoinStateManager")
    helper = streaming_type(machine, "operators.stateful.join", "StreamingSymmetricHashJoinHelper")
    found = []
    for side in _SIDES:
        place = getattr(java_class(machine, f"{helper._fqn}${side}Side$"), "MODULE$")
        plan = java.left() if side == "Left" else java.right()
        given = java.leftKeys() if side == "Left" else java.rightKeys()
        below = operator.node.children[_SIDES.index(side)]
        stores = manager.getSchemaForStateStores(
            place, plan.output(), given, java.stateFormatVersion()
        ).toSeq()
        for number in range(stores.size()):
            pair = stores.apply(number)
            schemas = pair._2()
            keys, values = schema_columns(schemas._1()), schema_columns(schemas._2())
            found.append(StoreFacts(pair._1(), keys, _as_scanned(values, below)))
    return tuple(sorted(found, key=lambda store: store.name))


_SAME_COLUMNS = frozenset(
    (
        *("ShuffleExchangeExec", "WholeStageCodegenExec", "InputAdapter", "FilterExec"),
        *("EventTimeWatermarkExec", "ReusedExchangeExec"),
    )
)


def _as_scanned(values: tuple[ColumnFacts, ...], side: Node) -> tuple[ColumnFacts, ...]:
    """Return the columns that a side of a join stores as nullable as a real batch has them.

    Where a filter is right above a source, Spark plans a real batch with a projection on top of it
    when it writes the schema, and a projection keeps columns nullable that the filter has checked.
    """
    excluded: set[int | None] = set()
    node = side
    while node.name in _SAME_COLUMNS:
        if node.name == "FilterExec" and not _is_source(node.children[0]):
            excluded |= _not_null(node)
        # An exchange that is used twice stands in a field of its second use.
        node = node.tree("child") or node.children[0]
    if node.name != _SOURCE:
        return values
    given = node.trees("output")
    scanned = tuple(
        replace(one, nullable=one.nullable and expression_id(attribute) not in excluded)
        for one, attribute in zip(attributes(given), given, strict=True)
    )
    if [one.name for one in values[: len(scanned)]] != [one.name for one in scanned]:
        return values
    return (*scanned, *values[len(scanned) :])


_SOURCE = "StreamingRelationExec"


def _is_source(node: Node) -> bool:
    while node.name in ("WholeStageCodegenExec", "InputAdapter"):
        node = node.children[0]
    return node.name == _SOURCE


def _not_null(node: Node) -> set[int | None]:
    """Return the ids of the columns that a filter excludes nulls of."""
    waiting = [node.tree("condition")]
    found: set[int | None] = set()
    while waiting:
        one = waiting.pop()
        if one is not None and one.name == "And":
            waiting += one.children
        elif one is not None and one.name == "IsNotNull":
            found |= {expression_id(each) for each in one.walk()} - {None}
    return found


def stored_columns(operator: PlannedOperator) -> tuple[tuple[int, ...], ...]:
    """Return the ids of the columns that each side of a join stores."""
    sides = (operator.java.left(), operator.java.right())
    return tuple(
        tuple(int(number) for number in _ids(side.output().mkString("\x01"))) for side in sides
    )


def _ids(text: str) -> list[str]:
    """Return the ids in the texts of attributes, such as `at#4-T60000ms` or `value#5L`."""
    found = []
    for one in text.split("\x01") if text else ():
        digits = ""
        for letter in one.rpartition("#")[2]:
            if not letter.isdigit():
                break
            digits += letter
        found.append(digits)
    return found
