"""Every page about an error of Spark, by subject, and how a pasted error finds its own: by error
class, else by fragments of the message."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from holdfast.diagnosis.explain.pages import (
    Page,
    checkpoint,
    cluster,
    delta,
    deployment,
    evolution,
    files,
    kafka,
    logs,
    memory,
    queries,
    rocksdb,
    staterows,
    stateschema,
    statestore,
)

SUBJECTS: dict[str, tuple[Page, ...]] = {
    "The logs of a checkpoint": logs.PAGES,
    "The query id and an empty checkpoint": checkpoint.METADATA_PAGES,
    "Where the checkpoint is": checkpoint.LOCATION_PAGES,
    "Two writers": checkpoint.CONCURRENCY_PAGES,
    "Loading and storing state": statestore.PAGES,
    "RocksDB state": rocksdb.PAGES,
    "The schema of the state": stateschema.PAGES,
    "Rows in the state": staterows.ROW_PAGES,
    "Evolution, repartitioning, real-time mode": evolution.PAGES,
    "Kafka": kafka.PAGES,
    "Delta and Iceberg": delta.PAGES,
    "File source": files.SOURCE_PAGES,
    "File sink": files.SINK_PAGES,
    "Functions and Python": queries.FUNCTION_PAGES,
    "Queries that Spark refuses": queries.REFUSAL_PAGES,
    "Spark's reader of state": staterows.READER_PAGES,
    "Memory, and what is wrapped around": memory.PAGES,
    "Driver, executors and cluster": (*memory.PROCESS_PAGES, *cluster.PAGES),
    "Access": deployment.ACCESS_PAGES,
    "Jars": deployment.CLASSPATH_PAGES,
}

PAGES: tuple[Page, ...] = tuple(page for pages in SUBJECTS.values() for page in pages)


_TYPOGRAPHY = str.maketrans(
    {"\u2019": "'", "\u2018": "'", "\u201c": '"', "\u201d": '"', "\xa0": " "}
)
_KEPT = r"offsets|commits|sources|state|metadata|_spark_metadata|_delta_log"
_IDENTIFIER = re.compile(
    r"(?<![0-9a-z])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE
)
_LOCATION = re.compile(r"(?:\b[a-zA-Z][a-zA-Z0-9+.-]*:/{1,3}|(?<![\w<])/)[^\s,;()\[\]\"'<>]+")
_TAIL = re.compile(rf"/(?P<tail>(?:{_KEPT})(?:/[^/\s]+)*/?)$")
_STORE_FOLDER = re.compile(r"^(state/\d+/\d+)/(?!_)[^/]+/([^/]+)$")
_WITHOUT_STORE = r"\1/\2"
_FRAME_FILE = re.compile(r"\([\w$]+\.(?:scala|java|py):\d+\)")
_NUMBER = re.compile(r"\d+")
# A log in JSON holds its line ends as two characters.
_WHITE = re.compile(r"(?:\s|\\[nrt])+")


def normalise(text: str, *, keep_numbers: bool = False) -> str:
    """Return the text on one line, with paths, ids and numbers replaced.

    Of a path inside a checkpoint the part from the log's name on is kept: which log it is matters,
    where it lies does not.
    """
    text = _WHITE.sub(" ", text.translate(_TYPOGRAPHY))
    text = _FRAME_FILE.sub("", text)
    text = _IDENTIFIER.sub("<id>", text)
    text = _LOCATION.sub(_reduced, text)
    return text if keep_numbers else _NUMBER.sub("#", text)


def _reduced(found: re.Match[str]) -> str:
    place = found.group().rstrip(".:!")
    rest = found.group()[len(place) :]
    inside = _TAIL.search(place)
    if inside is None:
        return f"<path>{rest}"
    # A join keeps four stores per partition, each in a folder of its own.
    return f"<path>/{_STORE_FOLDER.sub(_WITHOUT_STORE, inside['tail'])}{rest}"


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
    """Return the page with this name, such as `wrong-base-path`."""
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
    """Return where the last part ends, all parts in order; -1 where one is missing."""
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
