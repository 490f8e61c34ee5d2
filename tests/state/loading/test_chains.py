"""Which files give a version: pure arithmetic on names, ids and lineages."""

from __future__ import annotations

import random

import pytest

from holdfast.checkpoint.statefiles import PartitionFiles
from holdfast.state.loading.chains import (
    Break,
    PartitionHistory,
    loadable_batches,
    nearest_batch,
)
from holdfast.storage.reading import FileKind, Listed

FOLDER = "state/0/0"


def listed(name: str, size: int = 10) -> Listed:
    """A file of the partition."""
    return Listed(f"{FOLDER}/{name}", FileKind.FILE, size)


def hdfs(deltas: list[int], snapshots: list[int]) -> PartitionHistory:
    """A partition of the HDFS-backed provider."""
    files = PartitionFiles(
        {one: listed(f"{one}.delta") for one in deltas},
        {one: listed(f"{one}.snapshot") for one in snapshots},
    )
    return PartitionHistory(FOLDER, files)


def rocksdb(
    zips: list[tuple[int, str]],
    changelogs: list[tuple[int, str]],
    ids: dict[int, str],
    lineages: dict[tuple[int, str], tuple[tuple[int, str], ...]],
) -> PartitionHistory:
    """A partition of RocksDB in state checkpoint format 2."""
    files = PartitionFiles(
        zips={one: listed(f"{one[0]}_{one[1]}.zip") for one in zips},
        changelogs={one: listed(f"{one[0]}_{one[1]}.changelog") for one in changelogs},
    )
    return PartitionHistory(FOLDER, files, ids, lineages)


def names(history: PartitionHistory, version: int, damaged: tuple[str, ...] = ()) -> list[str]:
    """The files of a version, by name."""
    chain = history.chain(version, [f"{FOLDER}/{name}" for name in damaged])
    assert chain.loadable, chain.breaks
    return [link.path.rpartition("/")[2] for link in chain.links]


def test_a_version_is_the_newest_snapshot_and_the_changes_since() -> None:
    """Later snapshots and deltas do not count."""
    history = hdfs([1, 2, 3, 4, 5, 6], [3, 5])
    assert names(history, 4) == ["3.snapshot", "4.delta"]
    assert names(history, 5) == ["5.snapshot"]
    assert names(history, 2) == ["1.delta", "2.delta"]
    assert history.chain(0).links == ()


def test_a_snapshot_alone_is_enough() -> None:
    """Spark loads it without a delta of the same version."""
    assert names(hdfs([1, 2, 4], [3]), 4) == ["3.snapshot", "4.delta"]


def test_a_missing_change_is_named_by_its_path() -> None:
    """With it every later version without a snapshot of its own is lost."""
    history = hdfs([1, 3, 4], [4])
    broken = history.chain(3)
    assert broken.breaks == (Break(2, "state/0/0/2.delta", missing=True),)
    assert str(broken.breaks[0]) == "state/0/0/2.delta is missing"
    assert history.loadable_versions() == (1, 4)


def test_an_empty_file_counts_as_damaged() -> None:
    """Spark never writes one."""
    history = hdfs([1, 2], [])
    history.files.deltas[2] = listed("2.delta", size=0)
    assert history.chain(2).breaks == (Break(2, "state/0/0/2.delta", missing=False),)


def test_a_damaged_snapshot_is_passed_over_where_older_files_do() -> None:
    """And it is told, since an older Spark would fail."""
    history = hdfs([1, 2, 3, 4], [2, 4])
    damaged = ("4.snapshot",)
    assert names(history, 4, damaged) == ["2.snapshot", "3.delta", "4.delta"]
    chain = history.chain(4, ["state/0/0/4.snapshot"])
    assert chain.passed_over == ("state/0/0/4.snapshot",)


def test_a_damaged_snapshot_without_older_files_is_itself_the_break() -> None:
    """Not the hundred deltas that were purged before it."""
    history = hdfs(list(range(101, 110)), [105])
    chain = history.chain(107, ["state/0/0/105.snapshot"])
    assert chain.breaks == (Break(105, "state/0/0/105.snapshot", missing=False),)


def test_only_some_of_many_missing_files_are_named() -> None:
    """A purged beginning may lack thousands."""
    assert len(hdfs([5_000], []).chain(5_000).breaks) == 10


def test_a_partition_without_files_names_its_folder() -> None:
    """Nobody knows which suffix is missing."""
    history = PartitionHistory(FOLDER, PartitionFiles())
    assert history.chain(2).breaks[0].path == FOLDER


def test_ids_tell_the_files_of_a_version_from_abandoned_ones() -> None:
    """State checkpoint format 2: a batch that ran twice leaves two changelogs."""
    history = rocksdb(
        [(2, "b")],
        [(1, "a"), (2, "b"), (3, "c"), (3, "abandoned"), (4, "d")],
        {4: "d"},
        {(4, "d"): ((2, "b"), (3, "c"))},
    )
    assert names(history, 4) == ["2_b.zip", "3_c.changelog", "4_d.changelog"]


def test_a_lineage_without_snapshot_goes_back_to_the_first_version() -> None:
    """So it is while the maintenance has not uploaded any."""
    history = rocksdb([], [(1, "a"), (2, "b")], {2: "b"}, {(2, "b"): ((1, "a"),)})
    assert names(history, 2) == ["1_a.changelog", "2_b.changelog"]


def test_behind_a_damaged_snapshot_its_own_lineage_leads_further_back() -> None:
    """The changelog of the snapshot's version says what came before."""
    history = rocksdb(
        [(1, "a"), (3, "c")],
        [(2, "b"), (3, "c"), (4, "d")],
        {4: "d"},
        {(4, "d"): ((3, "c"),), (3, "c"): ((1, "a"), (2, "b"))},
    )
    assert names(history, 4, ("3_c.zip",)) == [
        "1_a.zip",
        "2_b.changelog",
        "3_c.changelog",
        "4_d.changelog",
    ]


def test_a_lineage_that_begins_at_a_missing_snapshot_names_it() -> None:
    """The oldest version that it knows must be a snapshot."""
    history = rocksdb([], [(3, "c"), (4, "d")], {4: "d"}, {(4, "d"): ((3, "c"),)})
    assert history.chain(4).breaks[0] == Break(3, "state/0/0/3_c.zip", missing=True)


@pytest.mark.parametrize("seed", range(20))
def test_loadable_versions_are_those_whose_chain_holds(seed: int) -> None:
    """Two ways to the same answer, on stores with holes."""
    chance = random.Random(seed)
    deltas = [one for one in range(1, 30) if chance.random() < 0.8]
    snapshots = [one for one in range(1, 30) if chance.random() < 0.2]
    damaged = [f"{FOLDER}/{chance.randrange(30)}.{end}" for end in ("delta", "snapshot")]
    history = hdfs(deltas, snapshots)
    expected = [
        one for one in sorted({*deltas, *snapshots}) if history.chain(one, damaged).loadable
    ]
    assert list(history.loadable_versions(damaged)) == expected


def test_a_batch_can_be_loaded_where_every_partition_can() -> None:
    """Batch b writes version b + 1."""
    histories = [hdfs([1, 2, 3], []), hdfs([1, 2], [])]
    assert loadable_batches(histories, range(5)) == (0, 1)


def test_the_nearest_batch_is_the_newest_before() -> None:
    """Going back loses less than going forward would skip."""
    assert nearest_batch(5, (1, 3, 5, 9)) == 3
    assert nearest_batch(5, (5, 9, 11)) == 9
    assert nearest_batch(5, (5,)) is None
