"""File source offsets; the shapes are those of the corpus, written by real Spark."""

from __future__ import annotations

import pytest

from holdfast.errors import DecodeError
from holdfast.format.sources import Amount, SourceEvidence, amount_between, explain, files_amount
from holdfast.format.sources import went_back as moved_back


def test_an_offset_is_certain_by_its_only_key() -> None:
    explained = explain(SourceEvidence('{"logOffset":1234}'))

    assert (explained.kind, explained.basis) == ("file", "shape")
    assert explained.decoded == {"logOffset": 1234}
    assert explained.summary == "read up to entry 1,234 of its file log"
    assert explained.candidates == ("file",)


def test_the_bare_number_of_old_sparks_is_a_file_offset_where_a_file_log_is() -> None:
    explained = explain(SourceEvidence("345", has_file_log=True))

    assert (explained.kind, explained.basis) == ("file", "source log")
    assert explained.decoded == {"logOffset": 345}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"logOffset":-1}', "HF2107"),
        ('{"logOffset":9223372036854775808}', "HF2107"),
        ('{"logOffset":"3"}', "HF2106"),
        ('{"logOffset":true}', "HF2106"),
        ('{"logOffset":3.0}', "HF2106"),
    ],
)
def test_a_log_offset_that_spark_could_not_have_written_is_refused(text: str, code: str) -> None:
    with pytest.raises(DecodeError) as raised:
        explain(SourceEvidence(text))
    assert raised.value.code.number == code


def test_a_file_log_with_another_sources_offset_is_refused() -> None:
    with pytest.raises(DecodeError, match="topic instead of logOffset"):
        explain(SourceEvidence('{"topic":{"0":1}}', has_file_log=True))


def test_a_torn_offset_is_refused_where_a_file_log_is() -> None:
    with pytest.raises(DecodeError):
        explain(SourceEvidence('{"logOffset":', has_file_log=True))


def test_the_amount_counts_entries_of_the_log_from_the_first_one_on() -> None:
    first, third = SourceEvidence('{"logOffset":0}'), SourceEvidence('{"logOffset":2}')

    assert amount_between("file", None, third) == Amount("log offsets", 3)
    assert amount_between("file", first, third) == Amount("log offsets", 2)
    assert amount_between("file", third, first).total is None


def test_files_are_counted_by_the_source_log() -> None:
    assert files_amount(7) == Amount("files", 7)


def test_a_smaller_log_offset_went_back() -> None:
    old, new = SourceEvidence('{"logOffset":9}'), SourceEvidence('{"logOffset":4}')

    assert moved_back("file", old, new) == "logOffset went back from 9 to 4"
    assert moved_back("file", new, old) is None
    assert moved_back("file", old, old) is None
