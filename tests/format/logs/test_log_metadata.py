"""The query's id survives both ways, and its form tells an edited one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.format.logs.log import QueryMetadata, decode_query, encode_query
from tests.format.expecting import refusal
from tests.format.strategies import TEXTS, extras

REAL = b'{"id":"e7db9810-7605-437a-a013-ae8576465081"}'


def test_a_real_one() -> None:
    entry = decode_query(REAL)
    assert entry == QueryMetadata("e7db9810-7605-437a-a013-ae8576465081")
    assert entry.well_formed
    assert encode_query(entry) == REAL


@given(st.builds(QueryMetadata, TEXTS, extras("id")))
def test_both_ways(entry: QueryMetadata) -> None:
    assert decode_query(encode_query(entry)) == entry


def test_an_id_of_another_form_is_kept_and_told() -> None:
    assert not decode_query(REAL.replace(b"e7db", b"E7db")).well_formed
    assert not decode_query(REAL.replace(b"5081", b"508q")).well_formed
    assert not decode_query(b'{"id":""}').well_formed


@pytest.mark.parametrize(
    ("data", "answer"),
    [
        (b"", ("HF2101", None, 0)),
        (REAL[:-1], ("HF2105", 1, 44)),
        (REAL + b"x", ("HF2110", 1, 45)),
        (REAL.replace(b'"id"', b'"ie"'), ("HF2106", 1, 0)),
        (b'{"id":7}', ("HF2106", 1, 0)),
        (b"[]", ("HF2106", 1, 0)),
        (b'{"id":"a","id":"b"}', ("HF2116", 1, 0)),
        (b"\0" * 45, ("HF2117", 1, 0)),
    ],
)
def test_damage_is_refused_where_it_is(data: bytes, answer: tuple[str, int, int]) -> None:
    assert refusal(decode_query, data) == answer
