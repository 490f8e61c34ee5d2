"""What offsets mean across entries: kinds, declared formats, and how much each batch took."""

from __future__ import annotations

from dataclasses import replace

import pytest

from holdfast.checkpoint.layout import in_order
from holdfast.checkpoint.progress import advance, evidence_of, explained, movement_back
from holdfast.diagnosis.inspection.result import inspection_of
from holdfast.format.logs.offsets import OffsetsEntry, SourceOffset
from holdfast.format.sources import ExplainedOffset
from tests.checkpoint.pictures import files_of, picture_of
from tests.corpus.drawn import over_samples
from tests.corpus.loading import Sample, corpus

KINDS = {
    "stateless": "file",
    "kafka": "kafka",
    "delta": "delta",
    "rate": "rate",
    "rate-micro-batch": "rate-micro-batch",
    "socket": "unknown",
    "memory": "unknown",
}


@over_samples("one", [one for one in corpus() if one.name in KINDS])
def test_kinds_are_told_from_the_checkpoint_alone(one: Sample) -> None:
    """A bare number with nothing beside it could be a socket's or a memory stream's."""
    picture = picture_of(dict(one.files()))
    assert picture.newest_offsets is not None
    found = explained(picture, picture.newest_offsets, 0, {})
    assert isinstance(found, ExplainedOffset)
    assert found.kind == KINDS[one.name]


def test_sources_of_version_2_are_shown_in_the_order_of_their_ids() -> None:
    """Spark writes them in the order of a hash table."""
    picture = picture_of(files_of("offsets-v2-two-sources"))
    assert picture.newest_offsets is not None
    assert [one.name for one in picture.newest_offsets.sources] == ["1", "0"]
    found = inspection_of(picture, formats={}, shown=3, spark=None, verified=False)
    assert [(one.index, one.name) for one in found.sources] == [(0, "0"), (1, "1")]
    offsets = [one.offset for one in found.sources]
    assert offsets == [{"logOffset": 2}, {"logOffset": 1}]
    (amounts,) = [batch.advances for batch in found.timeline if batch.id == 2]
    assert [one.total for one in amounts if one is not None] == [1, 0]


def test_ids_are_numbers_before_they_are_texts() -> None:
    """Ten comes after two; names come in their own order."""
    names = ("10", "refunds", "2", "orders")
    entry = OffsetsEntry(2, None, tuple(SourceOffset(name, "{}") for name in names))
    assert [names[at] for at in in_order(entry)] == ["2", "10", "orders", "refunds"]
    assert in_order(replace(entry, version=1)) == (0, 1, 2, 3)


def test_a_format_is_declared_for_the_source_of_that_number() -> None:
    """Not for the one on that line of a version 2 entry."""
    picture = picture_of(files_of("offsets-v2-two-sources"))
    entry = picture.newest_offsets
    assert entry is not None
    declared = [evidence_of(picture, entry, at, {"a": "csv", "b": "json"}) for at in (0, 1)]
    assert [one.declared_format for one in declared if one is not None] == ["json", "csv"]


def test_a_declared_format_decides_what_the_shape_leaves_open() -> None:
    """By name, or by place where the log numbers its sources."""
    picture = picture_of(files_of("socket"))
    assert picture.newest_offsets is not None
    for formats in ({"0": "socket"}, {"source": "socket"}):
        found = explained(picture, picture.newest_offsets, 0, formats)
        assert isinstance(found, ExplainedOffset)
        assert (found.kind, found.basis) == ("socket", "declared")


@pytest.mark.parametrize(
    "one", [one for one in corpus() if one.name in ("kafka", "rate-micro-batch")], ids=str
)
def test_amounts_are_the_rows_that_spark_counted(one: Sample) -> None:
    """Kafka's records and the micro-batch rate source's rows, batch by batch."""
    picture = picture_of(dict(one.files()))
    counted = {
        step["batchId"]: step["numInputRows"]
        for run in one.facts["runs"]
        for step in run["progress"]
    }
    for batch_id, entry in picture.offsets.items():
        before = picture.offsets.get(batch_id - 1)
        if batch_id in counted and (before is not None or batch_id == 0):
            amount = advance(picture, before, entry, 0, {})
            assert amount is not None
            assert amount.total == counted[batch_id]


def test_files_are_counted_in_the_source_s_own_log() -> None:
    """Also in a compacted one."""
    picture = picture_of(files_of("stateless-compacted"))
    for batch_id in range(1, 11):
        amount = advance(picture, picture.offsets[batch_id - 1], picture.offsets[batch_id], 0, {})
        assert amount is not None
        assert (amount.unit, amount.total) == ("files", 1)


def test_going_back_is_told() -> None:
    """And going forward is not."""
    picture = picture_of(files_of("stateless"))
    older, newer = picture.offsets[1], picture.offsets[2]
    assert movement_back(picture, older, newer, 0) is None
    assert movement_back(picture, newer, older, 0)
