"""The order of names, and the folders that paths imply."""

from __future__ import annotations

from holdfast.storage.reading import FileKind, Listed, add_parents, order_of


def test_a_folder_comes_right_before_what_it_holds() -> None:
    paths = ["a-b", "a/z", "a", "a.b/c", "a/b/c", "a.b", "a/b"]
    ordered = sorted((Listed(path, FileKind.FILE, 0) for path in paths), key=order_of)
    assert [item.path for item in ordered] == ["a", "a/b", "a/b/c", "a/z", "a-b", "a.b", "a.b/c"]


def test_every_folder_on_the_way_is_named() -> None:
    folders: set[str] = {"x"}
    add_parents("a/b/c", folders)
    add_parents("a/d", folders)
    add_parents("e", folders)
    assert folders == {"x", "a", "a/b"}
