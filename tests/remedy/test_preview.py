"""What a place would be like after changes, seen through the same reader."""

from __future__ import annotations

import pytest

from holdfast.errors import NotFoundError
from holdfast.remedy.preview import Preview
from holdfast.storage.memory import MemoryReader

FILES = {"offsets/3": b"three", "offsets/.3.crc": b"sum", "offsets/4": b"four", "metadata": b"id"}


def preview() -> Preview:
    return Preview(MemoryReader(FILES)).with_changes({"offsets/3": b"new", "commits/3": b"done"},
                                                     ["offsets/4"])  # fmt: skip


def test_a_written_file_is_read_with_its_new_bytes_and_without_its_old_checksum() -> None:
    assert preview().read("offsets/3") == b"new"
    assert preview().read("offsets/3", 1, 1) == b"e"
    assert preview().names("offsets") == {"3"}


def test_a_removed_file_is_gone_from_every_look() -> None:
    with pytest.raises(NotFoundError):
        preview().read("offsets/4")
    many = preview().read_many(["offsets/4", "metadata", "commits/3"])
    assert isinstance(many["offsets/4"], NotFoundError)
    assert (many["metadata"], many["commits/3"]) == (b"id", b"done")
    paths = [item.path for item in preview().list().items if item.path in FILES]
    assert paths == ["metadata", "offsets/3"]


def test_new_folders_are_named_and_files_are_listed_in_the_order_of_names() -> None:
    assert preview().names("") == {"metadata", "offsets", "commits"}
    listed = [item.path for item in preview().list().items]
    assert listed.index("commits/3") < listed.index("metadata") < listed.index("offsets/3")


def test_later_changes_go_before_earlier_ones() -> None:
    again = preview().with_changes({"offsets/4": b"back"}, ["commits/3"])
    assert again.read("offsets/4") == b"back"
    assert again.names("commits") == frozenset()
    assert Preview(MemoryReader(FILES)).read("offsets/3") == b"three"
