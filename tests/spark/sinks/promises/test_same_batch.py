"""The same batch twice is one; the same id with others stops the job; empty ones count."""

from __future__ import annotations

from dataclasses import replace

import pytest

from holdfast.ledgers.identity import OffsetRange
from holdfast.ledgers.sinkstate import NOT_COMMITTED, committed_with
from holdfast.spark.sinks.sink import offsets_in_sink
from tests.spark.sinks.deliveries import QUERY, identity
from tests.spark.sinks.promises.delivering import Tried, every_subject, refused, subjects_with

pytestmark = pytest.mark.spark


@every_subject
def test_the_same_batch_twice_is_one(tried: Tried) -> None:
    """From the same driver, a new one, and a later generation; older batches as well."""
    sink = tried.opened()
    sink.prepare(tried.batch(0).schema, begun=False)
    assert (tried.rows().total(), tried.subject.ledger(tried.place)) == (0, [])
    for number in range(2):
        assert not sink.write(tried.batch(number), identity(number)).skipped
        assert sink.write(tried.batch(number), identity(number)).skipped
        seen = tried.seen()
        assert seen[0] == tried.state(*range(number + 1))
    again = tried.opened()
    assert again.write(tried.batch(1), identity(1, generation=2)).skipped
    if tried.subject.outlives:
        again.prepare(tried.batch(0).schema, begun=True)
        # A checkpoint that was brought back by some batches, with the same offsets.
        assert again.write(tried.batch(0), identity(0, generation=2)).skipped
    assert tried.seen() == seen
    assert not again.write(tried.batch(2), identity(2, generation=2)).skipped
    assert tried.rows() == tried.state(0, 1, 2)


@every_subject
def test_other_offsets_stop_the_job(tried: Tried) -> None:
    """For the newest batch and for an older one; nothing is written, and it can go on."""
    sink = tried.filled(2)
    seen = tried.seen()
    for driver in (sink, tried.opened()):
        for number in range(2):
            other = identity(number, "other")
            assert refused(lambda: driver.write(tried.batch(2), other)) == "HF5003"  # noqa: B023
    assert tried.seen() == seen
    assert not sink.write(tried.batch(2), identity(2)).skipped
    assert tried.rows() == tried.state(0, 1, 2)


@every_subject
def test_another_beginning_stops_the_job(tried: Tried) -> None:
    """The batch ends where it did, and would hold other rows all the same."""
    sink = tried.opened()
    sink.write(tried.batch(0), OffsetRange(0, b"", b"zero").identity(QUERY, 1))
    same = OffsetRange(1, b"zero", b"one").identity(QUERY, 1)
    other = OffsetRange(1, b"other", b"one").identity(QUERY, 1)
    assert not sink.write(tried.batch(1), same).skipped
    seen = tried.seen()
    assert refused(lambda: sink.write(tried.batch(1), other)) == "HF5003"
    assert refused(lambda: tried.opened().write(tried.batch(1), other)) == "HF5003"
    assert sink.write(tried.batch(1), same).skipped
    assert tried.seen() == seen


@every_subject
def test_what_an_older_release_stored_is_the_same_batch(tried: Tried) -> None:
    """It stored the digest of the entry alone: compared as that, and a new batch as a range."""
    sink = tried.opened()
    new = OffsetRange(0, b"", b"zero").identity(QUERY, 1)
    older = replace(new, offsets_digest=str(new.entry_digest), entry_digest=None)
    assert not sink.write(tried.batch(0), older).skipped
    seen = tried.seen()
    assert sink.write(tried.batch(0), new).skipped
    other = OffsetRange(0, b"", b"other").identity(QUERY, 1)
    assert refused(lambda: tried.opened().write(tried.batch(0), other)) == "HF5003"
    assert tried.seen() == seen
    following = OffsetRange(1, b"zero", b"one").identity(QUERY, 1)
    assert not tried.opened().write(tried.batch(1), following).skipped
    assert tried.rows() == tried.state(0, 1)


@subjects_with(lambda one: one.outlives)
def test_one_batch_is_told_with_its_digest(tried: Tried) -> None:
    """Without Spark where the ledger can; not there is another answer than unknown."""
    sink = tried.opened()
    assert offsets_in_sink(sink, QUERY, 0) == NOT_COMMITTED
    sink.write(tried.batch(0), identity(0))
    again = tried.opened()
    assert offsets_in_sink(again, QUERY, 0) == committed_with("d0")
    assert offsets_in_sink(again, QUERY, 1) == offsets_in_sink(again, "another", 0) == NOT_COMMITTED


@every_subject
def test_an_empty_batch_is_remembered(tried: Tried) -> None:
    """Also the first one; in mode complete it empties the output."""
    sink = tried.opened()
    empty = tried.batch(0).where("false")
    assert not sink.write(empty, identity(0)).skipped
    assert (sink.last_committed(QUERY).value, tried.rows().total()) == (0, 0)
    assert sink.write(empty, identity(0)).skipped
    assert not sink.write(tried.batch(1), identity(1)).skipped
    assert tried.rows() == tried.state(1)
    assert not tried.opened().write(empty, identity(2)).skipped
    assert tried.opened().last_committed(QUERY).value == 2
    left = 0 if tried.subject.mode == "complete" else len(tried.state(1))
    assert tried.rows().total() == left


@subjects_with(lambda one: one.mode == "append")
def test_two_queries_do_not_silence_each_other(tried: Tried) -> None:
    """The same batch id of another query is another batch."""
    tried.filled(1)
    other = replace(identity(0), query_id="another")
    assert not tried.opened().write(tried.batch(1), other).skipped
    assert tried.rows() == tried.state(0, 1)
    sink = tried.opened()
    assert (sink.last_committed(QUERY).value, sink.last_committed("another").value) == (0, 0)
    assert sink.queries() == {QUERY, "another"}
