"""A checkpoint that is damaged already is backed up with a mark, and never replaces a good one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast.backup.results import RestoreAct
from holdfast.backup.snapshot import Snapshot, decode_snapshot, encode_snapshot
from holdfast.backup.store import Retention
from holdfast.findings import Severity
from tests.backup.folders import (
    NOW_MS,
    aged,
    back_up_now,
    extracted,
    make_tree,
    records_of,
    restore_now,
    tree_of,
)
from tests.cli.running import holdfast


def flipped(path: Path) -> bytes:
    """Change one byte of a file, as a bad disk does; return what was there."""
    before = path.read_bytes()
    middle = len(before) // 2
    path.write_bytes(before[:middle] + bytes([before[middle] ^ 0xFF]) + before[middle + 1 :])
    return before


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return extracted(tmp_path, "upgrade")


def checked_files(root: Path) -> list[str]:
    """Files with a checksum of Hadoop's or of Spark's beside them."""
    names = [name for name, content in tree_of(root).items() if content]
    sides = set(names)

    def side_of(name: str) -> str:
        folder, slash, last = name.rpartition("/")
        return f"{folder}{slash}.{last}.crc"

    return [n for n in names if not n.endswith(".crc") and {side_of(n), f"{n}.crc"} & sides]


def test_every_file_with_a_checksum_is_compared(root: Path) -> None:
    records = records_of(root)
    assert back_up_now(records).findings == ()
    names = checked_files(root)
    assert any(name.startswith("state/") for name in names)
    for number, name in enumerate(names):
        before = flipped(root / name)
        aged(root)
        answer = back_up_now(records, now_ms=NOW_MS + 1 + number)
        assert answer.result.backups[0].mismatched == (name,)
        assert [one.code for one in answer.findings if one.severity is Severity.WARNING] == [
            "HF4525"
        ]
        (root / name).write_bytes(before)


@pytest.mark.parametrize("kind", ["aggregation-rocksdb-format-2", "join-rocksdb-format-2"])
def test_spark_checksum_alone_is_compared(kind: str, tmp_path: Path) -> None:
    root = extracted(tmp_path, kind)
    assert back_up_now(records_of(root)).findings == ()
    names = [name for name in checked_files(root) if (root / f"{name}.crc").exists()]
    assert names
    side = (root / names[0]).with_name(f".{Path(names[0]).name}.crc")
    side.unlink(missing_ok=True)
    flipped(root / names[0])
    assert back_up_now(records_of(aged(root)), now_ms=NOW_MS + 1).result.backups[0].mismatched == (
        names[0],
    )


def test_retention_keeps_the_newest_undamaged_backup(root: Path) -> None:
    records = records_of(root)
    good = back_up_now(records).result.backups[0].id
    flipped(root / "offsets/1")
    for number in range(3):
        make_tree(root, {"state/note": b"%d" % number})
        answer = back_up_now(records, now_ms=NOW_MS + 1 + number, retention=Retention(keep_last=1))
    ids = records.store.snapshot_ids()
    assert ids[0] == good
    assert len(ids) == 2
    assert answer.result.backups[0].id == ids[1]
    restore_now(records, good, files=("offsets/1",))
    assert back_up_now(records, now_ms=NOW_MS + 9).result.backups[0].mismatched == ()


def test_a_copy_that_equals_the_damaged_file_is_reported(root: Path) -> None:
    records = records_of(root)
    flipped(root / "offsets/1")
    made = back_up_now(records_of(aged(root))).result.backups[0].id
    answer = restore_now(records, made, files=("offsets/1",))
    assert answer.result.act is RestoreAct.UNCHANGED
    assert [one.code for one in answer.findings] == ["HF4525"]


def test_the_command_line_shows_the_mark(root: Path) -> None:
    assert holdfast("backup", str(root)).status == 0
    flipped(root / "offsets/1")
    made = holdfast("backup", str(aged(root)), "--keep-last", "1")
    assert made.status == 3
    assert "offsets/1" in made.out
    listed = holdfast("backups", str(root), "--json").document["result"]["places"][0]["backups"]
    assert [one["mismatched"] for one in listed] == [["offsets/1"], []]
    assert "damaged" in holdfast("backups", str(root)).out
    again = holdfast("restore", f"{root}@newest", "--file", "offsets/1", "--yes")
    assert again.status == 3
    assert "all files are already in place" not in again.out
    assert "checksum" in again.out


def test_a_snapshot_without_a_mark_is_written_as_before() -> None:
    plain = Snapshot(NOW_MS, "0", "/c", None, None, None, None, False, "backup", (), 2)
    assert "mismatched" not in json.loads(encode_snapshot(plain))
    assert decode_snapshot(encode_snapshot(plain), "").mismatched == ()
