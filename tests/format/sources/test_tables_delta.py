"""Delta offsets, as DeltaSourceOffset.scala of delta-io/delta writes and orders them."""

from __future__ import annotations

import itertools
import json

import pytest

from holdfast.errors import DecodeError
from holdfast.format.sources import Amount, SourceEvidence, amount_between, explain
from holdfast.format.sources import went_back as moved_back


def offset(
    version: int, index: int = -1, initial: bool = False, table: str = "t", source: int = 1
) -> SourceEvidence:
    """Spells an offset as Delta does."""
    fields = {
        "sourceVersion": source,
        "reservoirId": table,
        "reservoirVersion": version,
        "index": index,
        "isStartingVersion": initial,
    }
    return SourceEvidence(json.dumps(fields))


def test_an_offset_is_certain_by_its_table_id() -> None:
    explained = explain(offset(8))

    assert (explained.kind, explained.basis) == ("delta", "shape")
    assert explained.decoded == json.loads(offset(8).text)


@pytest.mark.parametrize(
    ("evidence", "summary"),
    [
        (offset(1235), "all of table version 1,234"),
        (offset(0), "before table version 0"),
        (offset(8, 4), "part of table version 8, file index 4"),
        (offset(8, 4, initial=True), "first snapshot (table version 8), file index 4"),
        (offset(8, -20, source=3), "at the schema change in table version 8"),
        (offset(8, -19, source=3), "just after the schema change in table version 8"),
    ],
)
def test_the_summary_says_what_was_read(evidence: SourceEvidence, summary: str) -> None:
    assert explain(evidence).summary == summary


def test_what_a_newer_delta_adds_is_kept() -> None:
    text = offset(8).text[:-1] + ',"eventTimeMillis":5}'

    assert explain(SourceEvidence(text)).decoded == json.loads(text)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"sourceVersion": 2}, "HF2103"),
        ({"sourceVersion": 4}, "HF2103"),
        ({"reservoirVersion": -1}, "HF2107"),
        ({"reservoirVersion": "8"}, "HF2106"),
        ({"index": None}, "HF2106"),
        ({"index": -101}, "HF2107"),
        ({"isStartingVersion": 0}, "HF2106"),
        ({"reservoirId": 7}, "HF2106"),
    ],
)
def test_what_delta_could_not_have_written_is_refused(change: object, code: str) -> None:
    assert isinstance(change, dict)
    fields = {**json.loads(offset(8).text), **change}
    with pytest.raises(DecodeError) as raised:
        explain(SourceEvidence(json.dumps(fields)))
    assert raised.value.code.number == code


def test_a_missing_field_is_refused() -> None:
    with pytest.raises(DecodeError, match="has no sourceVersion"):
        explain(SourceEvidence('{"reservoirId":"t"}'))


@pytest.mark.parametrize(
    ("before", "after", "total", "note"),
    [
        (offset(3), offset(7), 4, None),
        (offset(3), offset(3), 0, None),
        (offset(3), offset(3, 5), 1, "only a part of table version 3: index -1 to 5"),
        (offset(3, 2), offset(3, 5), 1, "only a part of table version 3: index 2 to 5"),
        (offset(3, 2), offset(4), 1, "of table version 3 only the rest"),
        (offset(3), offset(5, 0), 3, "of table version 5 only a part"),
        (
            offset(3, 2),
            offset(5, 0),
            3,
            "of table version 3 only the rest, of table version 5 only a part",
        ),
        (offset(3, 2, initial=True), offset(4), 1, "of the first snapshot only the rest"),
        (
            offset(3, 2, initial=True),
            offset(3, 9, initial=True),
            1,
            "only a part of the first snapshot: index 2 to 9",
        ),
    ],
)
def test_table_versions_are_counted(
    before: SourceEvidence, after: SourceEvidence, total: int, note: str | None
) -> None:
    assert amount_between("delta", before, after) == Amount("table versions", total, {}, note)
    assert moved_back("delta", before, after) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [(None, offset(3)), (offset(3), offset(7, table="other")), (offset(7), offset(3))],
)
def test_what_can_not_be_told_is_not_counted(
    before: SourceEvidence | None, after: SourceEvidence
) -> None:
    amount = amount_between("delta", before, after)

    assert amount.total is None
    assert amount.note is not None


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        (offset(7), offset(3), "reservoirVersion went back from 7 to 3"),
        (offset(7, 5), offset(7, 4), "index went back from 5 to 4 in table version 7"),
        (offset(7, 0), offset(7), "index went back from 0 to -1 in table version 7"),
        (offset(7, -20, source=3), offset(7), "index went back from -20 to -1 in table version 7"),
        (
            offset(7),
            offset(7, 3, initial=True),
            "the offset went back into the table's first snapshot",
        ),
    ],
)
def test_what_delta_refuses_went_back(
    before: SourceEvidence, after: SourceEvidence, sentence: str
) -> None:
    assert moved_back("delta", before, after) == sentence


def test_a_schema_change_lies_after_the_base_of_its_version() -> None:
    """Stored as -1, the base counts as -100: before -20, which is before -19, before 0."""
    steps = [offset(7), offset(7, -20, source=3), offset(7, -19, source=3), offset(7, 0)]

    for before, after in itertools.pairwise(steps):
        assert moved_back("delta", before, after) is None
        assert moved_back("delta", after, before) is not None
