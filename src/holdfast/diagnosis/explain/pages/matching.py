"""Finds the page of a pasted error: by Spark's error class, else by fragments of the message."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from holdfast.diagnosis.explain.pages.catalogue import PAGES
from holdfast.diagnosis.explain.pages.normalising import normalise
from holdfast.diagnosis.explain.pages.page import Page

LONGEST = 2_000_000
"""Characters of a text that are looked at: its head and its end, where causes stand."""

_BRACKETED = re.compile(r"\[(?P<name>[A-Z_][A-Z0-9_]{3,}(?:\.[A-Z0-9_]+)*)\]")
_BARE = re.compile(r"(?<![\w.])(?P<name>[A-Z_]+_[A-Z0-9_]+(?:\.[A-Z0-9_]+)*)\b")
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True)
class Match:
    """A page, and which of its own words were in the text."""

    page: Page
    matched: str
    """An error class, or a fragment of Spark's message: never a part of the text itself."""
    rank: tuple[int, int, int, int]
    """What says most comes last in order: how special, how it was found, how much, how deep."""


def find_page(text: str) -> Match | None:
    """Find the page that says most about an error; None where none does."""
    if len(text) > LONGEST:
        text = text[: LONGEST // 2] + text[-LONGEST // 2 :]
    found = [*_by_bracket(text), *_by_fragment(text)] or [*_by_bare_name(text)]
    return max(found, key=lambda match: match.rank, default=None)


def page_named(name: str) -> Page | None:
    """Give the page with this name, such as `wrong-base-path`."""
    return next((page for page in PAGES if page.name == name), None)


def _by_bracket(text: str) -> Iterator[Match]:
    """A sub-class is more than a class, and the innermost cause stands last."""
    for found in _BRACKETED.finditer(text):
        yield from _of_condition(found["name"], found.start(), how=2)


def _by_bare_name(text: str) -> Iterator[Match]:
    """A class without its brackets, as people type it and as logs print it."""
    for found in _BARE.finditer(text):
        yield from _of_condition(found["name"], found.start(), how=0)


def _of_condition(name: str, at: int, *, how: int) -> Iterator[Match]:
    pages = _pages_of_conditions()
    for known in (name, name.partition(".")[0]):
        if known in pages:
            page = pages[known]
            yield Match(page, known, (_special(page), how, known.count("."), at))
            return


def _by_fragment(text: str) -> Iterator[Match]:
    """Only a long fragment is distinctive; the one with most letters wins."""
    line, with_numbers = normalise(text), normalise(text, keep_numbers=True)
    for page, fragment, parts in _fragments():
        end = _end_of(parts, with_numbers if _DIGIT.search(fragment) else line)
        if end >= 0:
            # A class with a part of its message says more than the class alone.
            how = 3 if _BRACKETED.search(fragment) else 1
            yield Match(page, fragment, (_special(page), how, sum(map(len, parts)), end))


def _special(page: Page) -> int:
    """A wrapper says least, then a page about processes and machines."""
    return 0 if page.wraps else 1 if page.general else 2


def _end_of(parts: tuple[str, ...], line: str) -> int:
    """Give where the last part ends, all parts in order; -1 where one is missing."""
    at = 0
    for part in parts:
        found = line.find(part, at)
        if found < 0:
            return -1
        at = found + len(part)
    return at


@cache
def _pages_of_conditions() -> dict[str, Page]:
    return {condition: page for page in PAGES for condition in page.conditions}


@cache
def _fragments() -> tuple[tuple[Page, str, tuple[str, ...]], ...]:
    return tuple(
        (page, fragment, tuple(part.strip() for part in fragment.split("…")))
        for page in PAGES
        for fragment in page.fragments
    )
