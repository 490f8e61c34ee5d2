"""Following a Delta log: each look takes in what came since, and only that."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from holdfast.errors import DecodeError, StorageError
from holdfast.ledgers import deltafollowing
from holdfast.ledgers.deltabatches import user_metadata
from holdfast.ledgers.deltafollowing import FollowedTable
from holdfast.ledgers.identity import BatchIdentity
from holdfast.storage.memory import MemoryReader


def version(app_id: str, batch_id: int) -> bytes:
    """Give a version that committed a batch."""
    note = user_metadata(BatchIdentity(app_id, batch_id, 1, f"d{batch_id}"))
    actions = [
        {"commitInfo": {"operation": "WRITE", "userMetadata": note}},
        {"txn": {"appId": app_id, "version": batch_id}},
    ]
    return "\n".join(json.dumps(one, separators=(",", ":")) for one in actions).encode()


class Growing(MemoryReader):
    """A log that grows, and notes what is read of it."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        super().__init__(self.files)
        self.read_paths: list[str] = []

    def add(self, app_id: str, batch_id: int) -> None:
        """Commit a batch."""
        self.files[f"{len(self.files):020}.json"] = version(app_id, batch_id)

    def read(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        self.read_paths.append(path)
        return super().read(path, start, length)

    def read_many(self, paths: Iterable[str]) -> Mapping[str, bytes | StorageError]:
        wanted = list(paths)
        self.read_paths += wanted
        return super().read_many(wanted)


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Growing:
    """An empty log; few versions are looked through."""
    monkeypatch.setattr(deltafollowing, "READ_VERSIONS", 5)
    monkeypatch.setattr(deltafollowing, "_AT_ONCE", 2)
    return Growing()


def test_no_table_then_one(log: Growing) -> None:
    """The table may be made after the first look."""
    table = FollowedTable(log, "q")
    table.look()
    assert (table.newest_version, table.last_batch, table.batch(0)) == (None, None, None)
    log.add("q", 0)
    table.look()
    assert (table.newest_version, table.last_batch) == (0, 0)


def test_a_later_look_reads_only_what_came_since(log: Growing) -> None:
    """One version of somebody else, one of ours; the batch is known without another read."""
    for number in range(4):
        log.add("q", number)
    table = FollowedTable(log, "q")
    table.look()
    log.add("other", 99)
    log.add("q", 4)
    log.read_paths.clear()
    table.look()
    assert (table.newest_version, table.last_batch) == (5, 4)
    assert log.read_paths == [f"{number:020}.json" for number in (3, 4, 5, 6)]
    log.read_paths.clear()
    found = table.batch(4)
    assert found is not None and (found.table_version, found.offsets_digest) == (5, "d4")
    assert log.read_paths == []


def test_older_batches_are_looked_for_within_a_bound(log: Growing) -> None:
    """The oldest of ten is not found where five versions are looked through."""
    for number in range(10):
        log.add("q", number)
    table = FollowedTable(log, "q")
    table.look()
    found: Any = table.batch(5)
    assert found.offsets_digest == "d5"
    assert table.batch(4) is None


def test_a_log_that_was_cleaned_or_made_anew_is_read_again(log: Growing) -> None:
    """With the version gone that was seen last, nothing is taken over from before."""
    for number in range(3):
        log.add("q", number)
    table = FollowedTable(log, "q")
    table.look()
    log.files.clear()
    log.add("other", 7)
    table.look()
    assert (table.newest_version, table.last_batch, table.batch(2)) == (0, None, None)


def test_a_version_that_can_not_be_read_is_an_error(log: Growing) -> None:
    """What came since is what counts: it can't be passed over."""
    log.add("q", 0)
    table = FollowedTable(log, "q")
    table.look()
    log.files[f"{1:020}.json"] = b'{"txn":'
    with pytest.raises(DecodeError):
        table.look()
