"""The ledger of a user's function: what it remembers, refuses and says, here and on S3."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.errors import SinkError, StorageError
from holdfast.ledgers import batchledger
from holdfast.ledgers.batchentry import decode_entry
from holdfast.ledgers.batchledger import BatchLedger, entry_path, ledger_beside
from holdfast.ledgers.identity import BatchIdentity
from holdfast.ledgers.onceperbatch import LedgerWish, once_per_batch, wish_of
from holdfast.storage.location import parse_location
from holdfast.storage.options import StorageSettings
from holdfast.storage.writinglocal import LocalWriter
from tests.storage.s3server import S3Server

QUERY = "c1a5e0f6-4a52-4f0b-9d0e-0c3b1f7f4d11"
WHEN = "2026-11-16T08:00:00.000Z"
Open = Callable[[], BatchLedger]


def identity(
    batch_id: int, digest: str = "d", *, generation: int = 1, query: str = QUERY
) -> BatchIdentity:
    """Give the identity of a batch; the digest stands for its offsets."""
    return BatchIdentity(query, batch_id, generation, f"{digest}{batch_id}")


@pytest.fixture(params=["local", "s3"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Give what opens one ledger anew, as each driver does."""
    if request.param == "local":
        return lambda: BatchLedger(tmp_path / "ledger")
    server: S3Server = request.getfixturevalue("s3")
    bucket = f"bucket-{uuid.uuid4().hex}"
    server.fill(bucket, {})
    return lambda: BatchLedger(f"s3a://{bucket}/ledgers/orders", server.settings().options)


def code_of(act: Callable[[], object]) -> str:
    """Give the code of the error that an act ends with."""
    with pytest.raises(SinkError) as raised:
        act()
    return raised.value.code.number


def test_a_recorded_batch_is_held_by_every_driver(opened: Open) -> None:
    """The same offsets once; the newest batch and the query are told."""
    ledger = opened()
    ledger.refuse_unusable()
    assert not ledger.holds(identity(0))
    assert "no batch of this query" in ledger.last_committed(QUERY).basis
    ledger.record(identity(0), WHEN)
    assert opened().holds(identity(0)) and not opened().holds(identity(1))
    opened().record(identity(1, generation=2), WHEN)
    later = opened()
    assert later.holds(identity(0, generation=2)) and later.holds(identity(1, generation=3))
    assert later.last_committed(QUERY).value == 1
    assert later.last_committed("other").value is None
    assert later.last_committed(None).value is None
    assert later.queries() == {QUERY}


def test_other_offsets_and_older_drivers_stop(opened: Open) -> None:
    """Before the function is called, and nothing is changed."""
    opened().record(identity(3), WHEN)
    opened().record(identity(4, generation=2), WHEN)
    assert code_of(lambda: opened().holds(identity(4, "other", generation=2))) == "HF5003"
    for batch in (3, 4, 5):
        assert code_of(lambda at=batch: opened().holds(identity(at))) == "HF5090"  # type: ignore[misc]
    assert code_of(lambda: opened().holds(identity(2, generation=2))) == "HF5024"
    assert opened().last_committed(QUERY).value == 4


def test_a_batch_that_two_drivers_delivered_is_told_to_the_older_one(opened: Open) -> None:
    """The function of both was called: that is what a ledger can't keep apart."""
    opened().record(identity(0, generation=2), WHEN)
    assert code_of(lambda: opened().record(identity(0), WHEN)) == "HF5090"
    assert code_of(lambda: opened().record(identity(0, "x", generation=2), WHEN)) == "HF5003"
    opened().record(identity(0, generation=2), WHEN)
    assert opened().holds(identity(0, generation=2))


def test_very_old_batches_are_forgotten_and_never_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is no longer known stops; a query's neighbours stay."""
    monkeypatch.setattr(batchledger, "KEPT_BATCHES", 3)
    monkeypatch.setattr(os, "fsync", lambda _: None)
    ledger = BatchLedger(tmp_path)
    ledger.record(identity(0, query="other"), WHEN)
    for batch in range(7):
        ledger.record(identity(batch), WHEN)
    assert [one for one in range(7) if (tmp_path / entry_path(QUERY, one)).exists()] == [4, 5, 6]
    assert code_of(lambda: ledger.holds(identity(2))) == "HF5024"
    assert ledger.queries() == {QUERY, "other"}


def test_a_ledger_that_may_only_grow_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many may write to a bucket, and few may remove from it."""
    monkeypatch.setattr(batchledger, "KEPT_BATCHES", 1)

    def refused(*_: object) -> None:
        raise StorageError("HF7002", "access was denied")

    monkeypatch.setattr(LocalWriter, "remove", refused)
    ledger = BatchLedger(tmp_path)
    for batch in range(3):
        ledger.record(identity(batch), WHEN)
    assert ledger.last_committed(QUERY).value == 2
    assert len(list(tmp_path.rglob("*.json"))) == 3


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b"[]", b'{"holdfast": 2}', b"\xff", b"null", b"[" * 100_000, "another"],
)
def test_a_damaged_entry_stops_with_its_place(tmp_path: Path, content: bytes | str) -> None:
    """Nobody may guess whether the batch is delivered; what can be told is told."""
    ledger = BatchLedger(tmp_path)
    ledger.record(identity(7), WHEN)
    ledger.record(identity(6), WHEN)
    path = tmp_path / entry_path(QUERY, 7)
    path.write_bytes(
        content if isinstance(content, bytes) else (tmp_path / entry_path(QUERY, 6)).read_bytes()
    )
    with pytest.raises(SinkError) as raised:
        ledger.holds(identity(7))
    assert raised.value.code.number == "HF5091"
    assert str(raised.value.at).endswith("0000000007.json")
    assert ledger.last_committed(QUERY).value == 7


@pytest.mark.parametrize("name", ["holdfast", "batch_id", "generation", "query_id"])
def test_a_field_of_another_kind_is_no_entry(tmp_path: Path, name: str) -> None:
    """A truth value is no number."""
    BatchLedger(tmp_path).record(identity(1), WHEN)
    text = (tmp_path / entry_path(QUERY, 1)).read_text()
    found = decode_entry(text.encode(), "here")
    assert (found.batch_id, found.generation, found.recorded_at) == (1, 1, WHEN)
    broken = {**json.loads(text), name: True}
    assert code_of(lambda: decode_entry(json.dumps(broken).encode(), "here")) == "HF5091"


def test_a_place_that_can_not_be_used_is_refused_and_never_asked_in_vain(tmp_path: Path) -> None:
    """Writing raises, asking answers."""
    (tmp_path / "file").write_text("")
    ledger = BatchLedger(tmp_path / "file" / "ledger")
    assert ledger.last_committed(QUERY).value is None
    assert ledger.queries() == frozenset()
    with pytest.raises(StorageError):
        ledger.record(identity(0), WHEN)
    with pytest.raises(StorageError) as raised:
        BatchLedger("gs://bucket/ledger").refuse_unusable()
    assert raised.value.code.number.startswith("HF70")


def test_the_mark_says_where_the_ledger_is(tmp_path: Path) -> None:
    """Beside the checkpoint, or at a place that counts from the project."""

    def deliver(batch: Any, identity: Any) -> tuple[Any, Any]:
        """Deliver."""
        return batch, identity

    checkpoint = parse_location(str(tmp_path / "checkpoints/orders"))
    beside, named = once_per_batch(deliver), holdfast.once_per_batch(ledger="kept")(deliver)
    assert wish_of(deliver) is None and beside("b", "i") == ("b", "i")
    assert beside.__doc__ == "Deliver."

    def place(function: Any) -> str:
        wish = wish_of(function)
        assert isinstance(wish, LedgerWish)
        return wish.ledger(checkpoint, StorageSettings(), tmp_path).location

    assert place(beside) == str(tmp_path / "checkpoints/.holdfast/orders/batches")
    assert place(beside) == ledger_beside(checkpoint, StorageSettings()).location
    assert place(named) == str(tmp_path / "kept")


def test_the_key_is_the_same_however_often_a_batch_comes() -> None:
    """And another one for each query and batch."""
    again = identity(3, "other", generation=9)
    assert identity(3).key == again.key == f"{QUERY}/3"
    assert len({identity(3).key, identity(4).key, identity(3, query="q").key}) == 3
