"""Number and noun agree, everywhere that a text is made of a number and a noun."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from holdfast.wording import counted, measured

SOURCES = Path(__file__).resolve().parents[1] / "src" / "holdfast"
_COUNTED = re.compile(
    r" (?:(?!(?:and|of|that|names|took|holds) )[a-z]+ )?"
    r"(?:rows|batches|backups|files|copies|jobs|runs|keys|values|columns|sources|"
    r"partitions|settings|entries|ids|attempts|manifests|changelogs|snapshots|queries|findings)\b"
)
_NEVER_ONE = {
    "backup/store.py": {"len(found)"},
    "answers.py": {"self.status"},
    "cli/drawing/rehearsal.py": {"counted(len(done.steps), 'step')"},
    "cli/drawing/state.py": {"shown"},
    "demonstration/story.py": {"FILES", "LINES", "job"},
    "diagnosis/checks/declared/declarations.py": {"uses", "len(declared)"},
    "diagnosis/checks/sink/sparkfiles.py": {"log.interval"},
    "diagnosis/checks/state/operators.py": {"len(partitions)"},
    "diagnosis/checks/growth.py": {"interval"},
    "diagnosis/checks/state/contents.py": {"len(newest)"},
    "format/sources/readers.py": {"every"},
    "jobs/projectfile/yamlfile.py": {"_MOST_NODES"},
    "ledgers/sinkstate.py": {"shown"},
    "remedy/remedies/backfill/planning.py": {"last"},
    "spark/facts/python/functions.py": {"owner"},
    "spark/sinks/database/staging.py": {"self.staged.rows"},
    "spark/jars/cache.py": {"repository()"},
    "spark/sinks/database/rewinding.py": {"table", "there"},
    "spark/sinks/files.py": {"shown"},
    "spark/sinks/native.py": {"location.shown"},
    "state/results.py": {"len(names)"},
}
"""Numbers that are no counts, that are at least 2, or of which some others are said."""


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [
        (0, "row", "0 rows"),
        (1, "row", "1 row"),
        (12345, "row", "12,345 rows"),
        (2, "batch", "2 batches"),
        (1, "batch", "1 batch"),
        (3, "copy", "3 copies"),
        (2, "day", "2 days"),
        (2, "other query", "2 other queries"),
    ],
)
def test_the_noun_agrees(number: int, noun: str, text: str) -> None:
    assert counted(number, noun) == text


def test_a_verb_can_agree_too() -> None:
    assert counted(1, "file is", "files are") == "1 file is"
    assert counted(2, "file is", "files are") == "2 files are"


def test_units_are_named_in_the_plural() -> None:
    assert (measured(1, "records"), measured(2, "log offsets")) == ("1 record", "2 log offsets")


def numbers_before_plurals() -> Iterator[tuple[str, str, str]]:
    """Give every value of an f-string that a plural follows: its file, itself and the text."""
    for path in sorted(SOURCES.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                for value, text in pairwise(node.values):
                    if isinstance(value, ast.FormattedValue) and isinstance(text, ast.Constant):
                        yield (
                            path.relative_to(SOURCES).as_posix(),
                            ast.unparse(value.value),
                            str(text.value),
                        )


def test_no_text_puts_a_plural_behind_any_number() -> None:
    """`1 rows` and `1 backups` were printed: a count goes through `counted`."""
    wrong = [
        (file, value, text)
        for file, value, text in numbers_before_plurals()
        if _COUNTED.match(text) and value not in _NEVER_ONE.get(file, set())
    ]
    assert wrong == []
