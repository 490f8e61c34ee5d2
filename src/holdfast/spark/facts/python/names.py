"""The names that compiled Python code takes from outside of itself. Pure."""

from __future__ import annotations

import dis
from collections.abc import Iterator
from types import CodeType

_GLOBAL = frozenset(("LOAD_GLOBAL", "LOAD_NAME"))
_ATTRIBUTE = frozenset(("LOAD_ATTR", "LOAD_METHOD"))


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """Yield a code and those that are defined inside of it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_in(constant)


def global_names(code: CodeType) -> Iterator[tuple[str, ...]]:
    """Yield the global names that a code uses, each with the attributes that it takes of it."""
    chain: list[str] = []
    for one in dis.get_instructions(code):
        if one.opname in _GLOBAL:
            if chain:
                yield tuple(chain)
            chain = [str(one.argval)]
        elif one.opname in _ATTRIBUTE and chain:
            chain.append(str(one.argval))
        elif one.opname not in ("PUSH_NULL", "CACHE", "PRECALL", "NOP"):
            if chain:
                yield tuple(chain)
            chain = []
    if chain:
        yield tuple(chain)


def called_methods(code: CodeType) -> Iterator[str]:
    """Yield the names of the methods that a code calls."""
    for one in dis.get_instructions(code):
        # Since Python 3.12 an attribute is loaded as a method by a flag.
        if one.opname == "LOAD_METHOD" or (one.opname == "LOAD_ATTR" and "NULL" in one.argrepr):
            yield str(one.argval)


def changed_globals(code: CodeType) -> Iterator[str]:
    """Yield the global names that a code assigns to."""
    for one in dis.get_instructions(code):
        if one.opname == "STORE_GLOBAL":
            yield str(one.argval)


def imports_of(code: CodeType) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the modules that a code imports, each with the names that it takes of it."""
    name: str | None = None
    taken: list[str] = []
    for one in dis.get_instructions(code):
        if one.opname == "IMPORT_NAME":
            if name is not None:
                yield name, tuple(taken)
            name, taken = str(one.argval), []
        elif one.opname == "IMPORT_FROM":
            taken.append(str(one.argval))
    if name is not None:
        yield name, tuple(taken)
