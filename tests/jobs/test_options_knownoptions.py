"""Options that look misspelled, and the many that do not."""

from __future__ import annotations

import pytest

from holdfast.jobs.options import Misspelled, known_options, misspelled_options

FORMATS = ("json", "csv", "parquet", "orc", "text", "delta", "kafka", "rate", "rate-micro-batch")


@pytest.mark.parametrize(
    ("form", "option", "meant"),
    [
        ("json", "maxFilesPerTriger", "maxFilesPerTrigger"),
        ("csv", "heder", "header"),
        ("kafka", "startingOffset", "startingOffsets"),
        ("kafka", "maxOffsetPerTrigger", "maxOffsetsPerTrigger"),
        ("delta", "skipChangesCommits", "skipChangeCommits"),
        ("rate", "rowPerSecond", "rowsPerSecond"),
        ("Delta", "mergeschemas", "mergeSchema"),
    ],
)
def test_a_misspelled_option_is_found(form: str, option: str, meant: str) -> None:
    found = misspelled_options([("source", form, {option: "1"})])
    assert list(found) == [Misspelled("source", form, option, meant)]


@pytest.mark.parametrize("form", FORMATS)
def test_no_known_option_is_reported_however_it_is_written(form: str) -> None:
    known = known_options(form)
    assert known
    for options in (known, map(str.upper, known), map(str.lower, known)):
        assert list(misspelled_options([("sink", form, dict.fromkeys(options, "1"))])) == []


@pytest.mark.parametrize(
    ("form", "option"),
    [
        ("json", "team"),
        ("kafka", "kafka.bootstrap.server"),
        ("parquet", "parquet.block.size"),
        ("pulsar", "maxFilesPerTriger"),
        ("csv", "myOwnOption"),
    ],
)
def test_what_may_be_meant_as_it_is_stays(form: str, option: str) -> None:
    assert list(misspelled_options([("source", form, {option: "1"})])) == []
