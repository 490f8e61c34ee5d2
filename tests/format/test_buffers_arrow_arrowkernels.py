"""Kernels called by name answer as `pyarrow.compute` does, and do not import it."""

from __future__ import annotations

import subprocess
import sys

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from holdfast.format.buffers import (
    among,
    cast,
    distinct,
    equal,
    present,
    replaced,
    taken,
    time_texts,
)

TEXTS = pa.array(["a", None, "b", "a", ""])


def test_the_answers_are_those_of_the_public_functions() -> None:
    """With nulls among the values."""
    places = pa.array([3, None, 0])
    assert taken(TEXTS, places).equals(pc.take(TEXTS, places))
    assert equal(TEXTS, pa.scalar("a")).equals(pc.equal(TEXTS, pa.scalar("a")))
    assert present(TEXTS).equals(pc.is_valid(TEXTS))
    assert distinct(pa.chunked_array([TEXTS, TEXTS])).equals(pc.unique(TEXTS))
    known = pa.array(["b", ""])
    assert among(TEXTS, known).equals(pc.is_in(TEXTS, value_set=known))
    times = pa.array([0, None, 1_500], pa.timestamp("ms", "UTC"))
    written = time_texts(times, "%H:%M:%SZ")
    assert written.equals(pc.strftime(times, format="%H:%M:%SZ"))
    shortened = pc.replace_substring_regex(written, r"\.0+(Z)", r"\1")
    assert replaced(written, r"\.0+(Z)", r"\1").equals(shortened)
    assert cast(TEXTS, pa.large_binary()).equals(TEXTS.cast(pa.large_binary()))


def test_rows_of_a_batch_are_taken() -> None:
    """All columns of them."""
    batch = pa.RecordBatch.from_arrays([TEXTS, pa.array(range(5))], names=["text", "number"])
    places = pa.array([4, 2])
    assert taken(batch, places).equals(batch.take(places))


def test_what_can_not_be_cast_or_taken_is_refused() -> None:
    """As ever."""
    with pytest.raises(pa.ArrowInvalid):
        cast(TEXTS, pa.int64())
    with pytest.raises(pa.ArrowInvalid):
        cast(pa.array([300]), pa.int8())
    with pytest.raises(pa.ArrowIndexError):
        taken(TEXTS, pa.array([5]))


def test_the_slow_module_is_not_imported() -> None:
    """Nothing else is gained by calling kernels by name."""
    program = (
        "import sys, numpy, pyarrow as pa\n"
        "from holdfast.format.buffers import arrow_numbers, arrow_text\n"
        "from holdfast.format.buffers import cast, taken\n"
        "taken(cast(arrow_text('7'), pa.int64()), arrow_numbers(numpy.array([0])))\n"
        "sys.exit('pyarrow.compute' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
