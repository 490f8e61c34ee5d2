"""Evidence in the checkpoint comes first, then what was declared, then the shape."""

from __future__ import annotations

import pytest

from holdfast.errors import DecodeError
from holdfast.format.sources import SourceEvidence, explain

KAFKA = '{"t":{"0":5}}'
KAFKA_INITIAL = b'\0v1\n{"t":{"0":0}}'


def test_a_declaration_that_contradicts_the_checkpoint_is_noted() -> None:
    explained = explain(SourceEvidence('{"logOffset":3}', declared_format="kafka"))

    assert (explained.kind, explained.basis) == ("file", "shape")
    assert explained.note == "declared as kafka, but the shape is that of a file source"


def test_a_declaration_that_does_not_fit_is_noted() -> None:
    explained = explain(SourceEvidence(KAFKA, declared_format="socket"))

    assert explained.kind == "kafka"
    assert explained.note == "declared as socket, which writes offsets of a different form"


def test_a_declaration_that_nothing_fits_leaves_it_unknown() -> None:
    explained = explain(SourceEvidence('{"x":1}', declared_format="kafka"))

    assert (explained.kind, explained.candidates) == ("unknown", ())
    assert explained.note == "declared as kafka, which writes offsets of a different form"


def test_two_proofs_that_contradict_each_other_prove_nothing() -> None:
    explained = explain(SourceEvidence('{"logOffset":3}', initial=KAFKA_INITIAL))

    assert (explained.kind, explained.candidates) == ("unknown", ("file", "kafka"))
    assert explained.note is not None
    assert explained.note.startswith("the checkpoint contradicts itself")


def test_the_provider_is_believed_and_its_offset_has_to_fit() -> None:
    provider = "org.apache.spark.sql.kafka010.KafkaSourceProvider"

    assert explain(SourceEvidence(KAFKA, provider=provider)).basis == "provider"
    with pytest.raises(DecodeError):
        explain(SourceEvidence('{"t":{"0":null}}', provider=provider))


@pytest.mark.parametrize("name", ["json", "JSON", "csv", "parquet", "orc", "text", "binaryFile"])
def test_every_file_format_is_a_file_source(name: str) -> None:
    explained = explain(SourceEvidence('{"logOffset":3}', declared_format=name))

    assert (explained.kind, explained.note) == ("file", None)
