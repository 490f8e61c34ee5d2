"""Strings are compared with given bytes, every one of them."""

from __future__ import annotations

import random

import pytest

from holdfast.format.buffers import Spans, equal_to


def test_bytes_are_compared_to_the_last() -> None:
    """Longer and shorter ones, and those that differ in one byte, are others."""
    strings = [b"", b"12345678", b"123456789", b"123456780", b"x2345678", b"123456789"]
    found = equal_to(Spans.of(strings), b"123456789")
    assert found.tolist() == [False, False, True, False, False, True]


@pytest.mark.parametrize("length", [0, 1, 2, 7, 8, 9, 16, 33])
def test_one_changed_byte_makes_another_string(length: int) -> None:
    """At every place, also where zeros surround it."""
    wanted = random.Random(length).randbytes(length)
    others = [wanted[:at] + bytes([wanted[at] ^ 1]) + wanted[at + 1 :] for at in range(length)]
    strings = [wanted, *others, wanted + b"\0", wanted]
    found = equal_to(Spans.of(strings), wanted)
    assert found.tolist() == [one == wanted for one in strings]


def test_no_strings_are_no_problem() -> None:
    """Nor strings that have fewer bytes than are wanted."""
    assert equal_to(Spans.of([]), b"123456789").tolist() == []
    assert equal_to(Spans.of([b"1", b""]), b"123456789").tolist() == [False, False]
