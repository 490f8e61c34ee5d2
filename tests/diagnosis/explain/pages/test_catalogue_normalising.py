"""What differs from one machine to the next is taken out."""

from __future__ import annotations

import pytest

from holdfast.diagnosis.explain.pages.catalogue import normalise


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("batch 113258 doesn\u2019t\n  exist", "batch # doesn't exist"),
        ("File file:/a/b/offsets/7 does not exist", "File <path>/offsets/# does not exist"),
        ("s3a://bucket/x/y.parquet, and", "<path>, and"),
        ("/a/state/0/12/3.delta of", "<path>/state/#/#/#.delta of"),
        ("/out/_spark_metadata/9.compact.", "<path>/_spark_metadata/#.compact."),
        ("id = 0f9e8d7c-1111-4222-8333-444455556666]", "id = <id>]"),
        ("at a.B.c(B.scala:12) x", "at a.B.c x"),
        ('failed\\n\\tat a.B"', 'failed at a.B"'),
        ("on streaming DataFrames/DataSets", "on streaming DataFrames/DataSets"),
    ],
)
def test_a_text_is_normalised(text: str, expected: str) -> None:
    assert normalise(text) == expected
