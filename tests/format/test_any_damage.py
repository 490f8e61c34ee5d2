"""Whatever happens to the bytes, a decoder answers with an entry or a located DecodeError."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import DecodeError
from holdfast.format.logs.checksums import decode_hadoop_checksum, encode_hadoop_checksum
from holdfast.format.logs.offsets import decode_initial
from holdfast.format.state.javadata import encode_int, encode_text
from holdfast.format.state.schema import decode_state_schema
from tests.corpus.loading import corpus
from tests.format.realfiles import KINDS, real_files

DECODERS: dict[str, Callable[[bytes], Any]] = {
    **{kind.name: kind.decode for kind in KINDS},
    "Hadoop checksum": decode_hadoop_checksum,
    "initial offset": decode_initial,
}
SEEDS: dict[str, set[bytes]] = {
    "Hadoop checksum": {encode_hadoop_checksum(b"x" * 2_000)},
    "initial offset": {b'\0v1\n{"topic":{"0":12}}', b"v1\n1794793657538"},
}
for one in corpus():
    for real_kind, _, real in real_files(one):
        known = SEEDS.setdefault(real_kind.name, set())
        if len(known) < 12 and len(real) < 20_000:
            known.add(real)


def answer(decode: Callable[[bytes], Any], data: bytes) -> None:
    try:
        decode(data)
    except DecodeError as error:
        assert error.byte is None or 0 <= error.byte <= len(data)
        assert error.line is None or 1 <= error.line <= data.count(b"\n") + 2


@st.composite
def damaged(draw: st.DrawFn, seeds: list[bytes]) -> bytes:
    data = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(data)))
        end = draw(st.integers(start, min(len(data), start + draw(st.sampled_from([1, 8, 600])))))
        part = data[start:end]
        change = draw(st.sampled_from(["flip", "zero", "remove", "repeat", "insert", "cut"]))
        changed = {
            "flip": bytes(byte ^ (1 << draw(st.integers(0, 7))) for byte in part[:1]) + part[1:],
            "zero": b"\0" * len(part),
            "remove": b"",
            "repeat": part + part,
            "insert": part + draw(st.binary(max_size=8)),
            "cut": b"",
        }[change]
        data = data[:start] + changed + (b"" if change == "cut" else data[end:])
    return data


@pytest.mark.parametrize("name", sorted(DECODERS))
def test_any_bytes(name: str) -> None:
    @given(st.binary(max_size=300) | st.text(max_size=100).map(str.encode))
    def check(data: bytes) -> None:
        answer(DECODERS[name], data)
        answer(DECODERS[name], b"v1\n" + data)

    check()


@pytest.mark.parametrize("name", sorted(DECODERS))
def test_any_damage_to_real_bytes(name: str) -> None:
    @given(damaged(sorted(SEEDS[name])))
    def check(data: bytes) -> None:
        answer(DECODERS[name], data)

    check()


@pytest.mark.parametrize("name", sorted(DECODERS))
def test_every_cut_of_real_bytes(name: str) -> None:
    for data in sorted(SEEDS[name], key=len)[:3]:
        for end in range(min(len(data), 1_500)):
            answer(DECODERS[name], data[:end])


@pytest.mark.parametrize(
    "data",
    [
        encode_text("v3") + encode_int(2**31 - 1),
        encode_text("v2") + encode_int(2**31 - 1),
        encode_text("v2") + encode_int(1) + b"\xff\xff",
    ],
)
def test_lengths_that_lie_allocate_nothing(data: bytes) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(DecodeError):
            decode_state_schema(data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1_000_000
