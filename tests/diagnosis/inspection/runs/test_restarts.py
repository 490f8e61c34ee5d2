"""Restarts that are inferred were real ones; those that can't be seen are known by name."""

from __future__ import annotations

import json

import pytest

from holdfast.diagnosis.inspection.runs.restarts import Certainty, RestartHistory, restart_history
from tests.checkpoint.pictures import files_of, picture_of, replaced, without
from tests.corpus.drawn import over_samples
from tests.corpus.loading import Sample, corpus

CERTAIN = {"transform-pandas-evolved", "named-sinks", "upgrade", "upgrade-rocksdb"}
"""Samples of several runs whose restart can't have been anything else."""
INVISIBLE = {
    "aggregation-hdfs-purged",
    "aggregation-hdfs-snapshots",
    "aggregation-rocksdb-changelog-snapshots",
    "aggregation-rocksdb-format-2-snapshots",
    "delta-restarted",
    "kafka",
    "stateless-restarted",
}
"""Samples of several runs that followed each other within seconds, with nothing changed."""


def history_of(one: Sample) -> RestartHistory:
    """Infer the restarts of a sample from all of its batches."""
    return restart_history(picture_of(dict(one.files()), history=1000))


@over_samples("one", corpus())
def test_never_more_restarts_than_there_were(one: Sample) -> None:
    """And each that is seen lies where a run began, or where an offline rewrite lies between."""
    found = history_of(one)
    runs = one.facts["runs"]
    if not one.name.startswith("upgrade") or one.spark == "3.5.9":
        begins = {run["progress"][0]["batchId"] for run in runs if run["progress"]}
        offline = {2} if one.name.startswith("repartition") else set()
        assert {restart.batch_id for restart in found.restarts} <= (begins - {0}) | offline
    assert len(found.restarts) <= len(runs) - 1
    assert found.certain + found.likely == len(found.restarts)


@over_samples("one", [one for one in corpus() if len(one.facts["runs"]) > 1])
def test_which_restarts_of_the_corpus_can_be_seen(one: Sample) -> None:
    """Every sample of several runs, by name: what is not visible is said to be so."""
    found = history_of(one)
    if one.name in CERTAIN:
        assert found.certain == 1
    if one.name in INVISIBLE:
        assert found.restarts == ()
    assert "leaves no mark" in found.not_visible


def test_an_upgrade_is_certain() -> None:
    """Another release pins other settings, and half an hour had passed."""
    (restart,) = restart_history(picture_of(files_of("upgrade"))).restarts
    assert (restart.batch_id, restart.certainty) == (3, Certainty.CERTAIN)
    assert restart.pause_ms is not None
    assert restart.pause_ms > 1_000_000
    assert "17 settings are pinned where there were 10" in restart.signs[0]
    assert "far beyond the rhythm" in restart.signs[1]


def test_operator_metadata_tells_a_start_even_where_its_batches_are_purged() -> None:
    """One file a start, kept longer than the batches."""
    files = files_of("transform-pandas-evolved")
    assert [one.batch_id for one in restart_history(picture_of(files)).restarts] == [3]
    purged = without(files, *(f"{log}/{n}" for log in ("offsets", "commits") for n in range(5)))
    (restart,) = restart_history(picture_of(purged)).restarts
    assert (restart.batch_id, restart.timestamp_ms) == (3, None)


def shifted(seconds: dict[int, float], name: str = "stateless") -> RestartHistory:
    """Plan the batches of a sample at other times."""
    files = files_of(name)
    for batch_id, moment in seconds.items():
        path = f"offsets/{batch_id}"
        version, metadata, *rest = files[path].decode().split("\n")
        fields = json.loads(metadata) | {"batchTimestampMs": int(moment * 1000)}
        files = replaced(files, path, "\n".join([version, json.dumps(fields), *rest]).encode())
    return restart_history(picture_of(files))


def test_a_pause_far_beyond_the_rhythm_is_a_likely_restart() -> None:
    """Ten times the usual and at least a minute."""
    found = shifted({0: 1000, 1: 1010, 2: 1020, 3: 1200})
    assert [(one.batch_id, one.certainty) for one in found.restarts] == [(3, Certainty.LIKELY)]
    assert found.restarts[0].pause_ms == 180_000
    assert (found.certain, found.likely) == (0, 1)


@pytest.mark.parametrize(
    "moments",
    [
        {0: 1000, 1: 1001, 2: 1002, 3: 1061},
        {0: 1000, 1: 1060, 2: 1120, 3: 1400},
        {0: 1000, 1: 1600, 2: 2200, 3: 2800},
        {0: 1000, 1: 1000, 2: 1000, 3: 1000},
    ],
)
def test_an_ordinary_pause_is_none(moments: dict[int, float]) -> None:
    """Short ones, slow rhythms, and batches of one moment."""
    assert shifted(moments).restarts == ()


def test_one_other_pause_is_no_rhythm() -> None:
    """Two batches before it, or one, tell nothing of what is usual."""
    assert shifted({0: 0, 1: 1, 2: 1000}, "pending").restarts == ()
    assert shifted({0: 1000}, "pending-first").restarts == ()


def test_a_clock_that_went_back_is_a_likely_restart() -> None:
    """Another machine, or a corrected clock."""
    found = shifted({0: 1000, 1: 1010, 2: 1005, 3: 1015})
    assert [(one.batch_id, one.certainty) for one in found.restarts] == [(2, Certainty.LIKELY)]


def test_two_pauses_do_not_hide_each_other() -> None:
    """The rhythm is the median, not the longest."""
    spread = {0: 0, 1: 10, 2: 20, 3: 30, 4: 40, 5: 1000, 6: 1010, 7: 1020, 8: 3000, 9: 3010}
    found = shifted(dict(spread), "stateless-compacted")
    # Batch 10 keeps its own, much later time.
    assert [one.batch_id for one in found.restarts] == [5, 8, 10]


def test_the_unfinished_batch_is_told() -> None:
    """The last run ended in it."""
    assert restart_history(picture_of(files_of("pending"))).unfinished_batch == 2
    assert restart_history(picture_of(files_of("stateless"))).unfinished_batch is None
