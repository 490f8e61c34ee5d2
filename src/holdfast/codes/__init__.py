"""The registry of every code that Holdfast can raise or report, one family a file."""

from __future__ import annotations

from holdfast.codes.checkpoint import CHECKPOINT_CODES
from holdfast.codes.code import Code
from holdfast.codes.entries import ENTRY_CODES
from holdfast.codes.project import PROJECT_CODES
from holdfast.codes.storage import STORAGE_CODES

CODES: tuple[Code, ...] = (*PROJECT_CODES, *CHECKPOINT_CODES, *ENTRY_CODES, *STORAGE_CODES)

_BY_NUMBER = {code.number: code for code in CODES}


def code_of(number: str) -> Code:
    """Give the code with this number; an unregistered number is a bug and raises KeyError."""
    return _BY_NUMBER[number]


__all__ = ["CODES", "Code", "code_of"]
