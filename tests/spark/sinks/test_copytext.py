"""Arrow columns as the lines of COPY."""

from __future__ import annotations

import pyarrow
import pytest

from holdfast.spark.sinks.copytext import copy_lines, count_nul


def lines(*columns: pyarrow.Array) -> str:
    """Give the lines as text."""
    return bytes(copy_lines(7, columns)).decode()


def test_nothing_of_a_value_ends_a_field_or_a_line() -> None:
    """Null and the empty text differ, and both from the two letters of null."""
    column = pyarrow.array(["a\tb\nc\rd\\", None, "", "\\N", "\\."])
    assert lines(column) == "7\ta\\tb\\nc\\rd\\\\\n7\t\\N\n7\t\n7\t\\\\N\n7\t\\\\.\n"


@pytest.mark.parametrize("kind", [pyarrow.binary(), pyarrow.large_binary()])
def test_a_slice_is_written_as_such(kind: pyarrow.DataType) -> None:
    """Bytes and lists are read through offsets, which do not begin with 0 there."""
    column = pyarrow.array([b"x", b"\x01\xff", None, b"", b"y"], kind)
    lists = pyarrow.array([[b"x"], [b"\x02", None], None, [], [b"y"]], pyarrow.list_(kind))
    assert lines(column.slice(1, 3), lists.slice(1, 3)) == (
        '7\t\\\\x01ff\t{"\\\\\\\\x02",NULL}\n7\t\\N\t\\N\n7\t\\\\x\t{}\n'
    )


def test_no_row_is_no_line() -> None:
    """Nothing is made of nothing."""
    assert lines(pyarrow.array([], pyarrow.string()), pyarrow.array([], pyarrow.binary())) == ""


def test_years_outside_of_four_digits() -> None:
    """With the era, as PostgreSQL wants it; leap days of both eras."""
    days = pyarrow.array([-719_163, -719_528 + 59, 2_932_897, None], pyarrow.int32())
    told = lines(days.cast(pyarrow.date32())).split()
    assert told == [
        "7",
        "0001-12-31",
        "BC",
        "7",
        "0001-02-29",
        "BC",
        "7",
        "10000-01-01",
        "7",
        "\\N",
    ]


def test_nul_is_counted() -> None:
    """In JSON only the character, not its spelling."""
    assert count_nul(pyarrow.array(["a\0", None, "b"]), is_json=False) == 1
    assert count_nul(pyarrow.array([["\0", "\0"], None]), is_json=False) == 2
    assert count_nul(pyarrow.array([b"\0"]), is_json=False) == 0
    texts = pyarrow.array(['"\\u0000"', '"\\\\u0000"', '"\\\\\\u0000"', '"a\\u0000b"'])
    assert count_nul(texts, is_json=True) == 3
