"""The hash over many values is the one that Spark computes over each."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.format.state.partitionhash import hash_bytes, hash_ints, hash_longs
from tests.format.strategies import INT32, INT64

_ALL = 0xFFFFFFFF
SEEDS = st.integers(0, _ALL)


def mixed(hashed: int, word: int) -> int:
    word = word * 0xCC9E2D51 & _ALL
    word = (word << 15 | word >> 17) * 0x1B873593 & _ALL
    hashed ^= word
    hashed = (hashed << 13 | hashed >> 19) & _ALL
    return hashed * 5 + 0xE6546B64 & _ALL


def finished(hashed: int, length: int) -> int:
    hashed ^= length
    hashed = (hashed ^ hashed >> 16) * 0x85EBCA6B & _ALL
    hashed = (hashed ^ hashed >> 13) * 0xC2B2AE35 & _ALL
    return hashed ^ hashed >> 16


def slow_bytes(data: bytes, seed: int) -> int:
    """Hash one string, byte by byte where Spark does."""
    whole = len(data) // 4 * 4
    for place in range(0, whole, 4):
        seed = mixed(seed, int.from_bytes(data[place : place + 4], "little"))
    for byte in data[whole:]:
        seed = mixed(seed, byte - 256 & _ALL if byte > 127 else byte)
    return finished(seed, len(data))


@given(st.lists(st.tuples(st.binary(max_size=40), SEEDS), max_size=20))
def test_bytes(pairs: list[tuple[bytes, int]]) -> None:
    """Of any length, side by side."""
    lengths = np.array([len(data) for data, _ in pairs], np.int64)
    joined = np.frombuffer(b"".join(data for data, _ in pairs), np.uint8)
    seeds = np.array([seed for _, seed in pairs], np.uint32)
    found = hash_bytes(joined, np.cumsum(lengths) - lengths, lengths, seeds)
    assert found.tolist() == [slow_bytes(data, seed) for data, seed in pairs]


@given(st.lists(st.tuples(INT32, INT64, SEEDS), max_size=20))
def test_numbers(triples: list[tuple[int, int, int]]) -> None:
    """As their words."""
    seeds = np.array([seed for _, _, seed in triples], np.uint32)
    ints = hash_ints(np.array([value for value, _, _ in triples], np.int32), seeds)
    longs = hash_longs(np.array([value for _, value, _ in triples], np.int64), seeds)
    for index, (narrow, wide, seed) in enumerate(triples):
        assert ints[index] == slow_bytes(narrow.to_bytes(4, "little", signed=True), seed)
        assert longs[index] == slow_bytes(wide.to_bytes(8, "little", signed=True), seed)


@pytest.mark.parametrize(("text", "hashed"), [("", 142593372), ("abc", 1322437556)])
def test_known_hashes(text: str, hashed: int) -> None:
    """With the seed of Spark's partitioning."""
    assert np.uint32(slow_bytes(text.encode(), 42)).view(np.int32) == hashed
