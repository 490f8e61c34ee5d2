"""The state variables of a stateful processor, read from its `init` without running it.

`init` is the user's code and may do anything; only what its source says plainly is taken: calls
with names, schemas and times to live that are constants, variables or attributes.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import FunctionType
from typing import Any

from holdfast.records.facts import ColumnFacts, OperatorFacts, StoreFacts
from holdfast.spark.facts.python.code import definition_of
from holdfast.spark.facts.texts import bounded

_KINDS = {"getValueState": "value", "getListState": "list", "getMapState": "map"}
_PARAMETERS = {
    "value": ("stateName", "schema", "ttlDurationMs"),
    "list": ("stateName", "schema", "ttlDurationMs"),
    "map": ("stateName", "userKeySchema", "valueSchema", "ttlDurationMs"),
}
_BRANCHES = (ast.If, ast.For, ast.While, ast.Try, ast.Match, ast.IfExp, ast.comprehension)
_COUNT = (ColumnFacts("count", "bigint"),)
_EXPIRATION = ColumnFacts("expirationMs", "bigint")
_EMPTY = (ColumnFacts("__empty__", "void"),)
_DUMMY = (ColumnFacts("__dummy__", "void"),)
_EXPIRY = ColumnFacts("expiryTimestampMs", "bigint", nullable=False)
_TIMERS = {"ProcessingTime": "$procTimers", "EventTime": "$eventTimers"}


class UnclearError(ValueError):
    """What `init` declares is not visible in its source."""


@dataclass(frozen=True)
class Variable:
    """One state variable."""

    name: str
    kind: str
    """`value`, `list` or `map`."""
    values: tuple[ColumnFacts, ...]
    keys: tuple[ColumnFacts, ...] = ()
    """Of a map: its own keys."""
    ttl_ms: int | None = None

    @property
    def text(self) -> str:
        """The declaration in words."""
        keys = f"{_shown(self.keys)} -> " if self.kind == "map" else ""
        ttl = "" if self.ttl_ms is None else f" ttl {self.ttl_ms} ms"
        return f"{self.name} {self.kind}({keys}{_shown(self.values)}){ttl}"


ReadSchema = Callable[[Any], tuple[ColumnFacts, ...]]
"""Returns the columns of a schema as pyspark takes one: a text or a type."""


def with_variables(
    facts: OperatorFacts,
    processor: Any,
    keys: tuple[ColumnFacts, ...],
    read_schema: ReadSchema,
) -> OperatorFacts:
    """Return the facts of an operator with the variables of its processor; raise UnclearError."""
    variables = [*state_variables(processor, read_schema)]
    settings = {
        **facts.settings,
        "state variables": bounded(", ".join(sorted(one.text for one in variables))),
    }
    stores = [store for one in variables for store in _stores(one, keys)]
    stores += _timer_stores(facts.settings.get("time mode", ""), keys)
    return replace(
        facts, settings=settings, stores=tuple(sorted(stores, key=lambda store: store.name))
    )


def state_variables(processor: Any, read_schema: ReadSchema) -> Iterator[Variable]:
    """Yield the variables that a processor declares; raise UnclearError where that is not plain."""
    init = inspect.getattr_static(type(processor), "init", None)
    if not isinstance(init, FunctionType):
        raise UnclearError("it has no init of its own")
    definition = definition_of(init.__code__)
    if not isinstance(definition, ast.FunctionDef):
        raise UnclearError("the source of its init is not available")
    scope = _Scope(processor, init, definition)
    for call, kind in _declarations(definition, scope.handle):
        given = dict(zip(_PARAMETERS[kind], call.args, strict=False))
        given |= {one.arg: one.value for one in call.keywords if one.arg is not None}
        found = {name: scope.value(expression) for name, expression in given.items()}
        ttl = found.get("ttlDurationMs")
        if not isinstance(found.get("stateName"), str) or not isinstance(ttl, int | None):
            raise UnclearError("the name or the time to live of a variable is computed")
        schema = found.get("valueSchema" if kind == "map" else "schema")
        yield Variable(
            name=str(found["stateName"]),
            kind=kind,
            values=read_schema(schema),
            keys=read_schema(found.get("userKeySchema")) if kind == "map" else (),
            ttl_ms=ttl,
        )


def _declarations(definition: ast.FunctionDef, handle: str) -> Iterator[tuple[ast.Call, str]]:
    for node in ast.walk(definition):
        if isinstance(node, _BRANCHES) and any(map(_declares, ast.walk(node))):
            raise UnclearError("its init declares variables conditionally")
        if not isinstance(node, ast.Call):
            continue
        kind = _declares(node)
        if kind is not None:
            yield node, kind
        elif any(isinstance(one, ast.Name) and one.id == handle for one in node.args):
            raise UnclearError("its init gives the handle to another function")
        elif _is_parent(node):
            raise UnclearError("its init calls that of its parent")


def _declares(node: ast.AST) -> str | None:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return _KINDS.get(node.func.attr)
    return None


def _is_parent(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Attribute) and node.func.attr == "init"


class _Scope:
    """What the names in a processor's `init` stand for, as far as that is known without running."""

    def __init__(self, processor: Any, init: FunctionType, definition: ast.FunctionDef) -> None:
        names = [one.arg for one in definition.args.args]
        if len(names) != 2:
            raise UnclearError("its init has other parameters than self and handle")
        self._self, self.handle = names
        self._processor = processor
        self._init = init
        self._assigned: dict[str, list[ast.expr]] = {}
        for node in ast.walk(definition):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                self._assigned.setdefault(node.targets[0].id, []).append(node.value)

    def value(self, node: ast.expr) -> Any:
        """Return what an expression is; raise UnclearError where running it would tell."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return self._named(node.id)
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Add):
            left, right = self.value(node.left), self.value(node.right)
            if isinstance(left, int | str) and isinstance(right, int | str):
                return left * right if isinstance(node.op, ast.Mult) else left + right  # type: ignore[operator]
        raise UnclearError("an argument of a variable is computed")

    def _named(self, name: str) -> Any:
        assigned = self._assigned.get(name)
        if assigned is not None:
            if len(assigned) > 1:
                raise UnclearError(f"{name} is assigned several times")
            return self.value(assigned[0])
        cells: Mapping[str, Any] = dict(
            zip(self._init.__code__.co_freevars, self._init.__closure__ or (), strict=True)
        )
        if name in cells:
            return cells[name].cell_contents
        if name in self._init.__globals__:
            return self._init.__globals__[name]
        raise UnclearError(f"{name} is not known before a run")

    def _attribute(self, node: ast.Attribute) -> Any:
        if isinstance(node.value, ast.Name) and node.value.id == self._self:
            owner = self._processor
        else:
            owner = self.value(node.value)
        found = inspect.getattr_static(owner, node.attr, UnclearError)
        if found is UnclearError or isinstance(found, property | FunctionType):
            raise UnclearError(f"{node.attr} is not known before a run")
        return found


def _shown(columns: tuple[ColumnFacts, ...]) -> str:
    return ", ".join(f"{one.name} {one.type}" for one in columns)


def _struct(columns: tuple[ColumnFacts, ...]) -> str:
    return f"struct<{','.join(f'{one.name}:{one.type}' for one in columns)}>"


def _stores(variable: Variable, grouping: tuple[ColumnFacts, ...]) -> Iterator[StoreFacts]:
    """Yield the column families of a variable, as Spark names them since 4.0."""
    name, keys, values = variable.name, grouping, variable.values
    if variable.kind == "map":
        keys = (
            ColumnFacts("key", _struct(grouping)),
            ColumnFacts("userKey", _struct(variable.keys)),
        )
    if variable.kind == "list":
        yield StoreFacts(f"$rowCounter_{name}", keys, _COUNT)
    if variable.ttl_ms is not None:
        values = (ColumnFacts("value", _struct(values)), ColumnFacts("ttlExpirationMs", "bigint"))
        element = ColumnFacts("elementKey", _struct(keys))
        yield StoreFacts(f"$ttl_{name}", (_EXPIRATION, element), _EMPTY)
        if variable.kind == "list":
            yield StoreFacts(f"$min_{name}", keys, (_EXPIRATION,))
            yield StoreFacts(f"$count_{name}", keys, _COUNT)
    yield StoreFacts(name, keys, values)


def _timer_stores(time_mode: str, grouping: tuple[ColumnFacts, ...]) -> list[StoreFacts]:
    prefix = _TIMERS.get(time_mode)
    if prefix is None:
        return []
    key = ColumnFacts("key", _struct(grouping))
    return [
        StoreFacts(f"{prefix}_keyToTimestamp", (key, _EXPIRY), _DUMMY),
        StoreFacts(f"{prefix}_timestampToKey", (_EXPIRY, key), _DUMMY),
    ]
