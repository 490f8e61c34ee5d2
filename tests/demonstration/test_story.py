"""The story breaks off with what was said last, never with a trace or with a false count."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from holdfast.demonstration import story
from holdfast.demonstration.story import demonstrate
from holdfast.errors import HoldfastError, RunError, SparkStartError, UsageError


def test_a_machine_without_java_does_not_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HF5201 with status 52, as `run` gives it; nothing is copied."""
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    with pytest.raises(SparkStartError) as told:
        demonstrate(tmp_path / "shown", pytest.fail)
    assert told.value.code.number == "HF5201" and told.value.exit_status == 52
    assert not (tmp_path / "shown").exists()


def ending_with(monkeypatch: pytest.MonkeyPatch, printed: str) -> None:
    """Let the first run of the story fail with this output."""
    ended = subprocess.CompletedProcess[str]([], 50, printed, "")
    monkeypatch.setattr(story, "find_java", lambda: None)
    monkeypatch.setattr(story, "_holdfast", lambda *_, **__: ended)


def test_an_error_of_a_run_is_the_one_of_the_story(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its own code and status."""
    error = {"code": "HF5205", "message": "a jar is missing", "at": "here", "why": "so"}
    ending_with(monkeypatch, json.dumps({"result": None, "error": error}))
    with pytest.raises(HoldfastError) as told:
        demonstrate(tmp_path / "shown", lambda _: None)
    assert (told.value.code.number, told.value.at) == ("HF5205", "here")
    assert (told.value.message, told.value.why) == ("a jar is missing", "so")
    assert told.value.exit_status == 52


@pytest.mark.parametrize("printed", ["killed", '{"result": null, "error": null}'])
def test_a_run_without_an_error_ends_the_story_with_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed: str
) -> None:
    """HF5311."""
    ending_with(monkeypatch, printed)
    with pytest.raises(RunError) as told:
        demonstrate(tmp_path / "shown", lambda _: None)
    assert told.value.code.number == "HF5311" and told.value.exit_status == 53
    assert "a job did not finish" in told.value.message
    assert told.value.message.endswith(printed)


def test_a_place_that_cannot_be_written_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HF1006, and no trace."""
    monkeypatch.setattr(story, "find_java", lambda: None)
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError) as told:
        demonstrate(tmp_path / "file", pytest.fail)
    assert told.value.code.number == "HF1006" and told.value.exit_status == 2


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path) -> None:
    """It may be an earlier one, which somebody still looks at."""
    (tmp_path / "sensors").mkdir()
    with pytest.raises(UsageError, match="already exists"):
        demonstrate(tmp_path, lambda _: None)
    assert list((tmp_path / "sensors").iterdir()) == []
