"""Every Python session that a page shows runs, and answers what the page says."""

from __future__ import annotations

import contextlib
import dataclasses
import doctest
import inspect
import re
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import holdfast
from holdfast.ledgers.identity import BatchIdentity
from tests.docs.pages import REPOSITORY, blocks, name_of, pages
from tests.docs.session import workplace

RUN_WITH_SPARK = "docs/how-to/adopt-a-program.md"
"""Its blocks need a stream: tests/spark/running/test_program.py runs them."""
OWN_SINK = "docs/how-to/write-your-own-sink.md"
"""Its blocks are a project's: tests/spark/running/test_custom.py runs them."""
PYTHON_API = REPOSITORY / "docs/reference/python-api.md"
"""Its block that starts a query is run by tests/spark/running/test_streaming_query.py."""
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
        # A page's reader does not work in a temporary directory.
        patch.setattr("holdfast.jobs.checkpointpath._temporary_folder", lambda *_: None)
        outcome = doctest.DocTestRunner(verbose=False).run(session, out=said.append)
    assert outcome.failed == 0, "".join(said)


@pytest.mark.parametrize("generations", [(1, 1, 1, 1), (1, 2, 2, 1)])
def test_the_upsert_of_the_page_never_goes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, generations: tuple[int, ...]
) -> None:
    """A late batch 5 after 6 changes nothing, whether its driver is known to be old or not."""
    monkeypatch.chdir(tmp_path)
    page: dict[str, Any] = {}
    exec(compile(blocks(REPOSITORY / OWN_SINK, "python")[1], OWN_SINK, "exec"), page)
    for batch_id, generation in zip((4, 5, 6, 5), generations, strict=True):
        identity = BatchIdentity("query", batch_id, generation, f"d{batch_id}")
        with contextlib.suppress(RuntimeError):
            page["deliver"](Batch([Row("a", batch_id)]), identity)
    with sqlite3.connect("latest.db") as database:
        assert database.execute("select k, n from latest").fetchall() == [("a", 6)]
    with pytest.raises(RuntimeError, match="different offsets"):
        page["deliver"](Batch([Row("a", 7)]), BatchIdentity("query", 6, 2, "other"))


class Row(NamedTuple):
    """A row of a batch."""

    k: str
    n: int


@dataclass(frozen=True)
class Batch:
    """Rows as Spark gives them."""

    rows: list[Row]

    def collect(self) -> list[Row]:
        """Return them all."""
        return self.rows


def test_the_guide_for_python_is_among_them() -> None:
    assert "docs/how-to/inspect-from-python.md" in {name_of(page) for page in PAGES}


def test_the_reference_names_every_public_name() -> None:
    """And every member of a query that pyspark does not have, and every field of a sink."""
    text = PYTHON_API.read_text(encoding="utf-8")
    code = " ".join(re.findall(r"`([^`]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL)))
    words = {*re.findall(r"\w+", code)}
    assert {*holdfast.__all__} - {"__version__"} - words == set()
    members = {one for one in dir(holdfast.HeldQuery) if not one.startswith("_")}
    assert members - words == set()
    for kind in (holdfast.DeltaSink, holdfast.FileSink, holdfast.PostgresSink, holdfast.JdbcSink):
        (row,) = [line for line in text.splitlines() if line.startswith(f"| `{kind.__name__}` |")]
        fields = [one for one in dataclasses.fields(kind) if one.init]
        _, _, required, optional, _ = row.split("|")
        for one in fields:
            needed = inspect.signature(kind).parameters[one.name].default is inspect.Parameter.empty
            assert f"`{one.name}`" in (required if needed else optional), (kind, one.name)
