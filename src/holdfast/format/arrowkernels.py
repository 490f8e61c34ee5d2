"""Arrow's kernels, called by their names.

`pyarrow.compute` makes a documented function for each of some 300 kernels when it is imported,
which takes as long as a hundred thousand rows; an array's own `take`, `cast`, `filter` and
`is_null` import it too. What it calls itself, `pyarrow._compute`, is there at once. Whoever shows
rows or looks for a key goes this way; conditions and summaries, which need more kernels, import it.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyarrow._compute import (
    CastOptions,
    ReplaceSubstringOptions,
    SetLookupOptions,
    StrftimeOptions,
    call_function,
)


def taken(values: Any, places: pa.Array) -> Any:
    """Give the values at these places, of an array or of a batch; null where a place is null."""
    return call_function("take", [values, places])


def cast(values: pa.Array, kind: pa.DataType) -> pa.Array:
    """Give the values as those of another type; raise ArrowInvalid where one is none."""
    return call_function("cast", [values], CastOptions.safe(kind))


def equal(values: pa.Array, wanted: pa.Scalar) -> pa.BooleanArray:
    """Tell which values are the wanted one; null where either is."""
    return call_function("equal", [values, wanted])


def present(values: pa.Array) -> pa.BooleanArray:
    """Tell which values are not null."""
    return call_function("is_valid", [values])


def distinct(values: pa.ChunkedArray) -> pa.Array:
    """Give each value once."""
    return call_function("unique", [values])


def among(values: pa.Array, known: pa.Array) -> pa.BooleanArray:
    """Tell which values are known."""
    return call_function("is_in", [values], SetLookupOptions(known, skip_nulls=False))


def time_texts(values: pa.Array, form: str) -> pa.StringArray:
    """Write times in a form of `strftime`."""
    return call_function("strftime", [values], StrftimeOptions(form))


def replaced(texts: pa.StringArray, pattern: str, by: str) -> pa.StringArray:
    """Give the texts with every match of a regular expression replaced."""
    return call_function("replace_substring_regex", [texts], ReplaceSubstringOptions(pattern, by))
