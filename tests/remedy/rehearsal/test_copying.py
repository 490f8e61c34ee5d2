"""Copies of folders: real copies with the digest of every file, of one moment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from holdfast.errors import CheckpointError
from holdfast.remedy.rehearsal.copying import Source, copied
from holdfast.storage.cloning import cloned
from holdfast.storage.local import LocalReader
from tests.backup.folders import aged, make_tree, small, tree_of


def source_of(root: Path) -> Source:
    return Source(LocalReader(str(root)), root)


def test_a_copy_has_every_byte_and_shares_no_file(tmp_path: Path) -> None:
    """Folders that are empty come along, and so do the times of changes."""
    root = aged(make_tree(tmp_path / "orders", small()))
    done = copied("checkpoint", source_of(root), tmp_path / "copy")
    assert tree_of(tmp_path / "copy") == tree_of(root)
    for path in (one for one in root.rglob("*") if one.is_file()):
        twin = tmp_path / "copy" / path.relative_to(root)
        assert twin.stat().st_ino != path.stat().st_ino
        assert twin.stat().st_mtime == path.stat().st_mtime
    assert done.compared().unchanged
    (root / "offsets/1").write_bytes(b"other")
    assert not done.compared().unchanged


def test_a_file_that_comes_or_goes_changes_the_digest(tmp_path: Path) -> None:
    """Names count as well as bytes."""
    root = make_tree(tmp_path / "orders", small())
    before = source_of(root).digests().digest
    (root / "offsets/1").rename(root / "offsets/2")
    assert source_of(root).digests().digest != before


def test_what_is_not_there_is_an_empty_copy(tmp_path: Path) -> None:
    """A job without records has none to copy."""
    done = copied("records", source_of(tmp_path / "none"), tmp_path / "copy")
    assert (done.files, done.compared().unchanged) == (0, True)
    assert not (tmp_path / "copy").exists()


def test_a_folder_that_changes_while_it_is_copied_is_refused(tmp_path: Path) -> None:
    """There is no one moment to copy."""
    root = make_tree(tmp_path / "orders", small())

    def written(_done: int, _total: int) -> None:
        (root / "offsets/2").write_bytes(b"v1")

    with pytest.raises(CheckpointError) as caught:
        source_of(root).copy_to(tmp_path / "copy", written)
    assert caught.value.code == "HF4512"


def test_a_link_that_leads_out_is_not_copied(tmp_path: Path) -> None:
    """Nothing outside of the folder is read."""
    root = make_tree(tmp_path / "orders", small())
    (tmp_path / "secret").write_text("secret", encoding="utf-8")
    (root / "offsets/9").symlink_to(tmp_path / "secret")
    source_of(root).copy_to(tmp_path / "copy")
    assert not os.path.lexists(tmp_path / "copy/offsets/9")


def test_a_clone_is_a_file_of_its_own_or_none_at_all(tmp_path: Path) -> None:
    """Whether the file system clones or not: a missing file is never left half made."""
    file, target = tmp_path / "file", tmp_path / "target"
    file.write_bytes(b"bytes")
    if cloned(file, target):
        target.write_bytes(b"other")
        assert file.read_bytes() == b"bytes"
    else:
        assert not target.exists()
    assert not cloned(tmp_path / "nowhere", tmp_path / "none")
    assert not (tmp_path / "none").exists()
