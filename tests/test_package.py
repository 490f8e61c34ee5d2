"""`import holdfast` in a notebook: names complete, help works, an error says what to do next."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast
from holdfast.errors import DecodeError, HoldfastError, LeaseError
from holdfast.installing import pip_line
from holdfast.redaction import remember_secret
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
