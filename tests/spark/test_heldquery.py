"""What a program sees of the query that it started."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pyspark.sql.streaming.query import StreamingQuery

from holdfast.errors import HoldfastError, RunError, UsageError
from holdfast.records.run import Ended
from holdfast.spark.heldquery import HeldQuery


def held(report: Ended | None, error: RunError | None = None) -> tuple[HeldQuery, Any, Any]:
    """Start a query that runs until the test lets it end."""
    over = threading.Event()
    lease = SimpleNamespace(generation=2, release=lambda: None)
    writer = SimpleNamespace(in_sink=None, at_work=False)

    def live(_started: object) -> object:
        over.wait(20)
        return None if report is None else SimpleNamespace(ended=report)

    started = SimpleNamespace(
        record=SimpleNamespace(job="orders", query_id="q", run_id="r"),
        checkpoint=SimpleNamespace(location="/cp/orders"),
        writer=writer,
        progress=SimpleNamespace(last_batch=None),
        lease=lease,
        lease_held=threading.Lock,
        listener=SimpleNamespace(end=lambda _session: None),
    )
    stopping = SimpleNamespace(ask=over.set)
    jvm = SimpleNamespace(death=lambda: None)
    context = SimpleNamespace(jvm=jvm, session=None, stopping=stopping)
    run = SimpleNamespace(live=live, error=error)
    return HeldQuery(cast(Any, run), cast(Any, started), cast(Any, context)), started, over


def test_it_says_which_job_it_is_how_far_and_how_it_stands() -> None:
    query, started, over = held(Ended.FINISHED)
    assert repr(query) == "<HeldQuery job='orders' generation=2 batch=None running>"
    started.writer.in_sink = 7
    assert repr(query) == "<HeldQuery job='orders' generation=2 batch=7 delivering>"
    started.writer.in_sink, started.progress.last_batch = None, 7
    assert repr(query) == "<HeldQuery job='orders' generation=2 batch=7 running>"
    over.set()
    query.wait(20)
    assert repr(query) == "<HeldQuery job='orders' generation=2 batch=7 finished>"


def test_a_query_that_failed_says_why() -> None:
    query, _started, over = held(Ended.FAILED, RunError("HF5301", "orders failed in your code"))
    over.set()
    query._thread.join(20)
    assert repr(query) == "<HeldQuery job='orders' generation=2 batch=None failed: HF5301>"


def test_it_has_every_public_name_of_pysparks_query() -> None:
    """A program that changes its start alone goes on as it is."""
    theirs = {name for name in dir(StreamingQuery) if not name.startswith("_")}
    assert {"awaitTermination", "lastProgress", "runId"} <= theirs
    assert theirs <= {*dir(HeldQuery)}


def test_it_is_waited_for_as_in_pyspark() -> None:
    query, _started, over = held(Ended.FINISHED)
    assert (query.id, query.runId, query.name) == ("q", "r", "orders")
    assert (query.isActive, query.exception()) == (True, None)
    assert query.awaitTermination(0.01) is False
    with pytest.raises(UsageError, match="cannot be negative"):
        query.awaitTermination(-1)
    over.set()
    assert query.awaitTermination() is None and query.awaitTermination(1) is True
    assert (query.isActive, query.exception()) == (False, None)


def test_a_failure_is_returned_and_raised_as_one_error_with_a_code() -> None:
    """Its steps name the arguments of `start`, once, however often it is asked for."""
    steps = ("holdfast run JOB --accept empty-sink",)
    failed = RunError("HF5301", "orders failed in your code", next_steps=steps)
    query, _started, over = held(Ended.FAILED, failed)
    assert query.exception() is None, "it runs"
    over.set()
    for _ in range(2):
        with pytest.raises(HoldfastError) as raised:
            query.awaitTermination(20)
        assert raised.value is query.exception()
        assert raised.value.next_steps == ('holdfast.start(…, accept=["empty-sink"])',)
    with pytest.raises(HoldfastError):
        query.processAllAvailable()


def test_a_block_stops_it_at_its_end() -> None:
    query, _started, over = held(Ended.STOPPED)
    with query as same:
        assert same is query and query.isActive and not over.is_set()
    assert over.is_set() and not query.isActive


def test_a_block_raises_the_failure_of_its_query_unless_it_raised_itself() -> None:
    query, _started, over = held(Ended.FAILED, RunError("HF5301", "failed"))
    with pytest.raises(HoldfastError, match="HF5301"), query:
        over.set()
        query._thread.join(20)
    query, _started, over = held(Ended.FAILED, RunError("HF5301", "failed"))
    with pytest.raises(KeyError), query:
        raise KeyError("of the program")
    assert over.is_set() and not query.isActive
