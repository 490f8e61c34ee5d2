"""A snapshot and the changes since: streamed where it can be, laid over where it must be."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.format.buffers import DELETE, DELETE_RANGE, MERGE, PUT, Changes
from holdfast.state.loading import partition as loading
from holdfast.state.loading.chains import Chain, Link, LinkKind
from holdfast.state.loading.partition import living_entries
from tests.state.loading.test_partition_overlay import Change, changes_of, random_rows, replayed

BASE = Link(1, LinkKind.SNAPSHOT, "1.snapshot", 10)
LATER = [Link(version, LinkKind.DELTA, f"{version}.delta", 10) for version in (2, 3)]


def loaded(files: dict[Link, list[Change]], memory_bytes: int = 300_000_000) -> list[Change]:
    """Load a chain whose files hold these changes."""

    def read(link: Link) -> Iterator[Changes]:
        rows = files[link]
        for start in range(0, len(rows), 100):
            yield changes_of(rows[start : start + 100])

    chain = Chain(3, tuple(files))
    return [
        (int(chunk.kinds[at]), chunk.keys.at(at), chunk.values.at(at))
        for chunk in living_entries(chain, read, memory_bytes)
        for at in range(len(chunk))
    ]


def expected(files: dict[Link, list[Change]]) -> dict[bytes, list[bytes]]:
    """Replay the files one after another."""
    return replayed([row for rows in files.values() for row in rows])


def grouped(rows: list[Change]) -> dict[bytes, list[bytes]]:
    """Put the pieces of one key together."""
    found: dict[bytes, list[bytes]] = {}
    for _, key, value in rows:
        found.setdefault(key, []).append(value)
    return found


def snapshot_of(seed: int) -> list[Change]:
    """Make a snapshot: every key once."""
    kept = replayed(random_rows(seed, [PUT]))
    return [(PUT, key, values[0]) for key, values in kept.items()]


@pytest.mark.parametrize(
    "kinds",
    [[PUT, DELETE], [PUT, MERGE], [*[PUT] * 9, DELETE, DELETE_RANGE]],
    ids=["plain", "merges", "ranges"],
)
@pytest.mark.parametrize("little", [False, True], ids=["ample", "little"])
def test_a_snapshot_and_changes_give_what_replaying_gives(
    kinds: list[int], little: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever way is taken."""
    if little:
        monkeypatch.setattr(loading, "_LEAST_BYTES", 30_000)
        monkeypatch.setattr(loading, "_WORKING_BYTES", 0)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    base = snapshot_of(5)
    keys = [key for _, key, _ in base]
    chance = random.Random(1)
    later = [
        [
            (kind, chance.choice(keys) if kind != DELETE_RANGE else key, value)
            for kind, key, value in random_rows(seed, kinds, 200)
        ]
        for seed in (6, 7)
    ]
    files = {BASE: base, LATER[0]: later[0], LATER[1]: later[1]}
    assert grouped(loaded(files, 0 if little else 300_000_000)) == expected(files)
    assert list(tmp_path.iterdir()) == []


def test_a_snapshot_alone_needs_no_overlay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its keys are distinct already."""
    monkeypatch.setattr(loading, "Overlay", None)
    base = snapshot_of(3)
    assert loaded({BASE: base}) == base


def test_a_snapshot_that_few_changes_follow_is_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the changes are."""
    monkeypatch.setattr(loading, "Overlay", None)
    base = snapshot_of(3)
    files = {BASE: base, LATER[0]: [(DELETE, base[0][1], b""), (PUT, base[1][1], b"new")]}
    assert grouped(loaded(files)) == expected(files)


def test_changes_alone_begin_with_nothing() -> None:
    """A store without a snapshot yet."""
    files = {LATER[0]: random_rows(1, [PUT, DELETE], 500), LATER[1]: random_rows(2, [PUT], 100)}
    assert grouped(loaded(files)) == expected(files)


def test_an_empty_chain_has_no_entries() -> None:
    """Version 0."""
    assert loaded({}) == []
