"""Functions that a project names: found, or told by the user's own line what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.errors import SourceError
from holdfast.jobs.ready import FunctionReference
from holdfast.spark.query.usercode import load_function


def reference(folder: Path, written: str) -> FunctionReference:
    """Name a function as line 9 of a project file does."""
    module, _, name = written.partition(":")
    return FunctionReference(module, name, folder, "holdfast.yaml:9")


def refused(folder: Path, written: str) -> SourceError:
    """Load a function that can't be."""
    with pytest.raises(SourceError) as caught:
        load_function(reference(folder, written))
    assert "\n" not in caught.value.message
    return caught.value


def test_a_function_is_loaded_from_its_folder(tmp_path: Path) -> None:
    """Also one in a package; what it imports when it is called is found as well."""
    (tmp_path / "steps").mkdir()
    (tmp_path / "steps" / "gold.py").write_text(
        "def made(x):\n    from userfunctions_helper import twice\n    return twice(x)\n"
    )
    (tmp_path / "userfunctions_helper.py").write_text("def twice(x):\n    return 2 * x\n")
    assert load_function(reference(tmp_path, "steps.gold:made"))(4) == 8


def test_a_module_that_is_not_there(tmp_path: Path) -> None:
    """With the nearest name, and where it was declared."""
    (tmp_path / "pipeline.py").write_text("")
    error = refused(tmp_path, "pipline:gold")
    assert (error.code.number, error.at) == ("HF5111", "holdfast.yaml:9")
    assert "did you mean pipeline?" in error.message
    assert "meant" not in refused(tmp_path, "json:loads").message


def test_a_module_whose_name_a_library_has(tmp_path: Path) -> None:
    """A file beside it does not make the library's functions the user's."""
    (tmp_path / "pytest.py").write_text("def raises(df):\n    return df\n")
    error = refused(tmp_path, "pytest:raises")
    assert error.code.number == "HF5111"
    assert "library" in error.message


def test_an_import_that_fails_is_told_by_its_line(tmp_path: Path) -> None:
    """In the module that fails, which need not be the one that was named."""
    (tmp_path / "fails_outside.py").write_text("\nimport fails_inside\n")
    (tmp_path / "fails_inside.py").write_text("LIMIT = 3\nSHARE = LIMIT / 0\n")
    error = refused(tmp_path, "fails_outside:gold")
    assert (error.code.number, error.at) == ("HF5112", "fails_inside.py:2")
    assert "fails_inside.py:2 ZeroDivisionError: division by zero" in error.message
    assert error.trace is not None
    assert "fails_outside.py" in error.trace


def test_a_syntax_error_is_told_by_its_line(tmp_path: Path) -> None:
    """Though no line of the module ran."""
    (tmp_path / "fails_syntax.py").write_text("x = 1\n\ndef gold(df:\n    return df\n")
    error = refused(tmp_path, "fails_syntax:gold")
    assert (error.code.number, error.at) == ("HF5112", "fails_syntax.py:3")
    assert "SyntaxError: '(' was never closed" in error.message


def test_a_library_that_is_not_installed_is_named(tmp_path: Path) -> None:
    """The module is there, what it needs is not."""
    (tmp_path / "fails_library.py").write_text("import no_such_library\n")
    error = refused(tmp_path, "fails_library:gold")
    assert (error.code.number, error.at) == ("HF5112", "fails_library.py:1")
    assert "no_such_library" in error.next_steps[0]


def test_a_module_that_ends_the_process(tmp_path: Path) -> None:
    """A script that parses a command line is no module."""
    (tmp_path / "fails_exit.py").write_text("import sys\nsys.exit(2)\n")
    error = refused(tmp_path, "fails_exit:gold")
    assert (error.code.number, error.at) == ("HF5112", "fails_exit.py:2")


def test_a_function_that_is_not_there(tmp_path: Path) -> None:
    """With the nearest name; a name that is no function is told apart."""
    (tmp_path / "has_gold.py").write_text("def gold(df):\n    return df\n\nsilver = 3\n")
    error = refused(tmp_path, "has_gold:golt")
    assert (error.code.number, error.at) == ("HF5113", "holdfast.yaml:9")
    assert "did you mean gold?" in error.message
    assert "is not a function" in refused(tmp_path, "has_gold:silver").message
