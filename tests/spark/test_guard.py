"""A start that would lose or double rows is refused; what is accepted by name is told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from holdfast.checkpoint.outcome import Action
from holdfast.diagnosis.inspecting import inspect_checkpoint
from holdfast.diagnosis.inspection import Inspection
from holdfast.errors import RefusedError
from holdfast.findings import Severity
from holdfast.ledgers.lastcommitted import LastCommitted
from holdfast.records.run import PlanFacts
from holdfast.spark.guard import ACCEPTABLE, GUARDS, Start, refuse_or_tell
from holdfast.storage.memory import MemoryReader
from tests.checkpoint.pictures import files_of

SPARK = "4.2.1"
NOTHING = LastCommitted(None, "the sink holds none")


def inspected(shape: str) -> Inspection:
    """Inspect a real checkpoint."""
    return inspect_checkpoint(MemoryReader(files_of(shape, SPARK))).result


def starting(inspection: Inspection, **changes: object) -> Start:
    """Give a start that fits the checkpoint, but for what is changed."""
    facts = PlanFacts(
        tuple(source.kind for source in inspection.sources),
        tuple(operator.name or "" for operator in inspection.operators),
    )
    start = Start(inspection, facts, NOTHING, frozenset(), {})
    return replace(start, **changes)  # type: ignore[arg-type]


def refused(start: Start, *accepted: str) -> RefusedError:
    """Give the refusal."""
    with pytest.raises(RefusedError) as told:
        refuse_or_tell(start, accepted)
    return told.value


STATEFUL = "aggregation-hdfs-snappy"


@pytest.fixture(scope="module")
def stateful() -> Inspection:
    """A stateful query with commits."""
    found = inspected(STATEFUL)
    assert found.operators and found.batches.last_committed is not None
    return found


def test_what_fits_is_started(stateful: Inspection) -> None:
    """Also where the sink is exactly as far as the checkpoint, or one batch ahead of the commit."""
    assert refuse_or_tell(starting(stateful), ()) == ()
    for held in (stateful.batches.last_committed, stateful.batches.last_planned):
        assert refuse_or_tell(starting(stateful, sink=LastCommitted(held, "read")), ()) == ()


def test_a_start_that_spark_refuses_is_refused_before(stateful: Inspection) -> None:
    """With Spark's own reason, and whether the sink would be reached."""
    failing = replace(stateful.next_start, action=Action.FAIL, reason="torn", sink_touched=True)
    error = refused(starting(replace(stateful, next_start=failing)))
    assert error.code.number == "HF3001"
    assert "torn" in error.message and "reach the sink" in error.message


def test_another_number_of_sources(stateful: Inspection) -> None:
    """HF3002, with both numbers."""
    facts = PlanFacts(("file", "file"), tuple(o.name or "" for o in stateful.operators))
    error = refused(starting(stateful, facts=facts))
    assert error.code.number == "HF3002"
    assert "2 sources" in error.message and "1 source" in error.message


def test_a_source_of_another_kind(stateful: Inspection) -> None:
    """HF3003; an unknown kind can't be compared and is let through."""
    kind = stateful.sources[0].kind
    assert kind != "kafka"
    names = tuple(o.name or "" for o in stateful.operators)
    error = refused(starting(stateful, facts=PlanFacts(("kafka",), names)))
    assert error.code.number == "HF3003"
    assert refuse_or_tell(starting(stateful, facts=PlanFacts(("unknown",), names)), ()) == ()


@pytest.mark.parametrize("names", [(), ("dedupe",), ("stateStoreSave", "stateStoreSave")])
def test_other_stateful_operators(stateful: Inspection, names: tuple[str, ...]) -> None:
    """HF3004 where one is gone, another one, or one more."""
    assert [operator.name for operator in stateful.operators] == ["stateStoreSave"]
    kinds = tuple(source.kind for source in stateful.sources)
    error = refused(starting(stateful, facts=PlanFacts(kinds, names)))
    assert error.code.number == "HF3004"


def test_a_plan_that_tells_no_operators_is_not_called_safe(stateful: Inspection) -> None:
    """HF3011 is told as a warning."""
    kinds = tuple(source.kind for source in stateful.sources)
    (finding,) = refuse_or_tell(starting(stateful, facts=PlanFacts(kinds, None)), ())
    assert (finding.code, finding.severity) == ("HF3011", Severity.WARNING)


def test_a_sink_ahead(stateful: Inspection) -> None:
    """HF3005, and nothing softens it."""
    ahead = (stateful.batches.last_planned or 0) + 1
    start = starting(stateful, sink=LastCommitted(ahead, "read"))
    assert refused(start, *ACCEPTABLE).code.number == "HF3005"


def test_a_sink_that_is_closed(stateful: Inspection) -> None:
    """HF3005: whatever is written next is skipped."""
    error = refused(starting(stateful, sink=LastCommitted(None, "read", closed=True)))
    assert error.code.number == "HF3005"
    assert "the sink is closed for this query" in error.message


def test_a_sink_ahead_of_a_checkpoint_without_batches(stateful: Inspection) -> None:
    """A lost checkpoint under the same query id."""
    batches = replace(stateful.batches, last_planned=None, last_committed=None)
    start = starting(replace(stateful, batches=batches), sink=LastCommitted(0, "read"))
    assert refused(start).code.number == "HF3005"


def test_a_sink_behind_can_be_accepted(stateful: Inspection) -> None:
    """HF3006 is refused, and a warning once it is accepted by name."""
    behind = (stateful.batches.last_committed or 0) - 1
    start = starting(stateful, sink=LastCommitted(behind, "read"))
    assert refused(start).code.number == "HF3006"
    (finding,) = refuse_or_tell(start, ("sink-behind",))
    assert finding.severity is Severity.WARNING and "accepted" in finding.message


def test_a_new_checkpoint_on_a_sink_of_another_query(stateful: Inspection) -> None:
    """HF3007; several writers are accepted by name; no matter for a checkpoint with batches."""
    batches = replace(stateful.batches, last_planned=None, last_committed=None)
    fresh = replace(stateful, batches=batches, sources=(), operators=())
    start = starting(fresh, sink_queries=frozenset({"another"}))
    assert refused(start, "sink-behind").code.number == "HF3007"
    assert refuse_or_tell(start, ("shared-sink",))[0].code == "HF3007"
    assert refuse_or_tell(starting(stateful, sink_queries=frozenset({"another"})), ()) == ()


def test_a_pinned_setting_is_told(stateful: Inspection) -> None:
    """HF3008 is information: Spark itself goes on with the pinned value."""
    name, pinned = next(iter(stateful.settings.items()))
    same = refuse_or_tell(starting(stateful, settings={name: pinned}), ())
    other = refuse_or_tell(starting(stateful, settings={name: "another"}), ())
    assert same == ()
    assert [(one.code, one.severity) for one in other] == [("HF3008", Severity.INFO)]


def test_every_name_that_can_be_accepted_is_a_finding_of_a_guard() -> None:
    """And the guards are a tuple without doubles."""
    assert len(set(GUARDS)) == len(GUARDS)
    assert set(ACCEPTABLE.values()) == {"HF3006", "HF3007"}
