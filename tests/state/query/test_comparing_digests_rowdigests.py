"""Digests in buckets: nothing is lost, and a disk that refuses is told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from holdfast.errors import CheckpointError
from holdfast.state.query.comparing import BUCKETS, RECORD, DigestBuckets, Digests, digests_of
from tests.corpus.loading import sample
from tests.state.states import view_of


def some(count: int, start: int = 0) -> Digests:
    """Make digests that fall into all buckets."""
    found = np.zeros(count, RECORD)
    places = np.arange(start, start + count)
    found["first"] = places.astype(np.uint64) * np.uint64(0x9E37_79B9_7F4A_7C15)
    found["place"] = places
    return found


@pytest.mark.parametrize("memory_bytes", [0, 1_000, 1 << 20])
def test_each_side_comes_back_whole_and_in_order(tmp_path: Path, memory_bytes: int) -> None:
    """Whether it stayed in memory, went to disk, or both; files are gone afterwards."""
    buckets = DigestBuckets(tmp_path, memory_bytes)
    for side, start in ((0, 0), (0, 500), (1, 0), (0, 700), (1, 300)):
        buckets.add(side, some(200, start))
    pairs = list(buckets.pairs())
    assert len(pairs) == BUCKETS
    for side, expected in (
        (0, [*range(200), *range(500, 900)]),
        (1, [*range(200), *range(300, 500)]),
    ):
        places = [pair[side]["place"].tolist() for pair in pairs]
        assert all(one == sorted(one) for one in places)
        assert sorted(one for part in places for one in part) == expected
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_refuses_is_told(tmp_path: Path) -> None:
    """With its place (HF2790)."""
    buckets = DigestBuckets(tmp_path / "gone", 0)
    with pytest.raises(CheckpointError) as refusal:
        buckets.add(0, some(10))
    assert refusal.value.code.number == "HF2790"
    assert refusal.value.at == str(tmp_path / "gone")


def test_the_rest_of_a_row_has_a_digest_of_its_own() -> None:
    """Keys are told apart by 128 bits, and a value does not count among them."""
    files = sample("aggregation-hdfs-snapshots", "4.3.0").files()
    found = []
    for batch in (3, 8):
        view = view_of(files, batch=batch)
        rows = [digests_of(view.layout, one, 0) for one in view.batches()]
        found.append(np.sort(np.concatenate(rows), order=["first", "second"]))
    assert len(set(found[0]["first"].tolist())) == len(found[0]) == 4
    assert found[0]["first"].tolist() == found[1]["first"].tolist()
    assert found[0]["second"].tolist() == found[1]["second"].tolist()
    assert not set(found[0]["first"].tolist()) & set(found[0]["second"].tolist())
    assert np.all(found[0]["rest"] != found[1]["rest"])
