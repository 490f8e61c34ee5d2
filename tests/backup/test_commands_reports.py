"""Listing and verifying: every damage of the store is found, nothing is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.backup.commands import list_backups, verify
from holdfast.errors import HoldfastError
from holdfast.records.journal import Act
from tests.backup.folders import (
    NOW_MS,
    back_up_now,
    make_tree,
    records_of,
    restore_now,
    small,
    tree_of,
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = make_tree(tmp_path / "ckpt", small())
    back_up_now(records_of(root))
    make_tree(root, {"state/a": b"a"})
    back_up_now(records_of(root), now_ms=NOW_MS + 1)
    return root


def store_of(root: Path) -> Path:
    return root.parent / ".holdfast/ckpt/backups"


def test_whole_backups_verify(root: Path) -> None:
    tree = tree_of(store_of(root))
    answer = verify(records_of(root), None)
    assert (answer.status, answer.result.damaged, len(answer.result.backups)) == ("ok", (), 2)
    assert tree_of(store_of(root)) == tree


@pytest.mark.parametrize("damage", ["flipped", "missing", "longer", "empty"])
def test_every_damaged_copy_is_found(root: Path, damage: str) -> None:
    for copy in sorted((store_of(root) / "objects").rglob("*/*")):
        content = copy.read_bytes()
        if not content and damage in ("flipped", "empty"):
            continue
        if damage == "missing":
            copy.unlink()
        elif damage == "flipped":
            copy.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        else:
            copy.write_bytes(content + b"x" if damage == "longer" else b"")
        answer = verify(records_of(root), None)
        assert [one.code for one in answer.findings] == ["HF4510"]
        assert copy.name in answer.findings[0].place.file
        assert answer.result.damaged
        assert answer.exit_status == 3
        copy.write_bytes(content)


def test_one_backup_can_be_verified_alone(root: Path) -> None:
    records = records_of(root)
    first, second = (records.store.snapshot(one) for one in records.store.snapshot_ids())
    sha256 = second.checkpoint.by_path["state/a"].sha256
    (store_of(root) / f"objects/{sha256[:2]}/{sha256}").unlink()
    assert verify(records, [first]).result.damaged == ()
    assert verify(records, [second]).result.damaged == (f"{second.id}: state/a",)


def test_listing_tells_the_newest_first_and_writes_nothing(root: Path) -> None:
    tree = tree_of(root.parent)
    place = list_backups([records_of(root)]).result.places[0]
    assert [one.file_count for one in place.backups] == [8, 7]
    assert place.stored_bytes > 0
    assert tree_of(root.parent) == tree


@pytest.mark.parametrize("position", [0, 40, -10])
def test_a_damaged_list_is_told_and_hides_no_other(root: Path, position: int) -> None:
    path = sorted((store_of(root) / "snapshots").iterdir())[0]
    content = bytearray(path.read_bytes())
    content[position] ^= 1
    path.write_bytes(content)
    answer = list_backups([records_of(root)])
    assert [one.code for one in answer.findings] == ["HF4511"]
    assert len(answer.result.places[0].backups) == 1
    assert verify(records_of(root), None).findings[0].code == "HF4511"
    (other,) = answer.result.places[0].backups
    restore_now(records_of(root), other.id, target=records_of(root.parent / "restored"))
    assert tree_of(root.parent / "restored") == tree_of(root)
    back_up_now(records_of(root), now_ms=NOW_MS + 2)
    assert len(list_backups([records_of(root)]).result.places[0].backups) == 2


def test_a_list_under_another_name_is_damaged(root: Path) -> None:
    path = sorted((store_of(root) / "snapshots").iterdir())[0]
    path.rename(path.with_name("20200101T000000000Z-00000000.json"))
    assert [one.code for one in list_backups([records_of(root)]).findings] == ["HF4511"]


def test_an_interrupted_restore_is_told(root: Path) -> None:
    records = records_of(root)
    records.journal.begin(Act("20270101T000000000Z-0001", "restore", {}))
    answer = list_backups([records])
    assert [one.code for one in answer.findings] == ["HF4506"]
    assert answer.result.places[0].unfinished == "20270101T000000000Z-0001"
    records.journal.end(Act("20270101T000000000Z-0001", "restore", {}), "restored")
    assert list_backups([records]).findings == ()


def test_an_intent_that_cannot_be_read_is_no_licence(root: Path) -> None:
    folder = root.parent / ".holdfast/ckpt/journal/20270101T000000000Z-0001"
    folder.mkdir(parents=True)
    (folder / "intent.json").write_bytes(b"{")
    with pytest.raises(HoldfastError) as caught:
        back_up_now(records_of(root), now_ms=NOW_MS + 2)
    assert caught.value.code.number == "HF4506"
