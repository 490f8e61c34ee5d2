"""Asks the state of samples as the command does, without a command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.answers import Answer
from holdfast.state.query.question import Question, show_rows, sum_up
from holdfast.state.results import StateRows, StateSummary
from holdfast.storage.memory import MemoryReader
from tests.corpus.loading import sample


def files_of(name: str, spark: str = "4.3.0") -> dict[str, bytes]:
    """The files of a sample, to be changed."""
    return dict(sample(name, spark).files())


def rows_shown(files: Mapping[str, bytes], limit: int = 1000, **asked: Any) -> Answer[StateRows]:
    """Ask for rows."""
    return show_rows(MemoryReader(files), Question(**asked), limit)


def summary_of(files: Mapping[str, bytes], **asked: Any) -> StateSummary:
    """Ask for numbers."""
    summary = sum_up(MemoryReader(files), Question(**asked)).result.summary
    assert summary is not None
    return summary
