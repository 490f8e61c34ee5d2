"""Only what a recording knows is compared, and the rest is never called safe."""

from __future__ import annotations

from dataclasses import replace

import pytest

from holdfast.diagnosis.inspection.runs.lastquery import compared_run
from holdfast.findings import Finding, Place, Severity
from holdfast.records.facts import FACTS_VERSION, OperatorFacts, QueryFacts, SourceFacts
from holdfast.records.facts import WatermarkFacts as Watermark
from holdfast.records.recordings import QueryPart
from holdfast.restart.judging import admit_start, judge
from holdfast.restart.partial import completed
from holdfast.restart.verdict import Verdict
from tests.records.recordings import some_recording
from tests.restart.queries import (
    AMOUNT,
    JOIN,
    SOURCE,
    STATEFUL,
    STATELESS,
    STORE,
    TIME_ZONE,
    USER,
    operated,
    start_of,
)

UNKNOWN, CONDITIONAL, UNSAFE = Verdict.UNKNOWN, Verdict.CONDITIONAL, Verdict.UNSAFE
NOW = operated(stores=())
"""The query as it would start; the schemas of its state are those of the checkpoint."""
ALL = frozenset(QueryPart) - {QueryPart.WATERMARKS, QueryPart.OUTPUT_MODE, QueryPart.SINK}
"""What an event log does not show."""
LOGGED = QueryFacts(
    FACTS_VERSION,
    STATEFUL.spark,
    "update",
    (SourceFacts("file", "file", {"path": "file:/lake/orders"}),),
    (OperatorFacts(0, "stateStoreSave"),),
    (Watermark("at#5", 600_000),),
    settings={TIME_ZONE: "UTC"},
)


def rules_of(stored: QueryFacts, now: QueryFacts = NOW) -> dict[str, Verdict]:
    judged = judge(start_of(stored, now, missing=ALL))
    return {one.rule: one.verdict for one in judged.changes}


def test_the_same_query_is_unknown_and_says_what_to_confirm() -> None:
    """HF3159 alone; without state it is conditional."""
    judged = judge(start_of(LOGGED, NOW, missing=ALL))
    assert [(one.rule, one.verdict) for one in judged.changes] == [("HF3159", UNKNOWN)]
    (condition,) = judged.conditions
    for part in ("keyed by user", "kept sum(amount), count(1)", "pipeline:cleaned", "lake.cities",
                 "maxFilesPerTrigger=10", "filter: amount > 0"):  # fmt: skip
        assert part in condition, part
    stateless = replace(LOGGED, operators=(), watermarks=(), output_mode="append")
    assert rules_of(stateless, STATELESS) == {"HF3159": CONDITIONAL}


@pytest.mark.parametrize(
    ("change", "rule", "verdict"),
    [
        ({"sources": (SourceFacts("file", "file", {"path": "file:/lake/old"}),)}, "HF3103", UNSAFE),
        ({"output_mode": "complete"}, "HF3134", CONDITIONAL),
        ({"watermarks": (Watermark("at#5", 60_000),)}, "HF3130", CONDITIONAL),
        ({"operators": (JOIN,)}, "HF3110", UNSAFE),
        ({"settings": {TIME_ZONE: "Europe/Vienna"}}, "HF3140", CONDITIONAL),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_what_is_known_is_compared(change: dict[str, object], rule: str, verdict: Verdict) -> None:
    found = rules_of(replace(LOGGED, **change))  # type: ignore[arg-type]
    assert found.get(rule) is verdict
    assert found.get("HF3159") is UNKNOWN


@pytest.mark.parametrize(
    ("read", "given", "same"),
    [
        ("file:/lake/orders", "/lake/orders", True),
        ("file:///lake/orders/", "/lake/orders", True),
        ("file:/base/lake/orders", "lake/orders", True),
        ("file:/base/lake/orders", "./lake/orders", True),
        ("file:/base/my-orders", "orders", False),
        ("s3a://lake/orders", "s3a://lake/orders", True),
        ("s3a://lake/orders", "s3a://other/orders", False),
    ],
)
def test_a_path_in_the_words_of_spark(read: str, given: str, same: bool) -> None:
    stored = replace(LOGGED, sources=(replace(LOGGED.sources[0], identity={"path": read}),))
    now = replace(STATEFUL, sources=(replace(SOURCE, identity={"path": given}),))
    assert (completed(stored, now, ALL).sources[0].identity == {"path": given}) is same


def test_topics_in_another_order_are_the_same() -> None:
    stored = replace(LOGGED, sources=(SourceFacts("kafka", "kafka", {"subscribe": "b, a"}),))
    topics = SourceFacts("kafka", "kafka", {"subscribe": "a,b"}, options={"x": "1"})
    now = replace(STATEFUL, sources=(topics,))
    assert completed(stored, now, ALL).sources == (topics,)


def test_schemas_are_compared_with_those_of_the_checkpoint() -> None:
    """HF3111, as without a record; the doctor's word on aggregates counts, too."""
    wider = operated(stores=(replace(STORE, keys=(USER, AMOUNT)),))
    assert rules_of(LOGGED, wider).get("HF3111") is UNSAFE
    found = Finding("HF2364", Severity.FATAL, "the aggregates keep max", Place("state/0"))
    start = start_of(LOGGED, NOW, missing=ALL, fatal=(found,))
    assert judge(start).verdict is UNSAFE
    assert judge(replace(start, missing=frozenset())).changes[0].rule != "HF2364"


def test_a_whole_recording_stays_as_it_is() -> None:
    assert completed(STATELESS, STATEFUL, ()) is STATELESS


def test_a_run_is_not_refused_for_what_the_event_log_lacks() -> None:
    """Without the recording it would have started, too."""
    assert admit_start(start_of(LOGGED, NOW, missing=ALL)) == ()


def test_a_start_after_a_recording_knows_its_gaps() -> None:
    recording = some_recording(missing=(QueryPart.KEYS.value,))
    start = start_of(None, STATEFUL).after(compared_run(recording))
    assert start.stored == recording.plan.query
    assert start.missing == {QueryPart.KEYS}
    assert start.after(None) is start
