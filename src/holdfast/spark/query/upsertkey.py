"""Compares the key of an upsert sink with the groups of the aggregation, by Spark's own plan.

Only a plan whose rows are one per group to the end is compared: nothing but selections, filters and
watermarks above the aggregation. A group is distinguished by each key column that is made from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError

from holdfast.diagnosis.checks.declared.query import UPDATING, coarse_key
from holdfast.findings import Finding
from holdfast.jobs.ready import ReadyJob
from holdfast.redaction import redact

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SAME_ROWS = frozenset({"Filter", "SubqueryAlias", "EventTimeWatermark", "View"})
"""Nodes that pass rows on as they are, or leave some out."""
_AGGREGATE, _PROJECT, _ATTRIBUTE = "Aggregate", "Project", "AttributeReference"


def guard_upsert_key(frame: DataFrame, job: ReadyJob) -> Iterator[Finding]:
    """Yield a finding where rows of several groups have one key; nothing where that is unknown."""
    if job.sink.mode != "upsert" or job.sink.native or job.output_mode not in UPDATING:
        return
    try:
        found = _coarse_key(frame, job)
    except Py4JError:
        # A plan that cannot be asked is unknown; a JVM that is gone is noticed by the next call.
        return
    if found is not None:
        yield found


def _coarse_key(frame: DataFrame, job: ReadyJob) -> Finding | None:
    java_frame: Any = frame._jdf
    analysed = java_frame.queryExecution().analyzed()
    # Spark compares names without case unless it is told otherwise; who tells it gets no warning.
    wanted = {name.lower() for name in job.sink.key}
    columns = {one.name().lower(): _id(one) for one in _each(analysed.output())}
    if not wanted or not wanted <= columns.keys():
        return None
    found = _aggregate_below(analysed, {columns[name] for name in wanted})
    if found is None:
        return None
    groups = _Groups.of(*found)
    missing = groups.undistinguished()
    if not missing:
        return None
    return coarse_key(
        job.sink.key,
        [_shown(one) for one in groups.all],
        [_shown(one) for one in missing],
        is_ordered=job.sink.order_by is not None,
    )


def _aggregate_below(node: Any, ids: set[int]) -> tuple[Any, set[int]] | None:
    """Return the aggregation whose rows arrive at the sink, and the ids of the key there."""
    while (name := _name(node)) != _AGGREGATE:
        if name == _PROJECT:
            made = [one for one in _each(node.projectList()) if _id(one) in ids]
            ids = {_id(used) for one in made for used in _each(one.references().toSeq())}
        elif name not in _SAME_ROWS:
            return None
        node = node.children().apply(0)
    return node, ids


@dataclass
class _Groups:
    """The grouping expressions of an aggregation, and which of them the key distinguishes."""

    all: list[Any]
    known: list[Any]
    """Expressions of the aggregation's output that the key is made from."""
    definitions: dict[int, Any] = field(default_factory=dict)
    """What the columns below the aggregation are made from, by their id."""

    @classmethod
    def of(cls, aggregate: Any, key_ids: set[int]) -> _Groups:
        groups = [one for one in _each(aggregate.groupingExpressions()) if not one.foldable()]
        known = [one for one in _each(aggregate.aggregateExpressions()) if _id(one) in key_ids]
        return cls(groups, known, dict(_definitions(aggregate.children().apply(0))))

    def undistinguished(self) -> list[Any]:
        """Return the groups that no key column is made from, and that follow from no other."""
        covered = [one for one in self.all if any(_contains(made, one) for made in self.known)]
        plain = {_id(one) for one in covered if _name(one) == _ATTRIBUTE}
        return [one for one in self.all if one not in covered and not self._follows(one, plain)]

    def _follows(self, expression: Any, plain: set[int]) -> bool:
        """Whether an expression has one value for each combination of the columns of the key."""
        if _name(expression) == _ATTRIBUTE:
            if _id(expression) in plain:
                return True
            expression = self.definitions.get(_id(expression))
        if expression is None or not expression.deterministic():
            return False
        used = list(_each(expression.references().toSeq()))
        return bool(used) and all(self._follows(one, plain) for one in used)


def _definitions(node: Any) -> Iterator[tuple[int, Any]]:
    """Yield what each computed column below a node is made from."""
    while _name(node) == _PROJECT or _name(node) in _SAME_ROWS:
        if _name(node) == _PROJECT:
            for one in _each(node.projectList()):
                if _name(one) != _ATTRIBUTE:
                    yield _id(one), one
        node = node.children().apply(0)


def _contains(expression: Any, part: Any) -> bool:
    if expression.semanticEquals(part):
        return True
    return any(_contains(one, part) for one in _each(expression.children()))


def _each(sequence: Any) -> Iterator[Any]:
    return (sequence.apply(position) for position in range(sequence.size()))


def _id(named: Any) -> int:
    number: int = named.exprId().id()
    return number


def _name(node: Any) -> str:
    name: str = node.getClass().getSimpleName()
    return name


def _shown(expression: Any) -> str:
    return expression.name() if _name(expression) == _ATTRIBUTE else redact(expression.sql())
