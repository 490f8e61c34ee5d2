"""A 64-bit hash of many byte strings at once, the same in every process: it sorts into buckets."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from holdfast.format.spans import Spans

Hashes = npt.NDArray[np.uint64]

_LONG = 1_024
"""Longer strings are hashed one by one: they are few where there are many bytes of them."""
_FACTOR = np.uint64(0x9E37_79B9_7F4A_7C15)
_SECOND_FACTOR = np.uint64(0xBF58_476D_1CE4_E5B9)
_SHIFT = np.uint64(29)


def hashed(spans: Spans) -> Hashes:
    """Hash each string: eight bytes of all of them in each turn."""
    lengths = spans.lengths
    hashes = lengths.astype(np.uint64) * _FACTOR
    padded = np.concatenate([spans.data, np.zeros(8, np.uint8)])
    words: Hashes = np.ndarray((len(padded) - 7,), "<u8", padded, strides=(1,))
    short = np.flatnonzero(lengths <= _LONG)
    shared = int(lengths.min()) // 8 * 8 if len(short) == len(lengths) > 0 else 0
    for start in range(0, shared, 8):
        hashes = _mixed(hashes ^ words[spans.starts + start])
    for start in range(shared, int(lengths[short].max(initial=0)), 8):
        active = short[lengths[short] > start]
        word = words[spans.starts[active] + start]
        left = np.minimum(lengths[active] - start, 8).astype(np.uint64)
        word &= np.uint64(0xFFFF_FFFF_FFFF_FFFF) >> (np.uint64(64) - left * np.uint64(8))
        hashes[active] = _mixed(hashes[active] ^ word)
    for index in np.flatnonzero(lengths > _LONG):
        hashes[index] = np.uint64(_digest(spans.at(int(index))))
    return _mixed(hashes)


def _digest(long: bytes) -> int:
    # Few stores have strings as long as that, and OpenSSL takes its time to load.
    from hashlib import blake2b

    return int.from_bytes(blake2b(long, digest_size=8).digest(), "little")


def _mixed(hashes: Hashes) -> Hashes:
    for factor in (_FACTOR, _SECOND_FACTOR):
        hashes = (hashes ^ (hashes >> _SHIFT)) * factor
    return hashes
