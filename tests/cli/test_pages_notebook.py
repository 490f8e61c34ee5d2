"""What a notebook shows of an answer: one line, or the page of the terminal as HTML."""

from __future__ import annotations

import dataclasses
import html
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.answers import Answer, OneLine
from holdfast.cli.main import COMMANDS
from holdfast.cli.pages import _PAGES
from holdfast.findings import Finding, Place, Severity
from holdfast.redaction import remember_secret
from tests.cli.running import holdfast as command
from tests.corpus.loading import sample

SECRET = "hunter7hunter7"


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """Give a real checkpoint, in a folder whose name is no HTML, with a damage."""
    root = sample("stateless", "4.3.0").extract(tmp_path / "<script>alert(1)</script>&")
    newest = max((root / "commits").glob("[0-9]*"), key=lambda one: int(one.name))
    newest.write_bytes(b"")
    return root


def asked(checkpoint: Path) -> list[Answer[Any]]:
    """Ask everything that needs no Spark."""
    where = str(checkpoint)
    return [
        holdfast.inspect(where),
        holdfast.doctor(where),
        holdfast.evidence(where),
        holdfast.diff(where, where),
        holdfast.list_backups(where),
        holdfast.explain("HF2204"),
        holdfast.init_project(checkpoint.parent / "new"),
        holdfast.status(project=checkpoint.parent / "new"),
    ]


def test_every_answer_and_result_has_one_line(checkpoint: Path) -> None:
    """It says what was asked and how it came out."""
    for answer in asked(checkpoint):
        for shown in (answer, answer.result):
            assert "\n" not in repr(shown) and len(repr(shown)) < 500, repr(shown)
            assert repr(shown).startswith(f"<{type(shown).__name__} "), repr(shown)
    inspected = holdfast.inspect(str(checkpoint))
    assert "status='findings'" in repr(inspected) and "1 fatal" in repr(inspected)
    assert "next_start.action='fail'" in repr(inspected.result)


def test_every_answer_and_result_is_drawn_as_on_a_terminal(
    checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same words, escaped."""
    monkeypatch.setenv("COLUMNS", "100")
    for answer in asked(checkpoint):
        drawn, result = answer._repr_html_(), answer.result._repr_html_()
        assert drawn is not None and result is not None
        assert "<script>" not in drawn + result, "text stays text"
        assert drawn.startswith("<pre ") and drawn.endswith("</pre>")
    told = command("inspect", str(checkpoint), "--no-color").out
    drawn = str(holdfast.inspect(str(checkpoint))._repr_html_())
    words = html.unescape(re.sub(r"<[^>]*>", "", drawn)).split()
    assert words == told.split()
    assert "color:" in drawn, "a severity is coloured"


def test_no_secret_is_shown() -> None:
    """Neither in the line nor on the page, wherever it came from."""
    remember_secret(SECRET)
    finding = Finding("HF2101", Severity.FATAL, f"with {SECRET}", Place(f"commits/{SECRET}"))
    explained = holdfast.explain("HF2204")
    result = dataclasses.replace(explained.result, title=f"a {SECRET}", why=SECRET)
    answer = Answer("explain", f"s3://me:{SECRET}@bucket", result, (finding,))
    shown = (repr(answer), repr(result), answer._repr_html_(), result._repr_html_())
    assert not [one for one in shown if one is None or SECRET in one]
    assert SECRET not in str(answer.to_dict())


def test_the_dictionary_is_the_document_of_the_command(checkpoint: Path) -> None:
    """Field for field; next steps name arguments instead of options."""
    printed = command("inspect", str(checkpoint), "--json").document
    given = holdfast.inspect(str(checkpoint)).to_dict()
    assert {key: given[key] for key in ("schema", "holdfast", "command", "status", "result")} == {
        key: printed[key] for key in ("schema", "holdfast", "command", "status", "result")
    }
    assert {*given} == {*printed}


def test_every_command_has_its_page_and_every_public_result_says_which() -> None:
    """A command that is added is drawn in notebooks too."""
    assert {*_PAGES} == {*COMMANDS}
    results = [one for one in (getattr(holdfast, name) for name in holdfast.__all__) if _is(one)]
    # What undo answers is what apply answers.
    assert {one.COMMAND for one in results} - {None} == {*COMMANDS} - {"demo", "undo"}
    for one in results:
        assert one.SHOWN and not one.__dataclass_params__.repr


def _is(one: object) -> bool:
    return isinstance(one, type) and issubclass(one, OneLine)


def test_a_line_does_not_wait_for_rich(checkpoint: Path) -> None:
    """Only a notebook that asks for a page does."""
    program = (
        "import sys, holdfast\n"
        f"answer = holdfast.inspect({str(checkpoint)!r})\n"
        "repr(answer), repr(answer.result), answer.to_dict()\n"
        "assert not {'rich', 'pydantic', 'pyspark', 'click'} & {*sys.modules}\n"
        "assert answer._repr_html_() and 'rich' in sys.modules\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
