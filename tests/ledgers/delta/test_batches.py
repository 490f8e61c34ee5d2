"""What a version of a Delta table says of its batch: Holdfast's note, and no note."""

from __future__ import annotations

import json

import pytest

from holdfast.errors import DecodeError
from holdfast.ledgers.delta.batches import DeltaBatch, batch_of, user_metadata
from holdfast.ledgers.delta.log import Commit
from holdfast.ledgers.identity import BatchIdentity, OffsetRange
from tests.corpus.loading import sample

IDENTITY = BatchIdentity("query", 7, 3, "digest")


def version(note: str | None, *, operation: str = "WRITE", app_id: str = "query") -> bytes:
    """Give the bytes of a version as Delta writes them."""
    metrics = {"numOutputRows": "9", "numTargetRowsInserted": "2", "numTargetRowsUpdated": "1"}
    info = {"operation": operation, "operationMetrics": metrics}
    actions: list[dict[str, object]] = [
        {"commitInfo": info if note is None else {**info, "userMetadata": note}},
        {"txn": {"appId": app_id, "version": 7}},
        {"add": {"path": "part-0", "size": 1}},
    ]
    return "\n".join(json.dumps(one, separators=(",", ":")) for one in actions).encode()


def test_a_batch_of_ours_has_digest_generation_and_rows() -> None:
    """What is written is what is read; of a merge only the batch's own rows count."""
    note = user_metadata(IDENTITY)
    assert batch_of(4, Commit(version(note)), "query") == DeltaBatch(4, 7, "digest", 3, 9)
    merged = batch_of(4, Commit(version(note, operation="MERGE")), "query")
    assert merged is not None and merged.rows == 3


def test_a_version_stores_the_digest_of_the_range_alone() -> None:
    """Of the older kind nothing is written: others read these fields."""
    new = OffsetRange(7, b"six", b"seven").identity("query", 3)
    assert json.loads(user_metadata(new)) == {
        "holdfast": 1, "query_id": "query", "batch_id": 7, "generation": 3,
        "offsets_digest": new.offsets_digest,
    }  # fmt: skip


def test_a_foreign_note_says_nothing() -> None:
    """No note, no JSON, somebody else's JSON, and the note of another batch."""
    other = user_metadata(BatchIdentity("query", 6, 3, "other"))
    for note in (None, "nightly load", '{"offsets_digest":"x"}', other):
        assert batch_of(4, Commit(version(note)), "query") == DeltaBatch(4, 7, None, None, 9)


def test_another_application_is_none_and_damage_is_told() -> None:
    """Only this query's batch is given."""
    assert batch_of(4, Commit(version(None, app_id="other")), "query") is None
    with pytest.raises(DecodeError):
        batch_of(4, Commit(b'{"txn":'), "query")


def test_a_real_batch_of_sparks_own_sink_has_no_digest() -> None:
    """As Spark 4.2 with Delta 4.4 wrote it."""
    real = sample("delta", "4.2.0")
    data = real.output_files()[f"_delta_log/{1:020}.json"]
    found = batch_of(1, Commit(data), real.facts["query_id"])
    assert found is not None
    assert (found.batch_id, found.offsets_digest, found.generation) == (1, None, None)


def test_a_separator_inside_of_a_text_ends_no_line() -> None:
    """Only a line feed does: JSON may hold U+2028 as it is."""
    note = user_metadata(IDENTITY)
    written = version(note).decode().replace('"WRITE"', '"WRI\u2028TE"').encode()
    assert batch_of(4, Commit(written), "query") == DeltaBatch(4, 7, "digest", 3, 9)
