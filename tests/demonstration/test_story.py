"""The story breaks off with what was said last, never with a trace or with a false count."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.demonstration.story import demonstrate
from holdfast.errors import RunError, UsageError


def test_a_machine_without_java_breaks_the_story_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HF5311, with the words of the command that failed."""
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    said: list[str] = []
    with pytest.raises(RunError) as told:
        demonstrate(tmp_path / "shown", said.append)
    assert told.value.code.number == "HF5311" and told.value.exit_status == 53
    assert "a job did not finish" in told.value.message and "Java" in told.value.message
    assert len(said) == 1


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path) -> None:
    """It may be an earlier one, which somebody still looks at."""
    (tmp_path / "sensors").mkdir()
    with pytest.raises(UsageError, match="is there already"):
        demonstrate(tmp_path, lambda _: None)
    assert list((tmp_path / "sensors").iterdir()) == []
