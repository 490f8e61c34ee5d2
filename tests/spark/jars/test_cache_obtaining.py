"""Obtaining jars: fetched once, then neither network nor Java; `--offline` is respected."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.errors import SparkStartError
from holdfast.spark.jars import jars_for
from holdfast.spark.jars.cache import obtain
from tests.spark.jars.repository import CONTENT, locked, publish


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a mirror in a folder, and an empty cache."""
    monkeypatch.setenv("HOLDFAST_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HOLDFAST_MAVEN", (tmp_path / "mirror").as_uri())
    return tmp_path / "mirror"


def forbid_java(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever looks for Java from now on fails."""
    monkeypatch.setenv("JAVA_HOME", "/nowhere")


def test_delta_comes_from_the_central_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    """The real jars; the second time neither Java nor a repository is needed."""
    first = jars_for(frozenset({"delta"}), "4.2.0")
    assert [path.name for path in first] == [
        "delta-spark_4.2_2.13-4.4.0.jar",
        "delta-storage-4.4.0.jar",
    ]
    assert all(path.is_file() for path in first)
    forbid_java(monkeypatch)
    monkeypatch.setenv("HOLDFAST_MAVEN", "http://127.0.0.1:9")
    told: list[int] = []
    assert jars_for({"delta"}, "4.2.0", progress=lambda done, total: told.append(done)) == first
    assert told == []


def test_offline_and_missing_names_the_files_and_the_folder(mirror: Path) -> None:
    """Nothing is fetched, though the mirror has it."""
    with pytest.raises(SparkStartError) as raised:
        obtain([publish(mirror, "first"), publish(mirror, "second")], offline=True)
    assert raised.value.code.number == "HF5207"
    assert "first-1.0.jar, second-1.0.jar" in raised.value.message
    assert raised.value.at == str(mirror.parent / "cache" / "jars")
    assert not (mirror.parent / "cache").exists()


def test_files_put_there_by_hand_serve_offline(mirror: Path) -> None:
    """As the next step of the error says."""
    folder = mirror.parent / "cache" / "jars"
    folder.mkdir(parents=True)
    (folder / "tiny-1.0.jar").write_bytes(CONTENT)
    assert obtain([locked("tiny")], offline=True) == (folder / "tiny-1.0.jar",)


def test_a_damaged_file_is_fetched_again(mirror: Path) -> None:
    """Offline it is refused and left as it is."""
    jar = publish(mirror, "tiny")
    (path,) = obtain([jar])
    path.write_bytes(b"torn")
    with pytest.raises(SparkStartError) as raised:
        obtain([jar], offline=True)
    assert raised.value.code.number == "HF5209"
    assert path.read_bytes() == b"torn"
    assert obtain([jar]) == (path,)
    assert path.read_bytes() == CONTENT
