"""Copies of offsets: exact, bounded, and a batch that is planned anew is told."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.errors import CheckpointError, RefusedError, StorageError
from holdfast.records.offsetcopies import KEPT_OFFSETS, OffsetCopies
from tests.records.drivers import records_in
from tests.records.failing import Failing

QUERY = "5f0f3d3c-43d6-4a4e-8a39-5b6f2e6f8a11"
ENTRY = b'v1\n{"batchWatermarkMs":0,"conf":{}}\n{"logOffset":3}'


def folder_of(folder: Path) -> Path:
    return folder / ".holdfast" / "orders" / "offsets" / QUERY


def copies_in(folder: Path) -> OffsetCopies:
    return OffsetCopies(records_in(folder))


def test_a_copy_is_exact_and_nothing_is_there_before(tmp_path: Path) -> None:
    copies = copies_in(tmp_path)
    assert copies.copy_of(QUERY, 3) is None
    assert list(tmp_path.iterdir()) == []
    content = bytes(range(256)) + b"\r\n\n"
    copies.keep(QUERY, 3, content)
    assert copies_in(tmp_path).copy_of(QUERY, 3) == content
    assert copies.copy_of(QUERY, 4) is None
    assert copies.copy_of("another", 3) is None


def test_keeping_the_same_twice_is_fine_and_writes_once(tmp_path: Path) -> None:
    copies_in(tmp_path).keep(QUERY, 3, ENTRY)
    (path,) = folder_of(tmp_path).iterdir()
    before = path.stat()
    for copies in (copies_in(tmp_path), copies_in(tmp_path)):
        copies.keep(QUERY, 3, ENTRY)
        copies.keep(QUERY, 3, ENTRY)
    after = path.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


@pytest.mark.parametrize("restarted", [True, False])
def test_a_batch_that_is_planned_anew_is_refused(tmp_path: Path, restarted: bool) -> None:
    copies = copies_in(tmp_path)
    copies.keep(QUERY, 3, ENTRY)
    if restarted:
        copies = copies_in(tmp_path)
    with pytest.raises(RefusedError) as caught:
        copies.keep(QUERY, 3, ENTRY + b"0")
    assert (caught.value.code.number, caught.value.exit_status) == ("HF2604", 30)
    (path,) = folder_of(tmp_path).iterdir()
    assert caught.value.at is not None
    assert caught.value.at.endswith(path.name)
    assert copies.copy_of(QUERY, 3) == ENTRY
    copies.keep("a-new-query", 3, ENTRY + b"0")


def test_the_entry_before_is_kept_once_and_compared_ever_after(tmp_path: Path) -> None:
    copies = copies_in(tmp_path)
    copies.keep_previous(QUERY, 2, ENTRY)
    (path,) = folder_of(tmp_path).iterdir()
    path.write_bytes(b"")
    copies.keep_previous(QUERY, 2, ENTRY)
    assert path.read_bytes() == b"", "what is known to be kept is not read again"
    for one in (copies, copies_in(tmp_path)):
        with pytest.raises(RefusedError) as caught:
            one.keep_previous(QUERY, 2, ENTRY + b"0")
        assert caught.value.code.number == "HF2604"


def test_digests_are_told_without_reading(tmp_path: Path) -> None:
    copies = copies_in(tmp_path)
    assert copies.digests(QUERY) == {}
    copies.keep(QUERY, 3, ENTRY)
    digest = hashlib.sha256(ENTRY).hexdigest()
    assert copies_in(tmp_path).digests(QUERY) == {3: frozenset({digest})}
    assert copies.location == str(folder_of(tmp_path).parent)


@pytest.mark.parametrize("damage", [b"", ENTRY[:10], b"\x00" * len(ENTRY)])
def test_a_damaged_copy_is_never_given_and_mended_when_its_batch_is_run_again(
    tmp_path: Path, damage: bytes
) -> None:
    copies_in(tmp_path).keep(QUERY, 3, ENTRY)
    (path,) = folder_of(tmp_path).iterdir()
    path.write_bytes(damage)
    copies = copies_in(tmp_path)
    with pytest.raises(CheckpointError) as caught:
        copies.copy_of(QUERY, 3)
    assert caught.value.code.number == "HF2603"
    copies.keep(QUERY, 3, ENTRY)
    assert copies.copy_of(QUERY, 3) == ENTRY


def test_a_copy_that_vanished_is_kept_again(tmp_path: Path) -> None:
    copies = copies_in(tmp_path)
    copies.keep(QUERY, 3, ENTRY)
    for path in folder_of(tmp_path).iterdir():
        path.unlink()
    copies.keep(QUERY, 3, ENTRY)
    assert copies.copy_of(QUERY, 3) == ENTRY


def test_two_copies_of_one_batch_are_told(tmp_path: Path) -> None:
    copies_in(tmp_path).keep(QUERY, 3, ENTRY)
    (folder_of(tmp_path) / f"3.{'0' * 64}").write_bytes(b"")
    with pytest.raises(RefusedError) as caught:
        copies_in(tmp_path).copy_of(QUERY, 3)
    assert caught.value.code.number == "HF2604"


def test_the_newest_batches_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert KEPT_OFFSETS == 100
    monkeypatch.setattr("holdfast.records.offsetcopies.KEPT_OFFSETS", 5)
    copies = copies_in(tmp_path)
    for batch in range(8, 13):
        copies.keep(QUERY, batch, b"%d" % batch)
    copies = copies_in(tmp_path)
    copies.keep(QUERY, 13, b"13")
    copies.keep(QUERY, 2, b"2")
    kept = sorted(int(path.name.partition(".")[0]) for path in folder_of(tmp_path).iterdir())
    assert kept == [2, 10, 11, 12, 13]


def test_copies_that_can_not_be_removed_stop_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.records.offsetcopies.KEPT_OFFSETS", 1)
    folder = replace(records_in(tmp_path), open_writer=Failing.opener(no_removal=True))
    copies = OffsetCopies(folder)
    copies.keep(QUERY, 1, b"1")
    copies.keep(QUERY, 2, b"2")
    assert isinstance(copies.failure, StorageError)
    assert copies.copy_of(QUERY, 2) == b"2"


def test_a_strange_query_id_stays_inside(tmp_path: Path) -> None:
    copies = copies_in(tmp_path)
    copies.keep("../../x/y", 1, b"1")
    assert copies.copy_of("../../x/y", 1) == b"1"
    assert [path.name for path in tmp_path.iterdir()] == [".holdfast"]
    assert len(list((tmp_path / ".holdfast/orders/offsets").iterdir())) == 1
    for odd in ("..", ""):
        with pytest.raises(StorageError):
            copies.keep(odd, 1, b"1")
