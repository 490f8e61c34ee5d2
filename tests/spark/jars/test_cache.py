"""The cache: where it is, and what it does not give out."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.spark.jars.cache import JarCache, cache_folder, is_locked
from tests.spark.jars.repository import CONTENT, locked


def test_the_folder_is_the_users_own(tmp_path: Path) -> None:
    """HOLDFAST_CACHE before XDG_CACHE_HOME before ~/.cache."""
    shared = {"XDG_CACHE_HOME": str(tmp_path / "shared")}
    assert cache_folder({"HOLDFAST_CACHE": str(tmp_path), **shared}) == tmp_path
    assert cache_folder(shared) == tmp_path / "shared" / "holdfast"
    assert cache_folder({}) == Path.home() / ".cache" / "holdfast"
    assert cache_folder({"XDG_CACHE_HOME": "relative"}) == Path.home() / ".cache" / "holdfast"


@pytest.mark.parametrize("content", [b"", CONTENT[:-1], CONTENT[:-1] + b"!"])
def test_another_file_is_damaged(tmp_path: Path, content: bytes) -> None:
    """Empty, cut off, or with one byte changed."""
    jar, cache = locked("tiny"), JarCache(tmp_path)
    cache.path_of(jar).write_bytes(content)
    assert cache.damaged([jar]) == (jar,)
    assert cache.absent([jar]) == ()


def test_the_locked_file_is_good(tmp_path: Path) -> None:
    """And one that is not there is absent, not damaged."""
    jar, other, cache = locked("tiny"), locked("other"), JarCache(tmp_path)
    cache.path_of(jar).write_bytes(CONTENT)
    assert is_locked(cache.path_of(jar), jar)
    assert cache.damaged([jar, other]) == ()
    assert cache.absent([jar, other]) == (other,)


def test_a_file_is_taken_in_also_where_one_is_already(tmp_path: Path) -> None:
    """The second process to come replaces it by the same bytes."""
    jar, cache = locked("tiny"), JarCache(tmp_path)
    for number in range(2):
        fetched = tmp_path / f"fetched-{number}"
        fetched.write_bytes(CONTENT)
        cache.take_in(fetched, jar)
        assert not fetched.exists()
    assert cache.path_of(jar).read_bytes() == CONTENT
