"""Pages written by hand use the field's words: retired expressions stay out of their prose."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.generate import WRITTEN_BY_HAND
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
    r"(?<!there )is no(?! (longer|more)\b)": "is not a, does not",
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
