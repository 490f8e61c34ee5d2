"""Runs the user's code as if it had been started in its own folder, and cleans up behind it.

Inside of `at_home` the folder stands first on Python's path, and plain names (`import helpers`)
mean its modules, also when another project of this process has modules with the same names: those
are set aside and put back. What was imported is kept, so that a module is loaded once a folder.

What a function on an executor needs of these modules travels with it, because they can't be
imported there.
"""

from __future__ import annotations

import sys
import sysconfig
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from pyspark.cloudpickle import register_pickle_by_value

_INSTALLED = tuple(
    Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib")
)
_OURS = frozenset(("__init__", "__main__", "holdfast", "py4j", "pyspark"))


@dataclass(eq=False)
class _Stay:
    """One folder that is at home now: jobs side by side are its guests, the last one tidies up."""

    folder: Path
    names: set[str]
    strangers: dict[str, ModuleType]
    guests: int = 0


_lock = threading.RLock()
_stays: list[_Stay] = []
"""The newest one last."""
_loaded: dict[Path, dict[str, ModuleType]] = {}
_travelling: set[str] = set()


@contextmanager
def at_home(folder: Path) -> Iterator[None]:
    """Let plain names mean the modules of this folder while the block runs."""
    folder = folder.resolve()
    with _lock:
        if not _stays or _stays[-1].folder != folder:
            names = _offered(folder)
            _stays.append(_Stay(folder, names, _enter(folder, names)))
        stay = _stays[-1]
        stay.guests += 1
    try:
        yield
    finally:
        with _lock:
            stay.guests -= 1
            if stay.guests == 0:
                _leave(folder, stay.names, stay.strangers)
                _stays.remove(stay)


def is_at_home(module: ModuleType, folder: Path) -> bool:
    """Tell whether a module was loaded from this folder, and not from a library inside of it."""
    place = _place(module)
    return place is not None and place.is_relative_to(folder.resolve()) and not _installed(place)


def _enter(folder: Path, names: set[str]) -> dict[str, ModuleType]:
    strangers = {
        name: module
        for name, module in [*sys.modules.items()]
        if _top(name) in names and not is_at_home(module, folder) and not _is_library(module)
    }
    for name in strangers:
        del sys.modules[name]
    sys.modules.update(_loaded.get(folder, {}))
    sys.path.insert(0, str(folder))
    for name in names - _travelling:
        _let_travel(name)
    return strangers


def _leave(folder: Path, names: set[str], strangers: Mapping[str, ModuleType]) -> None:
    with suppress(ValueError):
        sys.path.remove(str(folder))
    own = {
        name: module
        for name, module in [*sys.modules.items()]
        if _top(name) in names and is_at_home(module, folder)
    }
    _loaded[folder] = own
    contested = {_top(name) for name in strangers}
    for name in own:
        if _top(name) in contested:
            del sys.modules[name]
    sys.modules.update(strangers)


def _offered(folder: Path) -> set[str]:
    """Name what can be imported from the folder, except what Python has under the same name."""
    files = {path.stem for path in folder.glob("*.py")}
    packages = {path.parent.name for path in folder.glob("*/*.py")}
    names = {name for name in files | packages if name.isidentifier()}
    return names - sys.stdlib_module_names - _OURS


def _let_travel(name: str) -> None:
    """Have functions of this module sent to executors as they are, not by the module's name."""
    _travelling.add(name)
    present = sys.modules.get(name)
    if present is not None:
        if not _is_library(present):
            register_pickle_by_value(present)  # type: ignore[no-untyped-call]
        return
    # It may be imported only when the user's function runs, and pickled right then.
    sys.modules[name] = ModuleType(name)
    try:
        register_pickle_by_value(sys.modules[name])  # type: ignore[no-untyped-call]
    finally:
        del sys.modules[name]


def _top(name: str) -> str:
    return name.partition(".")[0]


def _place(module: ModuleType) -> Path | None:
    """Give the file of a module, or the folder of a package without one."""
    file = getattr(module, "__file__", None)
    if file is None:
        file = next(iter(getattr(module, "__path__", ())), None)
    return None if file is None else Path(file).resolve()


def _is_library(module: ModuleType) -> bool:
    place = _place(module)
    return place is None or _installed(place)


def _installed(place: Path) -> bool:
    if {"site-packages", "dist-packages"} & {*place.parts}:
        return True
    return any(place.is_relative_to(folder.resolve()) for folder in _INSTALLED)
