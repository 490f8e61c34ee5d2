"""Digests of Python code that do not change when only its looks do. Pure.

The source is preferred: it is the same for every release of Python. Where it can't be had, the
compiled code is taken. A digest begins with which of them it is of: `ast:` or `code:`.
"""

from __future__ import annotations

import ast
import hashlib
import linecache
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from types import CodeType

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


_NO_VALUES: Mapping[str, str] = {}


def code_digest(code: CodeType, values: Mapping[str, str] = _NO_VALUES) -> str:
    """Return the digest of a function's code.

    `values` has what stands in the code for global names such as `LIMIT` or `table.RATES`.
    """
    found = definition_of(code)
    if found is not None:
        return f"ast:{_short(normal_source(found, code.co_freevars, values))}"
    return f"code:{_short(_compiled(code))}"


def normal_source(
    node: ast.AST, free: Sequence[str] = (), values: Mapping[str, str] = _NO_VALUES
) -> str:
    """Return a definition without names of local variables, docstrings, annotations and places.

    `free` are the names that are local to a function around it, `values` what stands for names
    that are global.
    """
    copy = ast.parse(ast.unparse(node)).body[0]
    inner = copy.value if isinstance(copy, ast.Expr) else copy
    if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
        inner.name = "_"
        # What decorates it is followed as what it refers to.
        inner.decorator_list = []
    return ast.unparse(_Renamed(free, values).visit(inner))


def names_in_defaults(code: CodeType) -> list[tuple[str, ...]]:
    """Return the names that the defaults of a function are made of, each with its attributes."""
    found = definition_of(code)
    given = [] if found is None else [*found.args.defaults, *found.args.kw_defaults]
    inside = (one for default in given if default is not None for one in ast.walk(default))
    return [tuple(name.split(".")) for one in inside if (name := _dotted(one)) is not None]


def _dotted(node: ast.AST) -> str | None:
    """Return a name with attributes as it is spelled; None for any other expression."""
    if isinstance(node, ast.Attribute):
        owner = _dotted(node.value)
        return None if owner is None else f"{owner}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else None


def free_names(code: CodeType) -> list[str]:
    """Return the names that a function takes from those around it, in the order of their use."""
    found = definition_of(code)
    if found is None:
        return [*code.co_freevars]
    used = [one.id for one in ast.walk(found) if isinstance(one, ast.Name)]
    return sorted(code.co_freevars, key=lambda one: used.index(one) if one in used else len(used))


def names_looked_up(code: CodeType) -> frozenset[str]:
    """Return the names, with attributes, in which a code does nothing but look up a key."""
    found = definition_of(code)
    nodes = [] if found is None else [*ast.walk(found)]
    uses = Counter(name for one in nodes if (name := _dotted(one)) is not None)
    lookups = Counter(name for one in nodes if (name := _looked_up_in(one)) is not None)
    return frozenset(name for name, count in lookups.items() if count == uses[name])


def _looked_up_in(node: ast.AST) -> str | None:
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        return _dotted(node.value)
    if isinstance(node, ast.Compare) and isinstance(node.ops[-1], ast.In | ast.NotIn):
        return _dotted(node.comparators[-1])
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return _dotted(node.func.value) if node.func.attr == "get" else None
    return None


def parameter_names(code: CodeType) -> list[str]:
    """Return the names by which callers may give arguments to a function, and to those inside.

    A single parameter has no other to be taken for.
    """
    found = definition_of(code)
    if found is None:
        first, last = code.co_posonlyargcount, code.co_argcount + code.co_kwonlyargcount
        inner = (one for one in code.co_consts if isinstance(one, CodeType))
        named = [code.co_varnames[first:last], *(parameter_names(one) for one in inner)]
        return [",".join(one) for one in named if len(one) > 1]
    inside = (one.args for one in ast.walk(found) if isinstance(one, _Function))
    return [
        ",".join(one.arg for one in (*given.args, *given.kwonlyargs))
        for given in inside
        if len(_all_parameters(given)) > 1
    ]


def gets_by_name(code: CodeType) -> bool:
    """Tell whether a code may call getattr with a name that is computed."""
    found = definition_of(code)
    if found is None:
        return True
    return any(
        isinstance(one, ast.Call)
        and isinstance(one.func, ast.Name)
        and one.func.id == "getattr"
        and not (len(one.args) > 1 and isinstance(one.args[1], ast.Constant))
        for one in ast.walk(found)
    )


def definition_of(code: CodeType) -> _Function | None:
    """Return the syntax tree of a function's definition; None where its source can't be had."""
    begun = _definitions(_text(code.co_filename)).get(code.co_firstlineno, ())
    found = [node for node in begun if _is_definition(node, code)]
    if len(found) > 1:
        column = _column(code)
        found = [node for node in found if node.col_offset == column]
    return found[0] if len(found) == 1 else None


def _is_definition(node: _Function, code: CodeType) -> bool:
    if code.co_name != ("<lambda>" if isinstance(node, ast.Lambda) else node.name):
        return False
    # A file that was edited after it was imported has other parameters at this line, or none.
    count = code.co_argcount + code.co_kwonlyargcount
    return tuple(_parameters(node.args))[:count] == code.co_varnames[:count]


def _parameters(given: ast.arguments) -> Iterator[str]:
    yield from (one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs))


def _column(code: CodeType) -> int | None:
    """Return the column of a lambda, where several begin in one line; Python 3.11 knows it."""
    positions = getattr(code, "co_positions", None)
    if positions is None:
        return None
    columns = [column for line, _, column, _ in positions() if line == code.co_firstlineno]
    starts = [column for column in columns if column]
    # The first instruction of the body stands after the word `lambda` and the parameters.
    return _lambda_start(code, min(starts)) if starts else None


def _lambda_start(code: CodeType, body: int) -> int | None:
    line = linecache.getline(code.co_filename, code.co_firstlineno)
    start = line.encode()[: body + 1].decode(errors="ignore").rfind("lambda")
    return None if start < 0 else len(line[:start].encode())


@lru_cache(maxsize=256)
def _definitions(text: str) -> Mapping[int, Sequence[_Function]]:
    """Return the functions of a source by their first lines; a whole file is walked once."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return {}
    found: dict[int, list[_Function]] = {}
    for node in ast.walk(tree):
        if isinstance(node, _Function):
            decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
            first = min([node.lineno, *(one.lineno for one in decorators)])
            found.setdefault(first, []).append(node)
    return found


def _text(file: str) -> str:
    linecache.checkcache(file)
    return "".join(linecache.getlines(file))


def _short(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _compiled(code: CodeType) -> str:
    """Return a text of compiled code without names of locals, lines and files."""
    constants = [
        _compiled(one) if isinstance(one, CodeType) else f"{type(one).__name__}:{_constant(one)}"
        for one in _without_docstring(code)
    ]
    parts = (
        code.co_code.hex(),
        str((code.co_argcount, code.co_kwonlyargcount, code.co_posonlyargcount, code.co_flags)),
        str(code.co_names),
        str(len(code.co_varnames)),
        *constants,
    )
    return "\n".join(parts)


def _constant(value: object) -> str:
    return str(sorted(map(repr, value))) if isinstance(value, frozenset) else repr(value)


def _without_docstring(code: CodeType) -> Sequence[object]:
    first = code.co_consts[:1]
    return code.co_consts[1:] if first and isinstance(first[0], str) else code.co_consts


class _Renamed(ast.NodeTransformer):
    """Numbers local names in the order in which they appear, and drops what has no effect."""

    def __init__(self, free: Sequence[str], values: Mapping[str, str]) -> None:
        self._values = values
        self._scopes: list[tuple[int, set[str], bool]] = []
        self._opened = 0
        self._names: dict[tuple[int, str], str] = {}
        self._open({*free})

    def _open(self, bound: set[str], *, is_class: bool = False) -> None:
        self._scopes.append((self._opened, bound, is_class))
        self._opened += 1

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._function(node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return self._function(node)

    def _function(self, node: _Function) -> ast.AST:
        self._defaults(node.args)
        if not isinstance(node, ast.Lambda):
            node.decorator_list = [self.visit(one) for one in node.decorator_list]
            node.name = self._renamed(node.name)
            node.returns = None
            node.body = _useful(node.body)
        self._open(_bound(node))
        for one in _all_parameters(node.args):
            one.arg = self._renamed(one.arg)
            one.annotation = None
        if isinstance(node, ast.Lambda):
            node.body = self.visit(node.body)
        else:
            node.body = [self.visit(one) for one in node.body]
        self._scopes.pop()
        return node

    def _defaults(self, given: ast.arguments) -> None:
        given.defaults = [self.visit(one) for one in given.defaults]
        given.kw_defaults = [None if one is None else self.visit(one) for one in given.kw_defaults]

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.bases = [self.visit(one) for one in node.bases]
        node.decorator_list = [self.visit(one) for one in node.decorator_list]
        # Names in a class are attributes: they are seen from outside, and not from its methods.
        self._open(set(), is_class=True)
        node.body = [self.visit(one) for one in _useful(node.body)]
        self._scopes.pop()
        return node

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        return self._comprehension(node)

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        return self._comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        return self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        return self._comprehension(node)

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
    ) -> ast.AST:
        bound = {name for one in node.generators for name in _stored(one.target)}
        self._open(bound)
        # The targets first: they are in the order in which one reads them.
        node.generators = [self.visit(one) for one in node.generators]
        self.generic_visit(node)
        self._scopes.pop()
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        if node.value is None:
            return None
        assigned = ast.Assign([node.target], node.value, lineno=0)
        return self.visit(assigned)  # type: ignore[no-any-return]

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self._value(node) or self._renamed(node.id)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        value = self._value(node)
        return self.generic_visit(node) if value is None else ast.Name(value, ast.Load())

    def _value(self, node: ast.Name | ast.Attribute) -> str | None:
        """Return what stands for a global name that is read; in a class it may be the class's."""
        spelled = _dotted(node)
        if spelled not in self._values or not isinstance(node.ctx, ast.Load):
            return None
        first = str(spelled).partition(".")[0]
        is_local = any(first in bound for _, bound, _ in self._scopes) or self._scopes[-1][2]
        return None if is_local else self._values[str(spelled)]

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        if node.name is not None:
            node.name = self._renamed(node.name)
        return self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> ast.AST:
        node.name = None if node.name is None else self._renamed(node.name)
        return self.generic_visit(node)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.AST:
        node.names = [self._renamed(one) for one in node.names]
        return node

    def visit_alias(self, node: ast.alias) -> ast.AST:
        local = node.asname or node.name.partition(".")[0]
        renamed = self._renamed(local)
        if renamed != local:
            node.asname = renamed
        return node

    def _renamed(self, name: str) -> str:
        for depth in range(len(self._scopes) - 1, -1, -1):
            number, bound, is_class = self._scopes[depth]
            if name in bound and not (is_class and depth < len(self._scopes) - 1):
                return self._names.setdefault((number, name), f"_{len(self._names)}")
        return name


def _useful(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return the statements without docstring and other texts that nobody reads."""
    kept = [
        one
        for one in body
        if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
    ]
    return kept or [ast.Pass()]


def _all_parameters(given: ast.arguments) -> list[ast.arg]:
    rest = [one for one in (given.vararg, given.kwarg) if one is not None]
    return [*given.posonlyargs, *given.args, *given.kwonlyargs, *rest]


def _bound(node: _Function) -> set[str]:
    """Return the names that are local to a function."""
    names = {one.arg for one in _all_parameters(node.args)}
    shared: set[str] = set()
    waiting: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else [*node.body]
    while waiting:
        one = waiting.pop()
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(one.name)
            continue
        if isinstance(one, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp):
            continue
        if isinstance(one, ast.GeneratorExp):
            continue
        if isinstance(one, ast.Global | ast.Nonlocal):
            shared |= {*one.names}
        names |= {*_binds(one)}
        waiting += ast.iter_child_nodes(one)
    return names - shared


def _binds(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
        yield node.id
    elif isinstance(node, ast.ExceptHandler) and node.name is not None:
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from (one.asname or one.name.partition(".")[0] for one in node.names)
    elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name is not None:
        yield node.name


def _stored(target: ast.AST) -> Iterator[str]:
    for one in ast.walk(target):
        if isinstance(one, ast.Name):
            yield one.id
