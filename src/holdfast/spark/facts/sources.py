"""The streaming sources of an analysed plan: kind, what is read, options, columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from holdfast.format.sources.readers import UNKNOWN, reader_named
from holdfast.records.facts import SourceFacts
from holdfast.spark.facts.plan.normal import RELATIONS
from holdfast.spark.facts.plan.reading import REFUSALS, QueryPlan, brief, java_pairs, pairs_of
from holdfast.spark.facts.plan.tree import Node
from holdfast.spark.facts.state import attributes
from holdfast.spark.facts.texts import option_value

_IDENTITY = (
    *("path", "subscribe", "subscribepattern", "assign", "table", "topic", "topics"),
    *("host", "port", "streamname", "subscription", "database", "dbtable", "url"),
)
"""Options that say what is read, in lower case."""


def sources_of(machine: Any, plan: QueryPlan, unknown: list[str]) -> tuple[SourceFacts, ...]:
    """Return the sources in the order in which Spark numbers them."""
    nodes = [node for node in plan.root.walk() if node.name in RELATIONS]
    readers = [_attribute_ids(node) for node in nodes]
    found = []
    for number, node in enumerate(nodes):
        first = readers.index(readers[number]) if readers[number] else number
        source = _source(machine, plan.java_node(node), node, number, unknown)
        found.append(replace(source, same_reader=first if first < number else None))
    return tuple(found)


def _attribute_ids(node: Node) -> tuple[str, ...]:
    """Return what Spark knows a reader by where it is used more than once."""
    return tuple(str(one.fields.get("exprId")) for one in node.trees("output"))


def source_name(relation: Any) -> str | None:
    """Return the user's name of a source; no release before 4.2 has them."""
    try:
        name: str = relation.sourceIdentifyingName().toString()
    except REFUSALS:
        return None
    # Spark shows `name=<orders>`, and `name=<Unassigned>` where there is none.
    shown = name.removeprefix("name=").strip("<>")
    return None if shown in ("Unassigned", "") or not name.startswith("name=") else shown


def _source(
    machine: Any, relation: Any, node: Node, number: int, unknown: list[str]
) -> SourceFacts:
    options: dict[str, str] = {}
    table = None
    try:
        options, table = _options(machine, relation, node)
    except REFUSALS as error:
        unknown.append(f"the options of source {number} ({brief(error)})")
    identity = {name: value for name, value in options.items() if name.lower() in _IDENTITY}
    if table is not None:
        identity["table"] = table
    rest = {name: value for name, value in options.items() if name not in identity}
    return SourceFacts(
        kind=source_kind(relation, node.name),
        format=_format(relation, node.name),
        identity={name: option_value(name, one) for name, one in sorted(identity.items())},
        columns=attributes(node.trees("output")),
        options={name: option_value(name, one) for name, one in sorted(rest.items())},
        name=source_name(relation),
    )


def _options(machine: Any, relation: Any, node: Node) -> tuple[dict[str, str], str | None]:
    """Return the options that the user gave, and the table that was named."""
    if node.name == "StreamingRelation":
        given = relation.dataSource()
        catalog = given.catalogTable()
        table = catalog.get().qualifiedName() if catalog.isDefined() else None
        return pairs_of(given.options()), table
    if node.name == "StreamingRelationV2":
        options = java_pairs(machine, relation.extraOptions().asCaseSensitiveMap())
        identifier = relation.identifier()
        return options, identifier.get().toString() if identifier.isDefined() else None
    return {}, None


def _format(relation: Any, name: str) -> str:
    if name == "StreamingRelation":
        given: str = relation.dataSource().className()
    elif name == "StreamingRelationV2":
        given = relation.sourceName()
    else:
        given = relation.source().getClass().getSimpleName()
    return given


def source_kind(relation: Any, name: str) -> str:
    """Name a source's kind as a checkpoint's does; `unknown` where nothing known writes it."""
    readers = (reader_named(one) for one in _spellings(relation, name))
    return next((reader.kind for reader in readers if reader is not None), UNKNOWN.kind)


def _spellings(relation: Any, name: str) -> Iterator[str]:
    """Yield what a relation's source is called, the surest first."""
    if name == "StreamingRelation":
        yield relation.dataSource().className()
    elif name == "StreamingExecutionRelation":
        yield relation.source().getClass().getSimpleName()
    else:
        if relation.source().isDefined():
            yield relation.source().get().getClass().getSimpleName()
        if relation.v1Relation().isDefined():
            inner = relation.v1Relation().get()
            yield from _spellings(inner, inner.getClass().getSimpleName())
        yield relation.sourceName()
