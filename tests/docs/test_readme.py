"""The README: two commands for a newcomer, and nothing that is not there."""

from __future__ import annotations

import re
import sys

import pytest

from tests.docs.pages import REPOSITORY, name_of, pages, shown_commands

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

README = REPOSITORY / "README.md"
_MAKE = re.compile(r"(?:`|^\$ )make ([a-z]+)", re.MULTILINE)
_EXTRA = re.compile(r"pip install [^\n]*\[(?P<names>[a-z0-9,]+)\]")


def targets() -> set[str]:
    """Give the targets of the Makefile."""
    return set(re.findall(r"^([a-z]+):", (REPOSITORY / "Makefile").read_text(), re.MULTILINE))


def test_exactly_two_make_commands() -> None:
    assert set(_MAKE.findall(README.read_text(encoding="utf-8"))) == {"demo", "test"}


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_make_targets_exist(page: object) -> None:
    text = REPOSITORY.joinpath(str(page)).read_text(encoding="utf-8")
    assert set(_MAKE.findall(text)) - targets() == set()


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_extras_exist(page: object) -> None:
    with (REPOSITORY / "pyproject.toml").open("rb") as file:
        extras = set(tomllib.load(file)["project"]["optional-dependencies"])
    text = REPOSITORY.joinpath(str(page)).read_text(encoding="utf-8")
    named = {name for match in _EXTRA.finditer(text) for name in match["names"].split(",")}
    assert named - extras == set()


def test_commands_that_are_not_run_are_understood() -> None:
    skipped = [
        one.command
        for page in pages()
        for one in shown_commands(page)
        if one.command.startswith(("pip ", "make "))
    ]
    understood = re.compile(r'pip install (\.|"\.\[[a-z0-9,]+\]")|make [a-z]+')
    assert [command for command in skipped if not understood.fullmatch(command)] == []
    assert skipped


def test_works_now_names_every_command() -> None:
    from holdfast.cli.main import COMMANDS

    text = README.read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f"`holdfast {name}`" not in text] == []
