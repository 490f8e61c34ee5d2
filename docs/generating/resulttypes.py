"""What each command's result is, and what the docstrings say of its fields."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import textwrap
import typing
from enum import Enum

from docs.generating.fieldnotes import NOTES
from holdfast.backup.results import BackupList, BackupReport, Restoration
from holdfast.demonstration.story import Demonstration
from holdfast.diagnosis.comparison.result import Comparison
from holdfast.diagnosis.doctor.examination import Examination
from holdfast.diagnosis.explain.explaining import Explanation
from holdfast.diagnosis.inspection.evidence import Evidence
from holdfast.diagnosis.inspection.result import Inspection
from holdfast.diagnosis.status.result import Status
from holdfast.jobs.scaffold import NewProject
from holdfast.remedy.plan import Plan
from holdfast.remedy.rehearsal.results import Rehearsal
from holdfast.remedy.results import Applied, JournalReport
from holdfast.restart.recorded import RecordReport
from holdfast.restart.result import Check
from holdfast.running.report import RunReport
from holdfast.state.results import StateRows

RESULTS: dict[str, type] = {
    "init": NewProject,
    "check": Check,
    "record": RecordReport,
    "run": RunReport,
    "status": Status,
    "inspect": Inspection,
    "evidence": Evidence,
    "doctor": Examination,
    "state": StateRows,
    "diff": Comparison,
    "plan": Plan,
    "rehearse": Rehearsal,
    "apply": Applied,
    "undo": Applied,
    "journal": JournalReport,
    "backup": BackupReport,
    "backups": BackupList,
    "restore": Restoration,
    "explain": Explanation,
    "demo": Demonstration,
}
"""Command to the dataclass under `result`."""


def meanings(cls: type) -> dict[str, str]:
    """Return what each field or value of a class means: its docstring, else our note."""
    return {**NOTES.get(cls.__name__, {}), **attribute_docs(cls)}


def names_within(cls: type) -> list[str]:
    """Return the names of an enum's values, or of a dataclass's fields."""
    if issubclass(cls, Enum):
        return [one.name for one in cls]
    assert dataclasses.is_dataclass(cls)
    return [one.name for one in dataclasses.fields(cls)]


def attribute_docs(cls: type) -> dict[str, str]:
    """Return the docstring under each attribute of a class, on one line and in JSON terms."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    body = tree.body[0]
    assert isinstance(body, ast.ClassDef)
    found: dict[str, str] = {}
    name: str | None = None
    for node in body.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            name = node.target.id
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
        elif name is not None and isinstance(node, ast.Expr):
            text = node.value.value if isinstance(node.value, ast.Constant) else None
            if isinstance(text, str):
                found[name] = re.sub(r"\bNone\b", "null", " ".join(text.split()))
            name = None
        else:
            name = None
    return found


def types_within(cls: type) -> list[type]:
    """Return a dataclass and every dataclass or enum that its fields lead to, in reading order."""
    found: list[type] = []
    _collect(cls, found)
    return found


def _collect(hint: object, found: list[type]) -> None:
    if isinstance(hint, type) and hint not in found:
        if issubclass(hint, Enum):
            found.append(hint)
        elif dataclasses.is_dataclass(hint):
            found.append(hint)
            hints = typing.get_type_hints(hint)
            for field in dataclasses.fields(hint):
                _collect(hints[field.name], found)
    for argument in typing.get_args(hint):
        _collect(argument, found)
