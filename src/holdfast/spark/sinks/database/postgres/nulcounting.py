"""Counts the values that hold the character NUL, which PostgreSQL stores in no text.

Runs on executors.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

_NUL_IN_JSON = r"(^|[^\\])(\\\\)*\\u0000"


def count_nul(column: pa.Array, *, is_json: bool) -> int:
    """Count such values; those of an array one by one."""
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        column = column.flatten()
    if not _is_text(column.type):
        return 0
    if not _may_hold(column, b"\\u0000" if is_json else b"\0"):
        return 0
    if is_json:
        found = pc.match_substring_regex(column, _NUL_IN_JSON)
    else:
        found = pc.match_substring(column, "\0")
    return int(pc.sum(found).as_py() or 0)


def _may_hold(texts: pa.Array, found: bytes) -> bool:
    """Tell quickly whether some value may hold these bytes; most columns never do."""
    data = texts.buffers()[2]
    return data is not None and found in bytes(data)


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
