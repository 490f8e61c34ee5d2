"""Following a Delta log: each look takes in what came since, and only that."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from holdfast.errors import DecodeError, StorageError
from holdfast.ledgers.delta import following as deltafollowing
from holdfast.ledgers.delta.batches import CLOSED, user_metadata
from holdfast.ledgers.delta.following import FollowedTable, offsets_in_table
from holdfast.ledgers.identity import BatchIdentity
from holdfast.ledgers.sinkstate import NOT_COMMITTED, UNKNOWN, committed_with
from holdfast.storage.memory import MemoryReader
from tests.ledgers.delta.deltaversions import QUERY, batch, closing, files, opening, taken_back
from tests.ledgers.delta.deltaversions import version as made


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


def test_a_rewound_table_is_followed_under_one_name_only() -> None:
    """An old driver sees its name closed and learns no other; a new one knows what counts."""
    held = files(batch(0), batch(1), batch(2))
    reader = MemoryReader(held)
    old = FollowedTable(reader, QUERY)
    old.look()
    assert (old.application.id, old.last_batch) == (QUERY, 2)
    held |= files(batch(0), batch(1), batch(2), closing(0, 0, 2, 2), taken_back(0), opening(1, 0))
    old.look()
    assert (old.application.id, old.last_batch, old.closed) == (QUERY, None, True)
    closed: Any = old.batch(CLOSED)
    assert (closed.table_version, closed.act) == (3, "closed")
    new = FollowedTable(reader, QUERY)
    new.look()
    assert (new.application.id, new.last_batch, new.closed) == (f"{QUERY}#1", 0, False)
    assert new.batch(1) is None, "it was taken back"
    kept: Any = new.batch(0)
    assert kept.offsets_digest == "d0-0"
    held[f"{6:020}.json"] = batch(1, 1)
    for table in (old, new):
        table.look()
    assert (old.closed, new.last_batch) == (True, 1)
    own: Any = old.batch(1)
    assert own.offsets_digest == "d0-1", "what came under a newer name is not its own"
    again: Any = new.batch(1)
    assert (again.table_version, again.offsets_digest) == (6, "d1-1")


def test_the_tables_columns_are_followed() -> None:
    """From the first look on, and with every version that changes them."""
    held = files(batch(0))
    table = FollowedTable(MemoryReader(held), QUERY)
    table.look()
    assert table.table_schema is None
    held[f"{1:020}.json"] = made(table=True)
    held[f"{2:020}.json"] = batch(1)
    table.look()
    assert table.table_schema == '{"type":"struct","fields":[]}'


def test_one_batch_is_told_with_its_digest() -> None:
    """Not there is not unknown: the log may not reach back, or be closed or damaged."""
    log = Growing()
    assert offsets_in_table(log, QUERY, 0) == NOT_COMMITTED
    for batch_id in (4, 5):
        log.add(QUERY, batch_id)
    told = [offsets_in_table(log, QUERY, one) for one in (3, 4, 5, 6)]
    assert told == [UNKNOWN, committed_with("d4"), committed_with("d5"), NOT_COMMITTED]
    assert offsets_in_table(log, "another", 5) == NOT_COMMITTED
    del log.files[f"{0:020}.json"]
    assert offsets_in_table(log, "another", 5) == UNKNOWN, "a part of the log is gone"
    log.files[f"{2:020}.json"] = version(QUERY, CLOSED)
    assert offsets_in_table(log, QUERY, 5) == UNKNOWN
    log.files[f"{2:020}.json"] = b'{"txn":'
    assert offsets_in_table(log, QUERY, 5) == committed_with("d5")
    assert offsets_in_table(log, QUERY, 6) == UNKNOWN, "the damaged version may have it"


def test_a_batch_of_the_native_sink_is_there_without_a_digest() -> None:
    native = json.dumps({"txn": {"appId": QUERY, "version": 0}}, separators=(",", ":"))
    log = MemoryReader({f"{0:020}.json": native.encode()})
    assert offsets_in_table(log, QUERY, 0) == committed_with(None)


RETENTION = {"delta.setTransactionRetentionDuration": "interval 1 hour"}


def forgetting(*versions: bytes) -> dict[str, bytes]:
    """Give a log whose newest summary has dropped every identifier, as Delta writes it."""
    metadata = {"id": "t", "schemaString": '{"type":"struct","fields":[]}', "partitionColumns": []}
    summary = {"setTransactions": [], "metadata": {**metadata, "configuration": RETENTION}}
    log = files(*versions)
    return {**log, f"{len(log) - 1:020}.crc": json.dumps(summary).encode()}


def test_a_batch_whose_identifier_expired_is_found_in_its_version() -> None:
    """A pending batch that was delivered is skipped; where versions are gone, nothing is known."""
    log = forgetting(batch(0), batch(1), batch(2), made(operation="SET TBLPROPERTIES"))
    table = FollowedTable(MemoryReader(log), QUERY)
    table.look()
    found = table.batch(2)
    assert (table.last_batch, table.may_have_forgotten) == (2, False)
    assert found is not None and (found.table_version, found.offsets_digest) == (2, "d0-2")
    other = FollowedTable(MemoryReader(log), "another query")
    other.look()
    assert (other.last_batch, other.may_have_forgotten) == (None, False)
    cleaned = {path: data for path, data in log.items() if int(path.split(".")[0]) > 2}
    left = FollowedTable(MemoryReader(cleaned), QUERY)
    left.look()
    assert (left.last_batch, left.may_have_forgotten) == (None, True)


def restored(**parameters: object) -> bytes:
    """Give the version of a RESTORE."""
    information = {"operation": "RESTORE", "operationParameters": parameters}
    return json.dumps({"commitInfo": information}).encode()


@pytest.mark.parametrize(
    ("later", "operation"),
    [
        (restored(version="0", timestamp=None), "RESTORE"),
        (restored(version=0), "RESTORE"),
        (restored(version=None, timestamp="2026-11-16"), "RESTORE"),
        (restored(version=1), None),
        (taken_back(0), None),
        (made(operation="CREATE OR REPLACE TABLE AS SELECT"), "CREATE OR REPLACE TABLE AS SELECT"),
        (made(operation="OPTIMIZE"), None),
        (b"{", None),
    ],
)
def test_what_others_did_to_the_table_after_a_batch(later: bytes, operation: str | None) -> None:
    """Only what may have taken its rows away, and only after it."""
    table = FollowedTable(MemoryReader(files(batch(0), batch(1), later, made())), QUERY)
    table.newest_version, table.last_batch = 3, 1
    undone = table.undone_after(1)
    assert (None if undone is None else undone.operation) == operation
    earlier = FollowedTable(MemoryReader(files(batch(0), later, batch(1))), QUERY)
    earlier.newest_version = 2
    assert earlier.undone_after(1) is None
    assert earlier.undone_after(7) is None
