"""What users read uses the field's words: retired expressions stay out of pages and messages."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import holdfast
from docs.generate import WRITTEN_BY_HAND
from holdfast.codes import CODES
from holdfast.diagnosis.explain.pages.catalogue import PAGES
from tests.advice.raised import raised_steps
from tests.docs.pages import REPOSITORY, name_of, pages

RETIRED = {
    r"anew": "again, or new",
    r"mend(s|ed|ing)?": "fix",
    r"tells?|told": "report, show, detect or know",
    r"can't|mustn't": "cannot, must not",
    r"(hold|held|holds)( \w+)? already": "already in the sink",
    r"beside": "next to, or in parallel",
    r"(lies|lie|lay) (in|at|beside|behind|outside|there|elsewhere)": "is in, is next to",
    r"stands? (below|beside|behind|under|there|twice|apart|with|alone)": "is, or is listed",
    r"folders?": "directory",
    r"(one|a) (row|line|file|entry|page|record|manifest|mark|result) an? \w+": "per",
    r"for ever": "always, or permanently",
    r"no word of|sign of life": "no final record, still alive",
    r"nobody (can say|foresaw|knows|has to)": "cannot be determined",
    r"(?<!there )is no (?!(longer|more|such)\b)\w+": "is not a, does not",
    r"(is|are) meant(?! (to|for)\b)": "did you mean, or is intended",
    r"goes? on": "continues",
    r"(rows?|lost or|and) doubled|doubles? rows": "duplicated",
    r"numbers and truths|or a truth": "boolean",
    r"a text(?! (file|editor))": "a string",
    r"tak(e|es|en|ing)( \w+)? back": "undo, rewind",
    r"as if it were": "looks like",
    r"of (yours|ours)": "your own",
    r"had (at any time|alone)": "available",
    r"all the same|in the like": "anyway",
    r"whoever": "the process that, the driver that",
    r"is asked|are asked|was asked": "is read, is contacted",
}
"""Expression to what to write instead. Precise enough to have no use in plain technical English."""
_PATTERNS = {
    re.compile(rf"(?<![\w-])(?:{one})(?![\w-])", re.IGNORECASE): instead
    for one, instead in RETIRED.items()
}
_FENCED = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`|\]\([^)]*\)")
_WRITTEN_FOR_CONTRIBUTORS = ("ARCHITECTURE.md", "docs/reports/", "docs/benchmarks.md")


SOURCES = REPOSITORY / "src/holdfast"
NOT_YET = frozenset({"running/guard.py", "spark/preflight.py"})
KEPT = (
    "checkpoint/releases.py",
    "diagnosis/doctor/wrongfixes.py",
    "diagnosis/inspection/sink/facts.py",
    "jobs/target.py",
    "ledgers/",
    "spark/session/jvm.py",
    "spark/sinks/database/dialects/jdbc/dialect.py",
    "spark/sinks/files.py",
    "spark/sinks/native.py",
)
"""Where texts are kept that scripts or records know: the basis of an answer, and wrong fixes."""


def by_hand() -> list[Path]:
    """Return the pages for users that no generator writes."""
    found = [*pages(), *sorted((REPOSITORY / "examples").glob("*/README.md"))]
    return [page for page in found if not _is_generated(page)]


def _is_generated(page: Path) -> bool:
    name = name_of(page)
    if name.startswith(_WRITTEN_FOR_CONTRIBUTORS):
        return True
    return name.startswith("docs/reference/") and page.name not in WRITTEN_BY_HAND


def retired_in(text: str) -> list[str]:
    """Return the retired expressions in the prose of a page, each with what to write instead."""
    prose = _CODE.sub("", _FENCED.sub("", text))
    prose = re.sub(r"\s+", " ", re.sub(r"\n\s*\n", " ¶ ", prose))
    return [
        f"…{prose[max(0, match.start() - 30) : match.end() + 20]}…: write {instead}"
        for pattern, instead in _PATTERNS.items()
        for match in pattern.finditer(prose)
    ]


@pytest.mark.parametrize("page", by_hand(), ids=name_of)
def test_the_prose_is_plain_english(page: Path) -> None:
    assert retired_in(page.read_text(encoding="utf-8")) == []


def sources() -> list[Path]:
    """Return the modules whose texts reach users."""
    found = sorted(SOURCES.rglob("*.py"))
    names = {path: path.relative_to(SOURCES).as_posix() for path in found}
    return [path for path in found if names[path] not in NOT_YET]


def messages_in(source: str) -> Iterator[str]:
    """Yield the string literals of a module with a blank in them, without its docstrings.

    What is filled in at run time is shown as `…`.
    """
    tree = ast.parse(source)
    statements = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}
    pieces: set[int] = set()
    for one in ast.walk(tree):
        if isinstance(one, ast.JoinedStr):
            pieces |= {id(inner) for inner in ast.walk(one) if inner is not one}
    for one in ast.walk(tree):
        if id(one) in statements | pieces:
            continue
        text = _text(one)
        if text is not None and " " in text.strip():
            yield text


def _text(node: ast.AST) -> str | None:
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(one.value) if isinstance(one, ast.Constant) else "…" for one in node.values
        )
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


@cache
def literal_texts() -> frozenset[str]:
    """Return next steps, which are executed as they are, and parts of Spark's own messages."""
    steps = {one.step for one in raised_steps()} | {
        step for one in CODES for step in one.next_steps
    }
    pages = {text for page in PAGES for text in (*page.steps, *page.fragments)}
    return frozenset(steps | pages)


def public_docstrings() -> Iterator[tuple[str, str]]:
    """Yield every public name with its docstring, and the public methods of public classes."""
    for name in holdfast.__all__:
        thing = getattr(holdfast, name)
        if not (inspect.isclass(thing) or inspect.isfunction(thing)):
            continue
        yield name, thing.__doc__ or ""
        for method, value in vars(thing).items() if inspect.isclass(thing) else ():
            if not method.startswith("_") and value.__doc__ and inspect.isfunction(value):
                yield f"{name}.{method}", value.__doc__


REWRITTEN = [one for one in sources() if not one.relative_to(SOURCES).as_posix().startswith(KEPT)]


@pytest.mark.parametrize("path", REWRITTEN, ids=lambda one: one.relative_to(SOURCES).as_posix())
def test_messages_are_plain_english(path: Path) -> None:
    shown = (one for one in messages_in(path.read_text("utf-8")) if one not in literal_texts())
    told = [re.sub(r"\{\w*\}", "…", one) for one in shown]
    assert [found for one in told for found in retired_in(one)] == []


@pytest.mark.parametrize(("name", "text"), [*public_docstrings()])
def test_public_docstrings_are_plain_english(name: str, text: str) -> None:
    prose = text.partition(">>>")[0]
    assert retired_in(prose) == [], name
    assert not prose.startswith(("Give ", "Tell ")), f"{name}: write Return, Raise or Yield"


def test_messages_are_found_and_docstrings_are_not() -> None:
    source = '''"""A module, anew."""
def told(name):
    """Do it anew."""
    raise ValueError(f"{name} is planned anew", "one " "text")
'''
    assert sorted(messages_in(source)) == ["one text", "… is planned anew"]


@pytest.mark.parametrize(
    "text",
    [
        "A batch that is planned anew.",
        "What the page can't say is told.",
        "It keeps one row a customer.",
        "A sink that holds it already skips it.",
        "What lies in staging stands below.",
        "It is no obstacle, and the query goes on.",
        "Nothing lost,\nnothing doubled: 0 rows doubled.",
    ],
)
def test_the_old_dialect_is_found(text: str) -> None:
    assert retired_in(text)


@pytest.mark.parametrize(
    "text",
    [
        "There is no such table, and it is no longer needed.",
        "`holdfast demo` prints `0 rows doubled`.",
        "Pass a text file. The backup is meant to run while the job is running.",
        "The delay is doubled after each restart. One record per day.",
        "```text\nbatch 1 is planned anew\n```",
        "[A page](a-start-that-lies-in-a-folder.md) about holding back.",
    ],
)
def test_plain_english_is_left_alone(text: str) -> None:
    assert retired_in(text) == []


def test_the_pages_that_people_read_first_are_among_them() -> None:
    names = {name_of(page) for page in by_hand()}
    assert {
        "README.md",
        "CHANGELOG.md",
        "docs/how-to/run-jobs.md",
        "docs/reference/delta-identity.md",
        "examples/sensors/README.md",
    } <= names
