"""Finds the line of the user's own program that called into Holdfast."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

_OURS = ("holdfast", "holdfast.")


@dataclass(frozen=True)
class CallerLine:
    """A line of a program, or of something that is no file (a notebook's cell, a terminal)."""

    file: str
    line: int

    def __str__(self) -> str:
        """Spell it as terminals and editors understand it, short where it is near."""
        path = Path(self.file)
        near = path.is_absolute() and path.is_relative_to(Path.cwd())
        return f"{path.relative_to(Path.cwd()) if near else self.file}:{self.line}"

    @property
    def folder(self) -> Path:
        """Where the program's own modules are: beside it; here for what is no file."""
        path = Path(self.file)
        return path.absolute().parent if path.is_file() else Path.cwd()


def caller_line() -> CallerLine:
    """Give the innermost line on the stack that is not Holdfast's own."""
    frame = sys._getframe()
    while _is_ours(frame.f_globals.get("__name__", "")) and frame.f_back is not None:
        frame = frame.f_back
    return CallerLine(frame.f_code.co_filename, frame.f_lineno)


def _is_ours(module: str) -> bool:
    return module == _OURS[0] or module.startswith(_OURS[1])
