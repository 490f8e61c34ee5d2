"""What Python code takes from outside of itself: files, the environment, the network, names."""

from __future__ import annotations

import os
import sys
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

_FILES = "opens files"
_BY_NAME = "looks names up at run time"
_ENVIRONMENT = "reads the environment"
_PROGRAMS = "starts other programs"
DYNAMIC = {
    "eval": "runs text as code (eval)",
    "exec": "runs text as code (exec)",
    "globals": "looks names up at run time (globals)",
    "vars": "looks names up at run time (vars)",
    "__import__": "imports by name at run time",
    "open": _FILES,
    "input": "reads from the terminal",
}
"""Builtins whose results the code alone does not decide."""
_OUTSIDE = {
    "requests": "uses the network",
    "httpx": "uses the network",
    "aiohttp": "uses the network",
    "socket": "uses the network",
    "urllib": "uses the network",
    "http": "uses the network",
    "boto3": "uses the network",
    "redis": "uses the network",
    "psycopg": "uses a database",
    "psycopg2": "uses a database",
    "sqlite3": "uses a database",
    "sqlalchemy": "uses a database",
    "importlib": "imports by name at run time",
    "runpy": "imports by name at run time",
    "subprocess": _PROGRAMS,
    "random": "uses random numbers",
    "linecache": _FILES,
    "fileinput": _FILES,
}
_PURE = frozenset(("urllib.parse", "http"))
_ATTRIBUTES = {
    "os": {
        **dict.fromkeys(("environ", "environb", "getenv", "getenvb"), _ENVIRONMENT),
        **dict.fromkeys(("expandvars", "expanduser"), _ENVIRONMENT),
        **dict.fromkeys(("open", "listdir", "scandir", "walk"), _FILES),
        **dict.fromkeys(("system", "popen"), _PROGRAMS),
    },
    "sys": {"modules": _BY_NAME},
    "pydoc": {"locate": _BY_NAME, "resolve": _BY_NAME},
    "pkgutil": {"resolve_name": _BY_NAME, "get_data": _FILES},
    "pickle": dict.fromkeys(("load", "loads", "Unpickler"), _BY_NAME),
    "io": dict.fromkeys(("open", "open_code"), _FILES),
    "codecs": {"open": _FILES},
    "builtins": DYNAMIC,
    "numpy": dict.fromkeys(("load", "loadtxt", "genfromtxt", "fromfile", "memmap"), _FILES),
}
_SAME_MODULE = {
    **dict.fromkeys(("posix", "nt", "posixpath", "ntpath", "genericpath"), "os"),
    **dict.fromkeys(("_pickle", "cloudpickle", "dill"), "pickle"),
    "_io": "io",
}
_READING = frozenset(("read_text", "read_bytes"))


def attribute_outside(module: ModuleType, *attributes: str) -> str | None:
    """Return in words what code takes from outside by attributes of a library's module."""
    return _named(module.__name__, *attributes)


def _named(module: str, *attributes: str) -> str | None:
    top = module.partition(".")[0]
    top = _SAME_MODULE.get(top, top)
    known = _ATTRIBUTES.get(top, {})
    for one in attributes:
        if one in known:
            return known[one]
        if top == "pandas" and one.startswith("read_"):
            return _FILES
    return f"{_OUTSIDE[top]} ({top})" if top in _OUTSIDE else None


def module_outside(module: ModuleType) -> str | None:
    """Return in words what code may take from outside that has a library's module as a value."""
    top = module.__name__.partition(".")[0]
    if _SAME_MODULE.get(top, top) in _ATTRIBUTES or top == "pandas":
        return f"has the module {module.__name__} as a value"
    return _named(module.__name__)


def value_outside(value: Any) -> str | None:
    """Return in words what a value of Python or of a library takes from outside."""
    if is_environment(value):
        return _ENVIRONMENT
    if value is sys.modules:
        return _BY_NAME
    if not isinstance(value, FunctionType | BuiltinFunctionType | MethodType):
        return None
    module = value.__module__ or type(getattr(value, "__self__", None)).__module__
    return None if module in _PURE else _named(module, getattr(value, "__name__", ""))


def is_environment(value: Any) -> bool:
    """Tell whether a value is the environment of a process; Spark sends a copy to its workers."""
    return type(value) is type(os.environ)


def reads_files(names: tuple[str, ...], methods: frozenset[str]) -> bool:
    """Tell whether code reads files by the methods of a path, whatever object it is."""
    return not _READING.isdisjoint(names) or "open" in methods
