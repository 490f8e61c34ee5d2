"""One digest of all that Python code reaches, with what each of its names stands for.

Digests of single parts show which piece of code is another one. They do not show which of two
pieces a name means, what decorates a function, or how a class of the user's own changes a value.
"""

from __future__ import annotations

import enum
import functools
import hashlib
import operator
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
)
from holdfast.spark.facts.python.names import changed_globals, codes_in, global_names
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


def reach_digest(value: Any, unwrap: Callable[[Any], Any]) -> str:
    """Return the digest of a function or object and of everything behind it.

    `unwrap` returns the user's own function behind what others wrap around it.
    """
    return _Digests(unwrap).of(value)


class _Digests:
    """Digests of values by their identity; what leads back to itself is named."""

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
        found = {}
        for chain in (
            chain for one in codes for chain in (*global_names(one), *names_in_defaults(one))
        ):
            if chain[0] in names and chain[0] not in changed:
                value, spelling = _looked_up(chain, names)
                found[spelling] = self.of(value)
        return found

    def _class(self, kind: type) -> Iterator[str]:
        yield kind.__qualname__
        if is_foreign(kind.__module__):
            yield kind.__module__
            return
        yield from self._all(*kind.__mro__[1:], type(kind))
        for name in sorted(own_names(kind)):
            yield f"{name}={self.of(vars(kind)[name])}"

    def _object(self, value: Any) -> Iterator[str]:
        kind = type(value)
        yield from self._content(value)
        if not _is_librarys(kind):
            yield self.of(kind)
            for name, one in sorted((state_of(value) or {}).items()):
                yield f"{name}={self.of(one)}"

    def _content(self, value: Any) -> Iterator[str]:
        if isinstance(value, PLAIN):
            yield repr(value)
        elif isinstance(value, Mapping):
            yield from sorted(f"{self.of(key)}:{self.of(one)}" for key, one in value.items())
            yield self.of(getattr(value, "default_factory", None))
        elif isinstance(value, set | frozenset):
            yield from sorted(map(self.of, value))
        elif isinstance(value, list | tuple):
            yield from self._all(*value)
        elif _is_librarys(type(value)) or is_pyspark(type(value)):
            yield str(getattr(value, "__name__", ""))
            lines: list[str] = []
            yield from lines if spelled(value, lines, [], [0], 0) else ()


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
