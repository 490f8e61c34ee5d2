"""What the names of a function stand for: two pieces of code that changed places are a change."""

from __future__ import annotations

import importlib
import linecache
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.records.facts import REACH, FunctionFacts
from holdfast.restart.samefunctions import do_the_same, notes_more, same_parts
from holdfast.spark.facts.python.functions import ALL, function_facts

DECORATOR = """
    import functools
    class Wrapper:
        def __init__(self, factor, inner):
            self.factor, self.inner = factor, inner
            functools.update_wrapper(self, inner)
        def __call__(self, x):
            return self.inner(x) * self.factor
    def scaled(factor):
        return lambda inner: Wrapper(factor, inner)
    @scaled({})
    def f(x):
        return x + 1
"""
CHOSEN = "def p(x): return x + 1\ndef q(x): return x * 2\n"
CHANGES = {
    "a decorator's argument": (DECORATOR.format(2), DECORATOR.format(3)),
    "helpers change places": (
        f"{CHOSEN}a, b = p, q\ndef f(x): return a(x) - b(x)",
        f"{CHOSEN}a, b = q, p\ndef f(x): return a(x) - b(x)",
    ),
    "another function of a library": (
        "from math import floor as whole\ndef f(x): return whole(x)",
        "from math import ceil as whole\ndef f(x): return whole(x)",
    ),
    "another builtin": ("g = max\ndef f(x): return g(x, 1)", "g = min\ndef f(x): return g(x, 1)"),
    "another method of text": (
        "g = str.upper\ndef f(x): return g(x)",
        "g = str.lower\ndef f(x): return g(x)",
    ),
    "a method of a value": (
        "get = {'a': 1}.get\ndef f(x): return get(x)",
        "get = {'a': 2}.get\ndef f(x): return get(x)",
    ),
    "a field that is taken": (
        "import operator\ng = operator.itemgetter(0)\ndef f(x): return g(x)",
        "import operator\ng = operator.itemgetter(1)\ndef f(x): return g(x)",
    ),
    "the value of an enumeration": (
        "from enum import IntEnum\nclass R(IntEnum): LOW = 1\ndef f(x, r=R.LOW): return x * r",
        "from enum import IntEnum\nclass R(IntEnum): LOW = 2\ndef f(x, r=R.LOW): return x * r",
    ),
    "what a missing key gives": (
        "class D(dict):\n    def __missing__(self, k): return 1\nd = D()\ndef f(x): return d[x]",
        "class D(dict):\n    def __missing__(self, k): return 2\nd = D()\ndef f(x): return d[x]",
    ),
    "a default factory": (
        "from collections import defaultdict\nd = defaultdict(int)\ndef f(x): return d[x]",
        "from collections import defaultdict\nd = defaultdict(float)\ndef f(x): return d[x]",
    ),
    "a class of text": (
        "class T(str):\n    def g(self): return self.upper()\nt = T('x')\ndef f(x): return t.g()",
        "class T(str):\n    def g(self): return self.lower()\nt = T('x')\ndef f(x): return t.g()",
    ),
    "a cached property": (
        "from functools import cached_property as cp\nclass C:\n    k = cp(lambda s: 1)\nc = C()\n"
        "def f(x): return c.k",
        "from functools import cached_property as cp\nclass C:\n    k = cp(lambda s: 2)\nc = C()\n"
        "def f(x): return c.k",
    ),
    "the order of bases": (
        "class A:\n    k = 1\nclass B:\n    k = 2\nclass C(A, B): pass\ndef f(x): return C.k",
        "class A:\n    k = 1\nclass B:\n    k = 2\nclass C(B, A): pass\ndef f(x): return C.k",
    ),
    "what a type chooses": (
        "import functools\n@functools.singledispatch\ndef g(x): return 1\n"
        "@g.register\ndef _(x: int): return 2\ndef f(x): return g(x)",
        "import functools\n@functools.singledispatch\ndef g(x): return 1\n"
        "@g.register\ndef _(x: int): return 3\ndef f(x): return g(x)",
    ),
    "the order of a mapping that is walked": (
        "d = {'k': 1, 'k1': 2}\ndef f(x): return next(v for p, v in d.items() if p in x)",
        "d = {'k1': 2, 'k': 1}\ndef f(x): return next(v for p, v in d.items() if p in x)",
    ),
    "the order of a mapping that is looked up and walked": (
        "d = {'k': 1, 'k1': 2}\ndef f(x): return d.get(x) or [*d]",
        "d = {'k1': 2, 'k': 1}\ndef f(x): return d.get(x) or [*d]",
    ),
    "the order of a mapping in what is looked up": (
        "d = {1: {'k': 1, 'k1': 2}}\ndef f(x): return [*d[x]]",
        "d = {1: {'k1': 2, 'k': 1}}\ndef f(x): return [*d[x]]",
    ),
    "the order of an OrderedDict": (
        "from collections import OrderedDict as O\nd = O(a=1, b=2)\ndef f(x): return [*d]",
        "from collections import OrderedDict as O\nd = O(b=2, a=1)\ndef f(x): return [*d]",
    ),
    "the order of a mapping in a list": (
        "d = [{1: 2, 3: 4}]\ndef f(x): return [*d[0]]",
        "d = [{3: 4, 1: 2}]\ndef f(x): return [*d[0]]",
    ),
    "the order of a mapping of functions": (
        f"{CHOSEN}d = {{'k': p, 'k1': q}}\ndef f(x): return [*d.values()][0](x)",
        f"{CHOSEN}d = {{'k1': q, 'k': p}}\ndef f(x): return [*d.values()][0](x)",
    ),
    "the order of a mapping in a closure": (
        "def m(d): return lambda x: [*d]\nf = m({'a': 1, 'b': 2})",
        "def m(d): return lambda x: [*d]\nf = m({'b': 2, 'a': 1})",
    ),
    "the order in a class that is walked": (
        "class C:\n    a = 1\n    b = 2\ndef f(x): return [*C.__dict__]",
        "class C:\n    b = 2\n    a = 1\ndef f(x): return [*C.__dict__]",
    ),
    "parameters that are given by their names": (
        "def g(a, b): return a + '-' + b\ndef f(x): return g(a=x, b='1')",
        "def g(b, a): return b + '-' + a\ndef f(x): return g(a=x, b='1')",
    ),
    "parameters of a function inside": (
        "def f(x):\n    def g(a, b): return a + '-' + b\n    return g(a=x, b='1')",
        "def f(x):\n    def g(b, a): return b + '-' + a\n    return g(a=x, b='1')",
    ),
    "parameters of a function that Spark calls by them": (
        "def f(a, b): return a + '-' + b",
        "def f(b, a): return b + '-' + a",
    ),
    "an attribute of a function": (
        "def f(x): return x + f.t\nf.t = '1'",
        "def f(x): return x + f.t\nf.t = '2'",
    ),
    "a function that is another one's attribute": (
        "def g(x): return x + 1\ndef f(x): return f.t(x)\nf.t = g",
        "def g(x): return x + 2\ndef f(x): return f.t(x)\nf.t = g",
    ),
    "a docstring that is read": (
        "def g():\n    'One.'\ndef f(x): return g.__doc__",
        "def g():\n    'Two.'\ndef f(x): return g.__doc__",
    ),
}
SAME = {
    "looks": (
        "def f(x): return x + 1",
        "def f(value: int) -> int:\n    '''Add.'''\n    return value+1",
    ),
    "the name of a constant": (
        "LOW = 1\ndef f(x, k=LOW): return x + LOW + k",
        "LEAST = 1\ndef f(x, k=LEAST): return x + LEAST + k",
    ),
    "the order of a mapping that is only looked up": (
        "d = {1: 2, 3: 4}\ndef f(x): return d[x] if x in d else d.get(x)",
        "d = {3: 4, 1: 2}\ndef f(x): return d[x] if x in d else d.get(x)",
    ),
    "the order of a set": (
        "d = frozenset(('a', 'b'))\ndef f(x): return x in d",
        "d = frozenset(('b', 'a'))\ndef f(x): return x in d",
    ),
    "names of a single parameter and of variables": (
        "def g(a, b):\n    c = a + b\n    return c\ndef f(x): return g(x, 1)",
        "def g(a, b):\n    d = a + b\n    return d\ndef f(y): return g(y, 1)",
    ),
    "a docstring that nobody reads": (
        "def g():\n    'One.'\ndef f(x): return g()",
        "def g():\n    'Two.'\ndef f(x): return g()",
    ),
    "the order of methods": (
        "class C:\n    def a(s): return s.b()\n    def b(s): return 1\nc = C()\n"
        "def f(x): return c.a()",
        "class C:\n    def b(s): return 1\n    def a(s): return s.b()\nc = C()\n"
        "def f(x): return c.a()",
    ),
    "code that leads back to itself": (
        "def g(x): return f(x - 1)\ndef f(x): return g(x) if x else 0",
        "def f(x): return g(x) if x else 0\ndef g(x): return f(x - 1)",
    ),
}  # fmt: skip


def facts_of(
    text: str, folder: Path, monkeypatch: pytest.MonkeyPatch, kind: str = "udf"
) -> FunctionFacts:
    """Load a module from its text, and describe its function `f`."""
    folder.mkdir()
    (folder / "reached_rules.py").write_text(textwrap.dedent(text), encoding="utf-8")
    with monkeypatch.context() as patched:
        patched.syspath_prepend(str(folder))
        patched.delitem(sys.modules, "reached_rules", raising=False)
        linecache.clearcache()
        importlib.invalidate_caches()
        module = importlib.import_module("reached_rules")
        found = function_facts(module.f, kind)
    sys.modules.pop("reached_rules")
    return found


@pytest.mark.parametrize("name", CHANGES)
def test_what_a_name_stands_for_counts(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The text of the function is the same."""
    before, now = (
        facts_of(text, tmp_path / str(place), monkeypatch)
        for place, text in enumerate(CHANGES[name])
    )
    assert before.parts[ALL] != now.parts[ALL]
    assert before.parts[ALL].startswith(REACH)
    assert not do_the_same(before, now)


@pytest.mark.parametrize("name", SAME)
def test_looks_and_order_do_not_count(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does the file that the code is in."""
    before, now = (
        facts_of(text, tmp_path / str(place), monkeypatch) for place, text in enumerate(SAME[name])
    )
    assert before.parts[ALL] == now.parts[ALL]
    assert do_the_same(before, now)


def test_a_record_without_the_digest_is_compared_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an earlier release recorded stays valid."""
    now = facts_of("def f(x): return x", tmp_path / "now", monkeypatch)
    parts = {name: digest for name, digest in now.parts.items() if name != ALL}
    assert parts
    assert do_the_same(FunctionFacts(now.name, now.kind, parts), now)


def test_parameters_that_spark_fills_by_their_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their names decide nothing, unless the function calls itself by them."""
    calls = "def f({0}, {1}): return {0} - {1}", "def f({0}, {1}): return f(key={0}, rows={1})"
    for number, text in enumerate(calls):
        first, renamed = (
            facts_of(text.format(*names), tmp_path / f"{number}{names[0]}", monkeypatch, "state")
            for names in (("key", "rows"), ("rows", "key"))
        )
        assert do_the_same(first, renamed) is (number == 0)


def test_a_record_of_an_earlier_form_is_compared_by_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It knows no order and no names of parameters; what it does know still counts."""
    text = "d = {'k': 1, 'k1': 2}\ndef f(x, y): return [*d, x, y.read_text()]"
    now = facts_of(text, tmp_path / "now", monkeypatch)
    parts = {**now.parts, ALL: now.parts[ALL].partition("+")[0]}
    earlier = replace(now, parts=parts, unfollowed=())
    changes = {
        "names": (text.replace("(x,", "(z,").replace(" x,", " z,"), True),
        "order": (text.replace("'k': 1, 'k1': 2", "'k1': 2, 'k': 1"), True),
        "body": (text.replace("[*d,", "[2, *d,"), False),
    }
    for name, (changed, is_same) in changes.items():
        other = facts_of(changed, tmp_path / name, monkeypatch)
        assert do_the_same(earlier, other) is is_same
        assert not do_the_same(now, other)
    assert same_parts(earlier, now)
    assert now.unfollowed and notes_more(earlier, now)
    assert not notes_more(now, replace(now, unfollowed=("more",)))
