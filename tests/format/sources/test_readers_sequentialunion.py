"""Sequential unions, as SequentialUnionOffset of Spark 4.3.0 writes and validates them."""

from __future__ import annotations

import json

import pytest

from holdfast.errors import DecodeError
from holdfast.format.sources import SourceEvidence, amount_between, explain
from holdfast.format.sources import went_back as moved_back


def offset(
    active: str, *completed: str, every: tuple[str, ...] = ("a", "b", "c")
) -> SourceEvidence:
    """Spells an offset as Spark does."""
    fields = {
        "activeSourceName": active,
        "allSourceNames": list(every),
        "completedSourceNames": list(completed),
    }
    return SourceEvidence(json.dumps(fields))


def test_an_offset_is_certain_by_its_names() -> None:
    explained = explain(offset("b", "a"))

    assert (explained.kind, explained.basis) == ("sequential-union", "shape")
    assert explained.summary == "1 of 3 sources done, reading b"


@pytest.mark.parametrize(
    "evidence",
    [
        offset("x"),
        offset("b", "b"),
        offset("b", "x"),
        SourceEvidence('{"activeSourceName":"a","allSourceNames":["a"]}'),
        SourceEvidence('{"activeSourceName":"a","allSourceNames":"a","completedSourceNames":[]}'),
        SourceEvidence('{"activeSourceName":"a","allSourceNames":[1],"completedSourceNames":[]}'),
    ],
)
def test_what_spark_could_not_have_written_is_refused(evidence: SourceEvidence) -> None:
    with pytest.raises(DecodeError) as raised:
        explain(evidence)
    assert raised.value.code.number == "HF2106"


def test_the_amount_is_in_the_sources_own_offsets() -> None:
    assert amount_between("sequential-union", offset("a"), offset("b", "a")).total is None
    assert amount_between("sequential-union", None, offset("a")).total is None
    assert (
        amount_between("sequential-union", offset("c", "a", "b"), offset("c", "b", "a")).total == 0
    )


def test_a_source_that_was_done_stays_done() -> None:
    assert moved_back("sequential-union", offset("b", "a"), offset("a")) == (
        "done before, and no longer: a"
    )
    assert moved_back("sequential-union", offset("a"), offset("b", "a")) is None
