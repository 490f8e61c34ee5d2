"""Every way in which a checkpoint is damaged here, in one tuple."""

from __future__ import annotations

from tests.fuzz.byteoperators import BYTE_OPERATORS
from tests.fuzz.drawing import Operator
from tests.fuzz.fileoperators import FILE_OPERATORS
from tests.fuzz.textoperators import TEXT_OPERATORS

OPERATORS: tuple[Operator, ...] = (*BYTE_OPERATORS, *TEXT_OPERATORS, *FILE_OPERATORS)


def name_of(operator: Operator) -> str:
    """Name an operator for a table."""
    return str(getattr(operator, "__name__", operator)).replace("_", " ")
