"""Every Python session that a page shows runs, and answers what the page says."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from tests.docs.pages import blocks, name_of, pages
from tests.docs.session import workplace

RUN_WITH_SPARK = "docs/how-to/adopt-a-program.md"
"""Its blocks need a stream: tests/spark/running/test_program.py runs them."""
OWN_SINK = "docs/how-to/write-your-own-sink.md"
"""Its blocks are a project's: tests/spark/running/test_custom.py runs them."""
PAGES = [
    page
    for page in pages()
    if blocks(page, "pycon", "python") and name_of(page) not in (RUN_WITH_SPARK, OWN_SINK)
]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_sessions_answer_what_the_page_shows(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "\n".join(blocks(page, "pycon", "python"))
    session = doctest.DocTestParser().get_doctest(text, {}, name_of(page), str(page), 0)
    assert session.examples, "a block of Python without >>> is not run"
    said: list[str] = []
    with workplace() as folder, monkeypatch.context() as patch:
        patch.chdir(folder)
        outcome = doctest.DocTestRunner(verbose=False).run(session, out=said.append)
    assert outcome.failed == 0, "".join(said)


def test_the_guide_for_python_is_among_them() -> None:
    assert "docs/how-to/inspect-from-python.md" in {name_of(page) for page in PAGES}
