"""`import holdfast` in a notebook: names complete, help works, an error says what to do next."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast
from holdfast import errors, library
from holdfast.errors import DecodeError, HoldfastError, LeaseError
from holdfast.redaction import remember_secret
from holdfast.wording import pip_line
from tests.cli.running import holdfast as command

WITHOUT_SPARK = """
import pydoc, sys

class Refusing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pyspark", "py4j"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Refusing())
import holdfast

before = set(sys.modules)
names = dir(holdfast)
assert not {one for one in sys.modules if one.startswith("holdfast.")}, "listing loads nothing"
assert set(holdfast.__all__) <= set(names), set(holdfast.__all__) - set(names)
assert "_HOMES" not in names and "TYPE_CHECKING" not in names, names
text = pydoc.render_doc(holdfast, renderer=pydoc.plaintext)
for name in ("start(", "class HeldQuery", "class HoldfastError", "read_state("):
    assert name in text, name
assert "pyspark" not in sys.modules
"""


def test_names_complete_and_help_works_without_pyspark() -> None:
    """Nothing is loaded to list them; what only describes a query needs no Spark."""
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT_SPARK], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr


def test_what_a_traceback_ends_with() -> None:
    """Code, message, place, reason and next steps, without secrets; the parts stay as they are."""
    remember_secret("hunter2hunter2")
    error = LeaseError(
        "HF2601", "held with hunter2hunter2", at="/data/orders", next_steps=("wait",)
    )
    assert str(error).splitlines() == [
        "HF2601: held with [redacted]",
        "  at    /data/orders",
        f"  why   {error.why}",
        "  next  wait",
    ]
    assert error.message == "held with hunter2hunter2" and error.args == (error.message,)
    plain = DecodeError("HF2101", "the file is empty")
    assert str(plain).startswith("HF2101: the file is empty\n")
    assert [f"  next  {step}" for step in plain.code.next_steps] == [
        line for line in str(plain).splitlines() if line.startswith("  next")
    ]


def test_the_command_line_prints_the_same_once() -> None:
    """Every line of it once, behind the word error."""
    with pytest.raises(HoldfastError) as raised:
        holdfast.inspect("nowhere/at/all")
    done = command("inspect", "nowhere/at/all")
    assert done.err == f"error {raised.value}\n"
    lines = done.err.splitlines()
    assert len(lines) == len(set(lines))


def test_extras_are_installed_as_the_readme_says() -> None:
    """No text sends a user to a package index: there, the name is somebody else's."""
    root = Path(__file__).resolve().parent.parent
    readme = (root / "README.md").read_text(encoding="utf-8")
    assert "Not on a package index yet" in readme and 'pip install ".[spark]"' in readme
    assert pip_line("spark").startswith('pip install ".[spark]"')
    texts = [*root.glob("src/**/*.py"), *root.glob("docs/**/*.md"), root / "README.md"]
    wrong = [one for one in texts if re.search(r"pip install \S*holdfast", one.read_text("utf-8"))]
    assert wrong == []


def imported_for_checkers(file: str) -> dict[str, str]:
    """Return the names that a file imports for type checkers alone, each with its module."""
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    blocks = [one for one in tree.body if isinstance(one, ast.If)]
    (block,) = [one for one in blocks if ast.unparse(one.test) == "TYPE_CHECKING"]
    imports = [one for one in block.body if isinstance(one, ast.ImportFrom)]
    pairs = [(name, str(one.module)) for one in imports for name in one.names]
    assert all(name.asname == name.name for name, _ in pairs), "checkers take it for public"
    return {name.name: module for name, module in pairs}


def test_type_checkers_see_the_one_table_of_public_names() -> None:
    """And so do `__all__`, `dir()`, and the functions that commands call."""
    seen = imported_for_checkers(str(holdfast.__file__))
    assert seen == holdfast._HOMES
    assert {*seen, "__version__"} == {*holdfast.__all__} and {*seen} <= {*dir(holdfast)}
    assert len(holdfast.__all__) == len({*holdfast.__all__})
    commands = {
        name: home for name, home in seen.items() if inspect.isfunction(getattr(holdfast, name))
    }
    called = imported_for_checkers(str(library.__file__))
    assert called == {name: home for name, home in commands.items() if name in called}
    for name, home in called.items():
        assert getattr(library, name).__module__ == home
    left = {"committed_files", "once_per_batch"}
    assert {*commands} - {*called} == left, "what a command does is in the library"
    with pytest.raises(AttributeError, match="no attribute 'Answer'"):
        library.Answer  # type: ignore[attr-defined]  # noqa: B018


def test_errors_events_and_actions_are_public() -> None:
    """What a program catches, watches and compares with has no second address."""
    tree = {
        name for name, one in vars(errors).items() if isinstance(one, type) and name[-5:] == "Error"
    }
    assert len(tree) > 10 and tree <= {*holdfast.__all__}
    assert {one.__name__ for one in holdfast.Event.__args__} <= {*holdfast.__all__}
    assert holdfast.Action("rerun") is holdfast.Action.RERUN
    assert holdfast.init_project.__name__ == "init_project"


def test_no_module_of_the_library_is_longer_than_the_house_allows() -> None:
    """A list of promises that nobody reads to its end promises nothing."""
    root = Path(str(holdfast.__file__)).parent
    files = [root / "__init__.py", *root.glob("library/*.py"), *root.glob("targets/*.py")]
    assert len(files) > 10
    assert {one.name: n for one in files if (n := len(one.read_text().splitlines())) > 450} == {}
