"""A backup is byte-identical, verified, kept once, and leaves the checkpoint as it was."""

from __future__ import annotations

import hashlib
import os
import random
import time
import tracemalloc
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.backup import copying, store
from holdfast.backup.access import Records
from holdfast.backup.making import make_backup
from holdfast.backup.store import read_catalogue
from holdfast.errors import CheckpointError, HoldfastError, NotFoundError, StorageError
from holdfast.records.leases.taking import take_lease
from holdfast.records.processes import this_holder
from holdfast.storage.local import LocalReader
from holdfast.storage.reading import FileKind, Listed, Listing, Reader
from tests.backup.folders import (
    NOW_MS,
    aged,
    assert_store_is_sound,
    back_up_now,
    extracted,
    make_tree,
    records_of,
    restore_now,
    small,
    tree_of,
)
from tests.corpus.loading import Sample, corpus

SEEDED = random.Random(45).sample(corpus(), 24)


@pytest.mark.parametrize("sample", SEEDED, ids=str)
def test_restoring_a_backup_gives_the_same_bytes(sample: Sample, tmp_path: Path) -> None:
    root = aged(sample.extract(tmp_path / "here"))
    tree = tree_of(root)
    records = records_of(root)
    backup = back_up_now(records).result.backups[0]
    assert tree_of(root) == tree
    other = records_of(tmp_path / "there" / "ckpt")
    answer = restore_now(records, backup.id, target=other)
    assert tree_of(tmp_path / "there" / "ckpt") == tree
    assert answer.result.verified_files == backup.file_count
    assert [finding.code for finding in answer.findings] == ["HF4513"]


def test_the_second_backup_copies_nothing(tmp_path: Path) -> None:
    records = records_of(extracted(tmp_path))
    first = back_up_now(records).result
    second = back_up_now(records, now_ms=NOW_MS + 1).result
    assert first.copied_bytes == first.verified_bytes > 0
    assert (second.copied_files, second.copied_bytes) == (0, 0)
    assert second.verified_files == first.verified_files > 0
    assert assert_store_is_sound(records, tidy=True) == 2


def test_only_what_changed_is_copied(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "ckpt", small())
    back_up_now(records_of(root))
    make_tree(root, {"commits/1": b"v1\n{}"})
    second = back_up_now(records_of(root), now_ms=NOW_MS + 1).result
    assert (second.copied_files, second.copied_bytes) == (1, 5)


def test_ids_sort_by_time_also_when_the_clock_was_set_back(tmp_path: Path) -> None:
    records = records_of(make_tree(tmp_path / "ckpt", small()))
    times = (NOW_MS, NOW_MS, NOW_MS - 5000)
    ids = [back_up_now(records, now_ms=one).result.backups[0].id for one in times]
    assert ids == sorted(ids) == records.store.snapshot_ids()


def test_the_summary_tells_the_batches(tmp_path: Path) -> None:
    summary = back_up_now(records_of(make_tree(tmp_path / "ckpt", small()))).result.backups[0]
    assert (summary.last_planned, summary.last_committed, summary.pending) == (1, 0, 1)
    assert summary.query_id is not None
    assert not summary.running


def test_names_with_odd_characters_come_back(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "a b;ü$(x)\n%41", small())
    odd = [b"state/ \xff\xfe", "state/ü'\"*?\\ \t".encode(), b"state/-rf", b"state/%2e%2e"]
    for name in odd:
        Path(os.fsdecode(os.fsencode(root) + b"/" + name)).write_bytes(name)
    tree = tree_of(aged(root))
    records = records_of(root)
    backup = back_up_now(records).result.backups[0]
    for path in sorted(root.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    restore_now(records, backup.id)
    assert tree_of(root) == tree


def test_a_query_that_wrote_seconds_ago_is_told(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "ckpt", small())
    recent = (NOW_MS - 3000) / 1000
    os.utime(root / "offsets" / "1", (recent, recent))
    answer = back_up_now(records_of(root))
    assert [(one.code, one.severity.value) for one in answer.findings] == [("HF4501", "info")]
    assert answer.result.backups[0].running
    assert answer.exit_status == 0


def test_a_run_that_gave_its_lease_back_is_not_running(tmp_path: Path) -> None:
    """What it wrote is seconds old; what changed after it was given back is somebody else's."""
    root = make_tree(tmp_path / "ckpt", small())
    records = records_of(root)
    lease = take_lease(records.folder, job="orders", holder=this_holder(None))
    now_ms = int(time.time() * 1000)
    recent = now_ms / 1000
    os.utime(root / "offsets" / "1", (recent, recent))
    assert back_up_now(records, now_ms=now_ms + 500).result.backups[0].running
    lease.release()
    answer = back_up_now(records, now_ms=now_ms + 1000)
    assert answer.findings == () and not answer.result.backups[0].running
    later = recent + 600
    os.utime(root / "offsets" / "1", (later, later))
    answer = back_up_now(records, now_ms=now_ms + 601_000)
    assert [one.code for one in answer.findings] == ["HF4501"]


class Moving:
    """A reader of a folder in which something happens after the first listing, or at each."""

    def __init__(self, reader: Reader, *events: object) -> None:
        self._reader = reader
        self._events = list(events)
        self.location = reader.location

    def list(self) -> Listing:
        listing = self._reader.list()
        if self._events:
            event = self._events.pop(0)
            if callable(event):
                event()
        return listing

    def names(self, folder: str) -> frozenset[str]:
        return self._reader.names(folder)

    def read(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        return self._reader.read(path, start, length)

    def read_many(self, paths: Iterable[str]) -> Mapping[str, bytes | StorageError]:
        return self._reader.read_many(paths)


def copied_while(root: Path, *events: object) -> tuple[Records, dict[str, bytes]]:
    """Back up while things happen at the listings of the copy; give what was copied."""
    records = records_of(root)
    quiet = None  # the picture lists once before the copy begins
    moving = Moving(records.checkpoint, quiet, *events)
    made = make_backup(moving, records.store, identity="here", now_ms=NOW_MS)
    assert made.snapshot.running
    assert [one.code for one in made.findings] == ["HF4501"]
    files = made.snapshot.checkpoint.files
    return records, {file.path: b"".join(records.store.chunks(file)) for file in files}


def log(batches: range) -> dict[str, bytes | None]:
    """Offsets and commits of some batches, as real ones."""
    tree = small()
    found: dict[str, bytes | None] = {"metadata": tree["metadata"]}
    for batch in batches:
        found |= {f"offsets/{batch}": tree["offsets/1"], f"commits/{batch}": tree["commits/0"]}
    return found


def test_a_batch_that_is_added_meanwhile_is_left_out_whole(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "ckpt", log(range(3)))
    tree = log(range(3))
    _, copied = copied_while(root, lambda: make_tree(root, log(range(4))))
    assert copied == tree


def test_old_entries_that_are_purged_meanwhile_are_dropped_without_a_gap(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "ckpt", log(range(10)))

    def purge() -> None:
        (root / "commits" / "2").unlink()
        (root / "offsets" / "1").unlink()

    _, copied = copied_while(root, purge)
    assert copied == log(range(3, 10))


def test_a_needed_file_that_vanishes_makes_the_copy_begin_anew(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "ckpt", log(range(3)) | {"state/0/0/1.delta": b"old"})

    def replaced() -> None:
        (root / "state/0/0/1.delta").unlink()
        make_tree(root, {"state/0/0/2.delta": b"new"})

    _, copied = copied_while(root, replaced)
    assert "state/0/0/1.delta" not in copied
    assert copied["state/0/0/2.delta"] == b"new"


def test_a_file_that_is_rewritten_meanwhile_is_copied_with_its_checksum(tmp_path: Path) -> None:
    root = make_tree(
        tmp_path / "ckpt",
        log(range(3)) | {"state/0/0/.1.delta.crc": b"crc1", "state/0/0/1.delta": b"one"},
    )

    def rewrite_file() -> None:
        (root / "state/0/0/1.delta").write_bytes(b"two!")

    def rewrite_checksum() -> None:
        (root / "state/0/0/.1.delta.crc").write_bytes(b"crc2")

    _, copied = copied_while(root, rewrite_file, rewrite_checksum)
    assert copied["state/0/0/1.delta"] == b"two!"
    assert copied["state/0/0/.1.delta.crc"] == b"crc2"


def test_a_folder_that_never_holds_still_is_refused(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "ckpt", log(range(3)))
    numbers = iter(range(100))

    def rewrite() -> None:
        (root / "offsets" / "2").write_bytes(b"x" * next(numbers))

    records = records_of(root)
    moving = Moving(records.checkpoint, *[rewrite] * 100)
    with pytest.raises(CheckpointError) as caught:
        make_backup(moving, records.store, identity="here", now_ms=NOW_MS)
    assert caught.value.code.number == "HF4512"
    assert records.store.snapshot_ids() == []


def test_links_are_told_and_not_followed(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "ckpt", small())
    (tmp_path / "secret").write_bytes(b"secret")
    (root / "link").symlink_to(tmp_path / "secret")
    answer = back_up_now(records_of(root))
    assert [one.code for one in answer.findings] == ["HF4515"]
    assert "link" not in read_catalogue(records_of(root).store).snapshots[0].checkpoint.by_path


def test_a_damaged_copy_is_mended_by_the_next_backup(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "ckpt", small())
    records = records_of(root)
    back_up_now(records)
    copy = next((tmp_path / ".holdfast/ckpt/backups/objects").rglob("*/*"))
    copy.write_bytes(b"flipped")
    assert back_up_now(records, now_ms=NOW_MS + 1).result.copied_bytes > 0
    assert_store_is_sound(records, tidy=True)


@pytest.mark.parametrize("place", ["nowhere", "foreign"])
def test_no_checkpoint_no_backup(place: str, tmp_path: Path) -> None:
    make_tree(tmp_path / "foreign", {"readme.txt": b"hello"})
    with pytest.raises(HoldfastError) as caught:
        back_up_now(records_of(tmp_path / place))
    assert isinstance(caught.value, NotFoundError) or caught.value.code.number == "HF2001"
    assert records_of(tmp_path / place).store.snapshot_ids() == []
    assert not (tmp_path / "nowhere").exists()


def test_a_large_file_is_copied_within_bounded_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (copying, store):
        monkeypatch.setattr(module, "CHUNK_BYTES", 256 * 1024)
    root = make_tree(tmp_path / "ckpt", small())
    size = 24 * 1024 * 1024
    (root / "state" / "large").write_bytes(os.urandom(size))
    aged(root)
    records = records_of(root)
    tracemalloc.start()
    try:
        backup = back_up_now(records).result.backups[0]
        restore_now(records, backup.id, target=records_of(tmp_path / "copy"))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < size / 4
    assert (tmp_path / "copy/state/large").read_bytes() == (root / "state/large").read_bytes()


class WholeSeconds(LocalReader):
    """Lists as S3 does, in whole seconds, and lets a file be written again while it is copied."""

    def __init__(self, root: Path, *, tags: bool) -> None:
        super().__init__(str(root))
        self._path, self._tags = root, tags
        self._lists = 0

    def list(self) -> Listing:
        """List with one time for all files, and their tags."""
        self._lists += 1
        listing = super().list()
        return Listing(tuple(self._told(item) for item in listing.items), {})

    def read_many(self, paths: Iterable[str]) -> Mapping[str, bytes | StorageError]:
        """Read, and let offsets/1 be written at once afterwards."""
        read = super().read_many(paths)
        # The picture lists once before the copy begins.
        if self._lists == 2:
            self._lists += 1
            content = (self._path / "offsets/1").read_bytes()
            (self._path / "offsets/1").write_bytes(content[:-1] + b"!")
        return read

    def _told(self, item: Listed) -> Listed:
        if item.kind is not FileKind.FILE:
            return item._replace(mode=None)
        digest = hashlib.md5((self._path / item.path).read_bytes()).hexdigest()
        tag = digest if self._tags else None
        return item._replace(modified_ms=1_577_836_800_000, mode=None, tag=tag)


@pytest.mark.parametrize("tags", [True, False])
def test_a_file_written_twice_in_a_second_is_told_by_its_tag(tmp_path: Path, tags: bool) -> None:
    root = make_tree(tmp_path / "ckpt", small())
    records = replace(records_of(root), checkpoint=WholeSeconds(root, tags=tags))
    made = make_backup(records.checkpoint, records.store, identity=str(root), now_ms=NOW_MS)
    copied = made.snapshot.checkpoint.by_path["offsets/1"].sha256
    now = hashlib.sha256((root / "offsets/1").read_bytes()).hexdigest()
    assert (copied == now) is tags
    again = make_backup(records.checkpoint, records.store, identity=str(root), now_ms=NOW_MS + 1)
    assert (again.copied_bytes == 0) is tags
