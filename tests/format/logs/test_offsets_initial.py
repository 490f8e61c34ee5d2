"""A source's first offset is told apart by its form."""

from __future__ import annotations

import pytest

from holdfast.format.logs.offsets import InitialOffset, decode_initial
from tests.format.expecting import refusal


@pytest.mark.parametrize(
    ("data", "answer"),
    [
        (b'\0v1\n{"t":{"0":12}}', InitialOffset("kafka", '{"t":{"0":12}}')),
        (b'\0{"t":{"0":12}}', InitialOffset("kafka", '{"t":{"0":12}}')),
        (b"v1\n1794793657538", InitialOffset("rate", "1794793657538")),
        (b"v1\n-5", InitialOffset("rate", "-5")),
        (b"v1\nx", InitialOffset("unknown", "v1\nx")),
        (b'v1\n{"path":"a"}', InitialOffset("unknown", 'v1\n{"path":"a"}')),
        (b"v2\n5", InitialOffset("unknown", "v2\n5")),
    ],
)
def test_forms(data: bytes, answer: InitialOffset) -> None:
    assert decode_initial(data) == answer


@pytest.mark.parametrize(
    ("data", "answer"),
    [
        (b"", ("HF2101", None, 0)),
        (b"\0", ("HF2101", None, 1)),
        (b"\0v2\n{}", ("HF2103", 1, 1)),
        (b"\0vx\n{}", ("HF2102", 1, 1)),
        (b"\0v1", ("HF2106", 2, None)),
        (b'\0v1\n{"t":', ("HF2105", 2, 9)),
        (b"\0v1\n[]", ("HF2106", 2, 4)),
        (b"\0\0\0", ("HF2117", 1, 1)),
        (b"\0{", ("HF2105", 1, 2)),
        (b"v1\n\xff", ("HF2104", 2, 3)),
    ],
)
def test_damage_is_refused_where_it_is(data: bytes, answer: tuple[str, int, int]) -> None:
    assert refusal(decode_initial, data) == answer
