"""What every reader promises, on every kind of place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from holdfast.errors import NotFoundError, StorageError
from holdfast.storage.reading import FileKind, Reader
from tests.storage.places import PLACES
from tests.storage.s3server import S3Server

CHECKPOINT: Mapping[str, bytes] = {
    "metadata": b'{"id":"x"}',
    "offsets/0": b"v1\n{}\n",
    "offsets/1": b"v1\n{}\n{}",
    "offsets/10": b"",
    "offsets/.10.crc": b"crc",
    "commits/0": b"v1\n{}",
    "state/0/0/1.delta": bytes(range(256)) * 40,
    "state/0/10/1.delta": b"ten",
    "sources/0/": b"",
    "odd names/a b%20[c]*?é.txt": b"odd",
}

Open = Callable[[Mapping[str, bytes]], Reader]


@pytest.fixture(params=PLACES, ids=lambda place: place.__name__)
def opened(request: pytest.FixtureRequest, tmp_path: Path, s3: S3Server) -> Open:
    def open_filled(files: Mapping[str, bytes]) -> Reader:
        reader: Reader = request.param(files, tmp_path, s3)
        return reader

    return open_filled


def test_lists_everything_in_the_order_of_names(opened: Open) -> None:
    listing = opened(CHECKPOINT).list()
    assert [(item.path, item.kind, item.size) for item in listing.items] == [
        ("commits", FileKind.FOLDER, 0),
        ("commits/0", FileKind.FILE, 5),
        ("metadata", FileKind.FILE, 10),
        ("odd names", FileKind.FOLDER, 0),
        ("odd names/a b%20[c]*?é.txt", FileKind.FILE, 3),
        ("offsets", FileKind.FOLDER, 0),
        ("offsets/.10.crc", FileKind.FILE, 3),
        ("offsets/0", FileKind.FILE, 6),
        ("offsets/1", FileKind.FILE, 8),
        ("offsets/10", FileKind.FILE, 0),
        ("sources", FileKind.FOLDER, 0),
        ("sources/0", FileKind.FOLDER, 0),
        ("state", FileKind.FOLDER, 0),
        ("state/0", FileKind.FOLDER, 0),
        ("state/0/0", FileKind.FOLDER, 0),
        ("state/0/0/1.delta", FileKind.FILE, 10240),
        ("state/0/10", FileKind.FOLDER, 0),
        ("state/0/10/1.delta", FileKind.FILE, 3),
    ]
    assert listing.failures == {}


def test_a_folder_stands_before_names_that_its_own_name_begins(opened: Open) -> None:
    listing = opened({"a/x": b"1", "a.b": b"2", "a-b/y": b"3"}).list()
    paths = [item.path for item in listing.items]
    assert paths == sorted(paths, key=lambda path: path.split("/"))


def test_listing_twice_sees_the_same(opened: Open) -> None:
    reader = opened(CHECKPOINT)
    assert reader.list() == reader.list()


def test_names_are_those_directly_in_the_folder(opened: Open) -> None:
    reader = opened(CHECKPOINT)
    assert reader.names("offsets") == {"0", "1", "10", ".10.crc"}
    assert reader.names("state/0") == {"0", "10"}
    assert reader.names("") == {
        "commits",
        "metadata",
        "odd names",
        "offsets",
        "sources",
        "state",
    }


@pytest.mark.parametrize("folder", ["nothing", "offsets/nothing", "off", "metadata", "sources/0"])
def test_names_of_what_is_no_folder_or_empty_are_none(opened: Open, folder: str) -> None:
    assert opened(CHECKPOINT).names(folder) == frozenset()


def test_reads_whole_files(opened: Open) -> None:
    reader = opened(CHECKPOINT)
    for path, content in CHECKPOINT.items():
        if not path.endswith("/"):
            assert reader.read(path) == content


@pytest.mark.parametrize(
    ("start", "length"),
    [(0, 4), (4, 4), (1, None), (0, 0), (0, 99999), (10239, 5), (10240, None), (20000, 1)],
)
def test_reads_parts(opened: Open, start: int, length: int | None) -> None:
    content = CHECKPOINT["state/0/0/1.delta"]
    expected = content[start:] if length is None else content[start : start + length]
    assert opened(CHECKPOINT).read("state/0/0/1.delta", start, length) == expected


def test_a_part_of_an_empty_file_is_empty(opened: Open) -> None:
    assert opened(CHECKPOINT).read("offsets/10", 0, 5) == b""


def test_a_missing_file_is_not_found(opened: Open) -> None:
    reader = opened(CHECKPOINT)
    with pytest.raises(NotFoundError) as caught:
        reader.read("offsets/2")
    assert caught.value.code.number == "HF7001"
    assert caught.value.at == f"{reader.location}/offsets/2"


def test_a_part_of_a_missing_file_is_not_found(opened: Open) -> None:
    with pytest.raises(NotFoundError):
        opened(CHECKPOINT).read("offsets/2", 3, 5)


def test_a_folder_is_not_read(opened: Open) -> None:
    with pytest.raises(StorageError) as caught:
        opened(CHECKPOINT).read("offsets")
    assert caught.value.code.number in ("HF7001", "HF7013")


@pytest.mark.parametrize("path", ["../x", "offsets/../metadata", "/etc/passwd", "", "a//b", "."])
def test_a_path_that_leads_out_is_not_read(opened: Open, path: str) -> None:
    with pytest.raises(StorageError) as caught:
        opened(CHECKPOINT).read(path)
    assert caught.value.code.number in ("HF7001", "HF7013")


def test_many_files_come_together_and_failures_stand_in_place(opened: Open) -> None:
    wanted = ["offsets/1", "offsets/2", "metadata", "offsets/10", "odd names/a b%20[c]*?é.txt"]
    results = opened(CHECKPOINT).read_many(wanted)
    assert list(results) == wanted
    assert isinstance(results["offsets/2"], NotFoundError)
    assert {path: results[path] for path in wanted if path != "offsets/2"} == {
        path: CHECKPOINT[path] for path in wanted if path != "offsets/2"
    }


def test_reading_no_files_gives_none(opened: Open) -> None:
    assert opened(CHECKPOINT).read_many(iter(())) == {}
