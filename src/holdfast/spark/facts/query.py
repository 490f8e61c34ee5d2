"""The facts of a streaming frame, put together from what Spark and Python say of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from holdfast.records.facts import (
    FACTS_VERSION,
    FunctionFacts,
    OperatorFacts,
    QueryFacts,
    WatermarkFacts,
)
from holdfast.records.run import PlanFacts
from holdfast.redaction import redact
from holdfast.spark.facts.functions import function_facts, function_name
from holdfast.spark.facts.normal import RELATIONS, Normal, normal_form
from holdfast.spark.facts.operators import PhysicalOperator, kinds_of, operator_facts
from holdfast.spark.facts.planning import java_class
from holdfast.spark.facts.pythonudfs import python_functions
from holdfast.spark.facts.reading import (
    REFUSALS,
    PlannedOperator,
    Reading,
    brief,
    read_plans,
)
from holdfast.spark.facts.settings import settings_of
from holdfast.spark.facts.sources import sources_of
from holdfast.spark.facts.state import schema_columns, stored_columns, stores_of
from holdfast.spark.facts.statics import statics_of
from holdfast.spark.facts.texts import bounded
from holdfast.spark.facts.tree import parse

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Called = Sequence[tuple[str, Callable[..., Any]]]
"""Python functions that are no part of the plan, each with its kind."""

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
        query=query,
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
    sources = sources_of(reading.machine, plan, unknown)
    statics = statics_of(plan, unknown)
    physical = _physical(reading)
    kinds = None if physical is None else kinds_of(physical)
    streams = [node.number for node in plan.root.walk() if node.name in RELATIONS]
    leaves = {number: static.name for number, static in statics.items()}
    leaves |= {
        number: source.name or f"source{place}"
        for place, (number, source) in enumerate(zip(streams, sources, strict=True))
    }
    normal = normal_form(plan.root, leaves, kinds)
    operators: tuple[OperatorFacts, ...] | None = None
    if physical is not None and reading.planned is not None:
        operators = operator_facts(physical, reading.planned.root, normal, normal.hidden)
    called = _functions(reading, functions, unknown)
    return QueryFacts(
        version=FACTS_VERSION,
        spark=frame.sparkSession.version,
        output_mode=output_mode,
        sources=sources,
        operators=operators,
        watermarks=_watermarks(reading, normal),
        functions=called,
        statics=tuple(dict.fromkeys(statics[number] for number in sorted(statics))),
        steps=_steps(normal),
        output=schema_columns(plan.java.schema()),
        settings=settings_of(reading.session),
        unknown=tuple(sorted({*unknown, *normal.hidden})),
    )


def _physical(reading: Reading) -> list[PhysicalOperator] | None:
    """Ask the planned operators for what their JSON lacks."""
    if reading.operators is None:
        return None
    return [_asked(reading, operator) for operator in reading.operators]


def _asked(reading: Reading, operator: PlannedOperator) -> PhysicalOperator:
    condition = None
    stores = ()
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


def _functions(
    reading: Reading, functions: Called, unknown: list[str]
) -> tuple[FunctionFacts, ...]:
    given = [(kind, function) for kind, function in functions]
    found = [*given, *python_functions(reading.analysed, unknown)]
    return tuple(_described(kind, function, unknown) for kind, function in found)


def _described(kind: str, function: Any, unknown: list[str]) -> FunctionFacts:
    try:
        return function_facts(function, kind)
    except Exception as error:  # noqa: BLE001 - objects of the user may raise anything
        name = function_name(function)
        unknown.append(f"the code of {name} ({brief(error)})")
        return FunctionFacts(name, kind)


def _watermarks(reading: Reading, normal: Normal) -> tuple[WatermarkFacts, ...]:
    if not normal.watermarks:
        return ()
    kind = "org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark"
    watermark = java_class(reading.machine, kind)
    return tuple(
        WatermarkFacts(form, watermark.getDelayMs(reading.analysed.java_node(node).delay()))
        for node, form in normal.watermarks
    )


def _steps(normal: Normal) -> tuple[str, ...]:
    """Return the lines above the last operators with state, and what each column is."""
    rows = normal.rows
    columns = sorted(
        f"column {name}: {rows.forms.get(number, '?')}" for number, name in rows.columns
    )
    return (*rows.lines, *map(bounded, columns))


def _text(analysed: Any) -> str:
    """Return the plan, without secrets, without what differs from start to start, bounded."""
    text = redact(_IDENTITY_HASH.sub("", analysed.treeString()))
    return text if len(text) <= MOST_TEXT else text[: MOST_TEXT - len(_CUT)] + _CUT
