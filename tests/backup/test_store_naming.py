"""A backup is named by its checkpoint and its id, or the id's beginning."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.backup.making import make_backup
from holdfast.backup.snapshot import ARCHIVE, BEFORE_PLAN, BEFORE_RESTORE
from holdfast.backup.store import Retention, apply_retention, find_snapshot, split_name
from holdfast.errors import HoldfastError
from tests.backup.folders import NOW_MS, back_up_now, make_tree, records_of, restore_now, small

FULL = "20260131T235959123Z-0123abcd"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"orders@{FULL}", ("orders", FULL)),
        ("s3://b/x@newest", ("s3://b/x", "newest")),
        ("abfss://c@a.net/x@20260131", ("abfss://c@a.net/x", "20260131")),
        ("abfss://c@a.net/x", ("abfss://c@a.net/x", None)),
        ("a@b", ("a@b", None)),
        ("orders", ("orders", None)),
        ("@newest", ("@newest", None)),
    ],
)
def test_names_are_split(text: str, expected: tuple[str, str | None]) -> None:
    assert split_name(text) == expected


def test_a_beginning_must_mean_one_backup(tmp_path: Path) -> None:
    records = records_of(make_tree(tmp_path / "ckpt", small()))
    with pytest.raises(HoldfastError) as caught:
        find_snapshot(records.store, "newest")
    assert caught.value.code.number == "HF4509"
    ids = [back_up_now(records, now_ms=NOW_MS + one).result.backups[0].id for one in (0, 1000)]
    assert find_snapshot(records.store, "newest").id == ids[1]
    assert find_snapshot(records.store, ids[0][:16]).id == ids[0]
    for name in ("2027", "1999"):
        with pytest.raises(HoldfastError) as caught:
            find_snapshot(records.store, name)
        assert caught.value.code.number == "HF4509"


def test_backups_that_nobody_requested_are_named_by_their_id(tmp_path: Path) -> None:
    for purpose, shown in (
        (BEFORE_PLAN, "before a plan"),
        (BEFORE_RESTORE, "before a restore"),
        (ARCHIVE, "as an archive"),
    ):
        records = records_of(make_tree(tmp_path / purpose, small()))
        made = make_backup(
            records.checkpoint,
            records.store,
            identity=records.identity,
            now_ms=NOW_MS,
            purpose=purpose,
        ).snapshot
        with pytest.raises(HoldfastError, match=f"only backups that were made {shown}") as caught:
            find_snapshot(records.store, "newest")
        assert caught.value.code == "HF4509"
        assert caught.value.next_steps[0].startswith("name one by its id: holdfast backups ")
        assert find_snapshot(records.store, made.id) == made


def test_what_a_restore_set_aside_is_never_the_newest(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "ckpt", small())
    records = records_of(root)
    backup = back_up_now(records).result.backups[0].id
    (root / "offsets/0").unlink()
    safety = restore_now(records, backup, now_ms=NOW_MS + 60_000).result.safety_backup
    assert safety is not None
    assert records.store.snapshot_ids()[-1] == safety
    assert find_snapshot(records.store, "newest").id == backup
    assert find_snapshot(records.store, safety).id == safety
    apply_retention(records.store, Retention(keep_last=1), NOW_MS)
    assert records.store.snapshot_ids() == [backup, safety]
    newer = back_up_now(records, now_ms=NOW_MS + 70_000).result.backups[0].id
    apply_retention(records.store, Retention(keep_last=1), NOW_MS)
    assert records.store.snapshot_ids() == [newer]
