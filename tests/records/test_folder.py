"""The parts of the records: beside the checkpoint, over one connection."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.errors import NotFoundError
from holdfast.records.folder import RecordsFolder, records_of
from holdfast.storage.location import Location, parse_location
from holdfast.storage.opening import open_writer
from holdfast.storage.options import StorageSettings
from holdfast.storage.writing import Writer
from tests.records.drivers import records_in


def test_parts_lie_beside_the_checkpoint_and_apart(tmp_path: Path) -> None:
    folder = records_in(tmp_path)
    assert folder.reader("runs").names() == frozenset()
    assert not (tmp_path / ".holdfast").exists()
    folder.writer("runs").replace("a/b", b"1")
    folder.writer("lease").replace("c", b"2")
    assert (tmp_path / ".holdfast/orders/runs/a/b").read_bytes() == b"1"
    reader = folder.reader("runs")
    assert reader.names() == {"a"}
    assert reader.names("a") == {"b"}
    assert reader.read("a/b") == b"1"
    content = reader.read_many(["a/b", "c"])
    assert content["a/b"] == b"1"
    assert isinstance(content["c"], NotFoundError)
    assert reader.location.endswith("/.holdfast/orders/runs")


def test_parts_are_named_and_listed_as_places(tmp_path: Path) -> None:
    folder = records_in(tmp_path)
    assert folder.names() == frozenset()
    folder.writer("runs").replace("a/b", b"1")
    assert folder.names() == {"runs"}
    assert [item.path for item in folder.place("runs").list().items] == ["a", "a/b"]


def test_a_part_is_created_once_and_removed(tmp_path: Path) -> None:
    writer = records_in(tmp_path).writer("lease")
    assert [writer.create("1", b"first"), writer.create("1", b"second")] == [True, False]
    writer.settle()
    assert (tmp_path / ".holdfast/orders/lease/1").read_bytes() == b"first"
    writer.remove("1")
    writer.remove("1")
    assert list((tmp_path / ".holdfast/orders/lease").iterdir()) == []


def test_all_parts_share_one_writer(tmp_path: Path) -> None:
    opened: list[Location] = []

    def opener(location: Location, settings: StorageSettings) -> Writer:
        opened.append(location)
        return open_writer(location, settings)

    place = records_in(tmp_path).location
    folder = RecordsFolder(place, StorageSettings(), opener)
    folder.reader("lease").names()
    assert opened == []
    for part in ("lease", "runs", "offsets"):
        folder.writer(part).replace("x", b"")
    assert opened == [place]


@pytest.mark.parametrize("spelled", ["ckpt", "link", "x/../ckpt"])
def test_every_spelling_has_the_same_records(tmp_path: Path, spelled: str) -> None:
    (tmp_path / "ckpt").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "ckpt")
    folder = records_of(parse_location(f"{tmp_path}/{spelled}"), StorageSettings())
    assert folder.location.url == f"{tmp_path.resolve()}/.holdfast/ckpt"
