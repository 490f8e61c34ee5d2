"""The numbers of a store: what the watermark drops next is what the next batch dropped."""

from __future__ import annotations

import json
from dataclasses import replace

import pyarrow as pa
import pytest

from holdfast.errors import CheckpointError
from holdfast.state.query.question import Question, sum_up
from holdfast.state.query.summary import dropped_rows, event_time_column, unknown_drops
from holdfast.state.query.values import plain_rows
from holdfast.storage.memory import MemoryReader
from tests.corpus.loading import Sample, corpus, sample
from tests.state.asked import files_of, rows_shown, summary_of
from tests.state.states import view_of

KINDS = (
    "aggregation-hdfs-lz4", "aggregation-rocksdb", "deduplicate-columns",
    "deduplicate-within-watermark", "no-data-batch", "session-window", "session-window-rocksdb",
    "two-operators",
)  # fmt: skip
DROPPING = [one for one in corpus() if one.name in KINDS and one.spark[:3] in ("3.5", "4.3")]


def keys_at(files: dict[str, bytes], operator: int, batch: int) -> set[str]:
    """Give the keys at a batch."""
    view = view_of(files, operator=operator, batch=batch)
    rows = [row for one in view.batches() for row in plain_rows(one)]
    return {json.dumps(row["key"]) for row in rows}


@pytest.mark.parametrize("one", DROPPING, ids=str)
def test_what_is_said_to_be_dropped_is_gone_in_the_next_batch(one: Sample) -> None:
    """And nothing else is, for every operator that drops by the watermark and every kept batch."""
    files = dict(one.files())
    dropped = 0
    for operator in view_of(files).log.picture.layout.state.operators:
        loadable = view_of(files, operator=operator).loadable_batches()
        for batch in [one for one in loadable if one + 1 in loadable]:
            summary = summary_of(files, operator=operator, batch=batch)
            before, after = (keys_at(files, operator, at) for at in (batch, batch + 1))
            assert summary.dropped_next == len(before - after)
            dropped += summary.dropped_next
    assert dropped


def test_a_row_whose_time_the_watermark_reaches_is_dropped() -> None:
    """Not only those that it has passed; a row without a time stays."""
    times = pa.array([4_999_999, 5_000_000, 5_000_001, None], pa.timestamp("us", tz="UTC"))
    assert dropped_rows(times, 5_000) == 2
    assert dropped_rows(times, 2**63 - 1) == 3


def test_partitions_add_up() -> None:
    """To the rows that are shown; empty partitions are among them."""
    files = files_of("types")
    summary = summary_of(files)
    rows = rows_shown(files).result.rows
    counted = {one: sum(row.partition == one for row in rows) for one in (0, 1)}
    assert {one.partition: one.keys for one in summary.partitions} == counted
    assert summary.keys == len(rows)
    assert summary.row_bytes == sum(one.row_bytes for one in summary.partitions) > 0
    assert summary.skew == max(counted.values()) / (len(rows) / 2)


def test_empty_partitions_are_counted() -> None:
    """They make the skew."""
    summary = summary_of(files_of("join"))
    assert [one.keys for one in summary.partitions] == [0, 9]
    assert summary.skew == 2.0


def test_files_are_those_of_the_store() -> None:
    """Not those of the operator's other stores, nor its description."""
    files = files_of("join")
    own = [len(data) for path, data in files.items() if "/left-keyWithIndexToValue/" in path]
    assert summary_of(files).file_bytes == sum(own)
    files = files_of("aggregation-rocksdb")
    own = [
        len(data) for path, data in files.items() if path.startswith(("state/0/0/", "state/0/1/"))
    ]
    assert summary_of(files).file_bytes == sum(own)


def test_event_times_and_the_watermark() -> None:
    """Of a window, its end."""
    summary = summary_of(files_of("aggregation-hdfs-lz4"))
    assert summary.event_time is not None
    assert summary.event_time.column == "key.window.end"
    assert summary.event_time.oldest == "2026-01-01T00:04:00Z"
    assert summary.event_time.newest == "2026-01-01T00:06:00Z"
    assert summary.next_watermark_ms == 1767225783000
    assert summary.dropped_next == 0
    expiry = summary_of(files_of("deduplicate-within-watermark")).event_time
    assert expiry is not None
    assert (expiry.column, expiry.oldest) == ("value.expiresAtMicros", "2026-01-01T00:02:32Z")


@pytest.mark.parametrize(
    ("name", "spark", "note"),
    [
        ("join", "4.3.0", "a join drops rows by its condition"),
        ("pandas-state-timeout", "4.3.0", "the user's function decides"),
        ("transform-pandas-event-timers", "4.3.0", "the user's function decides"),
        ("pandas-state", "3.5", "the kind of the operator is not recorded"),
    ],
)
def test_what_can_not_be_told_is_said_to_be_unknown(name: str, spark: str, note: str) -> None:
    """Unknown is never nothing."""
    (one, *_) = [one for one in corpus() if one.name == name and one.spark.startswith(spark)]
    summary = summary_of(dict(one.files()))
    assert summary.dropped_next is None
    assert note in summary.dropped_next_note


def test_an_operator_beside_a_join_is_unknown() -> None:
    """The watermark that reaches it may lag."""
    view = view_of(files_of("aggregation-hdfs-lz4"))
    column = event_time_column(view.layout, view.schema)
    assert unknown_drops(view.log.picture, view.layout, column) is None
    operators = view_of(files_of("join")).log.picture.operators
    view.log.picture.operators[9] = operators[0]  # type: ignore[index]
    assert "after a join" in str(unknown_drops(view.log.picture, view.layout, column))


@pytest.mark.parametrize(
    ("metadata", "kind"),
    [
        ('{"spark.watermarkDelayMs":1}', '"string"'),
        ('{"spark.watermarkDelayMs":1}', '{"type":"struct","fields":[]}'),
        (
            '{"spark.watermarkDelayMs":1}',
            '{"type":"array","elementType":"long","containsNull":true}',
        ),
        ("7", '"long"'),
        ("null", '"long"'),
    ],
)
def test_a_schema_that_makes_no_sense_names_no_event_time(metadata: str, kind: str) -> None:
    """Whoever wrote it: no time, and no failure."""
    field = f'{{"name":"at","type":{kind},"nullable":true,"metadata":{metadata}}}'
    schema_json = f'{{"type":"struct","fields":[{field}]}}'
    view = view_of(files_of("aggregation-hdfs-snapshots"))
    layout = replace(view.layout, key_json=schema_json)
    shown = pa.schema([("key", pa.struct([("at", pa.string())])), ("value", pa.null())])
    assert event_time_column(layout, shown) is None


def test_without_a_watermark_rows_stay() -> None:
    """Nothing is dropped, and the reason is told."""
    summary = summary_of(files_of("aggregation-hdfs-snapshots"))
    assert (summary.dropped_next, summary.event_time) == (0, None)
    assert "rows are never dropped" in summary.dropped_next_note


def test_growth_since_the_oldest_batch() -> None:
    """Rows at both ends, and what each batch wrote."""
    files = files_of("aggregation-hdfs-lz4")
    growth = summary_of(files).growth
    assert growth is not None
    assert (growth.first_batch, growth.first_keys, growth.last_keys) == (0, 4, 8)
    assert [one.batch_id for one in growth.changes] == [1, 2, 3, 4, 5]
    deltas = [len(data) for path, data in files.items() if path.endswith("/4.delta")]
    assert growth.changes[2].change_bytes == sum(deltas)


def test_growth_is_of_a_whole_store() -> None:
    """Not of a part of it, nor of a single batch."""
    files = files_of("aggregation-hdfs-lz4")
    assert summary_of(files, partition=1).growth is None
    assert summary_of(files, where="count > 1").growth is None
    assert summary_of(files, batch=0).growth is None


def test_a_store_whose_older_batches_are_gone_has_no_growth_before_them() -> None:
    """The oldest that can be loaded is where it begins."""
    growth = summary_of(files_of("aggregation-hdfs-purged")).growth
    view = view_of(files_of("aggregation-hdfs-purged"))
    assert growth is not None
    assert growth.first_batch == view.loadable_batches()[0] > 0


def test_damage_is_an_error_here_too() -> None:
    """No numbers of a part of the rows."""
    files = files_of("aggregation-hdfs-lz4")
    for path in [one for one in files if one.endswith("/6.delta")]:
        files[path] = files[path][: len(files[path]) // 2]
    with pytest.raises(CheckpointError):
        summary_of(files)


def test_a_state_variable_that_came_later_grows_from_there() -> None:
    """The oldest batch that has it."""
    files = files_of("transform-pandas-evolved")
    growth = summary_of(files, store="batches").growth
    whole = summary_of(files, store="total").growth
    assert whole is not None
    assert growth is None or growth.first_batch > whole.first_batch


def test_damage_of_an_older_batch_is_a_finding() -> None:
    """The numbers of the batch that is asked for are there."""
    files = files_of("aggregation-hdfs-snapshots")
    for path in [one for one in files if one.endswith(("/0/1.delta", "/1/1.delta"))]:
        files[path] = files[path][: len(files[path]) // 2]
    answer = sum_up(MemoryReader(files), Question())
    assert answer.result.summary is not None
    assert answer.result.summary.keys == 4
    assert answer.result.summary.growth is None
    assert answer.status == "findings"


def test_a_store_without_rows() -> None:
    """No skew, no times."""
    summary = summary_of(dict(sample("join", "4.3.0").files()), where="index = 99")
    assert (summary.keys, summary.skew, summary.growth) == (0, None, None)
    assert summary.event_time is not None
    assert summary.event_time.oldest is None
