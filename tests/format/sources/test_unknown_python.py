"""Offsets of Python data sources: json.dumps of whatever a reader returned."""

from __future__ import annotations

from holdfast.format.sources import SourceEvidence, amount_between, explain


def test_a_provider_proves_the_source() -> None:
    provider = "org.apache.spark.sql.execution.datasources.v2.python.PythonDataSourceV2"
    explained = explain(SourceEvidence('{"o": 12}', provider=provider))

    assert (explained.kind, explained.basis) == ("python", "provider")
    assert (explained.decoded, explained.summary) == ({"o": 12}, "o: 12")


def test_the_shape_never_speaks_for_it() -> None:
    assert explain(SourceEvidence('{"o": 12}')).kind == "unknown"


def test_a_declared_name_that_is_not_known_may_be_one() -> None:
    explained = explain(SourceEvidence('{"o": 12}', declared_format="my-numbers"))

    assert (explained.kind, explained.candidates) == ("unknown", ("python",))
    assert explained.note == "declared as my-numbers, an unknown source"


def test_a_declared_name_outweighs_the_shape_of_another_source() -> None:
    text = '{"offset":5,"timestamp":1000}'
    explained = explain(SourceEvidence(text, declared_format="my-numbers"))

    assert explained.kind == "unknown"
    assert explained.candidates == ("rate-micro-batch", "python")


def test_differences_are_given_without_a_total() -> None:
    before = SourceEvidence('{"part": {"offset": 3}, "t": "a"}')
    after = SourceEvidence('{"part": {"offset": 9}, "t": "b"}')

    amount = amount_between("python", before, after)

    assert (amount.unit, amount.total, amount.parts) == ("unknown", None, {"part.offset": 6})
    assert amount_between("python", after, after).total == 0
    assert amount_between("python", None, after).total is None
