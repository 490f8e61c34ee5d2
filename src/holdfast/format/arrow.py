"""Numbers of numpy as Arrow's and back, without a copy.

Not `pyarrow.array`, `pyarrow.scalar` and `to_numpy`: they import pandas wherever it is installed,
which takes longer than reading a million rows.

`pyarrow.compute` makes a documented function for each of some 300 kernels when it is imported,
which takes as long as a hundred thousand rows; an array's own `take`, `cast`, `filter` and
`is_null` import it too. What it calls itself, `pyarrow._compute`, is there at once. Showing rows
and looking for a key use them; conditions and summaries, which need more kernels, import it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow._compute import (
    CastOptions,
    ReplaceSubstringOptions,
    SetLookupOptions,
    StrftimeOptions,
    call_function,
)

Valid = npt.NDArray[np.bool_]


def arrow_numbers(
    values: npt.NDArray[Any], kind: pa.DataType | None = None, valid: Valid | None = None
) -> pa.Array:
    """Return numbers as an Arrow array, by default of the type of the same name."""
    stored = pa.from_numpy_dtype(values.dtype) if kind is None else kind
    bits = None if valid is None else arrow_bits(valid)
    if pa.types.is_boolean(stored):
        return pa.Array.from_buffers(stored, len(values), [bits, arrow_bits(values)])
    buffer = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(stored, len(values), [bits, buffer])


def arrow_bits(flags: Valid) -> pa.Buffer:
    """Return flags as one bit each, as Arrow keeps booleans and what is not null."""
    return pa.py_buffer(np.packbits(flags, bitorder="little"))


def arrow_text(value: str) -> pa.StringArray:
    """Return one text as an Arrow array."""
    data = value.encode("utf-8")
    ends = pa.py_buffer(np.array([0, len(data)], np.int32))
    return pa.Array.from_buffers(pa.string(), 1, [None, ends, pa.py_buffer(data)])


def numbers_of(array: pa.Array) -> npt.NDArray[Any]:
    """See an array's numbers, which none is null of, where they are; flags are copied."""
    kind, end = array.type, array.offset + len(array)
    data = array.buffers()[1] or b""
    if pa.types.is_boolean(kind):
        bits = np.frombuffer(data, np.uint8)
        return np.unpackbits(bits, count=end, bitorder="little")[array.offset :].view(np.bool_)
    sort = "f" if pa.types.is_floating(kind) else "u" if pa.types.is_unsigned_integer(kind) else "i"
    return np.frombuffer(data, f"<{sort}{kind.bit_width // 8}", end)[array.offset :]


def taken(values: Any, places: pa.Array) -> Any:
    """Return the values at these places, of an array or of a batch; null where a place is null."""
    return call_function("take", [values, places])


def cast(values: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return the values as those of another type; raise ArrowInvalid where one is none."""
    return call_function("cast", [values], CastOptions.safe(kind))


def equal(values: pa.Array, wanted: pa.Scalar) -> pa.BooleanArray:
    """Return which values are the wanted one; null where either is."""
    return call_function("equal", [values, wanted])


def present(values: pa.Array) -> pa.BooleanArray:
    """Return which values are not null."""
    return call_function("is_valid", [values])


def distinct(values: pa.ChunkedArray) -> pa.Array:
    """Return each value once."""
    return call_function("unique", [values])


def among(values: pa.Array, known: pa.Array) -> pa.BooleanArray:
    """Return which values are known."""
    return call_function("is_in", [values], SetLookupOptions(known, skip_nulls=False))


def time_texts(values: pa.Array, form: str) -> pa.StringArray:
    """Write times in a form of `strftime`."""
    return call_function("strftime", [values], StrftimeOptions(form))


def replaced(texts: pa.StringArray, pattern: str, by: str) -> pa.StringArray:
    """Return the texts with every match of a regular expression replaced."""
    return call_function("replace_substring_regex", [texts], ReplaceSubstringOptions(pattern, by))
