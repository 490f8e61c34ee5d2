"""Values with the character NUL."""

from __future__ import annotations

import pyarrow

from holdfast.spark.sinks.database.dialects.postgres.copytask import count_nul


def test_nul_is_counted() -> None:
    """In JSON only the character, not its spelling."""
    assert count_nul(pyarrow.array(["a\0", None, "b"]), is_json=False) == 1
    assert count_nul(pyarrow.array([["\0", "\0"], None]), is_json=False) == 2
    assert count_nul(pyarrow.array([b"\0"]), is_json=False) == 0
    texts = pyarrow.array(['"\\u0000"', '"\\\\u0000"', '"\\\\\\u0000"', '"a\\u0000b"'])
    assert count_nul(texts, is_json=True) == 3
