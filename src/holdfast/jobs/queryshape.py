"""What is certain of a declared query without asking Spark: sources in order, stateful operators.

A query that is more than one plain statement or one plain chain of calls has no certain shape, and
every part of the shape is None by itself: whoever compares a shape with a checkpoint stays silent
there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

AGGREGATION, DEDUPLICATION = "stateStoreSave", "dedupe"
DEDUPLICATION_IN_WATERMARK = "dedupeWithinWatermark"


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


BUFFERS: Mapping[str, frozenset[str]] = {
    "avg": frozenset({"sum", "count"}),
    "count": frozenset({"count"}),
    "max": frozenset({"max"}),
    "mean": frozenset({"sum", "count"}),
    "min": frozenset({"min"}),
    "sum": frozenset({"sum"}),
}
"""The columns in which Spark keeps an aggregate in the state, by the function's name."""

SCALARS = words(
    "abs cast ceil coalesce col column concat concat_ws current_date current_timestamp date "
    "date_format date_trunc expr_id float floor from_json from_unixtime get_json_object hash "
    "hour if ifnull initcap input_file_name instr int length lit lower lpad ltrim md5 minute "
    "month nullif nvl regexp_extract regexp_replace replace round rpad rtrim sha2 split "
    "string struct substr substring timestamp to_date to_json to_timestamp trim "
    "unix_timestamp upper when window year"
)
"""Functions that are known to give one value for one row."""


@dataclass(frozen=True)
class QueryShape:
    """What is certain of a query; None means that it is not."""

    sources: tuple[str, ...] | None = None
    """The declared sources in the order of Spark's plan, where each is used exactly once."""
    operators: tuple[str, ...] | None = None
    """The stateful operators as their metadata names them."""
    keys: frozenset[str] | None = None
    """The columns that the only operator groups by, in small letters."""
    buffers: frozenset[str] | None = None
    """The columns that the aggregates keep in the state."""


UNCERTAIN = QueryShape()


def buffers_of(functions: frozenset[str]) -> frozenset[str] | None:
    """Return what these functions keep in the state; None where one of them is not known."""
    if not functions or not functions <= BUFFERS.keys() | SCALARS:
        return None
    return frozenset(name for one in functions for name in BUFFERS.get(one, ())) or None


_FUNCTIONS = "pyspark.sql.functions"
_STATELESS = words(
    "alias cast drop dropna fillna filter select where withColumn withColumnRenamed withColumns "
    "withWatermark"
)
_COLUMN_METHODS = words(
    "alias astype between cast contains endswith eqNullSafe getField getItem isNotNull isNull isin "
    "like otherwise rlike startswith substr when"
)
_DEDUPLICATIONS = {
    "dropDuplicates": DEDUPLICATION,
    "drop_duplicates": DEDUPLICATION,
    "dropDuplicatesWithinWatermark": DEDUPLICATION_IN_WATERMARK,
}


class _UncertainError(Exception):
    """The function is more than a plain chain."""


@dataclass
class _Reading:
    """The names of one module and function while its statements are read."""

    modules: set[str] = field(default_factory=set)
    """Names under which the module of Spark's functions is known."""
    functions: dict[str, str] = field(default_factory=dict)
    """Names of single functions of it."""
    frames: dict[str, QueryShape] = field(default_factory=dict)
    """What each name of a frame holds so far."""


def python_shape(text: str, function: str) -> QueryShape:
    """Return what is certain of a function with one frame in the text of its module."""
    try:
        module = ast.parse(text)
        return _function_shape(module, function)
    except (_UncertainError, SyntaxError, ValueError, RecursionError):
        return UNCERTAIN


def _function_shape(module: ast.Module, name: str) -> QueryShape:
    defined = [one for one in module.body if getattr(one, "name", None) == name]
    if len(defined) != 1 or not isinstance(one := defined[0], ast.FunctionDef):
        raise _UncertainError
    if one.decorator_list or len(one.args.args) != 1 or one.args.defaults:
        raise _UncertainError
    reading = _imports(module)
    reading.frames[one.args.args[0].arg] = QueryShape(operators=())
    for statement in one.body:
        if isinstance(statement, ast.Return) and statement.value is not None:
            return _frame(statement.value, reading)
        if _is_text(statement):
            continue
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            raise _UncertainError
        target = statement.targets[0]
        if not isinstance(target, ast.Name):
            raise _UncertainError
        reading.frames[target.id] = _frame(statement.value, reading)
    raise _UncertainError


def _imports(module: ast.Module) -> _Reading:
    found = _Reading()
    for node in module.body:
        if isinstance(node, ast.ImportFrom) and node.module == _FUNCTIONS:
            found.functions |= {one.asname or one.name: one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module == "pyspark.sql":
            found.modules |= {
                one.asname or one.name for one in node.names if one.name == "functions"
            }
        elif isinstance(node, ast.Import):
            found.modules |= {
                one.asname for one in node.names if one.name == _FUNCTIONS and one.asname
            }
    return found


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _frame(node: ast.expr, reading: _Reading) -> QueryShape:
    """Return the shape of an expression that gives a frame."""
    if isinstance(node, ast.Name) and node.id in reading.frames:
        return reading.frames[node.id]
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        raise _UncertainError
    method, inner = node.func.attr, node.func.value
    arguments = [*node.args, *(one.value for one in node.keywords)]
    if method in _STATELESS:
        if not set(_called(arguments, reading)) <= SCALARS:
            raise _UncertainError
        return _frame(inner, reading)
    if method in _DEDUPLICATIONS:
        keys = frozenset(_strings(arguments)) or None
        return _with(_frame(inner, reading), _DEDUPLICATIONS[method], keys, None)
    return _aggregated(method, arguments, inner, reading)


def _aggregated(
    method: str, arguments: Sequence[ast.expr], inner: ast.expr, reading: _Reading
) -> QueryShape:
    if not isinstance(inner, ast.Call) or not isinstance(inner.func, ast.Attribute):
        raise _UncertainError
    if inner.func.attr not in ("groupBy", "groupby"):
        raise _UncertainError
    called = set(_called(arguments, reading))
    functions = called if method == "agg" else {method}
    if method != "agg" and method not in BUFFERS:
        raise _UncertainError
    keys = _keys(inner.args, reading)
    before = _frame(inner.func.value, reading)
    return _with(before, AGGREGATION, keys, buffers_of(frozenset(functions)))


def _with(
    before: QueryShape, operator: str, keys: frozenset[str] | None, buffers: frozenset[str] | None
) -> QueryShape:
    if before.operators != ():
        # The order in which Spark numbers several operators is left to Spark.
        raise _UncertainError
    return replace(before, operators=(operator,), keys=keys, buffers=buffers)


def _keys(arguments: Sequence[ast.expr], reading: _Reading) -> frozenset[str] | None:
    names: list[str] = []
    for one in arguments:
        if isinstance(one, ast.Call) and _function(one, reading) in ("col", "column"):
            names += _strings(one.args)
        elif isinstance(one, ast.Constant | ast.List):
            names += _strings([one])
        else:
            return None
    return frozenset(names)


def _strings(arguments: Sequence[ast.expr]) -> Iterator[str]:
    for one in arguments:
        if isinstance(one, ast.List | ast.Tuple):
            yield from _strings(one.elts)
        elif isinstance(one, ast.Constant) and isinstance(one.value, str):
            yield one.value.lower()
        else:
            raise _UncertainError


def _called(arguments: Sequence[ast.expr], reading: _Reading) -> Iterator[str]:
    """Yield the functions of Spark that are called within; raise where something else is."""
    for argument in arguments:
        for node in ast.walk(argument):
            if isinstance(node, ast.Call):
                name = _function(node, reading)
                if name is not None:
                    yield name
                elif getattr(node.func, "attr", None) not in _COLUMN_METHODS:
                    raise _UncertainError
            elif isinstance(node, ast.Lambda | ast.Starred | ast.Await | ast.NamedExpr):
                raise _UncertainError
            elif isinstance(node, ast.Name) and not _is_known(node.id, reading):
                # A name from elsewhere may hold an aggregate.
                raise _UncertainError


def _is_known(name: str, reading: _Reading) -> bool:
    return name in reading.modules or name in reading.functions or name in reading.frames


def _function(call: ast.Call, reading: _Reading) -> str | None:
    """Return the name of a function of Spark that is called; None where it is none of them."""
    target = call.func
    if isinstance(target, ast.Name):
        return reading.functions.get(target.id)
    if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
        return target.attr if target.value.id in reading.modules else None
    return None
