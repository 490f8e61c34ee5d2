"""`holdfast init`: what it prints, and that its project is one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from holdfast.jobs.scaffold import SCHEMA_FILE
from tests.cli.running import holdfast


def test_the_new_project_is_told_and_can_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "shop"
    printed = holdfast("init", str(folder))
    assert printed.status == 0
    assert printed.out.splitlines()[0] == f"project shop in {folder}"
    assert "  wrote holdfast.yaml\n" in printed.out
    assert printed.out.splitlines()[-2] == f"next  cd {folder} && holdfast run"
    monkeypatch.chdir(folder)
    inspected = holdfast("inspect", "orders", "--json")
    assert inspected.document["result"]["next_start"]["action"] == "fresh"


def test_here_without_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    document = holdfast("init", "--json").document
    assert (document["command"], document["status"]) == ("init", "ok")
    assert document["next"][0] == "holdfast run"
    assert "holdfast.yaml" in document["result"]["files"]
    assert (tmp_path / "pipeline.py").is_file()


def test_quiet_prints_nothing(tmp_path: Path) -> None:
    printed = holdfast("init", str(tmp_path), "--quiet")
    assert (printed.status, printed.out, printed.err) == (0, "", "")
    assert (tmp_path / "holdfast.yaml").is_file()


def test_a_second_time_it_is_refused(tmp_path: Path) -> None:
    holdfast("init", str(tmp_path))
    (tmp_path / "pipeline.py").write_text("mine")
    printed = holdfast("init", str(tmp_path))
    assert (printed.status, printed.out) == (10, "")
    assert "error HF1119: already exists:" in printed.err
    assert (tmp_path / "pipeline.py").read_text() == "mine"


def test_a_gitignore_is_told_to_be_kept(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("x")
    assert "  kept  .gitignore\n" in holdfast("init", str(tmp_path)).out


@pytest.mark.parametrize("more", [[], ["--schema"]])
def test_a_place_that_cannot_be_written_is_a_usage_error(tmp_path: Path, more: list[str]) -> None:
    """HF1006: below a file, and where the system lets nobody write."""
    (tmp_path / "file").write_text("")
    for place in (str(tmp_path / "file" / "shop"), "/proc/shop"):
        printed = holdfast("init", place, *more)
        assert (printed.status, printed.out) == (2, "")
        assert "error HF1006: the directory cannot be created: " in printed.err
        assert place in printed.err


def test_a_read_only_folder_is_a_usage_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before any of the files is written."""
    monkeypatch.setattr("os.access", lambda _, mode: not mode & os.W_OK)
    printed = holdfast("init", str(tmp_path))
    assert printed.status == 2
    assert "error HF1006: this directory cannot be written" in printed.err
    assert list(tmp_path.iterdir()) == []


def test_the_schema_alone(tmp_path: Path) -> None:
    printed = holdfast("init", str(tmp_path), "--schema")
    assert printed.status == 0
    assert f"the schema in {tmp_path}\n  wrote {SCHEMA_FILE}\n" in printed.out
    assert "yaml-language-server" in printed.out
    assert not (tmp_path / "holdfast.yaml").exists()


@pytest.mark.parametrize("words", [("init", "a", "b"), ("init", "--project", "x")])
def test_other_words_are_not_understood(words: tuple[str, ...]) -> None:
    assert holdfast(*words).status == 2
