"""Reads and writes the file of a plan."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.errors import PlanError

if TYPE_CHECKING:
    from holdfast.remedy.plan import Plan


def read_plan_file(file: Path) -> Plan:
    """Return the plan in a file; raise PlanError (HF4607) where there is none."""
    from holdfast.remedy.plan import read_plan

    try:
        content = file.read_bytes()
    except OSError as error:
        message = f"the plan cannot be read: {error.strerror or error}"
        raise PlanError("HF4607", message, at=str(file)) from error
    return read_plan(content, str(file))


def write_plan_file(file: Path, made: Plan) -> None:
    """Write a plan, whole or not at all; raise PlanError (HF4617) where that fails."""
    from holdfast.remedy.plan import encode_plan

    text = json.dumps(encode_plan(made), indent=2, sort_keys=True) + "\n"
    try:
        _refuse_directory(file)
        temporary = file.with_name(f".{file.name}.tmp")
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(file)
    except OSError as error:
        message = f"the plan cannot be written: {error.strerror or error}"
        raise PlanError("HF4617", message, at=str(file)) from error


def _refuse_directory(file: Path) -> None:
    """Raise IsADirectoryError for a directory: no temporary file is left next to it."""
    if file.is_dir():
        raise IsADirectoryError(errno.EISDIR, "this is a directory, not a file")
