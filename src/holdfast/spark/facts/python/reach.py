"""One digest of all that Python code reaches, with what each of its names stands for.

Digests of single parts show which piece of code is another one. They do not show which of two
pieces a name means, what decorates a function, or how a class of the user's own changes a value.
"""

from __future__ import annotations

import enum
import functools
import hashlib
import operator
import sys
import weakref
from collections.abc import Callable, Iterator, Mapping
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

from holdfast.spark.facts.python.code import (
    code_digest,
    definition_of,
    free_names,
    names_in_defaults,
    names_looked_up,
    parameter_names,
)
from holdfast.spark.facts.python.names import changed_globals, codes_in, global_names
from holdfast.spark.facts.python.outside import is_environment
from holdfast.spark.facts.python.values import (
    PLAIN,
    is_foreign,
    is_pyspark,
    own_names,
    spelled,
    state_of,
)

_MOST = 20_000
_DEEPEST = 60


def reach_digests(
    value: Any, unwrap: Callable[[Any], Any], *, by_place: bool = False
) -> tuple[str, str]:
    """Return the digests of a function or object and of everything behind it, one of each form.

    Records of earlier releases have the first form alone: it never changes. `unwrap` returns the
    user's own function behind what others wrap around it; `by_place` tells that Spark gives the
    function its arguments by their places.
    """
    counted: frozenset[str] = frozenset() if by_place else frozenset((_OWN_NAMES,))
    while True:
        exact = _Exact(unwrap, value, counted)
        found = exact.of(value)
        if exact.met <= counted:
            return _Digests(unwrap).of(value), found
        # What is read somewhere may be that of any function or class: it counts from the start.
        counted |= exact.met


class _Digests:
    """Digests of the first form, by the identity of values; what leads back to itself is named."""

    _has_order = False

    def __init__(self, unwrap: Callable[[Any], Any]) -> None:
        self._unwrap = unwrap
        self._known: dict[int, tuple[object, str]] = {}
        self._open: set[int] = set()

    def of(self, value: Any) -> str:
        """Return the digest of a value."""
        kind = type(value)
        if isinstance(value, PLAIN) and not isinstance(value, enum.Enum) and _is_librarys(kind):
            return f"{kind.__name__}:{value!r}"
        key = id(value)
        if key in self._known:
            return self._known[key][1]
        if key in self._open:
            self._meet(value)
        if key in self._open or len(self._open) > _DEEPEST or len(self._known) > _MOST:
            return f"again:{getattr(value, '__qualname__', kind.__qualname__)}"
        self._open.add(key)
        try:
            text = "\n".join(self._lines(self._unwrap(value)))
        finally:
            self._open.discard(key)
        found = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        # With the value, so that no other one gets its identity.
        self._known[key] = (value, found)
        return found

    def _meet(self, value: Any) -> None:
        """Take note of a value that is reached from within itself."""

    def _all(self, *values: Any) -> Iterator[str]:
        yield from map(self.of, values)

    def _lines(self, value: Any) -> Iterator[str]:
        yield type(value).__name__
        if isinstance(value, FunctionType):
            yield from self._function(value)
        elif isinstance(value, type):
            yield from self._class(value)
        else:
            parts = next((parts for kind, parts in _MADE_OF if isinstance(value, kind)), None)
            yield from self._object(value) if parts is None else self._all(*parts(value))

    def _function(self, function: FunctionType) -> Iterator[str]:
        code = function.__code__
        if is_foreign(function.__module__, code.co_filename):
            yield f"{function.__module__}.{function.__qualname__}"
            return
        values = self._values(code, function.__globals__)
        yield code_digest(code, values)
        if definition_of(code) is None:
            yield from (f"{spelling}={digest}" for spelling, digest in values.items())
        # What `functools.singledispatch` chooses from.
        yield self.of(dict(getattr(function, "registry", {})))
        yield from self._all(function.__defaults__ or (), function.__kwdefaults__ or {})
        cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
        for name in free_names(code):
            try:
                yield self.of(cells[name].cell_contents)
            except ValueError:
                yield "without a value"

    def _values(self, code: CodeType, names: Mapping[str, Any]) -> dict[str, str]:
        """Return digests of what global names in a code stand for, by their spelling."""
        codes = [*codes_in(code)]
        changed = {name for one in codes for name in changed_globals(one)}
        looked_up = names_looked_up(code) if self._has_order else frozenset()
        found = {}
        for chain in (
            chain for one in codes for chain in (*global_names(one), *names_in_defaults(one))
        ):
            if chain[0] in names and chain[0] not in changed:
                value, spelling = _looked_up(chain, names)
                unordered = spelling in looked_up and type(value) is dict
                found[spelling] = self._entries(value) if unordered else self.of(value)
        return found

    def _entries(self, value: Mapping[Any, Any]) -> str:
        text = "\n".join(sorted(f"{self.of(key)}:{self.of(one)}" for key, one in value.items()))
        return f"entries:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"

    def _class(self, kind: type) -> Iterator[str]:
        yield kind.__qualname__
        if is_foreign(kind.__module__):
            yield kind.__module__
            return
        yield from self._all(*kind.__mro__[1:], type(kind))
        for name in self._names(kind):
            yield f"{name}={self.of(vars(kind)[name])}"

    def _names(self, kind: type) -> list[str]:
        return sorted(own_names(kind))

    def _object(self, value: Any) -> Iterator[str]:
        kind = type(value)
        yield from self._content(value)
        if not _is_librarys(kind):
            yield self.of(kind)
            for name, one in sorted((state_of(value) or {}).items()):
                yield f"{name}={self.of(one)}"

    def _ordered(self, items: Iterator[str]) -> list[str]:
        return sorted(items)

    def _content(self, value: Any) -> Iterator[str]:
        if isinstance(value, PLAIN):
            yield repr(value)
        elif isinstance(value, Mapping):
            yield from self._ordered(f"{self.of(key)}:{self.of(one)}" for key, one in value.items())
            yield self.of(getattr(value, "default_factory", None))
        elif isinstance(value, set | frozenset):
            yield from sorted(map(self.of, value))
        elif isinstance(value, list | tuple):
            yield from self._all(*value)
        elif _is_librarys(type(value)) or is_pyspark(type(value)):
            yield str(getattr(value, "__name__", ""))
            lines: list[str] = []
            yield from lines if spelled(value, lines, [], [0], 0) else ()


_DOCSTRINGS, _CLASS_ORDER = "__doc__", "__dict__"
_OWN_NAMES = "names of the parameters"


class _Exact(_Digests):
    """Digests of the second form, with all that may decide a result: the order of mappings, names
    of parameters, attributes of functions, and docstrings and the order in classes if they are
    read."""

    _has_order = True

    def __init__(
        self, unwrap: Callable[[Any], Any], first: object, counted: frozenset[str]
    ) -> None:
        super().__init__(unwrap)
        self._first = first
        self._begun = False
        self._counted = counted
        self.met: set[str] = set()

    def of(self, value: Any) -> str:
        if is_environment(value) or value is sys.modules:
            return f"outside:{type(value).__name__}"
        return super().of(value)

    def _meet(self, value: Any) -> None:
        if value is self._first:
            self.met.add(_OWN_NAMES)

    def _function(self, function: FunctionType) -> Iterator[str]:
        if function is self._first:
            if self._begun:
                self.met.add(_OWN_NAMES)
            self._begun = True
        yield from super()._function(function)
        code = function.__code__
        if is_foreign(function.__module__, code.co_filename):
            return
        for one in codes_in(code):
            self.met |= {_DOCSTRINGS, _CLASS_ORDER} & {*one.co_names, *_texts(one)}
        if function is not self._first or _OWN_NAMES in self._counted:
            yield from parameter_names(code)
        if _DOCSTRINGS in self._counted:
            yield repr(function.__doc__)
        for name, value in sorted(vars(function).items()):
            if name != "registry":
                yield f"{name}={self.of(value)}"

    def _class(self, kind: type) -> Iterator[str]:
        yield from super()._class(kind)
        if _DOCSTRINGS in self._counted and not is_foreign(kind.__module__):
            yield repr(kind.__doc__)

    def _names(self, kind: type) -> list[str]:
        return own_names(kind) if _CLASS_ORDER in self._counted else super()._names(kind)

    def _ordered(self, items: Iterator[str]) -> list[str]:
        return [*items]

    def _content(self, value: Any) -> Iterator[str]:
        if is_pyspark(type(value)) and type(value).__name__ == "Broadcast":
            yield self.of(value.value)
        else:
            yield from super()._content(value)


def _texts(code: CodeType) -> Iterator[str]:
    return (one for one in code.co_consts if isinstance(one, str))


Parts = Callable[[Any], tuple[Any, ...]]
_MADE_OF: tuple[tuple[type | tuple[type, ...], Parts], ...] = (
    (ModuleType, lambda one: (one.__name__,)),
    (MethodType, lambda one: (one.__func__, one.__self__)),
    (
        (functools.partial, functools.partialmethod),
        lambda one: (one.func, one.args, one.keywords),
    ),
    ((staticmethod, classmethod), lambda one: (one.__func__,)),
    (property, lambda one: (one.fget, one.fset)),
    (functools.cached_property, lambda one: (one.func,)),
    (type(functools.lru_cache(print)), lambda one: (one.__wrapped__,)),
    (
        (BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType),
        lambda one: (
            one.__qualname__,
            getattr(one, "__self__", getattr(one, "__objclass__", None)),
        ),
    ),
    (enum.Enum, lambda one: (one.name, one.value, type(one))),
    (weakref.WeakKeyDictionary, lambda _: ()),
    (
        (operator.itemgetter, operator.attrgetter, operator.methodcaller),
        lambda one: one.__reduce__()[1],
    ),
)
"""What stands for objects of these types."""


def _is_librarys(kind: type) -> bool:
    return kind.__module__ == "builtins" or is_foreign(kind.__module__)


def _looked_up(chain: tuple[str, ...], names: Mapping[str, Any]) -> tuple[Any, str]:
    """Return what names lead to through modules, and how far that is."""
    value, reached = names[chain[0]], chain[:1]
    for name in chain[1:]:
        if not isinstance(value, ModuleType) or not hasattr(value, name):
            break
        value, reached = getattr(value, name), (*reached, name)
    return value, ".".join(reached)
