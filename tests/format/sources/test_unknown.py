"""Offsets that nobody knows are shown as they are."""

from __future__ import annotations

import pytest

from holdfast.format.sources import SourceEvidence, amount_between, explain
from holdfast.format.sources import went_back as moved_back


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ('{"number":12,"note":"ü"}', "number: 12, note: ü"),
        ('{"a":{"b":[1,null,true]}}', 'a: {"b":[1,null,true]}'),
        ('"a text"', "a text"),
        ("null", "null"),
        ("[1.5]", "[1.5]"),
        ("[" + "1," * 50 + "1]", "[" + "1," * 29 + "…"),
    ],
)
def test_the_summary_shows_the_fields(text: str, summary: str) -> None:
    explained = explain(SourceEvidence(text))

    assert (explained.kind, explained.basis) == ("unknown", "shape")
    assert explained.summary == summary


@pytest.mark.parametrize("text", ["shard-1:77", '{"a":', '{"a":NaN}', '{"a":1,"a":2}'])
def test_text_that_is_not_json_is_kept_and_said(text: str) -> None:
    explained = explain(SourceEvidence(text))

    assert (explained.kind, explained.decoded) == ("unknown", text)
    assert explained.note is not None
    assert "not JSON" in explained.note


def test_true_is_not_one() -> None:
    before, after = SourceEvidence('{"a":1}'), SourceEvidence('{"a":true}')

    assert amount_between("unknown", before, after).total is None


def test_the_order_of_keys_moves_nothing() -> None:
    before, after = SourceEvidence('{"a":1,"b":2}'), SourceEvidence('{"b":2,"a":1}')

    assert amount_between("unknown", before, after).total == 0


def test_bare_numbers_can_go_back() -> None:
    twelve, seven = SourceEvidence("12"), SourceEvidence("7")

    assert moved_back("unknown", twelve, seven) == "the offset went back from 12 to 7"
    assert moved_back("unknown", seven, twelve) is None
    assert moved_back("unknown", SourceEvidence('{"a":2}'), SourceEvidence('{"a":1}')) is None
    assert amount_between("unknown", seven, twelve).parts == {"value": 5}
