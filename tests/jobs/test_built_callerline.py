"""The user's own line, wherever Holdfast is called from."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from holdfast.jobs.built import CallerLine, caller_line

HERE = Path(__file__).resolve()


def test_the_line_of_the_call() -> None:
    found, line = caller_line(), inspect.currentframe().f_lineno  # type: ignore[union-attr]
    assert (found.file, found.line) == (str(HERE), line)
    assert found.folder == HERE.parent


def test_holdfasts_own_frames_are_passed_over() -> None:
    space = {"__name__": "holdfast.library", "caller_line": caller_line}
    exec(compile("def call():\n    return caller_line()\n", "<library>", "exec"), space)
    assert space["call"]().file == str(HERE)  # type: ignore[operator]


def test_a_near_file_is_shown_short(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert str(CallerLine(f"{tmp_path}/a/pipeline.py", 7)) == "a/pipeline.py:7"
    assert str(CallerLine("/elsewhere/pipeline.py", 7)) == "/elsewhere/pipeline.py:7"


def test_what_is_no_file_is_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    cell = CallerLine("<ipython-input-3>", 1)
    assert (str(cell), cell.folder) == ("<ipython-input-3>:1", tmp_path)
