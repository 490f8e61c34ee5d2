"""Nobody can read in a backup, or after a restore, what they could not read in the checkpoint."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.backup.access import Records
from holdfast.backup.snapshot import decode_snapshot, encode_snapshot
from holdfast.backup.store import object_path
from tests.backup.folders import (
    NOW_MS,
    aged,
    back_up_now,
    make_tree,
    records_of,
    restore_now,
    small,
    tree_of,
)
from tests.backup.test_acting import interrupt, settle

LATER = NOW_MS + 60_000


@pytest.fixture(autouse=True)
def umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def closed(root: Path) -> Path:
    """Let only the owner read a checkpoint."""
    for path in (root, *root.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)
    return root


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def modes(root: Path) -> dict[str, int]:
    return {str(path.relative_to(root)): mode(path) for path in (root, *root.rglob("*"))}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return closed(make_tree(tmp_path / "orders", small()))


@pytest.fixture
def records(root: Path) -> Records:
    return records_of(root)


@pytest.fixture
def backup(records: Records) -> str:
    return back_up_now(records).result.backups[0].id


def store_of(root: Path) -> Path:
    return root.parent / ".holdfast" / root.name / "backups"


def test_a_backup_of_a_closed_checkpoint_is_closed(root: Path, backup: str) -> None:
    found = modes(store_of(root))
    assert found["."] == 0o700
    kept = {path: one for path, one in found.items() if path.startswith(("objects", "snapshots"))}
    assert len(kept) > 10
    assert {one & 0o077 for one in kept.values()} == {0}
    assert mode(root.parent / ".holdfast") == 0o755


def test_a_backup_of_an_open_checkpoint_is_as_open_as_ever(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "orders", small())
    back_up_now(records_of(root))
    assert set(modes(store_of(root)).values()) == {0o755, 0o644}


def test_a_restore_gives_the_modes_back(
    root: Path, records: Records, backup: str, tmp_path: Path
) -> None:
    (root / "offsets").chmod(0o750)
    (root / "offsets/1").chmod(0o640)
    backup = back_up_now(records, now_ms=NOW_MS + 1).result.backups[0].id
    wanted = modes(root)
    restore_now(records, backup, target=records_of(tmp_path / "other" / "ckpt"), now_ms=LATER)
    assert modes(tmp_path / "other" / "ckpt") == wanted
    shutil.rmtree(root)
    restore_now(records, backup, now_ms=LATER)
    assert modes(root) == wanted
    (root / "commits/0").unlink()
    aged(root)
    restore_now(records, backup, files=("commits/0",), now_ms=LATER)
    assert modes(root) == wanted


def test_a_file_that_was_closed_since_stays_closed(root: Path, records: Records) -> None:
    (root / "offsets/1").chmod(0o644)
    backup = back_up_now(records).result.backups[0].id
    (root / "offsets/1").write_bytes(b"torn")
    (root / "offsets/1").chmod(0o600)
    aged(root)
    restore_now(records, backup, now_ms=LATER)
    assert mode(root / "offsets/1") == 0o600


@pytest.mark.parametrize("finish", [True, False])
def test_finishing_and_taking_back_keep_the_modes(
    root: Path, records: Records, backup: str, finish: bool
) -> None:
    (root / "offsets/1").unlink()
    (root / "extra").write_bytes(b"x")
    (root / "extra").chmod(0o600)
    aged(root)
    interrupt(records, backup)
    settle(records, finish=finish)
    assert {one & 0o077 for one in modes(root).values()} == {0}


def test_copies_that_are_there_already_are_closed(root: Path, tmp_path: Path) -> None:
    for path in (root, *root.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    records = records_of(root)
    first = back_up_now(records).result.backups[0].id
    closed(root)
    second = back_up_now(records, now_ms=NOW_MS + 1).result
    assert (second.copied_files, second.copied_bytes) == (0, 0)
    file = records.store.snapshot(first).checkpoint.files[0]
    assert mode(store_of(root) / object_path(file.sha256)) == 0o600
    assert mode(store_of(root)) == 0o700


def test_two_files_with_the_same_bytes_are_as_closed_as_the_narrower(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "orders", {**small(), "a": b"same", "state/b": b"same"})
    (root / "state/b").chmod(0o600)
    records = records_of(root)
    back_up_now(records)
    same = "0967115f2813a3541eaef77de9d9d5773f1c0c04314b0bbfe4ff3b3b1c55b5d5"
    assert mode(store_of(root) / object_path(same)) == 0o600


OLD = (
    b'{"digest":"c8dbb78d71c1844af17e02eb387f183bc89ded2c19830c149538230a64485896","file_count":1,'
    b'"format":1,"holdfast":"0.1.0","id":"20270115T080000000Z-c8dbb78d","last_committed":0,'
    b'"last_planned":1,"location":"/base/orders","made_at":"2027-01-15T08:00:00.000Z",'
    b'"made_ms":1800000000000,"pending":1,"purpose":"backup","query_id":"q-1","roots":[{"files":'
    b'[{"path":"metadata","sha256":"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8'
    b'a","size":2}],"folders":["offsets"],"location":"/base/orders","name":"checkpoint"}],"running"'
    b':false,"total_bytes":2}\n'
)
"""What the release before modes wrote."""


def test_a_backup_of_an_older_release_is_read_as_it_is() -> None:
    snapshot = decode_snapshot(OLD, "here")
    assert snapshot.checkpoint.modes is None
    assert encode_snapshot(snapshot) == OLD


def test_a_backup_without_modes_is_restored_as_narrow_as_what_is_there(
    root: Path, records: Records, backup: str
) -> None:
    snapshot = records.store.snapshot(backup)
    bare = replace(snapshot, roots=(replace(snapshot.checkpoint, modes=None),), format=1)
    records.store.publish(bare)
    (root / "offsets/1").write_bytes(b"torn")
    tree = tree_of(root)
    aged(root)
    restore_now(records, bare.id, now_ms=LATER)
    assert tree_of(root) != tree
    assert mode(root / "offsets/1") == 0o600


def test_the_format_tells_an_older_release_to_stay_away(records: Records, backup: str) -> None:
    assert records.store.snapshot(backup).format == 2
