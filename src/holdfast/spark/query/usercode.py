"""Runs the user's code as if it had been started in its own folder, and cleans up behind it.

Inside of `project_imports` the folder is first on Python's path, and plain names
(`import helpers`) mean its modules, also when another project of this process has modules with the
same names: those are set aside and put back. What was imported is kept, so that a module is loaded
once per folder.

What a function on an executor needs of these modules travels with it, because they can't be
imported there.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib
import sys
import sysconfig
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from pickle import PicklingError
from types import ModuleType
from typing import Any

from pyspark.cloudpickle import register_pickle_by_value

from holdfast.errors import SourceError
from holdfast.jobs.discovery import module_file
from holdfast.jobs.ready import FunctionReference
from holdfast.redaction import excerpt, redact
from holdfast.spark.failures import user_line
from holdfast.wording import nearest

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
def project_imports(folder: Path) -> Iterator[None]:
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


def is_project_module(module: ModuleType, folder: Path) -> bool:
    """Return whether a module was loaded from this folder, and not from a library inside of it."""
    place = _place(module)
    return place is not None and place.is_relative_to(folder.resolve()) and not is_installed(place)


def _enter(folder: Path, names: set[str]) -> dict[str, ModuleType]:
    strangers = {
        name: module
        for name, module in [*sys.modules.items()]
        if _top(name) in names and not is_project_module(module, folder) and not is_library(module)
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
        if _top(name) in names and is_project_module(module, folder)
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
        if not is_library(present):
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
    """Return the file of a module, or the folder of a package without one."""
    file = getattr(module, "__file__", None)
    if file is None:
        file = next(iter(getattr(module, "__path__", ())), None)
    return None if file is None else Path(file).resolve()


def is_library(module: ModuleType) -> bool:
    """Tell whether a module is installed, and not the user's own."""
    place = _place(module)
    return place is None or is_installed(place)


def is_installed(place: Path) -> bool:
    """Tell whether a file belongs to Python or to a library."""
    if {"site-packages", "dist-packages"} & {*place.parts}:
        return True
    return any(place.is_relative_to(folder.resolve()) for folder in _INSTALLED)


def module_names(folder: Path) -> tuple[str, ...]:
    """Name the modules that a project has, its packages' first level included."""
    files = sorted((*folder.glob("*.py"), *folder.glob("*/*.py")))
    dotted = (".".join(file.relative_to(folder).with_suffix("").parts) for file in files)
    return tuple(name.removesuffix(".__init__") for name in dotted)


def digests_of(folder: Path, first: Path) -> dict[str, str]:
    """Return the SHA-256 of a file and of all that it imports from the folder, by relative name."""
    if not first.is_relative_to(folder):
        return {first.name: _digest(first)}
    found = {first}
    waiting = [first]
    while waiting:
        new = {*_imported_files(folder, waiting.pop())} - found
        found |= new
        waiting += new
    return {path.relative_to(folder).as_posix(): _digest(path) for path in sorted(found)}


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _imported_files(folder: Path, file: Path) -> Iterator[Path]:
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        # Python tells it when the file is imported; what it would import is then nobody's concern.
        return
    package = file.relative_to(folder).parent.parts
    for node in ast.walk(tree):
        for name in _names(node, package):
            parts = name.split(".")
            for length in range(1, len(parts) + 1):
                path = module_file(folder, ".".join(parts[:length]))
                if path is not None:
                    yield path


def _names(node: ast.AST, package: tuple[str, ...]) -> Iterator[str]:
    """Yield every dotted name that an import statement may mean a module by."""
    if isinstance(node, ast.Import):
        yield from (one.name for one in node.names)
    elif isinstance(node, ast.ImportFrom):
        above = package[: len(package) - node.level + 1] if node.level else ()
        base = ".".join((*above, *((node.module,) if node.module else ())))
        yield from (".".join(filter(None, (base, one.name))) for one in node.names)


_LONGEST_MESSAGE = 300


def load_function(reference: FunctionReference) -> Callable[..., Any]:
    """Import `module:function` from its folder; whenever it is called, its folder is at hand."""
    if module_file(reference.folder, reference.module) is None:
        raise _no_module(reference)
    with project_imports(reference.folder):
        module = _imported(reference)
    if not is_project_module(module, reference.folder):
        message = f"the name {reference.module} belongs to a library that is already loaded"
        steps = ("give the module a name that no library has",)
        raise SourceError("HF5111", message, at=reference.at, next_steps=steps)
    return _called_with_project_imports(_function(module, reference), reference.folder)


def code_error(code: str, what: str, error: BaseException, folder: Path) -> SourceError:
    """Return an error of the user's code at their own line, with what was raised there."""
    line = user_line(error, folder)
    raised = excerpt(f"{type(error).__name__}: {error}".partition("\n")[0], _LONGEST_MESSAGE)
    message = f"{what}: {raised if line is None else line.shown}"
    trace = redact("".join(traceback.format_exception(error)))
    at = None if line is None else line.at
    return SourceError(code, message, at=at, next_steps=_steps(error), trace=trace)


def _steps(error: BaseException) -> tuple[str, ...] | None:
    if isinstance(error, ModuleNotFoundError) and error.name:
        return (f"install {error.name} for the Python that runs Holdfast, or correct the import",)
    if isinstance(error, PicklingError):
        return (
            "a function on executors cannot use a lock, a session or a DataFrame: import "
            "the functions that it calls by name (from helpers import clean), not their module",
        )
    return None


def _imported(reference: FunctionReference) -> ModuleType:
    what = f"{reference.module}:{reference.name} cannot be loaded"
    # The file may be younger than what Python remembers of the folder.
    importlib.invalidate_caches()
    try:
        return importlib.import_module(reference.module)
    except (Exception, SystemExit) as error:
        raise code_error("HF5112", what, error, reference.folder) from error


def _no_module(reference: FunctionReference) -> SourceError:
    near = nearest(reference.module, module_names(reference.folder))
    hint = f"; did you mean {near}?" if near else ""
    file = reference.module.replace(".", "/")
    message = f"{reference.folder} has no {file}.py for {reference.module}:{reference.name}{hint}"
    return SourceError("HF5111", message, at=reference.at)


def _function(module: ModuleType, reference: FunctionReference) -> Callable[..., Any]:
    function = getattr(module, reference.name, None)
    if callable(function):
        return function  # type: ignore[no-any-return]
    known = [name for name, value in vars(module).items() if callable(value)]
    near = nearest(reference.name, known)
    hint = f"; did you mean {near}?" if near else ""
    what = "is not a function" if function is not None else "does not exist"
    message = f"{reference.name} {what} in {reference.module}{hint}"
    raise SourceError("HF5113", message, at=reference.at)


def _called_with_project_imports(function: Callable[..., Any], folder: Path) -> Callable[..., Any]:
    @functools.wraps(function)
    def called(*arguments: Any, **named: Any) -> Any:
        with project_imports(folder):
            return function(*arguments, **named)

    return called
