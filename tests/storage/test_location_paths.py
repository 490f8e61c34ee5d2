"""A path inside stays inside."""

from __future__ import annotations

import os

import pytest

from holdfast.errors import StorageError
from holdfast.storage.location import inner_path


@pytest.mark.parametrize("path", ["a", "a/b", "...", "a/..b", ".hidden", "a\\b", "C:x"])
def test_inner_paths_pass(path: str) -> None:
    assert inner_path(path, "here") == path


@pytest.mark.parametrize("path", ["", "/a", "a/", "a//b", "..", "a/../b", ".", "a/./b", "a\0b"])
def test_others_are_refused(path: str) -> None:
    with pytest.raises(StorageError) as caught:
        inner_path(path, "here")
    assert (caught.value.code.number, caught.value.at) == ("HF7013", "here")


@pytest.mark.parametrize("path", ["a\\b", "..\\x", "C:x"])
def test_windows_spellings_are_refused_on_windows(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sep", "\\")
    with pytest.raises(StorageError):
        inner_path(path, "here")
