"""One place adds the job's name to what is shown: no error begins with it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import holdfast.spark

_NAMED = re.compile(r"(?:.*\.)?_?job\.name|(?:.*\.)?run\.job|(?:.*\.)?report\.job")
_PREFIX = re.compile(r":| failed")


def test_no_message_begins_with_the_name_of_the_job() -> None:
    """`orders: orders: source source:` was printed: `spark/run.py` and the faces add it."""
    found = [
        f"{path.name}:{node.lineno}"
        for path in Path(str(holdfast.spark.__path__[0])).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.JoinedStr) and _is_prefixed(node)
    ]
    assert [one.partition(":")[0] for one in found] == ["run.py"], found


def _is_prefixed(node: ast.JoinedStr) -> bool:
    first, *more = node.values
    if not isinstance(first, ast.FormattedValue) or not more:
        return False
    text = more[0].value if isinstance(more[0], ast.Constant) else ""
    named = _NAMED.fullmatch(ast.unparse(first.value))
    return named is not None and _PREFIX.match(str(text)) is not None
