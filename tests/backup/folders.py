"""Folders for the tests of backups: made, aged, looked at."""

from __future__ import annotations

import os
from pathlib import Path

from holdfast.answers import Answer
from holdfast.backup.access import Opener, Records, open_records
from holdfast.backup.commands import back_up
from holdfast.backup.making import verify_snapshots
from holdfast.backup.restoring import RestoreOptions, restore_backup
from holdfast.backup.results import BackupReport, Restoration
from holdfast.backup.store import Retention, object_sizes, read_catalogue
from holdfast.storage.location import parse_location
from holdfast.storage.machine import is_temporary
from holdfast.storage.opening import open_writer
from holdfast.storage.options import StorageSettings
from tests.corpus.loading import sample

NOW_MS = 1_800_000_000_000
OLD_SECONDS = 1_577_836_800.0
QUERY_ID = "11111111-2222-3333-4444-555555555555"
Tree = dict[str, bytes | None]


def tree_of(root: Path) -> Tree:
    """Every file with its bytes and every folder with None; empty where nothing is."""
    found: Tree = {}
    for path in sorted(root.rglob("*")):
        name = os.fsdecode(path.relative_to(root))
        found[name] = None if path.is_dir() else path.read_bytes()
    return found


def make_tree(root: Path, tree: Tree) -> Path:
    """Write a tree, and make it look as if nobody had written to it for years."""
    root.mkdir(parents=True, exist_ok=True)
    for name, content in tree.items():
        if content is None:
            (root / name).mkdir(parents=True, exist_ok=True)
        else:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(content)
    return aged(root)


def aged(root: Path) -> Path:
    """Make every file years old, by this machine's clock and by that of the tests."""
    for path in root.rglob("*"):
        if path.is_file():
            os.utime(path, (OLD_SECONDS, OLD_SECONDS))
    return root


def extracted(folder: Path, name: str = "stateless", spark: str = "4.3.0") -> Path:
    """Unpack a real checkpoint that nobody has written to lately."""
    return aged(sample(name, spark).extract(folder))


def small() -> Tree:
    """A real checkpoint's logs, cut down to a handful of files, so that kills can be counted."""
    files = sample("stateless", "4.3.0").files()
    kept = ("metadata", ".metadata.crc", "offsets/0", "offsets/1", "commits/0", "sources/0/0")
    tree: Tree = {path: files[path] for path in kept if path in files}
    tree["offsets/.1.crc"] = files["offsets/.1.crc"]
    tree["state"] = None
    return tree


def records_of(root: Path, opener: Opener = open_writer) -> Records:
    """Open a checkpoint with its records."""
    return open_records(parse_location(str(root)), StorageSettings(), opener=opener)


def back_up_now(
    records: Records, *, now_ms: int = NOW_MS, retention: Retention | None = None
) -> Answer[BackupReport]:
    """Back up at a fixed time."""
    return back_up(records, now_ms=now_ms, retention=retention or Retention())


def restore_now(
    source: Records,
    backup_id: str,
    *,
    target: Records | None = None,
    files: tuple[str, ...] = (),
    now_ms: int = NOW_MS,
    even_if_running: bool = False,
) -> Answer[Restoration]:
    """Restore at a fixed time, without a question."""
    snapshot = source.store.snapshot(backup_id)
    place = source if target is None else target
    wish = RestoreOptions(snapshot, source.store, place, target is not None, files, even_if_running)
    return restore_backup(wish, now_ms=now_ms, confirm=None)


def assert_store_is_sound(records: Records, *, tidy: bool = False) -> int:
    """Every listed backup is whole; with `tidy`, nothing but what they name is there."""
    catalogue = read_catalogue(records.store)
    assert catalogue.damaged == ()
    assert verify_snapshots(records.store, catalogue.snapshots).damaged == ()
    if tidy:
        items = records.store.items()
        named = {file.sha256 for one in catalogue.snapshots for file in one.files}
        assert object_sizes(items).keys() == named
        assert [item.path for item in items if is_temporary(item.path)] == []
    return len(catalogue.snapshots)
