"""Iceberg offsets, as StreamingOffset.java of apache/iceberg writes them.

That a position is not inclusive, so that it counts files, was read in SparkMicroBatchStream.java.
"""

from __future__ import annotations

import json

import pytest

from holdfast.errors import DecodeError
from holdfast.format.sources import Amount, SourceEvidence, amount_between, explain
from holdfast.format.sources import went_back as moved_back


def offset(
    snapshot: int, position: int, scan_all: bool = False, version: int = 1
) -> SourceEvidence:
    """Spells an offset as Iceberg does."""
    fields = {
        "version": version,
        "snapshot_id": snapshot,
        "position": position,
        "scan_all_files": scan_all,
    }
    return SourceEvidence(json.dumps(fields))


def test_an_offset_is_certain_by_its_names() -> None:
    explained = explain(offset(4153424113434251, 1000))

    assert (explained.kind, explained.basis) == ("iceberg", "shape")
    assert explained.summary == "snapshot 4153424113434251, 1,000 of its files"
    assert explain(offset(-1, -1)).summary == "before the first snapshot"


@pytest.mark.parametrize(
    ("evidence", "code"), [(offset(1, 1, version=2), "HF2103"), (offset(1, -2), "HF2107")]
)
def test_what_iceberg_could_not_have_written_is_refused(
    evidence: SourceEvidence, code: str
) -> None:
    with pytest.raises(DecodeError) as raised:
        explain(evidence)
    assert raised.value.code.number == code


def test_files_are_counted_within_one_snapshot() -> None:
    assert amount_between("iceberg", offset(7, 3), offset(7, 9)) == Amount("files", 6)
    assert amount_between("iceberg", offset(7, 9), offset(7, 3)).total is None
    assert amount_between("iceberg", offset(7, 3), offset(7, 3)).total == 0


@pytest.mark.parametrize("before", [None, offset(6, 3), offset(7, 3, scan_all=True)])
def test_snapshots_are_not_guessed(before: SourceEvidence | None) -> None:
    amount = amount_between("iceberg", before, offset(7, 9))

    assert (amount.unit, amount.total) == ("snapshots", None)
    assert amount.note is not None


def test_only_positions_of_one_snapshot_can_go_back() -> None:
    assert moved_back("iceberg", offset(7, 9), offset(7, 3)) == (
        "position went back from 9 to 3 in snapshot 7"
    )
    assert moved_back("iceberg", offset(7, 3), offset(7, 9)) is None
    assert moved_back("iceberg", offset(7, 9), offset(2, 3)) is None
