"""Spark's variant of Murmur3 over many values at once, each with a seed of its own."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from holdfast.format.spans import Bytes, Positions

Hashes = npt.NDArray[np.uint32]

_WORD = 4


def hash_ints(values: npt.NDArray[np.int32], seeds: Hashes) -> Hashes:
    """Hash integers of 32 bits."""
    return _finished(_mixed(seeds, values.view(np.uint32)), np.uint32(4))


def hash_longs(values: npt.NDArray[np.int64], seeds: Hashes) -> Hashes:
    """Hash integers of 64 bits."""
    low, high = values.astype(np.uint32), (values >> 32).astype(np.uint32)
    return _finished(_mixed(_mixed(seeds, low), high), np.uint32(8))


def hash_bytes(data: Bytes, starts: Positions, lengths: Positions, seeds: Hashes) -> Hashes:
    """Hash byte strings. Unlike the common Murmur3, each byte after the last word is a word."""
    hashes = seeds.copy()
    whole = lengths // _WORD
    words = _words_anywhere(data)
    for index in range(int(whole.max(initial=0))):
        some = np.flatnonzero(whole > index)
        hashes[some] = _mixed(hashes[some], words[starts[some] + _WORD * index])
    for index in range(_WORD - 1):
        some = np.flatnonzero(lengths % _WORD > index)
        tails = data[starts[some] + _WORD * whole[some] + index]
        signed = tails.view(np.int8).astype(np.int32).view(np.uint32)
        hashes[some] = _mixed(hashes[some], signed)
    return _finished(hashes, lengths.astype(np.uint32))


def _words_anywhere(data: Bytes) -> Hashes:
    """View bytes as the words that begin at each of them."""
    words: Hashes = np.ndarray((max(len(data) - _WORD + 1, 0),), "<u4", data, strides=(1,))
    return words


def _mixed(hashes: Hashes, words: Hashes) -> Hashes:
    mixed = _rotated(words * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)
    further: Hashes = _rotated(hashes ^ mixed, 13) * np.uint32(5) + np.uint32(0xE6546B64)
    return further


def _rotated(words: Hashes, bits: int) -> Hashes:
    rotated: Hashes = words << np.uint32(bits) | words >> np.uint32(32 - bits)
    return rotated


def _finished(hashes: Hashes, lengths: Hashes | np.uint32) -> Hashes:
    hashes = hashes ^ lengths
    hashes = (hashes ^ hashes >> np.uint32(16)) * np.uint32(0x85EBCA6B)
    hashes = (hashes ^ hashes >> np.uint32(13)) * np.uint32(0xC2B2AE35)
    finished: Hashes = hashes ^ hashes >> np.uint32(16)
    return finished
