"""What a batch of a backfill reads, and whether the source still has it."""

from __future__ import annotations

import json

import pytest

from holdfast.diagnosis.inspection.sources import BrokerSeen, SourcesSeen, Span
from holdfast.errors import PlanError
from holdfast.ledgers.delta.transactions import look_at_source_table
from holdfast.remedy.sourcedata import SourceNow, refuse_gone_batch
from holdfast.storage.memory import MemoryReader

VERSIONS = [json.dumps({"reservoirId": "t", "reservoirVersion": one}) for one in (2, 4, 6)]
RECORDS = [json.dumps({"t": {"0": one, "1": 7}}) for one in (5, 8, 9)]


def refusal(ends: list[str], batch: int, source: SourceNow, files: tuple[str, ...] = ()) -> str:
    """Return the code of what refuses a batch; empty where nothing does."""
    try:
        refuse_gone_batch(ends, files, batch, source, at="here")
    except PlanError as error:
        assert f"batch {batch} of the backfill" in error.message
        assert any("--keep-rows" in one for one in error.next_steps)
        return error.code.number
    return ""


def test_files() -> None:
    ends = [f'{{"logOffset":{one}}}' for one in range(3)]
    there = {"/in/day=1": frozenset({"a b.json"}), "/in": frozenset()}
    source = SourceNow(there.get)
    assert refusal(ends, 1, source, ("file:///in/day=1/a%20b.json",)) == ""
    assert refusal(ends, 1, source, ("file:///in/day=1/a%20b.json", "file:///in/b")) == "HF4612"
    assert refusal(ends, 2, source, ("file:///elsewhere/b",)) == "HF4603"


def table(*versions: int) -> SourceNow:
    """Return a source whose table has these versions."""
    first = {"metaData": {"id": "t", "partitionColumns": [], "configuration": {}}}
    files = {f"{one:020d}.json": json.dumps(first).encode() for one in versions}
    seen = look_at_source_table("lake", lambda: MemoryReader(files, location="lake"))
    return SourceNow(look=lambda: SourcesSeen(tables=(seen,)))


def test_versions_of_a_delta_table() -> None:
    assert refusal(VERSIONS, 2, table(*range(7))) == ""
    assert refusal(VERSIONS, 2, table(5, 6)) == "HF4612"
    assert refusal(VERSIONS, 2, table(*range(5))) == "HF4612"
    assert refusal(VERSIONS, 1, SourceNow()) == "HF4603"


@pytest.mark.parametrize(
    ("batch", "first", "following", "code"),
    [(1, 5, 8, ""), (1, 6, 9, "HF4612"), (2, 6, 9, ""), (2, 0, 8, "HF4612")],
)
def test_records_of_kafka(batch: int, first: int, following: int, code: str) -> None:
    """Partition 1 has no record in the range: it may be gone."""
    seen = BrokerSeen("k:9092", spans={("t", 0): Span(first, following)})
    source = SourceNow(look=lambda: SourcesSeen(brokers=(seen,)))
    assert refusal(RECORDS, batch, source) == code


def test_a_broker_that_does_not_answer() -> None:
    seen = BrokerSeen("k:9092", failure="no answer")
    source = SourceNow(look=lambda: SourcesSeen(brokers=(seen,)))
    assert refusal(RECORDS, 1, source) == "HF4603"
