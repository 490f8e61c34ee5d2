"""The facts of a streaming frame, put together from what Spark and Python say of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from pyspark.sql.types import StructType

from holdfast.format.state.schema import columns
from holdfast.records.facts import (
    FACTS_VERSION,
    ColumnFacts,
    FunctionFacts,
    OperatorFacts,
    QueryFacts,
    StaticFacts,
    StoreFacts,
    WatermarkFacts,
)
from holdfast.records.run import PlanFacts
from holdfast.redaction import redact
from holdfast.spark.facts.javacode import java_code
from holdfast.spark.facts.operators import PhysicalOperator, kinds_of, operator_facts
from holdfast.spark.facts.plan.normal import PROCESSOR, RELATIONS, Normal, normal_form
from holdfast.spark.facts.plan.planning import java_class
from holdfast.spark.facts.plan.reading import (
    REFUSALS,
    PlannedOperator,
    Reading,
    brief,
    read_plans,
)
from holdfast.spark.facts.plan.tree import parse
from holdfast.spark.facts.python.functions import function_facts, function_name, users_own
from holdfast.spark.facts.python.processors import UnclearError, with_variables
from holdfast.spark.facts.python.udfs import PlannedFunction, python_functions, python_sources
from holdfast.spark.facts.settings import settings_of
from holdfast.spark.facts.sources import sources_of
from holdfast.spark.facts.state import attributes, schema_columns, stored_columns, stores_of
from holdfast.spark.facts.statics import statics_of
from holdfast.spark.facts.texts import bounded

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Called = Sequence[tuple[str, Callable[..., Any]]]
"""Python functions that are no part of the plan, each with its kind."""
Part = TypeVar("Part")

MOST_TEXT = 20_000
"""How many characters of a plan are kept."""
_CUT = "\n… (cut)"
_IDENTITY_HASH = re.compile(r"(?<=[A-Za-z0-9_$])@[0-9a-f]{1,8}\b")


def plan_facts(
    frame: DataFrame, code: Mapping[str, str], output_mode: str = "append", functions: Called = ()
) -> PlanFacts:
    """Return the facts of a streaming frame; `operators` is None where Spark would not plan it."""
    reading = read_plans(frame, output_mode)
    query = _query(frame, reading, output_mode, functions)
    names = None
    if reading.operators is not None:
        ordered = sorted(reading.operators, key=lambda one: one.operator_id)
        names = tuple(one.name for one in ordered)
    return PlanFacts(
        sources=tuple(source.kind for source in query.sources),
        operators=names,
        text=_text(reading.analysed.java),
        code=code,
        query=replace(query, code={**code, **query.code}),
    )


def query_facts(
    frame: DataFrame, output_mode: str = "append", functions: Called = ()
) -> QueryFacts:
    """Return what a restart of the query depends on, without starting it.

    `functions` are the Python functions that are no part of the plan, such as the transform
    (`transform`) and the function of a sink (`sink`).
    """
    return _query(frame, read_plans(frame, output_mode), output_mode, functions)


def _query(frame: DataFrame, reading: Reading, output_mode: str, functions: Called) -> QueryFacts:
    unknown = reading.unknown
    plan = reading.analysed

    def known(what: str, ask: Callable[[], Part], otherwise: Part) -> Part:
        """Return what is asked for; a start must not fail because facts can't be had."""
        try:
            return ask()
        except Exception as error:  # noqa: BLE001 - whatever is odd in a plan is unknown, no more
            unknown.append(f"{what} ({brief(error)})")
            return otherwise

    sources = sources_of(reading.machine, plan, unknown)
    no_statics: Mapping[int, StaticFacts] = {}
    no_functions: list[PlannedFunction] = []
    statics = known("static tables", lambda: statics_of(plan, unknown), no_statics)
    physical = known("the stateful operators", lambda: _physical(reading), None)
    streams = [node.number for node in plan.root.walk() if node.name in RELATIONS]
    leaves = {number: static.name for number, static in statics.items()}
    leaves |= {
        number: source.name or f"source{place}"
        for place, (number, source) in enumerate(zip(streams, sources, strict=True))
    }
    kinds = None if physical is None else kinds_of(physical)
    normal = known("the steps", lambda: normal_form(plan.root, leaves, kinds), None)
    called = known("Python functions", lambda: [*python_functions(plan, unknown)], no_functions)
    read = known("Python sources", lambda: [*python_sources(plan, unknown)], no_functions)
    operators = None
    if physical is not None and normal is not None:
        operators = known(
            "what the stateful operators keep",
            lambda: _operators(reading, physical, normal, called),
            None,
        )
    elif physical is not None:
        operators = tuple(OperatorFacts(one.operator_id, one.name) for one in physical)
    return QueryFacts(
        version=FACTS_VERSION,
        spark=frame.sparkSession.version,
        output_mode=output_mode,
        sources=sources,
        operators=operators,
        watermarks=known("watermarks", lambda: _watermarks(reading, normal), ()),
        functions=_functions(functions, [*called, *read], unknown),
        statics=tuple(dict.fromkeys(statics[number] for number in sorted(statics))),
        steps=() if normal is None else _steps(normal),
        output=known("the columns of the output", lambda: schema_columns(plan.java.schema()), ()),
        code=known("the jars of functions", lambda: java_code(reading.machine, plan), {}),
        settings=known("settings", lambda: settings_of(reading.machine, reading.session), {}),
        unknown=tuple(sorted({*unknown, *(() if normal is None else normal.hidden)})),
    )


def _physical(reading: Reading) -> list[PhysicalOperator] | None:
    """Ask the planned operators for what their JSON lacks."""
    if reading.operators is None:
        return None
    return [_asked(reading, operator) for operator in reading.operators]


def _asked(reading: Reading, operator: PlannedOperator) -> PhysicalOperator:
    condition = None
    stores: tuple[StoreFacts, ...] = ()
    outputs: tuple[tuple[int, ...], ...] = ()
    try:
        stores = stores_of(reading.machine, operator)
        if operator.node.name == "StreamingSymmetricHashJoinExec":
            outputs = stored_columns(operator)
            full = operator.java.condition().full()
            condition = parse(full.get().toJSON()) if full.isDefined() else None
    except REFUSALS as error:
        reading.unknown.append(f"the state of operator {operator.operator_id} ({brief(error)})")
    return PhysicalOperator(
        operator.operator_id, operator.name, operator.node, stores, condition, outputs
    )


def _operators(
    reading: Reading,
    physical: Sequence[PhysicalOperator],
    normal: Normal,
    called: Sequence[PlannedFunction],
) -> tuple[OperatorFacts, ...]:
    planned = reading.planned
    if planned is None:
        return ()
    found = operator_facts(physical, planned.root, normal, normal.hidden)
    names: dict[str, set[str]] = {}
    for one in called:
        names.setdefault(one.name, set()).add(function_name(one.function))
    found = tuple(
        replace(
            facts,
            functions=tuple(
                full for short in facts.functions for full in sorted(names.get(short, {short}))
            ),
        )
        for facts in found
    )
    return tuple(_with_variables(facts, reading, physical, normal, called) for facts in found)


def _with_variables(
    facts: OperatorFacts,
    reading: Reading,
    physical: Sequence[PhysicalOperator],
    normal: Normal,
    called: Sequence[PlannedFunction],
) -> OperatorFacts:
    """Add the state variables of a processor."""
    places = [place for place, one in enumerate(physical) if one.operator_id == facts.operator_id]
    if not places or kinds_of(physical)[places[0]] != PROCESSOR:
        return facts
    node = physical[places[0]].node
    processor = None
    if len(physical) == len(normal.operators):
        owner = normal.operators[places[0]].node
        own = [one for one in called if one.owner is owner]
        processor = users_own(own[0].function) if own else None
        names = [function_name(one.function) for one in own]
        facts = replace(facts, functions=tuple(dict.fromkeys(names)))
    what = f"the state variables of operator {facts.operator_id}"
    if processor is None:
        reading.unknown.append(what)
        return facts
    keys = attributes(node.trees("groupingAttributes"))
    try:
        return with_variables(facts, processor, keys, _schema_columns)
    except (UnclearError, *REFUSALS) as error:
        reading.unknown.append(f"{what}: {error}")
        return facts


def _schema_columns(schema: Any) -> tuple[ColumnFacts, ...]:
    """Return the columns of a schema as a processor gives one."""
    if isinstance(schema, str):
        schema = StructType.fromDDL(schema)
    if not isinstance(schema, StructType):
        raise UnclearError("the schema of a variable is computed")
    return tuple(
        ColumnFacts(one.name, one.type_text, one.nullable) for one in columns(schema.json())
    )


def _functions(
    functions: Called, called: Sequence[PlannedFunction], unknown: list[str]
) -> tuple[FunctionFacts, ...]:
    """Describe each function once, or, where the plan has several of its name, at every call."""
    described: dict[tuple[str, int, str | None], FunctionFacts] = {}
    calls: list[FunctionFacts] = []
    given = ((kind, function, None) for kind, function in functions)
    for kind, function, result in (
        *given, *((one.kind, one.function, one.result) for one in called)
    ):  # fmt: skip
        known = (kind, id(function), result)
        if known not in described:
            described[known] = _described(kind, function, result, unknown)
        calls.append(described[known])
    once: list[FunctionFacts] = []
    once += (one for one in calls if one not in once)
    shared = Counter(map(_plan_name, once))
    return tuple(
        one
        for place, one in enumerate(calls)
        if shared[_plan_name(one)] > 1 or one not in calls[:place]
    )


def _plan_name(function: FunctionFacts) -> str:
    return function.name.rpartition(":")[2].rpartition(".")[2]


def _described(kind: str, function: Any, result: str | None, unknown: list[str]) -> FunctionFacts:
    name = function_name(function)
    try:
        found = function_facts(function, kind)
        typed = {} if result is None else {f"{name}: type of the result": f"type:{result}"}
        return replace(found, parts={**found.parts, **typed})
    except Exception as error:  # noqa: BLE001 - objects of the user may raise anything
        unknown.append(f"the code of {name} ({brief(error)})")
        return FunctionFacts(name, kind)


def _watermarks(reading: Reading, normal: Normal | None) -> tuple[WatermarkFacts, ...]:
    if normal is None or not normal.watermarks:
        return ()
    kind = "org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark"
    watermark = java_class(reading.machine, kind)
    return tuple(
        WatermarkFacts(form, watermark.getDelayMs(reading.analysed.java_node(node).delay()), rows)
        for node, form, rows in normal.watermarks
    )


def _steps(normal: Normal) -> tuple[str, ...]:
    """Return the lines above the last operators with state, and what each column is."""
    rows = normal.rows
    forms = ((name, rows.forms.get(number, "?")) for number, name in rows.columns)
    shown = sorted(f"column {name}: {form}" for name, form in forms)
    return (*rows.lines, *map(bounded, shown))


def _text(analysed: Any) -> str:
    """Return the plan, without secrets, without what differs from start to start, bounded."""
    text = redact(_IDENTITY_HASH.sub("", analysed.treeString()))
    return text if len(text) <= MOST_TEXT else text[: MOST_TEXT - len(_CUT)] + _CUT
