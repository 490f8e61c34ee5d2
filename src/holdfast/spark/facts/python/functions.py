"""The Python functions that a query calls, and what they reach: code, constants, libraries.

A function of the user is followed through the names that it uses: functions and classes of the
project by their code, constants by their values, libraries by their versions. What can't be
followed is said.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from holdfast.records.facts import CONSTANT, FunctionFacts, reach_text
from holdfast.spark.facts.python.code import (
    code_digest,
    definition_of,
    free_names,
    gets_by_name,
    names_in_defaults,
)
from holdfast.spark.facts.python.names import (
    called_methods,
    changed_globals,
    codes_in,
    global_names,
    imports_of,
)
from holdfast.spark.facts.python.outside import (
    DYNAMIC,
    attribute_outside,
    module_outside,
    reads_files,
    value_outside,
)
from holdfast.spark.facts.python.reach import reach_digests
from holdfast.spark.facts.python.values import (
    PLAIN,
    is_foreign,
    is_pyspark,
    own_names,
    plain_lines,
    spelled,
)
from holdfast.spark.query.usercode import is_installed, is_library

_MOST_PARTS = 500
ALL = "what its names stand for"
"""The part that is of all others together."""
_DEEPEST = 12
_OF_WRAPPERS = frozenset(("__wrapped__", "registry"))
"""Attributes of functions that are followed by themselves."""


def function_facts(function: Callable[..., Any], kind: str) -> FunctionFacts:
    """Return the facts of a function, with all that it reaches."""
    followed = _Followed()
    followed.value(users_own(function), "")
    digests = reach_digests(users_own(function), users_own, by_place=kind == "state")
    reached = {ALL: reach_text(digests)}
    return FunctionFacts(
        name=function_name(function),
        kind=kind,
        parts={**dict(sorted(followed.parts.items())), **reached},
        unfollowed=tuple(sorted(followed.unfollowed)),
        place=_place(function),
    )


def function_name(function: Any) -> str:
    """Return `module:qualified name` of a function or of an object that is called."""
    inner = users_own(function)
    while isinstance(inner, functools.partial):
        inner = users_own(inner.func)
    if not hasattr(inner, "__qualname__"):
        inner = type(inner)
    return f"{getattr(inner, '__module__', None) or '?'}:{inner.__qualname__}"


def users_own(function: Any) -> Any:
    """Return the user's own function behind what pyspark or Holdfast wraps around it."""
    for _ in range(_DEEPEST):
        if isinstance(function, MethodType):
            owner = function.__self__
            processor = getattr(owner, "_stateful_processor", None)
            if processor is None:
                return function
            function = processor
        elif _is_ours(function) and hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        elif _is_wrapper(function):
            function = function.func
        else:
            return function
    return function


def _is_wrapper(function: Any) -> bool:
    """Tell whether this is what pyspark's `udf` makes of a function."""
    if not callable(getattr(function, "func", None)) or isinstance(function, functools.partial):
        return False
    code = getattr(function, "__code__", None)
    return is_pyspark(type(function)) or (code is not None and "pyspark" in code.co_filename)


def _is_ours(function: Any) -> bool:
    code = getattr(function, "__code__", None)
    return code is not None and code.co_name == "called" and "usercode" in code.co_filename


def _place(function: Any) -> str | None:
    inner = users_own(function)
    while isinstance(inner, functools.partial):
        inner = inner.func
    code = getattr(inspect.unwrap(inner) if callable(inner) else inner, "__code__", None)
    if code is not None:
        return f"{code.co_filename}:{code.co_firstlineno}"
    kind = inner if isinstance(inner, type) else type(inner)
    try:
        file = inspect.getsourcefile(kind)
        return None if file is None else f"{file}:{inspect.getsourcelines(kind)[1]}"
    except (OSError, TypeError):
        return None


class _Followed:
    """What a function reaches: digests of the parts by their names."""

    def __init__(self) -> None:
        self.parts: dict[str, str] = {}
        self.unfollowed: set[str] = set()
        self._seen: dict[int, object] = {}
        """By identity; with the object, so that no other gets its identity."""

    def value(self, value: Any, name: str) -> None:
        """Follow a value that is used under a name."""
        if isinstance(value, PLAIN):
            self._constant(value, name)
            return
        if id(value) in self._seen:
            return
        if len(self.parts) >= _MOST_PARTS:
            self.unfollowed.add(f"more than {_MOST_PARTS} parts")
            return
        self._seen[id(value)] = value
        outside = value_outside(value)
        if outside is not None:
            self.unfollowed.add(f"{name or 'a value'} {outside}")
        if outside is None or callable(value):
            self._object(users_own(value), name)

    def _object(self, value: Any, name: str) -> None:
        if isinstance(value, FunctionType):
            self._function(value)
        elif isinstance(value, MethodType):
            self.value(value.__func__, name)
            self.value(value.__self__, f"{name or function_name(value)}: self")
        elif isinstance(value, functools.partial):
            self._partial(value, name)
        elif hasattr(value, "__wrapped__") and callable(value):
            self.value(value.__wrapped__, name)
        elif isinstance(value, type):
            self._class(value)
        elif isinstance(value, ModuleType):
            self._module(value, name)
        elif isinstance(value, BuiltinFunctionType):
            self._library(value.__module__)
        else:
            self._constant(value, name)

    def _partial(self, value: functools.partial[Any], name: str) -> None:
        self.value(value.func, name)
        owner = name or function_name(value)
        for place, argument in enumerate(value.args):
            self.value(argument, f"{owner}: argument {place}")
        for key, argument in sorted(value.keywords.items()):
            self.value(argument, f"{owner}: argument {key}")

    def _function(self, function: FunctionType) -> None:
        if is_foreign(function.__module__, function.__code__.co_filename):
            self._library(function.__module__)
            return
        name = f"{function.__module__}:{function.__qualname__}"
        code = function.__code__
        values = self._values(code, function.__globals__)
        self.parts[self._free_name(name)] = code_digest(code, values)
        self._defaults(function, name)
        self._closure(function, name)
        self._attributes(function, name)
        self._code(code, function.__globals__, name, values)

    def _values(self, code: CodeType, names: Mapping[str, Any]) -> dict[str, str]:
        """Return digests of the plain values behind the global names in a code, by their spelling.

        They are a part of the code's own digest: the names of constants decide nothing.
        """
        found: dict[str, str] = {}
        codes = [] if definition_of(code) is None else [*codes_in(code)]
        changed = {name for one in codes for name in changed_globals(one)}
        used = (chain for one in codes for chain in (*global_names(one), *names_in_defaults(one)))
        for chain in used:
            if chain[0] not in names or chain[0] in changed:
                continue
            value, reached = _looked_up(chain, names)
            spelling = ".".join(reached)
            lines = None if spelling in found else plain_lines(value)
            if lines is not None:
                found[spelling] = f"{CONSTANT}{_digest(chr(10).join(lines))}"
        return found

    def _free_name(self, name: str) -> str:
        """Return a name that no other part has: two lambdas may share theirs."""
        number = 2
        free = name
        while free in self.parts:
            free = f"{name} ({number})"
            number += 1
        return free

    def _defaults(self, function: FunctionType, name: str) -> None:
        for place, value in enumerate(function.__defaults__ or ()):
            self.value(value, f"{name}: default {place}")
        for key, value in sorted((function.__kwdefaults__ or {}).items()):
            self.value(value, f"{name}: default {key}")

    def _closure(self, function: FunctionType, name: str) -> None:
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        for place, free in enumerate(free_names(function.__code__)):
            try:
                value = cells[free].cell_contents
            except ValueError:
                # It is assigned after the function was made, or never.
                self.unfollowed.add(f"{name} uses {free} before it has a value")
                continue
            self.value(value, f"{name}: closure {place}")

    def _attributes(self, function: FunctionType, name: str) -> None:
        if is_installed(Path(function.__code__.co_filename)):
            return  # made by a library around the user's own
        for key, value in sorted(vars(function).items()):
            lines = plain_lines(value)
            if lines is not None:
                # The digest of all has its value; records of earlier releases have no such part.
                part = f"{CONSTANT}{_digest(chr(10).join(lines))}"
                self.parts[self._free_name(f"{name}.{key}")] = part
            elif key not in _OF_WRAPPERS:
                self.value(value, f"{name}.{key}")

    def _code(
        self, code: CodeType, names: Mapping[str, Any], owner: str, values: Mapping[str, str]
    ) -> None:
        """Follow the global names that a code uses, and those that it defines inside."""
        for chain in global_names(code):
            self._global(chain, names, owner, values)
        if "getattr" in code.co_names and "getattr" not in names and gets_by_name(code):
            self.unfollowed.add(f"{owner} looks attributes up by name (getattr)")
        if reads_files(code.co_names, frozenset(called_methods(code))):
            self.unfollowed.add(f"{owner} opens files")
        if any(changed_globals(code)):
            self.unfollowed.add(f"{owner} changes global variables")
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self._code(constant, names, owner, values)
        for module, names_of_it in imports_of(code):
            self._imported(module, names_of_it, code, owner)

    def _global(
        self,
        chain: tuple[str, ...],
        names: Mapping[str, Any],
        owner: str,
        values: Mapping[str, str],
    ) -> None:
        if chain[0] not in names:
            if chain[0] in DYNAMIC:
                self.unfollowed.add(f"{owner} {DYNAMIC[chain[0]]}")
            return
        value, reached = _looked_up(chain, names)
        if isinstance(value, ModuleType):
            self._of_module(value, chain[len(reached) :], owner)
            return
        spelling = ".".join(reached)
        name = f"{names.get('__name__', '?')}:{spelling}"
        if spelling not in values:
            self.value(value, name)
        elif self.parts.get(name) != values[spelling]:
            self.parts[self._free_name(name)] = values[spelling]

    def _of_module(self, module: ModuleType, attributes: tuple[str, ...], owner: str) -> None:
        """Follow what a code takes of a module, or the module itself."""
        if not is_library(module):
            self.unfollowed.add(f"{owner} uses the module {module.__name__} as a value")
        elif attributes:
            self._library(module.__name__)
            self._note_outside(module, attributes, owner)
        else:
            self._module(module, owner)

    def _note_outside(self, module: ModuleType, attributes: tuple[str, ...], owner: str) -> None:
        outside = attribute_outside(module, *attributes)
        if outside is not None:
            self.unfollowed.add(f"{owner} {outside}")

    def _imported(self, name: str, attributes: tuple[str, ...], code: CodeType, owner: str) -> None:
        """Follow an import inside of a function, where the module is loaded already."""
        module = sys.modules.get(name)
        file = _file_of_module(name)
        if file is not None and (module is None or not attributes):
            # Which of its names are used is not followed: the whole file is compared.
            self.parts[f"{name}:"] = f"file:{_digest(file.read_bytes().hex())}"
        elif module is None:
            self.unfollowed.add(f"{owner} imports {name} when it runs")
        elif is_library(module):
            self._library(name)
            for attribute in code.co_names:
                self._note_outside(module, (attribute,), owner)
        elif not attributes or not all(hasattr(module, one) for one in attributes):
            self.unfollowed.add(f"{owner} imports {name} when it runs")
        else:
            for one in attributes:
                self.value(getattr(module, one), f"{name}:{one}")

    def _class(self, kind: type) -> None:
        if is_foreign(kind.__module__):
            self._library(kind.__module__)
            return
        name = f"{kind.__module__}:{kind.__qualname__}"
        self.parts[name] = f"class:{_digest(','.join(sorted(own_names(kind))))}"
        for base in kind.__mro__[1:]:
            self.value(base, base.__name__)
        for key in sorted(own_names(kind)):
            value = inspect.getattr_static(kind, key)
            if isinstance(value, staticmethod | classmethod):
                value = value.__func__
            if isinstance(value, property):
                for part in (value.fget, value.fset):
                    if part is not None:
                        self.value(part, f"{name}.{key}")
            else:
                self.value(value, f"{name}.{key}")

    def _module(self, module: ModuleType, name: str) -> None:
        """Follow a module that is a value: which of its names are used is not known."""
        if not is_library(module):
            self.unfollowed.add(f"{name or 'a value'} is the module {module.__name__}")
            return
        self._library(module.__name__)
        outside = module_outside(module)
        if outside is not None:
            self.unfollowed.add(f"{name or 'a value'} {outside}")

    def _library(self, module: str | None) -> None:
        top = (module or "").partition(".")[0]
        if not top or top in sys.stdlib_module_names or top in ("pyspark", "py4j", "holdfast"):
            return
        version = _version(top)
        if version is None:
            self.unfollowed.add(f"library {top} (not installed as a package, without a version)")
        else:
            self.parts[f"library {top}"] = f"version:{version}"

    def _constant(self, value: Any, name: str) -> None:
        lines: list[str] = []
        reached: list[Any] = []
        if spelled(value, lines, reached, [0], 0):
            self.parts[self._free_name(name or f"{function_name(value)}: object")] = (
                f"value:{_digest(chr(10).join(lines))}"
            )
        else:
            self.unfollowed.add(f"{name or 'a value'} ({type(value).__qualname__})")
        for one in reached:
            self.value(one, f"{name}: part")
        if not isinstance(value, (*PLAIN, dict, list, set, tuple, frozenset)):
            self.value(type(value), type(value).__name__)


def _looked_up(chain: tuple[str, ...], names: Mapping[str, Any]) -> tuple[Any, list[str]]:
    """Return what names lead to through the user's own modules, and how far that is."""
    value, reached = names[chain[0]], [chain[0]]
    for name in chain[1:]:
        if not isinstance(value, ModuleType) or is_library(value) or not hasattr(value, name):
            break
        value = getattr(value, name)
        reached.append(name)
    return value, reached


def _file_of_module(name: str) -> Path | None:
    """Return the file of a module of the user's own; None for a library and what has no file."""
    loaded = sys.modules.get(name)
    if loaded is None and "." in name:
        return None  # looking for it would import the packages above it
    try:
        origin = getattr(loaded, "__file__", None) if loaded else _origin(name)
    except (ImportError, ValueError):
        return None
    file = None if origin is None else Path(origin)
    if file is None or not file.is_file() or is_installed(file) or file.suffix != ".py":
        return None
    return file


def _origin(name: str) -> str | None:
    found = importlib.util.find_spec(name)
    return None if found is None else found.origin


@functools.lru_cache(maxsize=256)
def _version(top: str) -> str | None:
    """Return the version of a library; None where it is no package and shows none itself."""
    try:
        return importlib.metadata.version(top)
    except importlib.metadata.PackageNotFoundError:
        return _version_by_module(top)


def _version_by_module(top: str) -> str | None:
    """Return the version of a library whose package has another name, or that is none."""
    shown = getattr(sys.modules.get(top), "__version__", None)
    if shown is not None:
        return str(shown)
    names = importlib.metadata.packages_distributions().get(top, [])
    return ",".join(importlib.metadata.version(name) for name in sorted({*names})) or None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
