"""Normal forms of analysed plans: which rows reach where, and what defines each column. Pure.

A plan becomes columns, each with the expression over the columns of sources that defines it, and
lines: one for each filter, join, generator or source, from the top down to the next operator with
state. Projections and aliases give no lines: they are in the columns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from holdfast.spark.facts.plan.expressions import Speller, expression_id, snake
from holdfast.spark.facts.plan.tree import Node, unwrapped
from holdfast.spark.facts.plan.windows import time_window
from holdfast.spark.facts.texts import bounded, without_secrets

RELATIONS = ("StreamingRelation", "StreamingRelationV2", "StreamingExecutionRelation")
"""The leaves of an analysed plan that are streams."""

AGGREGATION, DEDUPLICATION, WITHIN_WATERMARK = "aggregation", "dedupe", "dedupeWithinWatermark"
JOIN, LIMIT, GROUP_STATE, PROCESSOR = "join", "limit", "group state", "processor"
_KINDS = {
    "Aggregate": AGGREGATION,
    "Distinct": AGGREGATION,
    "Deduplicate": DEDUPLICATION,
    "DeduplicateWithinWatermark": WITHIN_WATERMARK,
    "Join": JOIN,
    "GlobalLimit": LIMIT,
    "FlatMapGroupsWithState": GROUP_STATE,
    "FlatMapGroupsInPandasWithState": GROUP_STATE,
    "TransformWithState": PROCESSOR,
    "TransformWithStateInPySpark": PROCESSOR,
    "TransformWithStateInPandas": PROCESSOR,
}
_WITHOUT_LINE = frozenset(
    (
        *("SubqueryAlias", "View", "ResolvedHint", "EventTimeWatermark", "CollectMetrics"),
        *("Repartition", "RepartitionByExpression", "RebalancePartitions", "LocalLimit"),
        *("UpdateEventTimeWatermarkColumn", "ReturnAnswer", "Subquery"),
    )
)
_FILTER = "filter "
_JOINS = {
    "Inner": "inner",
    "Cross": "inner",
    "LeftOuter": "left outer",
    "RightOuter": "right outer",
    "FullOuter": "full outer",
    "LeftSemi": "left semi",
    "LeftAnti": "left anti",
}
_LEFT_ONLY = frozenset(("left semi", "left anti"))


@dataclass(frozen=True)
class Rows:
    """What comes out of a node of a plan."""

    columns: tuple[tuple[int, str], ...]
    """Ids and names of the columns, in order."""
    forms: Mapping[int, str]
    """The normal form of every column by its id."""
    lines: tuple[str, ...]
    streaming: bool

    def form(self, number: int) -> str | None:
        """Return the normal form of a column."""
        return self.forms.get(number)


@dataclass(frozen=True)
class Stateful:
    """A node of an analysed plan that keeps state."""

    kind: str
    node: Node
    inputs: tuple[Rows, ...]
    rows: Rows


@dataclass
class Normal:
    """The normal form of a whole plan."""

    rows: Rows
    operators: tuple[Stateful, ...]
    """Each after those below it."""
    watermarks: tuple[tuple[Node, str, tuple[str, ...]], ...]
    """The nodes of watermarks with the normal forms of their columns and the rows that they are
    computed from, from the top down."""
    hidden: set[str] = field(default_factory=set)
    """What the normal forms do not show, in words."""


def normal_form(
    plan: Node, leaves: Mapping[int, str], stateful: Sequence[str] | None = None
) -> Normal:
    """Return the normal form of a plan.

    `leaves` has the names of its leaves by their numbers, `stateful` the kinds of nodes that keep
    state here; without it, all that can.
    """
    describer = _Describer(
        plan, leaves, frozenset(_KINDS.values() if stateful is None else stateful)
    )
    rows = describer.rows(plan)
    watermarks = sorted(describer.watermarks.items())
    return Normal(
        rows,
        tuple(describer.operators),
        tuple(one for _, one in watermarks),
        describer.hidden,
    )


def stream_numbers(plan: Node) -> list[int]:
    """Return the numbers of the streams in a plan, in the order in which Spark numbers sources."""
    return [node.number for node in plan.walk() if node.name in RELATIONS]


def named_object(value: object) -> str:
    """Return the simple name of an object of Scala, or of the class of a product."""
    if not isinstance(value, Mapping):
        return ""
    name = str(value.get("object") or value.get("product-class") or "")
    return name.rstrip("$").rpartition(".")[2].rpartition("$")[2]


def join_type(node: Node) -> str:
    """Return the type of a join in words."""
    name = named_object(node.fields.get("joinType"))
    return _JOINS.get(name) or snake(name).replace("_", " ")


class _Describer:
    """Describes the nodes of one plan, each after its children."""

    def __init__(self, plan: Node, leaves: Mapping[int, str], stateful: frozenset[str]) -> None:
        self._leaves = leaves
        self._stateful = stateful
        self._definitions = {
            node.fields.get("id"): node for node in plan.walk() if node.name == "CTERelationDef"
        }
        self.operators: list[Stateful] = []
        self.watermarks: dict[int, tuple[Node, str, tuple[str, ...]]] = {}
        self.hidden: set[str] = set()

    def rows(self, node: Node) -> Rows:
        """Describe a node."""
        if node.name == "WithCTE":
            return self.rows(node.child("plan") or node.children[-1])
        if node.name == "CTERelationRef":
            return self._reference(node)
        if not node.children:
            return self._leaf(node)
        inputs = tuple(self.rows(child) for child in node.inputs())
        describe = _NODES.get(node.name)
        if describe is not None:
            rows = describe(self, node, inputs)
        elif node.name in _WITHOUT_LINE:
            rows = inputs[0]
        else:
            rows = self._other(node, inputs)
        return self._remembered(node, inputs, rows)

    def _remembered(self, node: Node, inputs: tuple[Rows, ...], rows: Rows) -> Rows:
        """Let the lines end at a node with state."""
        kind = _KINDS.get(node.name)
        if kind is None or kind not in self._stateful or not inputs[0].streaming:
            return rows
        if kind == JOIN and not inputs[1].streaming:
            return rows
        self.operators.append(Stateful(kind, node, inputs, rows))
        return Rows(rows.columns, rows.forms, (f"rows of the {_SHOWN[kind]}",), True)

    def speller(self, *inputs: Rows) -> Speller:
        """Return what spells expressions over these rows."""
        forms = {number: form for rows in inputs for number, form in rows.forms.items()}

        def lookup(number: int, name: str) -> str:
            found = forms.get(number)
            if found is None:
                self.hidden.add(f"what defines the column {name}")
                return f"?{name}"
            return found

        speller = Speller(lookup, self._subquery)
        speller.hidden = self.hidden
        return speller

    def _subquery(self, plan: Node) -> str:
        described = _Describer(plan, {}, frozenset())
        rows = described.rows(plan)
        self.hidden |= described.hidden
        shown = ", ".join(rows.forms.get(number, name) for number, name in rows.columns)
        return "; ".join((f"select {shown}", *rows.lines))

    def _leaf(self, node: Node) -> Rows:
        name = self._leaves.get(node.number)
        if name is None:
            name = snake(node.name)
            self.hidden.add(f"the content of {name}")
        columns = columns_of(node.trees("output"))
        forms = {number: f"{name}.{column}" for number, column in columns}
        return Rows(columns, forms, (name,), node.name in RELATIONS)

    def _reference(self, node: Node) -> Rows:
        definition = self._definitions.get(node.fields.get("cteId"))
        if definition is None:
            return self._leaf(node)
        inner = self.rows(definition.children[0])
        columns = columns_of(node.trees("output"))
        pairs = zip(columns, inner.columns, strict=False)
        forms = {number: inner.forms[old] for (number, _), (old, _) in pairs if old in inner.forms}
        return Rows(columns, forms, inner.lines, inner.streaming)

    def _project(self, node: Node, inputs: tuple[Rows, ...]) -> Rows:
        return self._selected(node.trees("projectList"), inputs[0])

    def _selected(self, expressions: Sequence[Node], rows: Rows) -> Rows:
        speller = self.speller(rows)
        # Of a column that is no other's, the attribute itself is the definition.
        forms = {
            number: bounded(speller.text(one))
            for one in expressions
            if (number := expression_id(one)) is not None
        }
        return Rows(columns_of(expressions), {**rows.forms, **forms}, rows.lines, rows.streaming)

    def _filter(self, node: Node, inputs: tuple[Rows, ...]) -> Rows:
        (rows,) = inputs
        condition = node.tree("condition")
        found = [] if condition is None else self.speller(rows).conjuncts(condition)
        before = [line for line in rows.lines if line.startswith(_FILTER)]
        leading = before[: _leading(rows.lines)]
        merged = sorted({*leading, *(bounded(f"{_FILTER}{one}") for one in found)})
        return Rows(
            rows.columns, rows.forms, (*merged, *rows.lines[len(leading) :]), rows.streaming
        )

    def _join(self, node: Node, inputs: tuple[Rows, ...]) -> Rows:
        left, right = inputs
        kind = join_type(node)
        condition = node.tree("condition")
        parts = [] if condition is None else self.speller(left, right).conjuncts(condition)
        on = f" on {' AND '.join(parts)}" if parts else ""
        columns = left.columns if kind in _LEFT_ONLY else (*left.columns, *right.columns)
        return Rows(
            columns,
            {**right.forms, **left.forms},
            (bounded(f"join {kind}{on}"), *_indented(left.lines), *_indented(right.lines)),
            left.streaming or right.streaming,
        )

    def _union(self, _: Node, inputs: tuple[Rows, ...]) -> Rows:
        first = inputs[0]
        forms = dict(first.forms)
        for place, (number, _name) in enumerate(first.columns):
            several = [
                rows.forms.get(rows.columns[place][0], "?")
                for rows in inputs
                if place < len(rows.columns)
            ]
            joined = f"union({', '.join(several)})"
            forms[number] = several[0] if len({*several}) == 1 else bounded(joined)
        lines = [line for rows in inputs for line in _indented(rows.lines)]
        return Rows(first.columns, forms, ("union", *lines), any(rows.streaming for rows in inputs))

    def _aggregate(self, node: Node, inputs: tuple[Rows, ...]) -> Rows:
        (rows,) = inputs
        keys = [self.speller(rows).text(one) for one in node.trees("groupingExpressions")]
        selected = self._selected(node.trees("aggregateExpressions"), rows)
        line = bounded(f"group by {', '.join(keys) or 'nothing'}")
        return Rows(selected.columns, selected.forms, (line, *rows.lines), rows.streaming)

    def _distinct(self, node: Node, inputs: tuple[Rows, ...]) -> Rows:
        (rows,) = inputs
        keys = node.trees("keys")
        shown = ", ".join(self.speller(rows).text(one) for one in keys) or "all columns"
        return Rows(
            rows.columns, rows.forms, (bounded(f"distinct by {shown}"), *rows.lines), rows.streaming
        )

    def _generate(self, node: Node, inputs: tuple[Rows, ...]) -> Rows:
        (rows,) = inputs
        generator = node.tree("generator")
        text = "?" if generator is None else self.speller(rows).text(generator)
        outer = " outer" if node.fields.get("outer") else ""
        made = columns_of(node.trees("generatorOutput"))
        single = len(made) == 1
        forms = {number: bounded(text if single else f"{text}.{name}") for number, name in made}
        dropped = {*_numbers(node.fields.get("unrequiredChildIndex"))}
        kept = tuple(one for place, one in enumerate(rows.columns) if place not in dropped)
        line = bounded(f"generate {text}{outer}")
        return Rows((*kept, *made), {**rows.forms, **forms}, (line, *rows.lines), rows.streaming)

    def _expand(self, node: Node, inputs: tuple[Rows, ...]) -> Rows:
        (rows,) = inputs
        speller = self.speller(rows)
        projections = [one for one in node.fields.get("projections") or () if one]
        columns = columns_of(node.trees("output"))
        forms = dict(rows.forms)
        lines = rows.lines
        for place, (number, _) in enumerate(columns):
            several = [_at(one, place) for one in projections]
            present = [one for one in several if one is not None]
            window = time_window([unwrapped(one) for one in present])
            texts = list(dict.fromkeys(map(speller.text, present)))
            if window is not None:
                forms[number] = speller.window(window)
            elif len(texts) == 1:
                forms[number] = texts[0]
            else:
                forms[number] = bounded(f"one of ({', '.join(texts)})")
                lines = (bounded(f"expand {forms[number]}"), *lines)
        return Rows(columns, forms, lines, rows.streaming)

    def _limit(self, node: Node, inputs: tuple[Rows, ...]) -> Rows:
        (rows,) = inputs
        limit = node.tree("limitExpr")
        text = "?" if limit is None else self.speller(rows).text(limit)
        return Rows(rows.columns, rows.forms, (f"limit {text}", *rows.lines), rows.streaming)

    def _sample(self, node: Node, inputs: tuple[Rows, ...]) -> Rows:
        (rows,) = inputs
        # The seed is another one at each start where nobody gave it.
        given = (node.fields.get(name) for name in ("lowerBound", "upperBound", "withReplacement"))
        line = f"sample {', '.join(map(str, given))}"
        return Rows(rows.columns, rows.forms, (line, *rows.lines), rows.streaming)

    def _watermark(self, node: Node, inputs: tuple[Rows, ...]) -> Rows:
        column = node.tree("eventTime")
        if column is not None:
            form = self.speller(inputs[0]).text(column)
            # Spark moves a filter below the watermark unless it is on the column of time.
            rows = (one for one in inputs[0].lines if not one.startswith(_FILTER) or form in one)
            self.watermarks[node.number] = (node, form, (*rows,))
        return inputs[0]

    def _other(self, node: Node, inputs: tuple[Rows, ...]) -> Rows:
        """Describe a node that has no rules of its own by its expressions."""
        speller = self.speller(*inputs)
        made = columns_of(node.trees("output") or node.trees("outputAttrs"))
        given = {number for rows in inputs for number in rows.forms}
        new = {number for number, _ in made} - given
        texts = [
            speller.text(one)
            for (name, _), one in node.expressions()
            if name not in ("output", "outputAttrs")
        ]
        script = node.fields.get("script")
        texts += [without_secrets(script)] if isinstance(script, str) else []
        function = node.tree("functionExpr")
        name = snake(node.name)
        forms = {number: form for rows in inputs for number, form in rows.forms.items()}
        owner = f"{name}({function.fields.get('name')})" if function is not None else name
        forms |= {number: f"{owner}.{column}" for number, column in made if number in new}
        columns = made or tuple(one for rows in inputs[:1] for one in rows.columns)
        lines = inputs[0].lines
        if len(inputs) > 1:
            lines = tuple(line for rows in inputs for line in _indented(rows.lines))
        return Rows(
            columns,
            forms,
            (bounded(f"{name} {', '.join(texts)}".strip()), *lines),
            any(rows.streaming for rows in inputs),
        )


_SHOWN = {
    AGGREGATION: "aggregation",
    DEDUPLICATION: "deduplication",
    WITHIN_WATERMARK: "deduplication within the watermark",
    JOIN: "stream-stream join",
    LIMIT: "limit",
    GROUP_STATE: "function with group state",
    PROCESSOR: "stateful processor",
}
_NODES: Mapping[str, Callable[[_Describer, Node, tuple[Rows, ...]], Rows]] = {
    "Project": _Describer._project,
    "Filter": _Describer._filter,
    "Join": _Describer._join,
    "Union": _Describer._union,
    "Aggregate": _Describer._aggregate,
    "Deduplicate": _Describer._distinct,
    "DeduplicateWithinWatermark": _Describer._distinct,
    "Distinct": _Describer._distinct,
    "Generate": _Describer._generate,
    "Expand": _Describer._expand,
    "GlobalLimit": _Describer._limit,
    "EventTimeWatermark": _Describer._watermark,
    "Sample": _Describer._sample,
}


def columns_of(expressions: Sequence[Node]) -> tuple[tuple[int, str], ...]:
    """Return ids and names of named expressions."""
    return tuple(
        (number, str(one.fields.get("name")))
        for one in expressions
        if (number := expression_id(one)) is not None
    )


def _leading(lines: Sequence[str]) -> int:
    """Count the filters before anything else."""
    return next(
        (place for place, line in enumerate(lines) if not line.startswith(_FILTER)), len(lines)
    )


def _indented(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"  {line}" for line in lines)


def _numbers(value: object) -> list[int]:
    return [one for one in value if isinstance(one, int)] if isinstance(value, tuple) else []


def _at(projection: object, place: int) -> Node | None:
    if isinstance(projection, tuple) and place < len(projection):
        found = projection[place]
        return found if isinstance(found, Node) else None
    return None
