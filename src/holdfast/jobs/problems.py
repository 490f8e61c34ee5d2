"""What is wrong in a project file, where, and which of several problems is told first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from holdfast.codes import code_of
from holdfast.errors import ProjectError
from holdfast.jobs.tree import Mark, located
from holdfast.plurals import counted


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong in a project file."""

    mark: Mark
    code: str
    message: str


def first_error(problems: Iterable[Problem], shown: str) -> ProjectError | None:
    """Make an error of the problem that stands first in the file; None when there is none."""
    ordered = sorted(problems, key=lambda problem: problem.mark)
    if not ordered:
        return None
    first, others = ordered[0], len(ordered) - 1
    why = code_of(first.code).why
    if others:
        why += f" ({counted(others, 'more problem')} in this file)"
    return ProjectError(first.code, first.message, at=located(shown, first.mark), why=why)
