"""What a docstring shows is run: the examples of the public functions, and all others."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
from pathlib import Path

import pytest

import holdfast
from tests.docs.session import workplace

ROOT = Path(str(holdfast.__file__)).parent
NEED_SPARK = {"check", "record", "record_event_log", "record_jobs", "run", "start"}
"""Functions whose examples would start Spark, or need its event log: the pages of the documentation
show them."""


def modules_with_examples() -> list[str]:
    """Name every module that shows an example, without loading the others."""
    files = [
        one for one in ROOT.rglob("*.py") if re.search(r"^\s*>>> ", one.read_text("utf-8"), re.M)
    ]
    names = [".".join(("holdfast", *one.relative_to(ROOT).with_suffix("").parts)) for one in files]
    return sorted(name.removesuffix(".__init__") for name in names)


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_answer_what_they_show(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder that has the demo, as on the pages."""
    module = importlib.import_module(name)
    with workplace() as folder, monkeypatch.context() as patch:
        patch.chdir(folder)
        patch.setattr("holdfast.jobs.checkpointpath._temporary_folder", lambda *_: None)
        outcome = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert outcome.attempted and not outcome.failed, outcome


def test_every_public_function_that_needs_no_spark_shows_an_example() -> None:
    """A reader sees how it is called, and what comes back."""
    functions = {
        name: one
        for name in holdfast.__all__
        if inspect.isfunction(one := getattr(holdfast, name)) and name not in NEED_SPARK
    }
    assert {"inspect", "doctor", "restore", "init_project"} <= {*functions}
    lacking = [name for name, one in functions.items() if ">>> " not in str(one.__doc__)]
    assert lacking == []
