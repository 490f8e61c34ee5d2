"""The ledger of a user's function: what it remembers, refuses and says, here and on S3."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.errors import SinkError, StorageError
from holdfast.ledgers import custom
from holdfast.ledgers.custom import (
    BatchLedger,
    LedgerOptions,
    decode_entry,
    entry_path,
    ledger_beside,
    ledger_options_of,
    once_per_batch,
)
from holdfast.ledgers.identity import BatchIdentity, OffsetRange
from holdfast.ledgers.sinkstate import NOT_COMMITTED, UNKNOWN, committed_with
from holdfast.spark.sinks.custom import CustomSink
from holdfast.storage.localwriter import LocalWriter
from holdfast.storage.location import parse_location
from holdfast.storage.options import StorageSettings
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


def test_a_start_without_records_continues_above_the_newest_entry(opened: Open) -> None:
    """What a start sees of the sink says the generation that the ledger refuses older ones by."""
    sink = CustomSink(lambda *_: None, "deliver", opened())
    assert [sink.sight(one).generation for one in (None, QUERY)] == [0, 0]
    for batch_id, generation in ((0, 2), (1, 7)):
        opened().record(identity(batch_id, generation=generation), WHEN)
    known = sink.sight(QUERY).generation
    assert (known, sink.sight("another query").generation) == (7, 0)
    following = partial(identity, 2)
    assert code_of(lambda: opened().holds(following(generation=known - 1))) == "HF5090"
    assert not opened().holds(following(generation=known + 1))


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
    monkeypatch.setattr(custom, "KEPT_BATCHES", 3)
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
    monkeypatch.setattr(custom, "KEPT_BATCHES", 1)

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
    whole = path.read_bytes()
    path.write_bytes(
        content if isinstance(content, bytes) else (tmp_path / entry_path(QUERY, 6)).read_bytes()
    )
    with pytest.raises(SinkError) as raised:
        ledger.holds(identity(7))
    assert raised.value.code.number == "HF5091"
    assert str(raised.value.at).endswith("0000000007.json")
    assert ledger.last_committed(QUERY).value == 7
    path.write_bytes(whole)
    assert ledger.holds(identity(7)) and not ledger.holds(identity(8))


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
    assert ledger_options_of(deliver) is None and beside("b", "i") == ("b", "i")
    assert beside.__doc__ == "Deliver."

    def place(function: Any) -> str:
        options = ledger_options_of(function)
        assert isinstance(options, LedgerOptions)
        return options.ledger(checkpoint, StorageSettings(), tmp_path).location

    assert place(beside) == str(tmp_path / "checkpoints/.holdfast/orders/batches")
    assert place(beside) == ledger_beside(checkpoint, StorageSettings()).location
    assert place(named) == str(tmp_path / "kept")


def test_the_key_is_the_same_however_often_a_batch_comes() -> None:
    """And another one for each query and batch."""
    again = identity(3, "other", generation=9)
    assert identity(3).key == again.key == f"{QUERY}/3"
    assert len({identity(3).key, identity(4).key, identity(3, query="q").key}) == 3


def test_a_digest_of_the_older_kind_still_counts(opened: Open) -> None:
    """A re-run of what an older release recorded is held; another entry is refused."""
    new = OffsetRange(3, b"two", b"three").identity(QUERY, 1)
    opened().record(replace(new, offsets_digest=str(new.entry_digest), entry_digest=None), WHEN)
    assert opened().holds(new)
    opened().record(new, WHEN)
    assert opened().holds(OffsetRange(3, b"other", b"three").identity(QUERY, 1))
    other = OffsetRange(3, b"two", b"other").identity(QUERY, 1)
    assert code_of(lambda: opened().holds(other)) == "HF5003"
    assert code_of(lambda: opened().record(other, WHEN)) == "HF5003"


def test_a_recorded_range_is_held_from_its_beginning_alone(opened: Open) -> None:
    opened().record(OffsetRange(3, b"two", b"three").identity(QUERY, 1), WHEN)
    other = OffsetRange(3, b"other", b"three").identity(QUERY, 1)
    assert code_of(lambda: opened().holds(other)) == "HF5003"


def test_one_batch_is_told_with_its_digest(tmp_path: Path) -> None:
    """Not there is not unknown; an entry that is missing below another may have been removed."""
    ledger = BatchLedger(tmp_path / "ledger")
    assert ledger.offsets_of(QUERY, 4) == NOT_COMMITTED
    for batch in (4, 6):
        ledger.record(identity(batch), WHEN)
    told = [ledger.offsets_of(QUERY, batch) for batch in (3, 4, 5, 6, 7)]
    assert told == [UNKNOWN, committed_with("d4"), UNKNOWN, committed_with("d6"), NOT_COMMITTED]
    (tmp_path / "ledger" / entry_path(QUERY, 4)).write_bytes(b"")
    assert ledger.offsets_of(QUERY, 4) == UNKNOWN
