"""Values that Python code reaches, written out so that they can be compared."""

from __future__ import annotations

import enum
import functools
import hashlib
import re
import sys
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from pathlib import Path, PurePath
from types import FunctionType, MethodType, ModuleType
from typing import Any
from uuid import UUID

from holdfast.spark.query.usercode import is_installed, is_library

_MOST_VALUES = 100_000
_DEEPEST = 12
PLAIN = (
    *(bool, int, float, complex, str, bytes, Decimal, date, datetime, time, timedelta, UUID),
    *(PurePath, tzinfo, type(None), type(...), range),
)
"""Types whose values show themselves whole."""
_CONTAINERS = (dict, list, tuple, set, frozenset)


def is_pyspark(kind: type) -> bool:
    """Tell whether a class is pyspark's own."""
    return (kind.__module__ or "").partition(".")[0] == "pyspark"


def is_foreign(module: str | None, file: str | None = None) -> bool:
    """Tell whether a module belongs to a library and not to the user's project."""
    loaded = sys.modules.get(module or "")
    if loaded is not None and module != "__main__":
        return is_library(loaded)
    return file is not None and is_installed(Path(file))


def plain_lines(value: Any) -> list[str] | None:
    """Write a value out that is data through and through; None where it refers to anything else."""
    lines: list[str] = []
    reached: list[Any] = []
    if not isinstance(value, (*PLAIN, *_CONTAINERS)) or not spelled(value, lines, reached, [0], 0):
        return None
    return lines if not reached and _is_plain(value) else None


def _is_plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(_is_plain(one) for pair in value.items() for one in pair)
    if isinstance(value, _CONTAINERS):
        return all(map(_is_plain, value))
    return isinstance(value, (*PLAIN, re.Pattern)) and not isinstance(value, enum.Enum)


def spelled(value: Any, lines: list[str], reached: list[Any], count: list[int], depth: int) -> bool:
    """Write a value out; False where something in it has no value that could be compared."""
    count[0] += 1
    if depth > _DEEPEST or count[0] > _MOST_VALUES:
        return False
    kind = type(value)
    if isinstance(value, enum.Enum):
        lines.append(f"{kind.__qualname__}.{value.name}")
        return True
    if isinstance(value, PLAIN):
        lines.append(f"{kind.__name__}:{value!r}")
        return True
    if isinstance(value, re.Pattern):
        lines.append(f"pattern:{value.pattern!r}:{value.flags}")
        return True
    if isinstance(value, FunctionType | MethodType | type | functools.partial | ModuleType):
        lines.append(f"reference:{getattr(value, '__qualname__', type(value).__name__)}")
        reached.append(value)
        return True
    if isinstance(value, Mapping):
        items = sorted(value.items(), key=lambda one: repr(one[0]))
        lines.append(f"{kind.__name__}:{len(items)}")
        return all(spelled(one, lines, reached, count, depth + 1) for pair in items for one in pair)
    if isinstance(value, set | frozenset):
        ordered: list[Any] = sorted(value, key=repr)
    elif isinstance(value, list | tuple):
        ordered = [*value]
    else:
        return _object(value, lines, reached, count, depth)
    lines.append(f"{kind.__name__}:{len(ordered)}")
    return all(spelled(one, lines, reached, count, depth + 1) for one in ordered)


def _object(value: Any, lines: list[str], reached: list[Any], count: list[int], depth: int) -> bool:
    kind = type(value)
    if is_pyspark(kind):
        text = _pyspark_text(value)
        lines.append(f"{kind.__qualname__}:{text}")
        return text is not None
    content = _content(value)
    if content is not None:
        lines.append(f"{kind.__module__}:{kind.__qualname__}:{content}")
        return True
    state = state_of(value)
    if state is None or is_foreign(kind.__module__):
        return False
    lines.append(f"{kind.__module__}:{kind.__qualname__}")
    return spelled(state, lines, reached, count, depth + 1)


def _content(value: Any) -> str | None:
    """Return a digest of an array or table of numbers, None for anything else."""
    package = (type(value).__module__ or "").partition(".")[0]
    if package == "numpy" and hasattr(value, "tobytes") and not value.dtype.hasobject:
        return _digest(f"{value.dtype}:{value.shape}".encode() + value.tobytes())
    if package == "pandas" and hasattr(value, "to_csv") and value.size <= _MOST_VALUES:
        return _digest(f"{type(value).__name__}:{value.to_csv()}".encode())
    return None


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def state_of(value: Any) -> dict[str, Any] | None:
    """Return the attributes of an object, those in slots too; None where it shows none."""
    slots = [
        name
        for kind in type(value).__mro__
        for name in _names(kind.__dict__.get("__slots__", ()))
        if not name.startswith("__") and hasattr(value, name)
    ]
    attributes = getattr(value, "__dict__", None)
    if attributes is None and not slots:
        return None
    return {**(attributes or {}), **{name: getattr(value, name) for name in slots}}


def _names(slots: Any) -> tuple[str, ...]:
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _pyspark_text(value: Any) -> str | None:
    """Return a text for types, columns and broadcast values of pyspark; None for what has none."""
    name = type(value).__name__
    if hasattr(value, "jsonValue"):
        return str(value.json())
    if name == "Broadcast":
        lines = plain_lines(value.value)
        return None if lines is None else _digest("\n".join(lines).encode("utf-8", "surrogatepass"))
    if name == "Column":
        return re.sub(r"#\d+L?", "", str(value))
    return None


_OF_THE_INTERPRETER = frozenset(
    (
        *("__module__", "__dict__", "__weakref__", "__doc__", "__qualname__", "__annotations__"),
        *("__abstractmethods__", "_abc_impl", "__parameters__", "__orig_bases__", "__slots__"),
        *("__firstlineno__", "__static_attributes__", "__dataclass_fields__", "__match_args__"),
        *("__dataclass_params__", "__annotate__", "__annotate_func__", "__annotations_cache__"),
    )
)


def own_names(kind: type) -> list[str]:
    """Return the names that a class of the user gives itself."""
    return [name for name in vars(kind) if name not in _OF_THE_INTERPRETER]
