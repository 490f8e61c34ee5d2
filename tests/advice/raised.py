"""Next steps that are written where an error or a finding is made, read from the source.

A step of the registry of codes is replaced by what is given as `next_steps`. Each text of such an
expression is followed to where it is written: through names, tuples, branches, functions and their
parameters. What is filled in at run time is shown as `…`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[2] / "src/holdfast"
GAP = "…"
_CODE = re.compile(r"HF[0-9]{4}")
_TAKES_STEPS = {"Finding": 6}
"""Calls whose steps may also be given by position."""
_TAKES_CODE = {"Problem": 1}
"""Calls that are given their code at another position than the first."""
_FORWARDED = re.compile(
    r"\bnext_steps$|\bcode_of\(|^page\.steps$|^failed\.next$|^named_steps\("
    r"|^_without_asking\(|^_without_starting\(|^_joined\("
    r"|^change\("
    r"|\bplans\b"
)
"""Steps of another error, a recorded start, the registry or a page of `explain`, passed on;
and plans that a planner has just made (tests/remedy/test_fitting.py)."""


_HOLDERS: dict[type[ast.expr], tuple[str, ...]] = {
    ast.Tuple: ("elts",),
    ast.List: ("elts",),
    ast.Dict: ("values",),
    ast.Starred: ("value",),
    ast.Subscript: ("value",),
    ast.NamedExpr: ("value",),
    ast.GeneratorExp: ("elt",),
    ast.ListComp: ("elt",),
    ast.IfExp: ("body", "orelse"),
    ast.BoolOp: ("values",),
}
"""Expressions whose texts are those of the expressions in these fields."""


@dataclass(frozen=True)
class Raised:
    """One step, and where it is written."""

    code: str
    """Empty where the step is added to a finding that is passed on."""
    step: str
    file: str
    """Relative to the package."""


@dataclass(frozen=True)
class _Module:
    path: Path
    tree: ast.Module
    functions: dict[str, ast.FunctionDef] = field(default_factory=dict)
    constants: dict[str, ast.expr] = field(default_factory=dict)
    imported: dict[str, str] = field(default_factory=dict)
    """Name to the module that it comes from."""


@dataclass(frozen=True)
class _Scope:
    module: _Module
    function: ast.FunctionDef | None = None
    depth: int = 0


class UnresolvedStepError(Exception):
    """An expression whose texts cannot be read from the source."""


@cache
def raised_steps() -> tuple[Raised, ...]:
    """Return every step that is written outside of the registry, without doubles."""
    found = {one: None for path in sorted(_modules()) for one in _raised_in(_modules()[path])}
    # Millions of nodes, which every later pass of the garbage collector would look at.
    _modules.cache_clear()
    _calls_by_name.cache_clear()
    return tuple(found)


def raised_by_code() -> dict[str, tuple[str, ...]]:
    """Return the steps by their code, in the order of the source; each has a code."""
    found: dict[str, dict[str, None]] = {}
    for one in (one for one in raised_steps() if one.code):
        found.setdefault(one.code, {})[one.step] = None
    return {code: tuple(steps) for code, steps in found.items()}


@cache
def _modules() -> dict[str, _Module]:
    files = [path for path in SOURCES.rglob("*.py") if "codes" not in path.parent.parts]
    return {_dotted(path): _module(path) for path in files}


def _dotted(path: Path) -> str:
    parts = ("holdfast", *path.relative_to(SOURCES).with_suffix("").parts)
    return ".".join(parts).removesuffix(".__init__")


def _module(path: Path) -> _Module:
    module = _Module(path, ast.parse(path.read_text(encoding="utf-8")))
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef):
            module.functions[node.name] = node
        elif isinstance(node, ast.ImportFrom) and node.module:
            module.imported.update({one.asname or one.name: node.module for one in node.names})
    for statement in module.tree.body:
        for name, value in _assigned(statement):
            module.constants[name] = value
    return module


def _assigned(statement: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """Yield each name that a statement assigns to, with the value."""
    if isinstance(statement, ast.Assign):
        pairs = [(target, statement.value) for target in statement.targets]
    elif isinstance(statement, ast.AnnAssign | ast.AugAssign) and statement.value is not None:
        pairs = [(statement.target, statement.value)]
    else:
        return
    for target, value in pairs:
        if isinstance(target, ast.Name):
            yield target.id, value
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            named = zip(target.elts, value.elts, strict=True)
            yield from ((one.id, part) for one, part in named if isinstance(one, ast.Name))


def _raised_in(module: _Module) -> Iterator[Raised]:
    for function, call in _calls(module.tree, None):
        steps = _steps_given(call)
        if steps is None or not call.args:
            continue
        scope = _Scope(module, function)
        where = str(module.path.relative_to(SOURCES))
        for code in _codes(call, scope):
            for text in _texts(steps, scope):
                yield Raised(code, text, where)


def _calls(
    node: ast.AST, function: ast.FunctionDef | None
) -> Iterator[tuple[ast.FunctionDef | None, ast.Call]]:
    for child in ast.iter_child_nodes(node):
        inside = child if isinstance(child, ast.FunctionDef) else function
        if isinstance(child, ast.Call):
            yield inside, child
        yield from _calls(child, inside)


@cache
def _calls_by_name(path: Path) -> dict[str, list[tuple[ast.FunctionDef | None, ast.Call]]]:
    """Return the calls of a module by what they call: callers are asked for again and again."""
    found: dict[str, list[tuple[ast.FunctionDef | None, ast.Call]]] = {}
    for function, call in _calls(_modules()[_dotted(path)].tree, None):
        found.setdefault(_name_of(call.func), []).append((function, call))
    return found


def _steps_given(call: ast.Call) -> ast.expr | None:
    """Return what is given as the next steps of an error or finding."""
    for keyword in call.keywords:
        if keyword.arg == "next_steps":
            return keyword.value
    place = _TAKES_STEPS.get(_name_of(call.func))
    return call.args[place] if place is not None and len(call.args) > place else None


def _name_of(expression: ast.expr) -> str:
    if isinstance(expression, ast.Attribute):
        return expression.attr
    return expression.id if isinstance(expression, ast.Name) else ""


def _codes(call: ast.Call, scope: _Scope) -> tuple[str, ...]:
    """Return the codes that an error or a finding is made with; one is empty, see Raised."""
    if _name_of(call.func) == "Answer" or ast.unparse(call.args[0]) == "self":
        return ()  # the next command of a whole answer, or a copy of it: no advice of a code
    place = _TAKES_CODE.get(_name_of(call.func), 0)
    try:
        texts = _texts(call.args[place], scope)
    except UnresolvedStepError:
        return ("",)
    return tuple(text for text in texts if _CODE.fullmatch(text))


def _texts(expression: ast.expr, scope: _Scope) -> tuple[str, ...]:
    """Return every text that an expression can be, or hold."""
    if scope.depth > 12 or _FORWARDED.search(ast.unparse(expression)):
        return ()
    if type(expression) in _HOLDERS:
        return tuple(text for one in _held(expression) for text in _texts(one, scope))
    match expression:
        case ast.Constant(value=value):
            return (value,) if isinstance(value, str) else ()
        case ast.JoinedStr(values=values):
            return ("".join(_piece(one, scope) for one in values),)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _added(_texts(left, scope), _texts(right, scope), left)
        case ast.Name(id=name):
            return _named(name, scope)
        case ast.Call():
            return _called(expression, scope)
        case ast.Attribute(attr=name):
            return _property(name, scope)
    raise UnresolvedStepError(f"{scope.module.path}: {ast.unparse(expression)}")


def _held(expression: ast.expr) -> Iterator[ast.expr]:
    for name in _HOLDERS[type(expression)]:
        value = getattr(expression, name)
        yield from value if isinstance(value, list) else [value]


def _piece(expression: ast.expr, scope: _Scope) -> str:
    """Return a part of a formatted text: what is written as it is, else the gap."""
    if isinstance(expression, ast.Constant):
        return str(expression.value)
    assert isinstance(expression, ast.FormattedValue)
    if isinstance(expression.value, ast.Name) and expression.value.id.isupper():
        return "".join(_texts(expression.value, scope)) or GAP
    return GAP


def _added(left: tuple[str, ...], right: tuple[str, ...], first: ast.expr) -> tuple[str, ...]:
    if isinstance(first, ast.Tuple | ast.List):
        return (*left, *right)
    return tuple(f"{one}{other}" for one in left or (GAP,) for other in right or (GAP,))


def _named(name: str, scope: _Scope) -> tuple[str, ...]:
    deeper = _Scope(scope.module, scope.function, scope.depth + 1)
    if scope.function is not None:
        values = [value for node in ast.walk(scope.function) if isinstance(node, ast.stmt)
                  for target, value in _assigned(node) if target == name]  # fmt: skip
        if values:
            return _first_and_more(values, deeper, scope.function, name)
        if name in _parameters(scope.function):
            return _from_callers(name, scope)
    module = scope.module
    if name in module.constants:
        return _texts(module.constants[name], _Scope(module, None, scope.depth + 1))
    if name in module.imported:
        other = _modules().get(module.imported[name])
        if other is not None and name in other.constants:
            return _texts(other.constants[name], _Scope(other, None, scope.depth + 1))
    raise UnresolvedStepError(f"{module.path}: {name}")


def _first_and_more(
    values: Iterable[ast.expr], scope: _Scope, function: ast.FunctionDef, name: str
) -> tuple[str, ...]:
    """Return what is assigned to a name; a text that is added to is one text."""
    added = [node.value for node in ast.walk(function) if isinstance(node, ast.AugAssign)
             and isinstance(node.target, ast.Name) and node.target.id == name]  # fmt: skip
    plain = [text for one in values if one not in added for text in _texts(one, scope)]
    more = [text for one in added for text in _texts(one, scope)]
    if added and not all(isinstance(one, ast.Tuple) for one in added):
        return (*plain, *(f"{one}{text}" for one in plain for text in more))
    return (*plain, *more)


def _parameters(function: ast.FunctionDef) -> list[str]:
    given = function.args
    return [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]


_given: dict[tuple[Path, str, str], tuple[str, ...] | UnresolvedStepError] = {}
"""What callers give for a parameter; empty while it is looked for, as where functions call each
other."""


def _from_callers(name: str, scope: _Scope) -> tuple[str, ...]:
    """Return what the callers of a function give for a parameter."""
    assert scope.function is not None
    key = (scope.module.path, scope.function.name, name)
    if key not in _given:
        _given[key] = ()
        try:
            _given[key] = tuple(_given_by_callers(name, scope))
        except UnresolvedStepError as error:
            _given[key] = error
    found = _given[key]
    if isinstance(found, UnresolvedStepError):
        raise found
    return found


def _given_by_callers(name: str, scope: _Scope) -> Iterator[str]:
    assert scope.function is not None
    for module in _modules().values():
        if scope.function.name not in (*module.functions, *module.imported):
            continue
        for function, call in _calls_by_name(module.path).get(scope.function.name, ()):
            given = _argument(call, name, scope.function)
            if given is not None:
                yield from _texts(given, _Scope(module, function, scope.depth + 1))


def _argument(call: ast.Call, name: str, function: ast.FunctionDef) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    place = [one for one in _parameters(function) if one != "self"].index(name)
    return call.args[place] if len(call.args) > place else None


def _property(name: str, scope: _Scope) -> tuple[str, ...]:
    """Return what the only property of a name returns."""
    found = [one for one in _modules().values() if name in one.functions
             and "property" in map(_name_of, one.functions[name].decorator_list)]  # fmt: skip
    if len(found) != 1:
        raise UnresolvedStepError(f"{scope.module.path}: {name}")
    return _returned(found[0], name, scope)


def _returned(module: _Module, name: str, scope: _Scope) -> tuple[str, ...]:
    inside = module.functions[name]
    deeper = _Scope(module, inside, scope.depth + 1)
    values = [node.value for node in ast.walk(inside)
              if isinstance(node, ast.Return | ast.Yield) and node.value is not None]  # fmt: skip
    return tuple(text for one in values for text in _texts(one, deeper))


def _called(call: ast.Call, scope: _Scope) -> tuple[str, ...]:
    """Return what a function returns; of a method on a text, the text."""
    name = _name_of(call.func)
    if name in ("tuple", "list", "fromkeys"):
        return tuple(text for one in call.args for text in _texts(one, scope))
    module = scope.module
    if name not in module.functions and name in module.imported:
        module = _modules().get(module.imported[name], module)
    if name in module.functions:
        return _returned(module, name, scope)
    if name == "str":
        return (GAP,)  # the words of another library
    if isinstance(call.func, ast.Attribute):
        return tuple(re.sub(r"\{[^}]*\}", GAP, text) for text in _texts(call.func.value, scope))
    raise UnresolvedStepError(f"{scope.module.path}: {ast.unparse(call)}")
