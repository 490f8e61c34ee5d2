"""Commands that read state let numpy start without threads, unless the user wants them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from holdfast import library
from holdfast.cli.process import start_numpy_without_threads
from tests.cli.running import holdfast

THREADS = "OPENBLAS_NUM_THREADS"


@pytest.mark.parametrize(("command", "function"), [("state", "read_state"), ("diff", "diff")])
def test_it_is_said_before_anything_is_read(
    command: str, function: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once numpy is imported it is too late."""
    told: list[str | None] = []

    def look(*_words: object, **_options: object) -> None:
        told.append(os.environ.get(THREADS))
        raise KeyboardInterrupt

    monkeypatch.setenv(THREADS, "")
    monkeypatch.delenv(THREADS)
    monkeypatch.setattr(library, function, look)
    assert holdfast(command, str(tmp_path)).status == 130
    assert told == ["1"]


def test_a_wish_of_the_user_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever set the number knows why."""
    monkeypatch.setenv(THREADS, "3")
    start_numpy_without_threads()
    assert os.environ[THREADS] == "3"
