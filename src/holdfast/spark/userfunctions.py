"""Loads the functions that a project names; what is wrong is told by the user's own line."""

from __future__ import annotations

import functools
import importlib
import traceback
from collections.abc import Callable
from pathlib import Path
from pickle import PicklingError
from types import ModuleType
from typing import Any

from holdfast.errors import SourceError
from holdfast.jobs.ready import FunctionReference
from holdfast.nearest import nearest
from holdfast.redaction import excerpt, redact
from holdfast.spark.codefiles import module_file, module_names
from holdfast.spark.userlines import user_line
from holdfast.spark.usermodules import at_home, is_at_home

_LONGEST_MESSAGE = 300


def load_function(reference: FunctionReference) -> Callable[..., Any]:
    """Import `module:function` from its folder; whenever it is called, its folder is at hand."""
    if module_file(reference.folder, reference.module) is None:
        raise _no_module(reference)
    with at_home(reference.folder):
        module = _imported(reference)
    if not is_at_home(module, reference.folder):
        message = f"the name {reference.module} belongs to a library that is loaded already"
        steps = ("give the module a name that no library has",)
        raise SourceError("HF5111", message, at=reference.at, next_steps=steps)
    return _called_at_home(_function(module, reference), reference.folder)


def code_error(code: str, what: str, error: BaseException, folder: Path) -> SourceError:
    """Tell an error of the user's code by their own line, with what was raised there."""
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
            "a function on executors can't take a lock, a session or a DataFrame along: import "
            "the functions that it calls by name (from helpers import clean), not their module",
        )
    return None


def _imported(reference: FunctionReference) -> ModuleType:
    what = f"{reference.module}:{reference.name} can't be loaded"
    # The file may be younger than what Python remembers of the folder.
    importlib.invalidate_caches()
    try:
        return importlib.import_module(reference.module)
    except (Exception, SystemExit) as error:
        raise code_error("HF5112", what, error, reference.folder) from error


def _no_module(reference: FunctionReference) -> SourceError:
    near = nearest(reference.module, module_names(reference.folder))
    hint = f"; is {near} meant?" if near else ""
    file = reference.module.replace(".", "/")
    message = f"{reference.folder} has no {file}.py for {reference.module}:{reference.name}{hint}"
    return SourceError("HF5111", message, at=reference.at)


def _function(module: ModuleType, reference: FunctionReference) -> Callable[..., Any]:
    function = getattr(module, reference.name, None)
    if callable(function):
        return function  # type: ignore[no-any-return]
    known = [name for name, value in vars(module).items() if callable(value)]
    near = nearest(reference.name, known)
    hint = f"; is {near} meant?" if near else ""
    what = "is no function" if function is not None else "does not exist"
    message = f"{reference.name} {what} in {reference.module}{hint}"
    raise SourceError("HF5113", message, at=reference.at)


def _called_at_home(function: Callable[..., Any], folder: Path) -> Callable[..., Any]:
    @functools.wraps(function)
    def called(*arguments: Any, **named: Any) -> Any:
        with at_home(folder):
            return function(*arguments, **named)

    return called
