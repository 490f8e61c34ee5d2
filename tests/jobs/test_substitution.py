"""References are filled in from the environment and from files, and become secrets."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.errors import ProjectError
from holdfast.jobs.substitution import fill_in
from holdfast.redaction import redact

AT = "holdfast.yaml:3:5"


def test_environment_and_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_TEST_USER", "substituted-user")
    (tmp_path / "secret.txt").write_text("substituted-secret\n\n")
    text = "postgresql://${env:HOLDFAST_TEST_USER}:${file:secret.txt}@h"
    filled = fill_in(text, folder=tmp_path, at=AT)
    assert filled == "postgresql://substituted-user:substituted-secret\n@h"


def test_what_was_filled_in_is_a_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_TEST_SECRET", "a-secret-of-this-test")
    fill_in("${env:HOLDFAST_TEST_SECRET}", folder=tmp_path, at=AT)
    assert redact("no a-secret-of-this-test here") == "no [redacted] here"


def test_what_was_filled_in_is_not_looked_at_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_TEST_NESTED", "${env:HOME}")
    assert fill_in("${env:HOLDFAST_TEST_NESTED}", folder=tmp_path, at=AT) == "${env:HOME}"


def test_text_without_references_stays(tmp_path: Path) -> None:
    assert fill_in("a $x $$ {y} $(z)", folder=tmp_path, at=AT) == "a $x $$ {y} $(z)"


@pytest.mark.parametrize(
    ("reference", "word"),
    [
        ("${env:HOLDFAST_TEST_NOT_SET}", "HOLDFAST_TEST_NOT_SET"),
        ("${env:HOLDFAST_TEST_EMPTY}", "empty"),
        ("${file:none.txt}", "no such file"),
        ("${file:empty.txt}", "empty"),
        ("${file:binary}", "UTF-8"),
        ("${file:.}", "directory"),
        ("${file:large}", "64 KiB"),
        ("${file:a\0b}", "can't be read"),
    ],
)
def test_what_can_not_be_filled_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reference: str, word: str
) -> None:
    monkeypatch.setenv("HOLDFAST_TEST_EMPTY", "")
    (tmp_path / "empty.txt").write_text("\n")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    (tmp_path / "large").write_text("x" * 70_000)
    with pytest.raises(ProjectError) as raised:
        fill_in(f"x {reference}", folder=tmp_path, at=AT)
    assert (raised.value.code.number, raised.value.at) == ("HF1107", AT)
    assert word in raised.value.message
