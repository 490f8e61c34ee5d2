"""The user's code runs as if in its own folder, and nothing of that stays behind."""

from __future__ import annotations

import importlib
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from holdfast.spark.query.usercode import project_imports


def write(folder: Path, **modules: str) -> Path:
    """Write modules into a new folder."""
    folder.mkdir()
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def test_the_path_is_as_it_was_afterwards(tmp_path: Path) -> None:
    """Also after an error."""
    before = [*sys.path]
    with pytest.raises(KeyError), project_imports(tmp_path):
        assert sys.path[0] == str(tmp_path.resolve())
        raise KeyError
    assert sys.path == before


def test_equal_names_mean_each_folder_s_own_modules(tmp_path: Path) -> None:
    """Again and again, nested, and loaded once each."""
    first = write(tmp_path / "a", room_name="NAME = 'first'\nSEEN = []\n")
    second = write(tmp_path / "b", room_name="NAME = 'second'\nSEEN = []\n")
    for count in range(2):
        for folder, name in ((first, "first"), (second, "second")):
            with project_imports(folder):
                module = importlib.import_module("room_name")
                assert name == module.NAME
                assert len(module.SEEN) == count
                module.SEEN.append(count)
    with project_imports(first):
        with project_imports(second):
            assert importlib.import_module("room_name").NAME == "second"
        assert importlib.import_module("room_name").NAME == "first"


def test_a_module_of_the_program_itself_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that imported its own module keeps it while a project has the same name."""
    monkeypatch.syspath_prepend(write(tmp_path / "program", room_of_program="NAME = 'program'\n"))
    mine = importlib.import_module("room_of_program")
    with project_imports(write(tmp_path / "project", room_of_program="NAME = 'project'\n")):
        assert importlib.import_module("room_of_program").NAME == "project"
    assert importlib.import_module("room_of_program") is mine


def test_a_file_named_like_a_library_takes_nothing_away(tmp_path: Path) -> None:
    """Neither from Python itself nor from what is installed."""
    folder = write(tmp_path / "project", json="", pytest="", pyspark="", holdfast="")
    before = {name: sys.modules[name] for name in ("json", "pytest", "pyspark", "holdfast")}
    with project_imports(folder):
        for name, module in before.items():
            assert importlib.import_module(name) is module


def test_a_library_inside_of_the_folder_is_no_module_of_the_user(tmp_path: Path) -> None:
    """A virtual environment often stands in the project's folder."""
    from types import ModuleType

    from holdfast.spark.query.usercode import is_project_module

    inside = ModuleType("library")
    inside.__file__ = str(tmp_path / ".venv/lib/python3.11/site-packages/library.py")
    own = ModuleType("own")
    own.__file__ = str(tmp_path / "own.py")
    assert not is_project_module(inside, tmp_path)
    assert is_project_module(own, tmp_path)


def test_guests_of_one_folder_do_not_turn_each_other_out(tmp_path: Path) -> None:
    """Jobs side by side: one that leaves while another one imports takes nothing away."""
    other = write(tmp_path / "a", shared_room="NAME = 'other'\n")
    folder = write(tmp_path / "b", shared_room="NAME = 'own'\n", late_room="NAME = 'late'\n")
    with project_imports(other):
        importlib.import_module("shared_room")
        with project_imports(folder):
            guest = project_imports(folder)
            guest.__enter__()
            assert importlib.import_module("shared_room").NAME == "own"
            guest.__exit__(None, None, None)
            assert importlib.import_module("shared_room").NAME == "own"
            assert importlib.import_module("late_room").NAME == "late"
        assert importlib.import_module("shared_room").NAME == "other"


def test_many_threads_import_the_same_module(tmp_path: Path) -> None:
    """Whoever comes and goes meanwhile; a stranger of the same name waits outside."""
    stranger = write(tmp_path / "a", busy_room="NAME = 'stranger'\n")
    folder = write(tmp_path / "b", busy_room="import time\ntime.sleep(0.01)\nNAME = 'own'\n")
    with project_imports(stranger):
        sys.modules["busy_room"] = importlib.import_module("busy_room")

    def use(_number: int) -> str:
        with project_imports(folder):
            return str(importlib.import_module("busy_room").NAME)

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(use, range(200))) == {"own"}
    assert importlib.import_module("busy_room").NAME == "stranger"
    del sys.modules["busy_room"]
