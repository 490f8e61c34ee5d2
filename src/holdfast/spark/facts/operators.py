"""The stateful operators of a query: what their state is grouped by, and what it keeps.

Spark's plan of the first batch says which operators there are and in which order they keep things;
the analysed plan says what that means in the user's terms. Both list the operators in the same
order, each after those below it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from holdfast.records.facts import OperatorFacts, StoreFacts
from holdfast.spark.facts.plan.expressions import Speller, expression_id
from holdfast.spark.facts.plan.normal import (
    AGGREGATION,
    DEDUPLICATION,
    GROUP_STATE,
    JOIN,
    LIMIT,
    PROCESSOR,
    WITHIN_WATERMARK,
    Normal,
    Rows,
    Stateful,
    join_type,
    named_object,
)
from holdfast.spark.facts.plan.tree import Node
from holdfast.spark.facts.texts import bounded

_SAVE, _SESSION = "StateStoreSaveExec", "SessionWindowStateStoreSaveExec"
_KINDS = {
    _SAVE: AGGREGATION,
    _SESSION: AGGREGATION,
    "StatefulStreamlineAggregateExec": AGGREGATION,
    "StreamingDeduplicateExec": DEDUPLICATION,
    "StreamingDeduplicateWithinWatermarkExec": WITHIN_WATERMARK,
    "StreamingSymmetricHashJoinExec": JOIN,
    "StreamingGlobalLimitExec": LIMIT,
    "FlatMapGroupsWithStateExec": GROUP_STATE,
    "FlatMapGroupsInPandasWithStateExec": GROUP_STATE,
    "TransformWithStateExec": PROCESSOR,
    "TransformWithStateInPySparkExec": PROCESSOR,
    "TransformWithStateInPandasExec": PROCESSOR,
}


@dataclass(frozen=True)
class PhysicalOperator:
    """A stateful operator of the planned first batch, as plain data."""

    operator_id: int
    name: str
    node: Node
    stores: tuple[StoreFacts, ...] = ()
    condition: Node | None = None
    """Of a join: what Spark checks of each pair beside the keys."""
    outputs: tuple[tuple[int, ...], ...] = ()
    """Of a join: the ids of the columns that each side stores."""


def kinds_of(operators: Sequence[PhysicalOperator]) -> list[str]:
    """Return the kind of each operator; its class where that is not known."""
    return [_KINDS.get(one.node.name, one.node.name) for one in operators]


def operator_facts(
    operators: Sequence[PhysicalOperator], planned: Node, normal: Normal, hidden: set[str]
) -> tuple[OperatorFacts, ...]:
    """Return the facts of the operators in the order of their ids."""
    kinds = kinds_of(operators)
    logical: Sequence[Stateful | None] = normal.operators
    if kinds != [one.kind for one in normal.operators]:
        hidden.add("which rows reach each stateful operator")
        logical = [None] * len(kinds)
    definitions = _definitions(planned)
    found = [
        _facts(physical, _Resolved(physical.node, one, definitions, hidden), kind)
        for physical, one, kind in zip(operators, logical, kinds, strict=True)
    ]
    return tuple(sorted(found, key=lambda one: one.operator_id))


def _definitions(planned: Node) -> dict[int, Node]:
    """Return the expression behind each alias of a planned batch, by its id.

    Python functions have a node of their own, which gives each result a new column.
    """
    evaluated = {
        number: function
        for node in planned.walk()
        if node.name.endswith("EvalPythonExec")
        for column, function in zip(node.trees("resultAttrs"), node.trees("udfs"), strict=False)
        if (number := expression_id(column)) is not None
    }
    return evaluated | {
        number: one.children[0]
        for node in planned.walk()
        for _, tree in node.expressions()
        for one in tree.walk()
        if one.name == "Alias" and (number := expression_id(one)) is not None
    }


class _Resolved:
    """Spells expressions of a planned operator over the columns of sources."""

    def __init__(
        self,
        node: Node,
        logical: Stateful | None,
        definitions: Mapping[int, Node],
        hidden: set[str],
    ) -> None:
        self.node = node
        self.logical = logical
        self.inputs: tuple[Rows, ...] = () if logical is None else logical.inputs
        self._definitions = definitions
        self._aggregates = _aggregates(logical)
        self._open: set[int] = set()
        self.hidden = hidden
        self._speller = Speller(self._lookup, lambda _: "?")
        self._speller.hidden = hidden
        self._above = Speller(self._logical_lookup, lambda _: "?")
        self._above.hidden = hidden

    def text(self, node: Node) -> str:
        """Return the normal form of an expression."""
        return bounded(self._speller.text(node))

    def texts(self, nodes: Sequence[Node]) -> tuple[str, ...]:
        """Return the normal forms of several expressions, in order."""
        return tuple(map(self.text, nodes))

    def conjuncts(self, node: Node) -> list[str]:
        """Return what a condition joins with AND."""
        return self._speller.conjuncts(node)

    def aggregate(self, node: Node) -> str:
        """Return the normal form of an aggregate function: the user's, where it is one."""
        number = _result_id(node)
        found = self._aggregates.get(-1 if number is None else number)
        return bounded(self._speller.text(node) if found is None else self._above.text(found))

    def column(self, number: int) -> str:
        """Return the normal form of a column by its id."""
        return self._lookup(number, f"column {number}")

    def _logical_lookup(self, number: int, name: str) -> str:
        return next(
            (rows.forms[number] for rows in self.inputs if number in rows.forms), f"?{name}"
        )

    def _lookup(self, number: int, name: str) -> str:
        for rows in self.inputs:
            if number in rows.forms:
                return rows.forms[number]
        definition = self._definitions.get(number)
        if definition is None or number in self._open:
            self.hidden.add(f"what defines the column {name}")
            return f"?{name}"
        self._open.add(number)
        try:
            return self._speller.text(definition)
        finally:
            self._open.discard(number)


def _aggregates(logical: Stateful | None) -> dict[int, Node]:
    """Return the aggregate functions of the analysed plan by the ids of their results."""
    if logical is None:
        return {}
    return {
        number: one
        for tree in logical.node.trees("aggregateExpressions")
        for one in tree.walk()
        if one.name == "AggregateExpression" and (number := _result_id(one)) is not None
    }


def _result_id(node: Node) -> int | None:
    found = node.fields.get("resultId")
    return found.get("id") if isinstance(found, Mapping) else None


def _facts(physical: PhysicalOperator, resolved: _Resolved, kind: str) -> OperatorFacts:
    base = OperatorFacts(
        operator_id=physical.operator_id,
        name=physical.name,
        stores=physical.stores,
        input=tuple(_lines(resolved)),
        functions=tuple(_functions(physical.node)),
    )
    describe = _DESCRIBED.get(kind)
    if describe is None:
        resolved.hidden.add(f"what the operator {physical.name} keeps")
        return base
    return describe(base, physical, resolved)


def _lines(resolved: _Resolved) -> Iterator[str]:
    if len(resolved.inputs) == 1:
        yield from resolved.inputs[0].lines
        return
    for rows in resolved.inputs:
        yield from (f"  {line}" for line in rows.lines)


def _functions(node: Node) -> Iterator[str]:
    function = node.tree("functionExpr")
    if function is not None:
        yield str(function.fields.get("name"))


def _aggregation(
    base: OperatorFacts, physical: PhysicalOperator, resolved: _Resolved
) -> OperatorFacts:
    node = physical.node
    keys = node.trees("keyExpressions") or node.trees("keyWithoutSessionExpressions")
    texts = list(resolved.texts(keys))
    session = node.tree("sessionExpression")
    if session is not None:
        texts.append(resolved.text(session))
    below = _with_aggregates(node)
    values = [] if below is None else below.trees("aggregateExpressions")
    named = [resolved.aggregate(one) for one in values]
    functions = tuple(dict.fromkeys(one for value in values for one in _python(value)))
    return replace(
        base,
        keys=tuple(texts),
        values=tuple(named),
        settings=_format(node),
        functions=base.functions + functions,
    )


def _python(tree: Node) -> Iterator[str]:
    for one in tree.walk():
        if one.name in ("PythonUDF", "PythonUDAF"):
            yield str(one.fields.get("name"))


def _with_aggregates(node: Node) -> Node | None:
    """Return the node right below that merges the buffers."""
    return next((one for one in node.walk() if "aggregateExpressions" in one.fields), None)


def _format(node: Node) -> dict[str, str]:
    version = node.fields.get("stateFormatVersion", node.slots.get("stateFormatVersion"))
    return {} if version is None else {"state format": str(version)}


def _deduplication(
    base: OperatorFacts, physical: PhysicalOperator, resolved: _Resolved
) -> OperatorFacts:
    return replace(base, keys=resolved.texts(physical.node.trees("keyExpressions")))


def _join(base: OperatorFacts, physical: PhysicalOperator, resolved: _Resolved) -> OperatorFacts:
    node = physical.node
    keys = (*node.trees("leftKeys"), *node.trees("rightKeys"))
    settings = {"join type": join_type(node), **_format(node)}
    condition = physical.condition
    if condition is not None:
        parts = [one for one in resolved.conjuncts(condition) if not one.endswith("IS NOT NULL")]
        settings["condition"] = bounded(" AND ".join(parts))
    values = [resolved.column(number) for side in physical.outputs for number in side]
    return replace(base, keys=resolved.texts(keys), values=tuple(values), settings=settings)


def _limit(base: OperatorFacts, physical: PhysicalOperator, _: _Resolved) -> OperatorFacts:
    node = physical.node
    limit = node.fields.get("streamLimit", node.slots.get("streamLimit"))
    return replace(base, settings={"limit": str(limit)})


def _group_state(
    base: OperatorFacts, physical: PhysicalOperator, resolved: _Resolved
) -> OperatorFacts:
    node = physical.node
    settings = {
        **_format(node),
        "timeout": named_object(node.fields.get("timeoutConf")).removesuffix("Timeout"),
        "output mode": named_object(node.fields.get("outputMode")).lower(),
        **_given_columns(resolved),
    }
    return replace(base, keys=resolved.texts(node.trees("groupingAttributes")), settings=settings)


def _processor(
    base: OperatorFacts, physical: PhysicalOperator, resolved: _Resolved
) -> OperatorFacts:
    node = physical.node
    settings = {
        "time mode": named_object(node.fields.get("timeMode")),
        "output mode": named_object(node.fields.get("outputMode")).lower(),
        "initial state": str(bool(node.fields.get("hasInitialState"))).lower(),
        **_given_columns(resolved),
    }
    return replace(base, keys=resolved.texts(node.trees("groupingAttributes")), settings=settings)


def _given_columns(resolved: _Resolved) -> dict[str, str]:
    """Tell which columns reach a function of the user."""
    if not resolved.inputs:
        return {}
    rows = resolved.inputs[0]
    shown = [f"{name}: {rows.forms.get(number, '?')}" for number, name in rows.columns]
    return {"columns": bounded(", ".join(shown))}


_DESCRIBED: Mapping[str, Callable[[OperatorFacts, PhysicalOperator, _Resolved], OperatorFacts]] = {
    AGGREGATION: _aggregation,
    DEDUPLICATION: _deduplication,
    WITHIN_WATERMARK: _deduplication,
    JOIN: _join,
    LIMIT: _limit,
    GROUP_STATE: _group_state,
    PROCESSOR: _processor,
}
