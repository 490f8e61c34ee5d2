"""What a Delta table that is read as a source still has."""

from __future__ import annotations

import json

from holdfast.errors import StorageError
from holdfast.ledgers.delta.log import list_log
from holdfast.ledgers.delta.transactions import TableSeen, look_at_source_table
from holdfast.storage.memory import MemoryReader
from holdfast.storage.reading import Reader


def table(*versions: int, checkpoints: tuple[int, ...] = ()) -> TableSeen:
    """Look at a log with these versions and checkpoints."""
    action = json.dumps({"metaData": {"id": "t"}}).encode()
    files = {f"{one:020}.json": action for one in versions}
    files |= {f"{one:020}.checkpoint.parquet": b"PAR1" for one in checkpoints}
    reader = MemoryReader(files)
    seen = look_at_source_table("/lake/t", lambda: reader)
    return seen if not checkpoints else TableSeen("/lake/t", "t", list_log(reader))


def test_versions_that_are_gone_are_found() -> None:
    """From the one that comes next to the newest; what is not written yet is not gone."""
    seen = table(3, 4, 6)
    assert (seen.table_id, seen.oldest, seen.newest) == ("t", 3, 6)
    assert [seen.first_missing(one) for one in (2, 3, 6, 7)] == [2, 5, None, None]


def test_a_snapshot_needs_a_checkpoint_or_every_version() -> None:
    """Up to the version that is read."""
    assert table(0, 1, 2).has_snapshot(2)
    assert not table(1, 2).has_snapshot(2)
    seen = table(4, 5, 6, checkpoints=(4,))
    assert seen.has_snapshot(5) and seen.has_snapshot(4) and not seen.has_snapshot(3)


def test_no_table_is_no_failure() -> None:
    """And what cannot be read is one."""

    def refuse() -> Reader:
        raise StorageError("HF7002", "access was denied")

    assert table() == TableSeen("/lake/t")
    failed = look_at_source_table("/lake/t", refuse)
    assert failed.failure is not None and failed.newest is None
