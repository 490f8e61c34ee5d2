"""What a program sees of the query that it started."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any, cast

from holdfast.errors import RunError
from holdfast.records.run import Ended
from holdfast.spark.heldquery import HeldQuery


def held(report: Ended | None, error: RunError | None = None) -> tuple[HeldQuery, Any, Any]:
    """Start a query that runs until the test lets it end."""
    over = threading.Event()
    lease = SimpleNamespace(generation=2, release=lambda: None)
    gate = SimpleNamespace(in_sink=None, at_work=False)

    def live(_started: object) -> object:
        over.wait(20)
        return None if report is None else SimpleNamespace(ended=report)

    started = SimpleNamespace(
        record=SimpleNamespace(job="orders"),
        gate=gate,
        notes=SimpleNamespace(last_batch=None),
        lease=lease,
        lease_held=threading.Lock,
        listening=SimpleNamespace(end=lambda _session: None),
    )
    around = SimpleNamespace(jvm=SimpleNamespace(death=lambda: None), session=None)
    run = SimpleNamespace(live=live, error=error)
    return HeldQuery(cast(Any, run), cast(Any, started), cast(Any, around)), started, over


def test_it_says_which_job_it_is_how_far_and_how_it_stands() -> None:
    query, started, over = held(Ended.FINISHED)
    assert repr(query) == "<HeldQuery job='orders' generation=2 batch=None running>"
    started.gate.in_sink = 7
    assert repr(query) == "<HeldQuery job='orders' generation=2 batch=7 delivering>"
    started.gate.in_sink, started.notes.last_batch = None, 7
    assert repr(query) == "<HeldQuery job='orders' generation=2 batch=7 running>"
    over.set()
    query.wait(20)
    assert repr(query) == "<HeldQuery job='orders' generation=2 batch=7 finished>"


def test_a_query_that_failed_says_why() -> None:
    query, _started, over = held(Ended.FAILED, RunError("HF5301", "orders failed in your code"))
    over.set()
    query._thread.join(20)
    assert repr(query) == "<HeldQuery job='orders' generation=2 batch=None failed: HF5301>"
