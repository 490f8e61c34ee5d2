"""Says what a decoder must answer to bytes that are not Spark's: a code and a place."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from holdfast.errors import DecodeError


def refusal(decode: Callable[[bytes], object], data: bytes) -> tuple[str, int | None, int | None]:
    """Decode bytes that must be refused; give the code, the line and the byte of the refusal."""
    with pytest.raises(DecodeError) as caught:
        decode(data)
    error = caught.value
    assert error.message and error.next_steps
    return error.code.number, error.line, error.byte
