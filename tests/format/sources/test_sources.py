"""Promises that hold for every reader, on generated offsets."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import DecodeError
from holdfast.format.sources import (
    READERS,
    UNITS,
    SourceEvidence,
    amount_between,
    explain,
)
from holdfast.format.sources import went_back as moved_back

LONG = st.integers(0, 2**63 - 1)
PARTITIONS = st.dictionaries(st.integers(0, 9).map(str), LONG, min_size=1, max_size=4)
OFFSETS: dict[str, st.SearchStrategy[Any]] = {
    "file": st.fixed_dictionaries({"logOffset": LONG}),
    "kafka": st.dictionaries(st.sampled_from(["a", "b-1", "c"]), PARTITIONS, max_size=3),
    "delta": st.fixed_dictionaries(
        {
            "sourceVersion": st.sampled_from([1, 3]),
            "reservoirId": st.sampled_from(["t", "u"]),
            "reservoirVersion": st.integers(0, 9),
            "index": st.sampled_from([-20, -19, -1, 0, 1, 7]),
            "isStartingVersion": st.booleans(),
        }
    ),
    "rate": LONG
    | st.dictionaries(
        st.sampled_from("0123"), st.fixed_dictionaries({"value": LONG, "runTimeMs": LONG})
    ),
    "rate-micro-batch": st.fixed_dictionaries({"offset": LONG, "timestamp": LONG}),
    "socket": st.integers(-1, 2**63 - 1) | st.lists(LONG, max_size=3),
    "memory": st.integers(-1, 2**63 - 1) | PARTITIONS,
    "iceberg": st.fixed_dictionaries(
        {
            "version": st.just(1),
            "snapshot_id": st.integers(1, 3),
            "position": st.integers(-1, 9),
            "scan_all_files": st.booleans(),
        }
    ),
    "sequential-union": st.sampled_from(["a", "b"]).map(
        lambda active: {
            "activeSourceName": active,
            "allSourceNames": ["a", "b"],
            "completedSourceNames": [] if active == "a" else ["a"],
        }
    ),
}
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["logOffset", "reservoirId", "seqNum", "0", "offset", "shard", "metadata"]
            )
            | st.text(max_size=8),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)
OFFSETS["python"] = OFFSETS["unknown"] = ANY_JSON
INITIALS = st.none() | st.sampled_from([b"\0v1\n{}", b"v1\n123", b"v1\n{}", b"", bytes(9)])
FORMATS = st.none() | st.sampled_from(["kafka", "json", "delta", "rate", "eventhubs", "mine"])


def evidence(value: object) -> SourceEvidence:
    """Spells a decoded offset as a source would."""
    return SourceEvidence(json.dumps(value))


def test_every_kind_has_its_generator() -> None:
    assert {reader.kind for reader in READERS} == set(OFFSETS)


def test_no_format_belongs_to_two_kinds() -> None:
    names = [name for reader in READERS for name in reader.formats]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("kind", sorted(OFFSETS))
@settings(deadline=None, max_examples=50)
@given(data=st.data())
def test_parts_add_up_to_the_total(kind: str, data: st.DataObject) -> None:
    before, after = data.draw(OFFSETS[kind]), data.draw(OFFSETS[kind])

    amount = amount_between(kind, evidence(before), evidence(after))

    assert amount.unit in UNITS
    if amount.total is None:
        assert amount.note
    else:
        assert amount.total >= 0
        assert not amount.parts or sum(amount.parts.values()) == amount.total


@pytest.mark.parametrize("kind", sorted(OFFSETS))
@settings(deadline=None, max_examples=50)
@given(data=st.data())
def test_nothing_lies_between_an_offset_and_itself(kind: str, data: st.DataObject) -> None:
    offset = evidence(data.draw(OFFSETS[kind]))

    assert amount_between(kind, offset, offset).total == 0
    assert moved_back(kind, offset, offset) is None


@pytest.mark.parametrize("kind", sorted(set(OFFSETS) - {"python", "unknown"}))
@settings(deadline=None, max_examples=50)
@given(data=st.data())
def test_what_went_back_has_no_total(kind: str, data: st.DataObject) -> None:
    before, after = evidence(data.draw(OFFSETS[kind])), evidence(data.draw(OFFSETS[kind]))

    sentence = moved_back(kind, before, after)

    if sentence is not None and not sentence.endswith("gone"):
        assert amount_between(kind, before, after).total is None


@settings(deadline=None, max_examples=300)
@given(value=ANY_JSON, initial=INITIALS, has_log=st.booleans(), declared=FORMATS)
def test_any_json_is_explained_or_refused(
    value: object, initial: bytes | None, has_log: bool, declared: str | None
) -> None:
    given_text = SourceEvidence(json.dumps(value), initial, has_log, None, declared)
    try:
        explained = explain(given_text)
    except DecodeError:
        return
    assert len(explained.summary) <= 60
    assert explained.kind in OFFSETS
    json.dumps(explained.decoded)


@settings(deadline=None, max_examples=200)
@given(text=st.text(max_size=40))
def test_any_text_without_other_evidence_is_explained(text: str) -> None:
    try:
        explained = explain(SourceEvidence(text))
    except DecodeError:
        return
    assert explained.kind in OFFSETS
