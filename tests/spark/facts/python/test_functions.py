"""Python functions and what they reach: what changes their digests, and what does not."""

from __future__ import annotations

import functools
import importlib.util
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pyspark.cloudpickle import dumps, loads

from holdfast.jobs.ready import FunctionReference
from holdfast.records.facts import CONSTANT, FunctionFacts
from holdfast.spark.facts.python.functions import ALL, function_facts, function_name
from holdfast.spark.query.usercode import load_function

Load = Callable[..., ModuleType]


@pytest.fixture
def load(tmp_path: Path) -> Iterator[Load]:
    """Load modules from texts; each call is a new version of the project."""
    loaded: list[str] = []
    versions = iter(range(100))

    def load_module(**texts: str) -> ModuleType:
        folder = tmp_path / str(next(versions))
        folder.mkdir()
        for name, text in texts.items():
            file = folder / f"{name}.py"
            file.write_text(textwrap.dedent(text), encoding="utf-8")
            spec = importlib.util.spec_from_file_location(name, file)
            assert spec is not None and spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules[name] = module
            loaded.append(name)
            spec.loader.exec_module(module)
        return module

    yield load_module
    for name in loaded:
        sys.modules.pop(name, None)


def facts(function: Any) -> FunctionFacts:
    """Give the facts of a function, with its parts each by itself."""
    found = function_facts(function, "udf")
    return replace(found, parts={name: one for name, one in found.parts.items() if name != ALL})


def parts_of(load: Load, **texts: str) -> dict[str, str]:
    """Give the parts of the function `made` in the last module."""
    return dict(facts(load(**texts).made).parts)


BASE = """
    RATE = 3

    def helper(x):
        return x * RATE

    def made(x, scale=2):
        y = helper(x)
        return [each * scale for each in range(y)]
    """

SAME = {
    "other names of local variables": BASE.replace("y", "total").replace("each", "one"),
    "other names of parameters": BASE.replace("(x, scale=2)", "(z, scale=2)").replace(
        "helper(x)\n        return [", "helper(z)\n        return ["
    ),
    "comments and blank lines": BASE.replace("y = helper(x)", "# why\n\n        y = helper(x)"),
    "a docstring": BASE.replace("        y = ", '        """Say."""\n        y = '),
    "annotations": BASE.replace("(x, scale=2):", "(x: int, scale: int = 2) -> list:"),
    "moved lines": "\n\n\n" + BASE,
    "what it does not use": BASE + "\n    OTHER = 4\n",
}
OTHER = {
    "a global constant": BASE.replace("RATE = 3", "RATE = 4"),
    "a default": BASE.replace("scale=2", "scale=3"),
    "the body": BASE.replace("each * scale", "each + scale"),
    "the helper": BASE.replace("x * RATE", "x - RATE"),
    "another builtin": BASE.replace("range(y)", "list(y)"),
    "another name that is global": BASE.replace("x * RATE", "x * len(str(RATE))"),
}


@pytest.mark.parametrize("name", SAME)
def test_looks_change_nothing(name: str, load: Load) -> None:
    """What only people see."""
    before = parts_of(load, project=BASE)
    assert len(before) == 4
    assert parts_of(load, project=SAME[name]) == before


@pytest.mark.parametrize("name", OTHER)
def test_what_it_does_changes_a_digest(name: str, load: Load) -> None:
    """Wherever that is."""
    assert parts_of(load, project=OTHER[name]) != parts_of(load, project=BASE)


def without_constants(load: Load, **texts: str) -> dict[str, str]:
    """Give the parts that decide whether a function is another one."""
    found = parts_of(load, **texts).items()
    return {name: digest for name, digest in found if not digest.startswith(CONSTANT)}


TWO = """
    LOW, HIGH = 1, 9

    def made(x, most=HIGH):
        def inner(y):
            return LOW < y
        return [one for one in x if inner(one) and one < HIGH]
    """


def test_a_constant_counts_by_its_value_and_not_by_its_name(load: Load) -> None:
    """Wherever a code takes it: in a default, in a function inside, through a module."""
    assert "project:LOW" in parts_of(load, project=TWO)
    first = without_constants(load, project=TWO)
    renamed = TWO.replace("LOW", "LEAST").replace("HIGH", "MOST")
    assert without_constants(load, project=renamed) == first
    for old, new in (
        ("LOW, HIGH = 1, 9", "LOW, HIGH = 2, 9"),
        ("LOW, HIGH = 1, 9", "LOW, HIGH = 9, 1"),
        ("LOW, HIGH = 1, 9", "LOW, HIGH = 1, 9.0"),
        ("LOW < y", "HIGH < y"),
        ("def inner(y)", "def inner(y, LOW=1)"),
    ):
        assert without_constants(load, project=TWO.replace(old, new)) != first, new
    text = "import table\ndef made(x):\n    return table.{0}.get(x)\n"
    through = {
        name: without_constants(load, table=f"{name} = {{'a': 1}}\n", project=text.format(name))
        for name in ("RATES", "PRICES")
    }
    assert through["RATES"] == through["PRICES"]


def test_what_is_no_constant_keeps_its_name(load: Load) -> None:
    """A variable that the function changes, a table of functions, a name that is local."""
    changing = "SEEN = 0\ndef made(x):\n    global SEEN\n    SEEN = SEEN + x\n    return SEEN\n"
    found = parts_of(load, project=changing)
    assert found["project:SEEN"].startswith("value:")
    steps = "def one(x):\n    return x\nSTEPS = [one]\ndef made(x):\n    return STEPS[0](x)\n"
    assert parts_of(load, project=steps)["project:STEPS"].startswith("value:")
    local = "RATE = 3\ndef made(RATE):\n    return RATE\n"
    assert parts_of(load, project=local).keys() == {"project:made"}


def test_a_helper_in_another_module(load: Load) -> None:
    """Imported by its name, or with its module."""
    for text in (
        "from helpers import clean\ndef made(x):\n    return clean(x)\n",
        "import helpers\ndef made(x):\n    return helpers.clean(x)\n",
    ):
        first = parts_of(load, helpers="def clean(x):\n    return x + 1\n", project=text)
        again = parts_of(load, helpers="def clean(y):\n    return y + 1\n", project=text)
        other = parts_of(load, helpers="def clean(x):\n    return x + 2\n", project=text)
        assert first == again != other
        assert first.keys() == {"helpers:clean", "project:made"}


def test_a_constant_of_another_module(load: Load) -> None:
    """By its value; a table is one, too."""
    text = "import table\ndef made(x):\n    return table.RATES[x]\n"
    first = parts_of(load, table="RATES = {'a': 1, 'b': 2}\n", project=text)
    again = parts_of(load, table="RATES = {'b': 2, 'a': 1}\n", project=text)
    other = parts_of(load, table="RATES = {'a': 1, 'b': 3}\n", project=text)
    assert first == again != other


def test_closures_and_partials(load: Load) -> None:
    """By the values that they hold; equal small numbers are told apart by their place."""
    text = """
        import functools

        def make({0}):
            {1} = {0} + 1
            def inner(x, scale=2):
                return (x + {1}) * scale
            return inner

        made = make(1)
        bound = functools.partial(make(1), scale=5)
        """
    first = load(project=text.format("n", "k"))
    renamed = load(project=text.format("number", "more"))
    assert facts(first.made).parts == facts(renamed.made).parts
    assert len(facts(first.made).parts) == 3
    assert facts(first.made).parts != facts(first.make(2)).parts
    assert facts(first.made).parts != facts(first.bound).parts
    assert function_name(first.bound) == "project:make.<locals>.inner"


def test_methods_and_classes(load: Load) -> None:
    """A method reaches its object and its class, with parents and class attributes."""
    text = """
        class Parent:
            def twice(self, x):
                return 2 * x

        class Made(Parent):
            LIMIT = 3

            def __init__(self, start):
                self.start = start

            @property
            def more(self):
                return self.start + self.LIMIT

            @staticmethod
            def least():
                return 0

            def __call__(self, x):
                return self.twice(x) + self.more

        made = Made(1)
        """
    base = facts(load(project=text).made)
    assert base.unfollowed == ()
    for old, new in (
        ("2 * x", "3 * x"),
        ("LIMIT = 3", "LIMIT = 4"),
        ("Made(1)", "Made(2)"),
        ("self.start + self.LIMIT", "self.start - self.LIMIT"),
        ("return 0", "return 1"),
    ):
        assert facts(load(project=text.replace(old, new)).made).parts != base.parts, new


def test_decorated_functions(load: Load) -> None:
    """The decorator's code and arguments, and the function behind it."""
    text = """
        import functools

        def repeated(times):
            def decorate(function):
                @functools.wraps(function)
                def called(*given):
                    return [function(*given) for _ in range(times)]
                return called
            return decorate

        @repeated(2)
        def made(x):
            return x + 1

        @functools.lru_cache
        def cached(x):
            return x + 1
        """
    first = load(project=text)
    assert facts(first.made).name == "project:made"
    for old, new in (
        ("repeated(2)", "repeated(3)"),
        ("x + 1", "x + 2"),
        ("range(times)", "range(times, 9)"),
    ):
        other = load(project=text.replace(old, new))
        assert facts(other.made).parts != facts(first.made).parts, new
    assert "project:cached" in facts(first.cached).parts


def test_functions_that_call_each_other_end(load: Load) -> None:
    """Cycles are followed once."""
    text = """
        def made(x):
            return other(x) if x else 0

        def other(x):
            return made(x - 1)
        """
    assert parts_of(load, project=text).keys() == {"project:made", "project:other"}


def test_libraries_are_named_by_their_versions(load: Load) -> None:
    """And not followed; Python's own have no part."""
    text = "import pandas as pd\nimport json\ndef made(x):\n    return pd.Series(json.loads(x))\n"
    found = parts_of(load, project=text)
    assert found.keys() == {"library pandas", "project:made"}
    assert found["library pandas"].startswith("version:")


def test_a_library_without_a_version_is_said(tmp_path: Path, load: Load) -> None:
    """A copy that lies among the packages and is none: a new one would not be noticed."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "copiedlib.py").write_text("def cut(x):\n    return x\n", encoding="utf-8")
    spec = importlib.util.spec_from_file_location("copiedlib", folder / "copiedlib.py")
    assert spec is not None and spec.loader is not None
    module = sys.modules["copiedlib"] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        text = "import copiedlib\ndef made(x):\n    return copiedlib.cut(x)\n"
        found = facts(load(project=text).made)
    finally:
        del sys.modules["copiedlib"]
    assert found.parts.keys() == {"project:made"}
    (said,) = found.unfollowed
    assert "copiedlib" in said and "not installed as a package" in said


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return getattr(x, x)", "getattr"),
        ("return globals()[x]", "globals"),
        ("return eval(x)", "eval"),
        ("return open(x).read()", "opens files"),
        ("import os\n    return os.environ[x]", "environment"),
        ("import no_such_module\n    return x", "when it runs"),
        ("global SEEN\n    SEEN = x\n    return x", "changes global variables"),
        ("return sockets.create_connection(x)", "uses the network"),
    ],
)
def test_what_can_not_be_followed_is_said(body: str, words: str, load: Load) -> None:
    """Only where it appears."""
    text = f"import socket as sockets\nSEEN = 0\ndef made(x):\n    {body}\n"
    found = facts(load(project=text).made)
    assert [one for one in found.unfollowed if words in one], found.unfollowed
    plain = "def made(x):\n    return getattr(x, 'real')\n"
    assert facts(load(project=plain).made).unfollowed == ()


OUTSIDE = [
    ("import pathlib", "pathlib.Path(x).read_text()", "opens files"),
    ("import pathlib", "pathlib.Path(x).read_bytes()", "opens files"),
    ("import pathlib", "pathlib.Path(x).open()", "opens files"),
    ("import io", "io.open(x)", "opens files"),
    ("import builtins", "builtins.open(x)", "opens files"),
    ("read = open", "read(x)", "opens files"),
    ("import codecs", "codecs.open(x)", "opens files"),
    ("import os", "os.open(x, 0)", "opens files"),
    ("import linecache", "linecache.getline(x, 1)", "opens files"),
    ("import fileinput", "fileinput.input(x)", "opens files"),
    ("import pandas as pd", "pd.read_csv(x)", "opens files"),
    ("from pandas import read_json", "read_json(x)", "opens files"),
    ("import numpy as np", "np.loadtxt(x)", "opens files"),
    ("import pkgutil", "pkgutil.get_data(x, x)", "opens files"),
    ("from os import getenv", "getenv(x)", "environment"),
    ("from os import environ", "environ[x]", "environment"),
    ("import os", "os.path.expandvars(x)", "environment"),
    ("from os.path import expandvars", "expandvars(x)", "environment"),
    ("import sys", "sys.modules[x]", "at run time"),
    ("from sys import modules", "modules[x]", "at run time"),
    ("import pydoc", "pydoc.locate(x)", "at run time"),
    ("import pkgutil", "pkgutil.resolve_name(x)", "at run time"),
    ("import pickle", "pickle.loads(x)", "at run time"),
    ("from pickle import loads", "loads(x)", "at run time"),
    ("import runpy", "runpy.run_module(x)", "by name"),
    ("from importlib import import_module", "import_module(x)", "by name"),
    ("import os\nHELD = {'os': os}", "HELD['os'].getenv(x)", "has the module"),
]


@pytest.mark.parametrize(("first", "call", "words"), OUTSIDE)
def test_what_comes_from_outside_is_said(first: str, call: str, words: str, load: Load) -> None:
    """Under whatever name it was imported."""
    found = facts(load(project=f"{first}\ndef made(x):\n    return {call}\n").made)
    assert [one for one in found.unfollowed if words in one], found.unfollowed


def test_what_stays_inside_is_not_said(load: Load) -> None:
    """Libraries as they are mostly used, and attributes that only have the name."""
    text = """
        import json, math, os, pandas as pd, numpy as np
        from urllib.parse import quote

        def made(x):
            return json, math, os.path.basename(x.open), pd.Series(np.array(x)), quote(x)
        """
    assert facts(load(project=text).made).unfollowed == ()


@pytest.mark.parametrize(
    "text",
    [
        "def made(x, m=helpers): return m.core(x)",
        "M = {'h': helpers}\ndef made(x): return M['h'].core(x)",
        "def make(m): return lambda x: m.core(x)\nmade = make(helpers)",
        "def g(m, x): return m.core(x)\nmade = functools.partial(g, helpers)",
        "def made(x): return made.m.core(x)\nmade.m = helpers",
    ],
)
def test_a_module_that_is_a_value_is_said(text: str, load: Load) -> None:
    """Which of its functions are called is not known."""
    core = "def core(x): return x\n"
    module = load(helpers=core, project=f"import functools, helpers\n{text}\n")
    found = facts(module.made).unfollowed
    assert [one for one in found if "is the module helpers" in one], found


def test_imports_inside_of_a_function(load: Load) -> None:
    """What is taken of a module of the project is followed."""
    text = "def made(x):\n    from helpers import clean\n    return clean(x)\n"
    first = load(helpers="def clean(x):\n    return x + 1\n", project=text)
    before = facts(first.made)
    assert before.parts.keys() == {"helpers:clean", "project:made"} and not before.unfollowed
    other = load(helpers="def clean(x):\n    return x + 2\n", project=text)
    assert facts(other.made).parts != before.parts


def test_an_object_without_a_value_is_said(load: Load) -> None:
    """Such as a lock or a generator."""
    text = "import threading\nLOCK = threading.Lock()\ndef made(x):\n    return LOCK.locked()\n"
    found = facts(load(project=text).made)
    assert any("project:LOCK" in one for one in found.unfollowed)


def test_lambdas_in_one_line(load: Load) -> None:
    """Each has its own code, by source where that can be told."""
    module = load(project="pair = (lambda x: x + 1), (lambda x: x + 2)\nmade = lambda y: y + 1\n")
    first, second = (facts(one).parts for one in module.pair)
    assert first != second
    assert facts(module.made).parts == first


def test_code_without_source_is_still_compared() -> None:
    """Its digest says that it is of compiled code."""
    names: dict[str, Any] = {"__name__": "nowhere"}
    for name, argument, more in (("one", "x", 1), ("two", "y", 1), ("three", "x", 2)):
        exec(f"def {name}({argument}):\n    return {argument} + {more}\n", names)
    one, two, three = (
        next(iter(facts(names[name]).parts.values())) for name in ("one", "two", "three")
    )
    assert one.startswith("code:") and one == two != three


def test_a_function_that_was_sent_and_read_back(load: Load) -> None:
    """As Spark has it in a plan: with its globals by value."""
    module = load(project=BASE)
    sys.modules.pop("project")
    sent = dumps(module.made)  # type: ignore[no-untyped-call]
    assert facts(loads(sent)).parts == facts(module.made).parts


def test_the_function_of_a_project_file(tmp_path: Path) -> None:
    """Behind what Holdfast wraps around it."""
    (tmp_path / "facts_of_a_project.py").write_text("def made(frame):\n    return frame\n")
    reference = FunctionReference("facts_of_a_project", "made", tmp_path, "holdfast.yaml:1")
    found = facts(load_function(reference))
    assert found.name == "facts_of_a_project:made"
    assert found.parts.keys() == {"facts_of_a_project:made"}
    assert found.place == f"{tmp_path / 'facts_of_a_project.py'}:1"


def test_a_partial_of_a_builtin() -> None:
    """Has nothing but its arguments."""
    assert facts(functools.partial(int, base=2)).parts.keys() == {"builtins:int: argument base"}
