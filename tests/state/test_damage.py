"""Damaged state files of every kind: an error of ours at a place, or rows; nothing else."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from holdfast.errors import HoldfastError
from tests.corpus.loading import sample
from tests.state.states import view_of

Files = dict[str, bytes]
SHAPES = (
    "aggregation-hdfs-zstd",
    "aggregation-hdfs-snapshots",
    "aggregation-rocksdb",
    "aggregation-rocksdb-format-2-snapshots",
    "join-format-4",
    "row-checksum-rocksdb",
    "transform-pandas-avro",
    "transform-rows",
    "types-rocksdb",
)
ROUNDS, DRAWN_ROUNDS = 40, 12


def flip(chance: random.Random, data: bytes) -> bytes:
    """Turn one bit."""
    at = chance.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]


def cut(chance: random.Random, data: bytes) -> bytes:
    """Leave the beginning."""
    return data[: chance.randrange(len(data))]


def zero(chance: random.Random, data: bytes) -> bytes:
    """Blank a stretch, as a crashed disk does."""
    at = chance.randrange(len(data))
    length = min(chance.choice((1, 8, 512)), len(data) - at)
    return data[:at] + bytes(length) + data[at + length :]


def lengthen(chance: random.Random, data: bytes) -> bytes:
    """Append a part of the file itself."""
    return data + data[chance.randrange(len(data)) :]


DAMAGES: tuple[Callable[[random.Random, bytes], bytes], ...] = (flip, flip, cut, zero, lengthen)


def damaged(chance: random.Random, files: Files) -> Files:
    """Damage one file below state/, or remove it, or put another one in its place."""
    names = [name for name in files if name.startswith("state/") and "/." not in name]
    name = chance.choice(names)
    kind = chance.randrange(10)
    if kind == 0:
        return {path: data for path, data in files.items() if path != name}
    if kind == 1:
        return {**files, name: files[chance.choice(names)]}
    return {**files, name: chance.choice(DAMAGES)(chance, files[name] or b"\0")}


@pytest.mark.parametrize("shape", SHAPES)
def test_damage_is_told_or_overlooked_but_never_crashes(shape: str, whole: bool) -> None:
    """Each store is read to its end, with one damage after another."""
    files = sample(shape, "4.3.0").files()
    chance = random.Random(shape)
    stores = [layout.name for layout in view_of(files).layouts]
    for _ in range(ROUNDS if whole else DRAWN_ROUNDS):
        try:
            for batch in view_of(damaged(chance, files), store=chance.choice(stores)).batches():
                batch.validate(full=True)
        except HoldfastError as error:
            assert error.at
