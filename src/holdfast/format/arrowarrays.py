"""Numbers of numpy as Arrow's and back, without a copy.

Not `pyarrow.array`, `pyarrow.scalar` and `to_numpy`: they import pandas wherever it is installed,
which takes longer than reading a million rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Valid = npt.NDArray[np.bool_]


def arrow_numbers(
    values: npt.NDArray[Any], kind: pa.DataType | None = None, valid: Valid | None = None
) -> pa.Array:
    """Give numbers as an Arrow array, by default of the type of the same name."""
    stored = pa.from_numpy_dtype(values.dtype) if kind is None else kind
    bits = None if valid is None else arrow_bits(valid)
    if pa.types.is_boolean(stored):
        return pa.Array.from_buffers(stored, len(values), [bits, arrow_bits(values)])
    buffer = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(stored, len(values), [bits, buffer])


def arrow_bits(flags: Valid) -> pa.Buffer:
    """Give flags as one bit each, as Arrow keeps booleans and what is not null."""
    return pa.py_buffer(np.packbits(flags, bitorder="little"))


def arrow_text(value: str) -> pa.StringArray:
    """Give one text as an Arrow array."""
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
