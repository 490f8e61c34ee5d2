"""However records lie in a buffer, all whole ones are found, and nothing else."""

from __future__ import annotations

import random

import pytest

from holdfast.format.buffers import DELETE, DELETE_RANGE, MERGE, PUT
from holdfast.format.state import records
from holdfast.format.state.records import Buffer, find_records
from tests.drawing import seeds
from tests.format.statebytes import Record, typed, untyped

SHAPES = [
    "equal",
    "equal for long",
    "alike",
    "rows",
    "odd",
    "tiny",
    "huge at times",
    "longer later",
]
KINDS = {True: [PUT, PUT, PUT, DELETE, MERGE, DELETE_RANGE], False: [PUT, PUT, PUT, DELETE]}


def some(count: int, seed: int, *, has_kinds: bool, shape: str) -> list[Record]:
    """Make records whose parts have lengths as a shape says."""
    chance = random.Random(seed)
    records = []
    for index in range(count):
        kind = PUT if shape.startswith("equal") else chance.choice(KINDS[has_kinds])
        key_length, value_length = {
            "equal": (24, 24),
            "equal for long": (24, 8 * (1 + index // 1_700)),
            "alike": (24, 24),
            "rows": (8 * chance.randrange(2, 6), 8 * chance.randrange(2, 6)),
            "odd": (chance.randrange(60), chance.randrange(60)),
            "tiny": (chance.randrange(3), chance.randrange(3)),
            "huge at times": (16, 20_000 if index % 300 == 299 else 16),
            "longer later": (8 + index // 20, 8),
        }[shape]
        key, value = chance.randbytes(key_length), bytes(value_length)
        if index % 2:
            key, value = bytes(key_length), chance.randbytes(value_length)
        records.append((kind, key, b"" if kind == DELETE else value))
    return records


@pytest.mark.parametrize("has_kinds", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(3))
def test_every_record_is_found(shape: str, has_kinds: bool, seed: int) -> None:
    records = some(4_000, seed, has_kinds=has_kinds, shape=shape)
    write = typed if has_kinds else untyped
    expected, byte = [], 0
    for record in records:
        expected.append(byte)
        byte += len(write([record], end=False))
    starts, end = find_records(Buffer(write(records), has_kinds))
    assert starts.tolist() == expected
    assert end == byte


@pytest.mark.parametrize("has_kinds", [False, True])
@pytest.mark.parametrize("seed", seeds(150, drawn=30))
def test_damage_is_found_at_the_same_byte_as_by_a_plain_walk(seed: int, has_kinds: bool) -> None:
    chance = random.Random(seed)
    shape = chance.choice(["equal", "equal for long", "alike", "rows", "odd"])
    write = typed if has_kinds else untyped
    data = bytearray(write(some(2_000, seed, has_kinds=has_kinds, shape=shape)))
    for _ in range(chance.randrange(1, 5)):
        place = chance.randrange(len(data))
        data[place] = chance.choice([0, 1, 24, 0x7F, 0xFF, chance.randrange(256)])
    del data[chance.randrange(len(data) // 2, len(data)) :]
    buffer = Buffer(bytes(data), has_kinds)
    starts, end = find_records(buffer)
    expected = records._walk(buffer, 0, len(data))
    assert (starts.tolist(), end) == expected


@pytest.mark.parametrize("kind", [PUT, DELETE])
@pytest.mark.parametrize("has_kinds", [False, True])
def test_what_follows_equal_records_is_not_taken_for_one(has_kinds: bool, kind: int) -> None:
    """A longer one, one of another kind, and one that is cut short."""
    write = typed if has_kinds else untyped
    equal = (kind, bytes(16), b"" if kind == DELETE else bytes(16))
    other = (PUT if kind == DELETE else DELETE, bytes(16), b"" if kind == PUT else bytes(16))
    for last in (other, (kind, bytes(24), equal[2])):
        data = write([*[equal] * 3_000, last, *[equal] * 3_000], end=False)[:-1]
        buffer = Buffer(data, has_kinds)
        starts, end = find_records(buffer)
        assert (starts.tolist(), end) == records._walk(buffer, 0, len(data))
        assert len(starts) == 6_000


@pytest.mark.parametrize(("shape", "most"), [("rows", 2_000), ("equal", 500)])
def test_most_records_are_found_many_at_once(
    monkeypatch: pytest.MonkeyPatch, shape: str, most: int
) -> None:
    """Rows with keys of several lengths or of one: what is found one by one is a small part."""
    plainly = 0
    walk = records._walk

    def counted(*arguments: object) -> tuple[list[int], int]:
        nonlocal plainly
        found = walk(*arguments)  # type: ignore[arg-type]
        plainly += len(found[0])
        return found

    monkeypatch.setattr(records, "_walk", counted)
    for has_kinds, write in ((False, untyped), (True, typed)):
        plainly = 0
        data = write(some(20_000, 1, has_kinds=has_kinds, shape=shape))
        starts, _ = find_records(Buffer(data, has_kinds))
        assert len(starts) == 20_000
        assert plainly < most
