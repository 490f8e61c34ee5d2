"""Two states side by side, against what Spark itself counted and showed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from holdfast.state.query.comparing import Differences, compare_states, rows_at
from holdfast.state.reading import StateView
from tests.corpus.drawn import over_samples
from tests.corpus.loading import Sample, corpus, sample
from tests.format.sparkjson import spark_rows
from tests.state.states import rows_of, view_of

ALL = 1_000
AGGREGATIONS = [one for one in corpus() if one.name.startswith("aggregation-")]


def counts(found: Differences) -> tuple[int, int, int, int, int]:
    """Give rows on either side, added, changed and removed ones."""
    return (found.left_rows, found.right_rows, found.added, found.changed, found.removed)


def progress_of(one: Sample) -> dict[int, dict[str, int]]:
    """Give what Spark counted of the first operator after each batch."""
    return {
        batch["batchId"]: batch["stateOperators"][0]
        for run in one.facts["runs"]
        for batch in run["progress"]
        if batch["stateOperators"]
    }


def kept_batches(view: StateView) -> list[int]:
    """Give the batches that can be loaded."""
    return list(view.loadable_batches())


@over_samples("one", AGGREGATIONS)
def test_batches_differ_as_spark_counted(one: Sample) -> None:
    """Rows, new ones and removed ones after each batch; every other update changed a row."""
    files, told = one.files(), progress_of(one)
    kept = kept_batches(view_of(files))
    compared = [batch for batch in kept if batch - 1 in kept and {batch, batch - 1} <= told.keys()]
    assert compared
    for batch in compared:
        before, after = told[batch - 1], told[batch]
        added = after["numRowsTotal"] - before["numRowsTotal"] + after["numRowsRemoved"]
        changed = after["numRowsUpdated"] - added
        found = compare_states(view_of(files, batch=batch - 1), view_of(files, batch=batch), most=0)
        expected = (before["numRowsTotal"], after["numRowsTotal"], added, changed)
        assert counts(found) == (*expected, after["numRowsRemoved"])


def by_key(one: Sample) -> dict[str, Any]:
    """Give the rows that Spark showed of a sample's first store."""
    rows = one.facts["state"][0]["rows"]
    return {json.dumps(row["key"], sort_keys=True): row["value"] for row in rows}


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("aggregation-hdfs-snapshots", "pending-stateful"),
        ("aggregation-rocksdb-changelog-snapshots", "aggregation-rocksdb-format-2"),
        ("aggregation-hdfs-lz4", "aggregation-rocksdb-changelog"),
        ("aggregation-hdfs-zstd", "aggregation-rocksdb-format-2-changelog"),
        ("session-window", "session-window-rocksdb"),
        ("types", "types-rocksdb"),
        ("deduplicate", "deduplicate-rocksdb"),
        ("no-data-batch", "aggregation-hdfs-lz4"),
        ("row-checksum-hdfs", "row-checksum-rocksdb"),
    ],
)
def test_checkpoints_differ_as_the_rows_that_spark_showed(left: str, right: str) -> None:
    """Whatever provider and codec they were written with."""
    one, other = sample(left, "4.3.0"), sample(right, "4.3.0")
    before, after = by_key(one), by_key(other)
    views = view_of(one.files()), view_of(other.files())
    if views[0].schema != views[1].schema:
        pytest.fail("these are not to be compared")
    found = compare_states(*views, most=ALL)
    common = before.keys() & after.keys()
    changed = {key for key in common if before[key] != after[key]}
    assert counts(found) == (
        len(before),
        len(after),
        len(after.keys() - before.keys()),
        len(changed),
        len(before.keys() - after.keys()),
    )
    shown = [spark_rows(table.to_struct_array().combine_chunks()) for table in found.changed_first]
    for position, told in enumerate((before, after)):
        keys = {json.dumps(row["key"], sort_keys=True): row["value"] for row in shown[position]}
        assert keys == {key: told[key] for key in changed}


@pytest.mark.parametrize("digest_bytes", [0, 200, 1 << 30], ids=["disk", "both", "memory"])
def test_what_does_not_fit_into_memory_is_compared_on_disk(digest_bytes: int) -> None:
    """With the same result."""
    files = sample("aggregation-hdfs-lz4", "4.3.0").files()
    views = view_of(files, batch=2), view_of(files, batch=4)
    found = compare_states(*views, most=ALL, digest_bytes=digest_bytes)
    assert counts(found) == (8, 8, 4, 4, 4)
    assert (len(found.added_first), len(found.removed_first)) == (4, 4)
    assert found.added_first.schema == views[1].schema


def test_the_first_rows_are_those_of_the_order_of_reading() -> None:
    """So that two calls, and `state`, show the same ones."""
    files = sample("aggregation-hdfs-lz4", "4.3.0").files()
    left, right = view_of(files, batch=1), view_of(files, batch=3)
    every = compare_states(left, right, most=ALL)
    few = compare_states(left, right, most=2)
    assert counts(few) == counts(every)
    assert few.added_first == every.added_first.slice(0, 2)
    order = [row["key"] for row in rows_of(right)]
    added = [row["key"] for row in spark_rows(every.added_first.to_struct_array().combine_chunks())]
    assert added == [key for key in order if key in added]


def test_a_list_is_compared_place_by_place_a_map_by_its_own_keys() -> None:
    """And a timer is the time that it is set to."""
    files = sample("transform-pandas-timers", "4.3.0").files()
    found = {
        store: counts(
            compare_states(
                view_of(files, store=store, batch=0), view_of(files, store=store), most=ALL
            )
        )
        for store in ("total", "values", "by_parity", "timers")
    }
    for store, (before, after, added, changed, removed) in found.items():
        assert after == before + added - removed, store
        assert changed <= before
    assert found["total"][2:] == (0, 3, 0)
    assert found["values"][2:] == (6, 0, 0)


def test_a_timer_that_is_set_anew_is_another_one() -> None:
    """Each of the three went, and one with a later time came."""
    files = sample("transform-pandas-event-timers", "4.3.0").files()
    views = (view_of(files, store="timers", batch=batch) for batch in (0, 1))
    assert counts(compare_states(*views, most=ALL)) == (3, 3, 3, 0, 3)


def test_after_a_repartition_keys_are_the_same_wherever_they_lie() -> None:
    """Two partitions became three, and no row changed."""
    files = sample("repartitioned", "4.3.0").files()
    batches = [batch for batch in (0, 1, 2) if batch in view_of(files).log.committed]
    sizes = {batch: len(view_of(files, batch=batch).partitions) for batch in batches}
    before = max(batch for batch, size in sizes.items() if size == 2)
    after = min(batch for batch, size in sizes.items() if size == 3)
    found = compare_states(view_of(files, batch=before), view_of(files, batch=after), most=ALL)
    assert found.left_rows
    assert (found.added, found.changed, found.removed) == (0, 0, 0)


def test_rows_are_found_by_their_place() -> None:
    """In the order that is asked for."""
    import numpy as np

    view = view_of(sample("types", "4.3.0").files())
    every = rows_of(view)
    picked = rows_at(view, np.array([5, 0, 3]))
    assert spark_rows(picked.to_struct_array().combine_chunks()) == [every[5], every[0], every[3]]
