"""An act without an outcome is found, whatever else the journal holds."""

from __future__ import annotations

import json

import pytest

from holdfast.errors import CheckpointError
from holdfast.findings import Severity
from holdfast.records.folder import PartReader
from holdfast.records.journal import Act, interrupted, unfinished_act
from holdfast.storage.memory import MemoryReader
from holdfast.storage.testing import RecordingReader


def entry(act_id: str, *, ended: bool) -> dict[str, bytes]:
    intent = json.dumps({"id": act_id, "kind": "restore", "intent": {"whole": True}}).encode()
    return {
        f"{act_id}/intent.json": intent,
        **({f"{act_id}/outcome.json": b"{}"} if ended else {}),
    }


def test_ended_acts_are_over_and_cost_one_listing() -> None:
    many = {path: data for number in range(50) for path, data in
            entry(f"2026{number:04d}", ended=True).items()}  # fmt: skip
    reader = RecordingReader(MemoryReader(many))
    assert unfinished_act(reader) is None
    assert [one.act for one in reader.operations] == ["list"]


def test_the_newest_without_an_outcome_is_given() -> None:
    files = {**entry("1", ended=False), **entry("2", ended=False), **entry("3", ended=True)}
    assert unfinished_act(MemoryReader(files)) == Act("2", "restore", {"whole": True})


def test_an_intent_that_cannot_be_read_is_an_error() -> None:
    with pytest.raises(CheckpointError) as caught:
        unfinished_act(MemoryReader({"1/intent.json": b"{"}))
    assert caught.value.code.number == "HF4506"


def test_the_finding_names_both_ways_out_with_the_target() -> None:
    finding = interrupted(Act("1", "restore", {}), "/lake/my orders")
    assert finding.severity is Severity.FATAL
    assert "holdfast restore --finish '/lake/my orders'" in finding.next_steps[-1]
    assert "holdfast restore --undo '/lake/my orders'" in finding.next_steps[-1]


def test_a_damaged_intent_of_an_ended_act_proves_nothing() -> None:
    files = {**entry("1", ended=False), "2/intent.json": b"{", "2/outcome.json": b"{}"}
    found = unfinished_act(MemoryReader(files))
    assert found is not None and found.id == "1"


def test_without_a_generation_no_run_makes_an_act_void() -> None:
    """Journals of older releases do not say under which lease an act was begun."""
    runs = PartReader(MemoryReader({"runs/0000000009.json": b"{}"}), "runs")
    assert unfinished_act(MemoryReader(entry("1", ended=False)), runs) is not None
