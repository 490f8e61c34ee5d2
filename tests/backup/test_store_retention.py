"""Retention keeps what was asked for, and never takes a copy that a kept backup names."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from holdfast.backup.snapshot import moment_text
from holdfast.backup.store import DAY_MS, Retention, apply_retention
from tests.backup.folders import (
    NOW_MS,
    QUERY_ID,
    assert_store_is_sound,
    back_up_now,
    make_tree,
    records_of,
    small,
)

IDS = [f"{moment_text(NOW_MS - day * DAY_MS)}-00000000" for day in (30, 10, 5, 1, 0)]


@pytest.mark.parametrize(
    ("last", "days", "kept"),
    [
        (None, None, IDS),
        (2, None, IDS[-2:]),
        (99, None, IDS),
        (None, 6.0, IDS[-3:]),
        (1, 6.0, IDS[-3:]),
        (4, 6.0, IDS[-4:]),
        (None, 0.0, IDS[-1:]),
    ],
)
def test_what_is_kept(last: int | None, days: float | None, kept: list[str]) -> None:
    assert Retention(last, days).kept(IDS, NOW_MS) == frozenset(kept)


def test_the_newest_is_kept_however_old() -> None:
    assert Retention(None, 1.0).kept(IDS[:2], NOW_MS) == {IDS[1]}


@pytest.mark.parametrize("seed", range(4))
def test_no_copy_that_is_named_is_taken(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    root = make_tree(tmp_path / "ckpt", small())
    records = records_of(root)
    for number in range(6):
        names = chance.sample(range(8), 4)
        make_tree(root, {f"state/{one}": b"%d" % chance.randrange(6) for one in names})
        back_up_now(records, now_ms=NOW_MS + number)
    keep = chance.randint(1, 5)
    removed = apply_retention(records.store, Retention(keep_last=keep), NOW_MS + 10)
    assert len(removed.backups) == 6 - keep
    assert assert_store_is_sound(records, tidy=True) == keep


def test_while_a_list_is_damaged_no_copy_is_taken(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "ckpt", small())
    records = records_of(root)
    first = back_up_now(records).result.backups[0].id
    make_tree(root, {"state/a": b"a"})
    back_up_now(records, now_ms=NOW_MS + 1)
    (tmp_path / f".holdfast/ckpt/backups/snapshots/{first}.json").write_bytes(b"{")
    make_tree(root, {"state/a": b"b"})
    answer = back_up_now(records, now_ms=NOW_MS + 2, retention=Retention(keep_last=1))
    assert len(answer.result.removed_backups) == 1
    assert answer.result.removed_files == 0


def test_the_backup_with_the_newest_batch_outlives_those_of_a_damaged_checkpoint(
    tmp_path: Path,
) -> None:
    """A nightly backup goes on when entries, or the query id, are lost: nothing else has them."""
    root = make_tree(tmp_path / "ckpt", small())
    records = records_of(root)
    whole = back_up_now(records).result.backups[0].id
    for number, lost in enumerate(("commits/0", "offsets/1", "metadata"), start=1):
        (root / lost).unlink()
        answer = back_up_now(records, now_ms=NOW_MS + number, retention=Retention(keep_last=1))
        assert whole in records.store.snapshot_ids()
        assert len(records.store.snapshot_ids()) == 2, answer.result
    assert_store_is_sound(records, tidy=True)
    make_tree(root, small())
    back_up_now(records, now_ms=NOW_MS + 9, retention=Retention(keep_last=1))
    assert whole not in records.store.snapshot_ids()
    make_tree(root, {"metadata": json.dumps({"id": QUERY_ID}).encode()})
    (root / ".metadata.crc").unlink()
    back_up_now(records, now_ms=NOW_MS + 10, retention=Retention(keep_last=1))
    assert len(records.store.snapshot_ids()) == 1
