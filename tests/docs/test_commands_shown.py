"""Every command that a page shows runs, and prints what the page says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.pages import REPOSITORY, name_of, pages, shown_commands
from tests.docs.session import NOT_RUN, fits, run_all, workplace
from tests.parts.classarchive import VARIABLE, quick_java
from tests.storage.s3server import KEY, SECRET, S3Server

ENDPOINT = "https://s3.example.com:9000"
"""Stands in the pages for the address of an S3 storage."""
PAGES = [page for page in pages() if shown_commands(page)]
REMOTE = [page for page in PAGES if any("s3" in one.command for one in shown_commands(page))]
LOCAL = [page for page in PAGES if page not in REMOTE or page.name == "README.md"]
RUNNING = [
    page for page in LOCAL if any("holdfast run" in one.command for one in shown_commands(page))
]


def shown_wrongly(page: Path, extra: dict[str, str], endpoint: str) -> list[str]:
    """Give every command of a page whose output is not the one that is shown."""
    shown = shown_commands(page)
    commands = [one.command.replace(ENDPOINT, endpoint) for one in shown]
    with workplace() as folder:
        printed = run_all(commands, folder, extra)
    assert len(printed) == len(shown), "a command ended the shell"
    return [
        f"$ {one.command}\n--- shown\n{one.output}\n--- printed\n{text}"
        for one, text in zip(shown, printed, strict=True)
        if not fits(one.output or "", text) and not one.command.startswith(NOT_RUN)
    ]


@pytest.mark.parametrize("page", [page for page in LOCAL if page not in RUNNING], ids=name_of)
def test_commands_print_what_the_page_shows(page: Path) -> None:
    assert shown_wrongly(page, {}, ENDPOINT) == []


@pytest.mark.spark
@pytest.mark.parametrize("page", RUNNING, ids=name_of)
def test_commands_that_start_spark_print_what_the_page_shows(page: Path) -> None:
    assert shown_wrongly(page, {VARIABLE: quick_java()}, ENDPOINT) == []


@pytest.fixture
def lake() -> Iterator[S3Server]:
    """An S3 server with the sample at `s3a://lake/checkpoints/orders`, as Spark leaves it there."""
    server = S3Server()
    sample = REPOSITORY / "demo" / "orders"
    files = [path for path in sample.rglob("*") if path.is_file() and path.suffix != ".crc"]
    content = {
        f"checkpoints/orders/{path.relative_to(sample).as_posix()}": path.read_bytes()
        for path in files
    }
    server.fill("lake", content)
    yield server
    server.stop()


@pytest.mark.s3
@pytest.mark.parametrize("page", [page for page in REMOTE if page not in LOCAL], ids=name_of)
def test_commands_on_s3_print_what_the_page_shows(page: Path, lake: S3Server) -> None:
    extra = {
        "AWS_ENDPOINT_URL": lake.endpoint,
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    assert shown_wrongly(page, extra, lake.endpoint) == []


def test_the_pages_that_matter_show_commands() -> None:
    names = {name_of(page) for page in PAGES}
    assert {"README.md", "docs/tutorial/first-look.md", "docs/how-to/read-from-s3.md"} <= names
    assert "docs/tutorial/first-run.md" in {name_of(page) for page in RUNNING}


@pytest.mark.parametrize(
    ("shown", "printed", "expected"),
    [
        ("a\nb", "a\nb\n", True),
        ("a\nb", "a  \nb\n\n", True),
        ("a\nb", "a\nc\n", False),
        ("a\n…\nc", "a\nb\nb\nc\n", True),
        ("a\n…", "a\n", True),
        ("a\n…\nc", "a\nb\n", False),
        ("", "something\n", False),
        ("a.c", "abc\n", False),
        ("a … c", "a 12.5 c\n", True),
        ("a  …", "a  12.5\n", True),
        ("a  …            c", "a  at noon  c\n", True),
        ("a … c", "a\nb\nc\n", False),
        ("a … c", "a 12.5 d\n", False),
    ],
)
def test_what_fits(shown: str, printed: str, expected: bool) -> None:
    assert fits(shown, printed) is expected
