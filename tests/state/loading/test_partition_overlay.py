"""The overlay gives what a plain dictionary would hold after the same changes."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from holdfast.errors import CheckpointError
from holdfast.format.buffers import DELETE, DELETE_RANGE, MERGE, PUT, Changes, Spans
from holdfast.state.loading.partition import Overlay

Change = tuple[int, bytes, bytes]
AMPLE = 100_000_000
TIGHT = 20_000
"""So little that even a few hundred changes go to disk, and their buckets are split again."""


def changes_of(rows: list[Change]) -> Changes:
    """Put rows into one chunk."""
    kinds = np.array([kind for kind, _, _ in rows], np.uint8)
    keys = Spans.of(key for _, key, _ in rows)
    return Changes(kinds, keys, Spans.of(value for _, _, value in rows))


def replayed(rows: Iterable[Change]) -> dict[bytes, list[bytes]]:
    """Apply changes one by one."""
    store: dict[bytes, list[bytes]] = {}
    for kind, key, value in rows:
        if kind == PUT:
            store[key] = [value]
        elif kind == DELETE:
            store.pop(key, None)
        elif kind == MERGE:
            store.setdefault(key, []).append(value)
        else:
            store = {one: held for one, held in store.items() if not key <= one < value}
    return store


def laid_over(rows: list[Change], memory_bytes: int, folder: Path) -> list[tuple[bytes, bytes]]:
    """Give rows to an overlay in chunks of 50, and collect what is alive."""
    overlay = Overlay(memory_bytes, lambda: folder)
    for start in range(0, len(rows), 50):
        overlay.add(changes_of(rows[start : start + 50]))
    return [
        (chunk.keys.at(index), chunk.values.at(index))
        for chunk in overlay.entries()
        for index in range(len(chunk))
    ]


def random_rows(seed: int, kinds: list[int], count: int = 1_000) -> list[Change]:
    """Make changes of some hundred keys of unequal lengths."""
    chance = random.Random(seed)
    keys = [chance.randbytes(chance.choice((0, 1, 7, 8, 9, 16, 40))) for _ in range(300)]
    keys.append(b"k" * 3_000)
    rows: list[Change] = []
    for number in range(count):
        kind, key = chance.choice(kinds), chance.choice(keys)
        if kind == DELETE_RANGE:
            key, end = sorted((key[:2], chance.choice(keys)[:2]))
            rows.append((kind, key, end))
        else:
            rows.append((kind, key, b"" if kind == DELETE else b"%d" % number))
    return rows


@pytest.mark.parametrize("memory_bytes", [AMPLE, TIGHT], ids=["in memory", "on disk"])
@pytest.mark.parametrize(
    "kinds",
    [
        [PUT],
        [PUT, PUT, DELETE],
        [PUT, MERGE, MERGE, MERGE, DELETE],
        [*[PUT] * 40, *[MERGE] * 40, *[DELETE] * 10, DELETE_RANGE],
    ],
    ids=["puts", "deletes", "merges", "ranges"],
)
def test_it_gives_what_replaying_gives(kinds: list[int], memory_bytes: int, tmp_path: Path) -> None:
    """Newest value per key; of a list every piece, together and in order."""
    for seed in range(2):
        rows = random_rows(seed, kinds)
        found = laid_over(rows, memory_bytes, tmp_path)
        assert [key for key, _ in found] == sorted(
            (key for key, _ in found), key=first_of(found).__getitem__
        )
        grouped: dict[bytes, list[bytes]] = {}
        for key, value in found:
            grouped.setdefault(key, []).append(value)
        assert grouped == replayed(rows)


def first_of(found: list[tuple[bytes, bytes]]) -> dict[bytes, int]:
    """Tell where each key appears first."""
    firsts: dict[bytes, int] = {}
    for place, (key, _) in enumerate(found):
        firsts.setdefault(key, place)
    return firsts


def test_nothing_is_left_on_disk_and_the_order_is_fixed(tmp_path: Path) -> None:
    """Two runs give the same rows in the same order; the files are gone afterwards."""
    rows = random_rows(7, [PUT, DELETE])
    first = laid_over(rows, TIGHT, tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert laid_over(rows, TIGHT, tmp_path) == first


def test_little_memory_really_goes_to_disk(tmp_path: Path) -> None:
    """Otherwise the tests above would prove nothing of spilling."""
    overlay = Overlay(TIGHT, lambda: tmp_path)
    overlay.add(changes_of(random_rows(1, [PUT])))
    assert len(list(tmp_path.iterdir())) == 64


def test_keys_that_change_again_and_again_stay_in_memory(tmp_path: Path) -> None:
    """Resolving in between makes room, so nothing needs a disk."""
    overlay = Overlay(TIGHT, lambda: tmp_path)
    for number in range(200):
        overlay.add(changes_of([(PUT, b"%d" % key, b"%d" % number) for key in range(20)]))
    assert list(tmp_path.iterdir()) == []
    assert sum(map(len, overlay.entries())) == 20


def test_a_disk_that_takes_nothing_is_told(tmp_path: Path) -> None:
    """A folder that is not there stands for a full one."""
    overlay = Overlay(TIGHT, lambda: tmp_path / "gone")
    with pytest.raises(CheckpointError) as failure:
        overlay.add(changes_of(random_rows(1, [PUT])))
    assert failure.value.code.number == "HF2752"
