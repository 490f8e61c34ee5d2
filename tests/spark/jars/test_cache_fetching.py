"""Fetching: whole and as locked, or not there; the real Ivy, a repository in a folder."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from holdfast.errors import SparkStartError
from holdfast.spark.jars.cache import JarCache, fetch
from holdfast.spark.session.installation import find_java
from tests.spark.jars.repository import CONTENT, locked, publish


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the folder that is the mirror."""
    folder = tmp_path / "mirror & more"
    folder.mkdir()
    monkeypatch.setenv("HOLDFAST_MAVEN", folder.as_uri())
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> JarCache:
    """Give a cache that is not there yet."""
    return JarCache(tmp_path / "cache" / "jars")


def kept(cache: JarCache) -> list[str]:
    """Name everything in the cache."""
    return sorted(path.name for path in cache.folder.iterdir())


def test_fetched_jars_are_in_the_cache_and_nothing_else(repository: Path, cache: JarCache) -> None:
    """The work's own folder goes; progress ends at the locked bytes."""
    jars = [publish(repository, "first"), publish(repository, "second", b"other bytes")]
    told: list[tuple[int, int]] = []
    fetch(jars, find_java(), cache, lambda done, total: told.append((done, total)))
    assert kept(cache) == ["first-1.0.jar", "second-1.0.jar"]
    assert cache.path_of(jars[0]).read_bytes() == CONTENT
    assert told[-1] == (len(CONTENT) + 11, len(CONTENT) + 11)
    assert all(done <= total for done, total in told)


def test_a_file_with_another_digest_is_not_used(repository: Path, cache: JarCache) -> None:
    """Good ones that came with it stay."""
    good = publish(repository, "good")
    publish(repository, "bad", b"somebody changed me")
    with pytest.raises(SparkStartError) as raised:
        fetch([good, locked("bad", b"what I should have been")], find_java(), cache)
    assert raised.value.code.number == "HF5209"
    assert "bad-1.0.jar" in raised.value.message
    assert kept(cache) == ["good-1.0.jar"]


def test_a_library_that_the_repository_lacks_is_named(repository: Path, cache: JarCache) -> None:
    """With the folder to put it into by hand."""
    with pytest.raises(SparkStartError) as raised:
        fetch([publish(repository, "good"), locked("lost")], find_java(), cache)
    assert raised.value.code.number == "HF5208"
    assert "lost-1.0.jar" in raised.value.message
    assert "good-1.0.jar" not in raised.value.message
    assert raised.value.at == str(cache.folder)
    assert kept(cache) == ["good-1.0.jar"]


def test_an_unreachable_mirror_is_named_without_its_password(
    cache: JarCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Port 9 of this machine answers nobody."""
    monkeypatch.setenv("HOLDFAST_MAVEN", "http://me:hush-hush@127.0.0.1:9/maven")
    with pytest.raises(SparkStartError) as raised:
        fetch([locked("any")], find_java(), cache)
    assert raised.value.code.number == "HF5208"
    assert "127.0.0.1:9" in raised.value.message
    assert "refused" in raised.value.message
    assert "hush-hush" not in raised.value.message


def test_a_cache_that_can_not_be_made_is_told(tmp_path: Path) -> None:
    """Here a file stands where the folder should be."""
    (tmp_path / "cache").write_text("in the way")
    with pytest.raises(SparkStartError) as raised:
        fetch([locked("any")], find_java(), JarCache(tmp_path / "cache" / "jars"))
    assert raised.value.code.number == "HF5214"


def test_two_processes_may_fetch_the_same_at_once(repository: Path, cache: JarCache) -> None:
    """Both succeed, and the file is whole."""
    jar = publish(repository, "shared", os.urandom(200_000))
    program = (
        "from pathlib import Path\n"
        "from holdfast.spark.jars.cache import JarCache\n"
        "from holdfast.spark.jars.cache import fetch\n"
        "from holdfast.spark.jars.lock import Jar\n"
        "from holdfast.spark.session.installation import find_java\n"
        f"fetch([{jar!r}], find_java(), JarCache(Path({str(cache.folder)!r})))\n"
    )
    both = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(2)]
    assert [process.wait(timeout=120) for process in both] == [0, 0]
    assert cache.damaged([jar]) == () == cache.absent([jar])
    assert kept(cache) == ["shared-1.0.jar"]


def test_leftovers_of_killed_processes_go_after_a_day(repository: Path, cache: JarCache) -> None:
    """One that may still be at work stays."""
    old, new = cache.folder / ".fetching-old", cache.folder / ".fetching-new"
    old.mkdir(parents=True)
    new.mkdir()
    two_days_ago = time.time() - 2 * 24 * 3600
    os.utime(old, (two_days_ago, two_days_ago))
    fetch([publish(repository, "any")], find_java(), cache)
    assert kept(cache) == [".fetching-new", "any-1.0.jar"]
