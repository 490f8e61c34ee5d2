"""The project file is found upward, and shown as the user sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.errors import ProjectError
from holdfast.jobs.discovery import find_project, load_project


def test_the_nearest_file_upward(tmp_path: Path) -> None:
    (tmp_path / "holdfast.yaml").write_text("project: outer\n")
    inner = tmp_path / "a" / "b" / "c"
    inner.mkdir(parents=True)
    assert find_project(inner) == tmp_path / "holdfast.yaml"
    (tmp_path / "a" / "holdfast.yaml").write_text("project: inner\n")
    assert find_project(inner) == tmp_path / "a" / "holdfast.yaml"


def test_a_folder_of_that_name_is_none(tmp_path: Path) -> None:
    (tmp_path / "holdfast.yaml").write_text("project: outer\n")
    (tmp_path / "a" / "holdfast.yaml").mkdir(parents=True)
    assert find_project(tmp_path / "a") == tmp_path / "holdfast.yaml"


def test_none_at_all(tmp_path: Path) -> None:
    assert find_project(tmp_path) is None


@pytest.mark.parametrize("inside", [True, False])
def test_messages_show_the_file_from_the_working_folder(tmp_path: Path, inside: bool) -> None:
    file = tmp_path / "p" / "holdfast.yaml"
    file.parent.mkdir()
    file.write_text("x: 1\nproject: p\n")
    with pytest.raises(ProjectError) as raised:
        load_project(file, working_folder=tmp_path if inside else tmp_path / "elsewhere")
    assert raised.value.at == ("p/holdfast.yaml:1:1" if inside else f"{file}:1:1")


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(ProjectError) as raised:
        load_project(tmp_path)
    assert raised.value.code.number == "HF1101"
    assert "folder" in raised.value.message


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ProjectError) as raised:
        load_project(tmp_path / "other.yaml")
    assert raised.value.code.number == "HF1101"
