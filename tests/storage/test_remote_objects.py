"""Folders are recognised in every way that writers mark them."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from holdfast.storage.reading import FileKind
from holdfast.storage.remote import Tree


def kinds_of(*infos: dict[str, Any], root: str = "bucket/ckpt") -> dict[str, FileKind]:
    tree = Tree(root)
    for info in infos:
        tree.add(info)
    return {item.path: item.kind for item in tree.items()}


@pytest.mark.parametrize(
    "marker",
    [
        {"name": "bucket/ckpt/offsets/", "size": 0, "type": "file"},
        {"name": "bucket/ckpt/offsets_$folder$", "size": 0, "type": "file"},
        {"name": "bucket/ckpt/offsets", "size": 0, "type": "directory"},
        {"name": "bucket/ckpt/offsets", "size": None, "type": "directory"},
        {"name": "/bucket/ckpt/offsets", "type": "directory"},
    ],
)
def test_a_mark_is_a_folder(marker: dict[str, Any]) -> None:
    assert kinds_of(marker) == {"offsets": FileKind.FOLDER}


def test_an_empty_object_beside_its_children_is_a_folder() -> None:
    child = {"name": "bucket/ckpt/offsets/0", "size": 3, "type": "file"}
    mark = {"name": "bucket/ckpt/offsets", "size": 0, "type": "file"}
    tree = Tree("bucket/ckpt")
    tree.add(mark)
    tree.add(child)
    assert [(item.path, item.kind) for item in tree.items()] == [
        ("offsets", FileKind.FOLDER),
        ("offsets/0", FileKind.FILE),
    ]


def test_an_empty_object_alone_is_a_file() -> None:
    assert kinds_of({"name": "bucket/ckpt/x", "size": 0, "type": "file"}) == {"x": FileKind.FILE}


def test_a_mark_with_bytes_is_a_file() -> None:
    info = {"name": "bucket/ckpt/x_$folder$", "size": 3, "type": "file"}
    assert kinds_of(info) == {"x_$folder$": FileKind.FILE}


def test_the_roots_own_mark_is_not_listed() -> None:
    tree = Tree("bucket/ckpt")
    tree.add({"name": "bucket/ckpt/", "size": 0, "type": "file"})
    tree.add({"name": "bucket/ckpt", "size": 0, "type": "directory"})
    assert (tree.items(), tree.root_is_file) == ((), False)


@pytest.mark.parametrize(
    "info",
    [
        {"name": "bucket/ckpt", "size": 3, "type": "file"},
        {"name": "bucket/ckpt"},
        {"name": "/bucket/ckpt/", "size": 3, "type": "file", "pathSuffix": ""},
    ],
)
def test_a_root_that_is_a_file_is_noticed(info: dict[str, Any]) -> None:
    tree = Tree("bucket/ckpt")
    tree.add(info)
    assert tree.root_is_file


def test_a_whole_bucket_can_be_the_root() -> None:
    assert kinds_of({"name": "/a/b", "size": 1, "type": "file"}, root="") == {
        "a": FileKind.FOLDER,
        "a/b": FileKind.FILE,
    }


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ({"LastModified": datetime(2024, 1, 1, tzinfo=timezone.utc)}, 1_704_067_200_000),
        ({"LastModified": datetime(2024, 1, 1)}, 1_704_067_200_000),
        (
            {"last_modified": datetime(2024, 1, 1, 1, tzinfo=timezone(timedelta(hours=1)))},
            1_704_067_200_000,
        ),
        ({"mtime": 1_704_067_200.5}, 1_704_067_200_500),
        ({"modificationTime": 1_704_067_200_123}, 1_704_067_200_123),
        ({"updated": "2024-01-01T00:00:00.250Z"}, 1_704_067_200_250),
        ({"created": 1_704_067_200.0, "modified": None}, 1_704_067_200_000),
        ({"created": "yesterday"}, None),
        ({}, None),
    ],
)
def test_times_are_found_under_every_name(times: dict[str, Any], expected: int | None) -> None:
    tree = Tree("r")
    tree.add({"name": "r/x", "size": 1, "type": "file", **times})
    assert tree.items()[0].modified_ms == expected


@pytest.mark.parametrize(
    ("told", "tag"),
    [
        ({"ETag": '"abc"'}, '"abc"'),
        ({"ETag": '"abc"', "VersionId": "v7"}, "v7"),
        ({"etag": "x"}, "x"),
        ({"ETag": None}, None),
        ({}, None),
    ],
)
def test_what_the_storage_tells_of_the_bytes_is_kept(told: dict[str, Any], tag: str | None) -> None:
    tree = Tree("bucket/ckpt")
    tree.add({"name": "bucket/ckpt/x", "size": 3, "type": "file", **told})
    assert tree.items()[0].tag == tag
