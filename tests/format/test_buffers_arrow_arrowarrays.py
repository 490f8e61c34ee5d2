"""Numbers become Arrow's without a copy, and without pandas."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

from holdfast.format.buffers import arrow_numbers, arrow_text, numbers_of

NO_PANDAS = """
import sys, numpy, pyarrow
from holdfast.format.buffers import arrow_numbers, arrow_text, numbers_of
from holdfast.format.rows.avro import decode_avro
from holdfast.format.rocksdb.keys import ordered_columns
numbers_of(arrow_numbers(numpy.arange(3), valid=numpy.array([True, False, True])))
arrow_text("a")
print("pandas" in sys.modules)
"""


@pytest.mark.parametrize("kind", ["i1", "i2", "i4", "i8", "u1", "f4", "f8", "?"])
def test_numbers(kind: str) -> None:
    values = np.array([0, 1, 0, 1, 1, 1, 0, 0, 1], kind)
    valid = np.array([True, True, False] * 3)
    assert arrow_numbers(values).equals(pa.array(values))
    assert arrow_numbers(values, valid=valid).equals(pa.array(values, mask=~valid))
    assert len(arrow_numbers(values[:0])) == 0
    assert arrow_numbers(values[::2]).equals(pa.array(values[::2]))


@pytest.mark.parametrize("kind", ["i1", "u2", "i4", "u8", "f4", "f8", "?"])
def test_numbers_on_the_way_back(kind: str) -> None:
    """Also of a part of an array, and of an empty one."""
    values = np.array([0, 1, 0, 1, 1, 1, 0, 0, 1, 1, 0], kind)
    for start, end in ((0, 11), (3, 10), (9, 11), (5, 5)):
        found = numbers_of(pa.array(values)[start:end])
        assert found.dtype == values.dtype
        assert found.tolist() == values[start:end].tolist()
    assert len(numbers_of(pa.array([], pa.from_numpy_dtype(values.dtype)))) == 0


@pytest.mark.parametrize("text", ["", "abc", "Zürich"])
def test_one_text(text: str) -> None:
    assert arrow_text(text).to_pylist() == [text]


def test_a_type_of_the_same_width() -> None:
    days = arrow_numbers(np.array([0, 1], np.int32), pa.date32())
    assert days.equals(pa.array([0, 1], pa.int32()).cast(pa.date32()))


def test_pandas_is_not_imported() -> None:
    done = subprocess.run(
        [sys.executable, "-c", NO_PANDAS], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
