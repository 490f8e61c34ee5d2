"""The newest batch of a sink is compared with the checkpoint: one ledger of each family."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.diagnosis.inspection.keptoffsets import other_offsets
from holdfast.ledgers.custom import BatchLedger
from holdfast.ledgers.database.postgres import LEDGER
from holdfast.ledgers.delta.batches import user_metadata
from holdfast.ledgers.delta.following import offsets_in_table
from holdfast.ledgers.files.commit import FileCommits
from holdfast.ledgers.identity import BatchIdentity, OffsetRange
from holdfast.ledgers.sinkstate import CommittedOffsets, OffsetsOf
from holdfast.storage.memory import MemoryReader
from tests.ledgers.database.test_postgres import CREATE, ledger
from tests.ledgers.delta.deltaversions import QUERY
from tests.ledgers.delta.deltaversions import version as delta_version
from tests.ledgers.files.test_manifests import local, log_of, stage_into
from tests.parts.postgres import rows_in

BEFORE, ENTRY, OTHER = b"v1\n{}\n3", b"v1\n{}\n7", b"v1\n{}\n8"
DELIVERED = OffsetRange(4, BEFORE, ENTRY)

Family = Callable[[pytest.FixtureRequest, Path, BatchIdentity], OffsetsOf]


def files(_request: pytest.FixtureRequest, folder: Path, one: BatchIdentity) -> OffsetsOf:
    """Deliver a batch to a folder of files."""
    output = local(folder).output()
    FileCommits(output).deliver(one, lambda staging: stage_into(output, staging, one, "a"))
    return log_of(output).offsets_of


def delta(_request: pytest.FixtureRequest, _folder: Path, one: BatchIdentity) -> OffsetsOf:
    """Deliver a batch to a Delta table."""
    content = delta_version(txn=(QUERY, one.batch_id), note=user_metadata(one), rows=True)
    log = MemoryReader({f"{0:020}.json": content})
    return lambda query_id, batch_id: offsets_in_table(log, query_id, batch_id)


def function(_request: pytest.FixtureRequest, folder: Path, one: BatchIdentity) -> OffsetsOf:
    """Record a batch in the ledger of a function."""
    made = BatchLedger(folder / "ledger")
    made.record(one, "2026-01-01T00:00:00Z")
    return made.offsets_of


def postgres(request: pytest.FixtureRequest, _folder: Path, one: BatchIdentity) -> OffsetsOf:
    """Deliver a batch to a table of PostgreSQL."""
    uri = request.getfixturevalue("database")
    rows_in(uri, CREATE)
    values = f"'readings', '{QUERY}', {one.batch_id}, '{one.offsets_digest}', 1, 1, now()"
    rows_in(uri, f"insert into {LEDGER} values ({values})")
    return ledger(uri).offsets_of


FAMILIES: tuple[Family, ...] = (files, delta, function, postgres)


def checkpoint(before: bytes, entry: bytes) -> MemoryReader:
    """Return a checkpoint with these two entries."""
    return MemoryReader({"offsets/3": before, "offsets/4": entry})


@pytest.mark.parametrize("family", FAMILIES, ids=lambda one: one.__name__)
@pytest.mark.parametrize("older", [False, True], ids=["range", "entry alone"])
def test_other_offsets_than_those_of_the_sink_are_found(
    request: pytest.FixtureRequest, tmp_path: Path, family: Family, older: bool
) -> None:
    identity = DELIVERED.identity(QUERY, 1)
    if older:
        identity = BatchIdentity(QUERY, 4, 1, DELIVERED.digests[1])
    asked = family(request, tmp_path, identity)
    assert other_offsets(checkpoint(BEFORE, ENTRY), QUERY, 4, asked) is None
    found = other_offsets(checkpoint(BEFORE, OTHER), QUERY, 4, asked)
    assert found is not None
    assert (found.code, found.place.file) == ("HF3027", "offsets/4")
    assert "batch 4" in found.message
    another_beginning = other_offsets(checkpoint(OTHER, ENTRY), QUERY, 4, asked)
    assert (another_beginning is None) == older


def test_a_checkpoint_without_the_batch_asks_nobody() -> None:
    """Neither does one without a query, or a sink without a batch."""

    def refuse(_query_id: str, _batch_id: int) -> CommittedOffsets:
        raise AssertionError

    assert other_offsets(checkpoint(BEFORE, ENTRY), QUERY, 9, refuse) is None
    assert other_offsets(checkpoint(BEFORE, ENTRY), None, 4, refuse) is None
    assert other_offsets(checkpoint(BEFORE, ENTRY), QUERY, None, refuse) is None
