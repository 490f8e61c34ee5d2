"""Keys are numbered by their bytes, whatever a hash says of them."""

from __future__ import annotations

import random

import numpy as np
import pytest

from holdfast.format.buffers import Spans, hashed
from holdfast.state.loading import partition


def some_keys(count: int) -> list[bytes]:
    """Keys of unequal lengths, many of them repeated."""
    chance = random.Random(count)
    return [b"%d" % chance.randrange(count // 2) * chance.choice((1, 1, 7)) for _ in range(count)]


def check(keys: list[bytes]) -> None:
    """Equal keys have one number, unequal ones two, and there are no gaps."""
    half = len(keys) // 2
    numbers = partition.numbered([Spans.of(keys[:half]), Spans.of(keys[half:])])
    assert len(set(zip(keys, numbers.tolist(), strict=True))) == len(set(keys))
    assert set(numbers.tolist()) == set(range(len(set(keys))))


def test_equal_bytes_have_one_number() -> None:
    """Over several parts."""
    check(some_keys(2_000))


@pytest.mark.parametrize("weak", [lambda s: s.lengths % 2, lambda s: s.lengths * 0])
def test_keys_of_one_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch, weak: object) -> None:
    """With a hash that knows next to nothing."""
    monkeypatch.setattr(
        partition,
        "hashed",
        lambda spans: weak(spans).astype(np.uint64),  # type: ignore[operator]
    )
    check(some_keys(300))


def test_a_hash_depends_on_every_byte_and_on_the_length() -> None:
    """Not on what lies around a key."""
    keys = [bytes([0] * length) for length in range(40)]
    keys += [bytes([0] * at + [1] + [0] * (19 - at)) for at in range(20)]
    hashes = hashed(Spans.of(keys))
    assert len(set(hashes.tolist())) == len(keys)
    again = hashed(Spans.of([b"before", *keys, b"behind"]))
    assert again[1:-1].tolist() == hashes.tolist()
