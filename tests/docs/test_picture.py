"""The picture in the README shows what the commands print now."""

from __future__ import annotations

from docs.generating.terminal import COMMANDS, PICTURE, is_stale, words_shown
from tests.docs.pages import REPOSITORY


def test_the_picture_is_current() -> None:
    assert not is_stale(), "run `make docs`"


def test_the_picture_shows_every_command() -> None:
    shown = " ".join(words_shown(PICTURE.read_text(encoding="utf-8")))
    assert [command for command in COMMANDS if f"$ {command}" not in shown] == []


def test_the_readme_shows_the_picture() -> None:
    path = PICTURE.relative_to(REPOSITORY).as_posix()
    assert f"({path})" in (REPOSITORY / "README.md").read_text(encoding="utf-8")
