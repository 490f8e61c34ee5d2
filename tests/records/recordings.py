"""Recordings for tests, every field filled."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from holdfast.records.facts import FACTS_VERSION, OperatorFacts, QueryFacts
from holdfast.records.recordings import Origin, Recording
from holdfast.records.run import PlanFacts

QUERY_ID = "5f0f3d3c-43d6-4a4e-8a39-5b6f2e6f8a11"
OTHER_ID = "11111111-43d6-4a4e-8a39-5b6f2e6f8a11"


def facts_keeping(*values: str) -> QueryFacts:
    """Return the facts of an aggregation that keeps these values."""
    operator = OperatorFacts(0, "stateStoreSave", ("user",), values)
    return QueryFacts(FACTS_VERSION, "4.2.0", "update", operators=(operator,))


def some_recording(second: int = 0, kept: str = "sum(amount)", **changes: Any) -> Recording:
    """Return what a program recorded at a second after ten, when batch 4 was done."""
    recording = Recording(
        at=f"2026-03-01T10:00:{second:02d}.000Z",
        origin=Origin.PROGRAM,
        program="/jobs/totals.py",
        checkpoint="file:///base/orders",
        holdfast="0.1.0",
        spark="4.2.0",
        host="host-7",
        process=4711,
        user="anna",
        query_id=QUERY_ID,
        passed=4,
        after=0,
        plan=PlanFacts(("file",), ("stateStoreSave",), "Aggregate", query=facts_keeping(kept)),
        output_mode="update",
    )
    return replace(recording, **changes)
