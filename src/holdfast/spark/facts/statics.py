"""Tables that are no streams and are read beside one: their names, and what identifies them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from holdfast.records.facts import StaticFacts
from holdfast.spark.facts.plan.normal import RELATIONS
from holdfast.spark.facts.plan.reading import REFUSALS, QueryPlan, brief, pairs_of, texts_of
from holdfast.spark.facts.plan.tree import Node
from holdfast.spark.facts.state import attributes
from holdfast.spark.facts.texts import bounded, without_secrets

_MOST_FILES = 100_000
"""Of more files than these no digest is made: it would take longer than the start."""
_LISTED = re.compile(r"path=([^;]*);.*?length=(\d+);.*?modification_time=(\d+)")
_PLAIN = frozenset(("CTERelationRef", "OneRowRelation"))


def statics_of(plan: QueryPlan, unknown: list[str]) -> Mapping[int, StaticFacts]:
    """Return the tables that are no streams, by the numbers of their leaves."""
    leaves = [
        node
        for node in plan.root.used()
        if not node.children and node.name not in RELATIONS and node.name not in _PLAIN
    ]
    return {node.number: _static(plan.java_node(node), node, unknown) for node in leaves}


def _static(java: Any, node: Node, unknown: list[str]) -> StaticFacts:
    columns = ", ".join(f"{one.name} {one.type}" for one in attributes(node.trees("output")))
    name = f"{node.name}({columns})"
    try:
        if node.name == "LogicalRelation":
            return _relation(java, name)
        if node.name == "LocalRelation":
            name = f"local rows({columns})"
            return StaticFacts(bounded(name), _digest(texts_of(java.data())))
        if node.name == "Range":
            shown = java.simpleString(25)
            return StaticFacts(name="range", content=re.sub(r"#\d+L?", "", shown))
        if node.name == "DataSourceV2Relation":
            return StaticFacts(bounded(without_secrets(java.table().name())), None)
    except REFUSALS as error:
        unknown.append(f"the content of {name} ({brief(error)})")
    if node.name == "LogicalRDD":
        name = f"rows of the program({columns})"
    return StaticFacts(bounded(name), None)


def _relation(java: Any, name: str) -> StaticFacts:
    """Identify a relation by its table's version or by its files."""
    relation = java.relation()
    catalog = java.catalogTable()
    table = catalog.get().qualifiedName() if catalog.isDefined() else None
    try:
        location = relation.location()
    except REFUSALS:
        # It has no files.
        shown = table or relation.getClass().getSimpleName()
        return StaticFacts(bounded(without_secrets(f"{shown}: {name}")), None)
    roots = sorted(texts_of(location.rootPaths()))
    shown = bounded(without_secrets(table or ", ".join(roots)))
    if ".delta." in location.getClass().getName():
        identity = location.deltaLog().tableId()
        return StaticFacts(shown, f"table {identity} version {_version(location)}")
    files = _files(location)
    if files is None:
        return StaticFacts(shown, None)
    # How the files are read decides the rows as much as what is in them.
    options = sorted(f"{name}={value}" for name, value in pairs_of(relation.options()).items())
    format_ = relation.fileFormat().getClass().getSimpleName()
    return StaticFacts(shown, _digest([files, format_, *options]))


def _version(location: Any) -> str:
    try:
        return str(location.tableVersion())
    except REFUSALS:
        return str(location.getSnapshot().version())


def _files(location: Any) -> str | None:
    files = location.allFiles()
    if files.size() > _MOST_FILES:
        return None
    listed = [_LISTED.search(one) for one in texts_of(files)]
    if any(one is None for one in listed):
        return None
    return _digest(sorted(" ".join(one.groups()) for one in listed if one is not None))


def _digest(texts: list[str]) -> str:
    return f"sha256:{hashlib.sha256(chr(10).join(texts).encode()).hexdigest()}"
