"""Every link between pages leads to a file, and to a heading in it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tests.docs.pages import name_of, pages

_LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")
SPARK_ERRORS = "reference/spark-errors/"
"""These pages have an index of their own."""
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


@cache
def anchors(page: Path) -> set[str]:
    """Give the anchors that a page's headings have."""
    headings = re.findall(r"^#+ (.+)$", _FENCED.sub("", page.read_text(encoding="utf-8")), re.M)
    return {re.sub(r"[^\w\- ]", "", one.lower()).strip().replace(" ", "-") for one in headings}


def broken_links(page: Path) -> list[str]:
    """Give the links of a page that lead nowhere."""
    broken: list[str] = []
    for match in _LINK.finditer(_FENCED.sub("", page.read_text(encoding="utf-8"))):
        target, _, anchor = match["target"].partition("#")
        if target.startswith(("http://", "https://", "mailto:")):
            continue
        place = (page.parent / target) if target else page
        if not place.exists() or (anchor and anchor not in anchors(place)):
            broken.append(match["target"])
    return broken


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_links_resolve(page: Path) -> None:
    assert broken_links(page) == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A head\n[a](#a-head) [b](#nowhere) [c](missing.md) [d](page.md#a-head)\n")
    assert broken_links(page) == ["#nowhere", "missing.md"]


def test_every_page_of_docs_is_in_the_index() -> None:
    docs = next(page for page in pages() if name_of(page) == "docs/README.md")
    text = docs.read_text(encoding="utf-8")
    names = [name_of(page).removeprefix("docs/") for page in pages() if docs.parent in page.parents]
    listed = [one for one in names if one != "README.md" and not one.startswith(SPARK_ERRORS)]
    assert [name for name in listed if f"({name})" not in text] == []


def test_every_page_about_spark_errors_is_in_their_index() -> None:
    index = next(page for page in pages() if name_of(page) == "docs/reference/spark-errors.md")
    text = index.read_text(encoding="utf-8")
    names = [page.name for page in (index.parent / "spark-errors").iterdir()]
    assert [name for name in names if f"(spark-errors/{name})" not in text] == []
    assert len(names) > 10
