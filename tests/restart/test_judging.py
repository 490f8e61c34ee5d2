"""A start that would lose or double rows is refused; what is accepted by name is told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from holdfast.checkpoint.recovery.outcome import Action
from holdfast.diagnosis.checks.location import WrittenPlaces
from holdfast.diagnosis.checks.picture import inspect_checkpoint
from holdfast.diagnosis.inspection.result import Inspection
from holdfast.diagnosis.inspection.sink.gone import SinkBefore
from holdfast.errors import RefusedError
from holdfast.findings import Finding, Place, Severity
from holdfast.ledgers.sinkstate import Contents, LastCommitted, NativeSinkState, SinkState
from holdfast.records.run import PlanFacts
from holdfast.restart.acceptance import ACCEPTABLE, accepted_by_name
from holdfast.restart.judging import admit_start, judge
from holdfast.restart.rules import RULES
from holdfast.restart.rules.rule import Needs, Rule
from holdfast.restart.start import StartFacts
from holdfast.storage.memory import MemoryReader
from tests.checkpoint.pictures import files_of
from tests.restart.queries import STATEFUL as SUMS

SPARK = "4.2.1"
NOTHING = LastCommitted.nothing("the sink holds none")


def inspected(shape: str) -> Inspection:
    """Inspect a real checkpoint."""
    return inspect_checkpoint(MemoryReader(files_of(shape, SPARK))).result


def starting(inspection: Inspection, **changes: object) -> StartFacts:
    """Give a start that fits the checkpoint, but for what is changed."""
    facts = PlanFacts(
        tuple(source.kind for source in inspection.sources),
        tuple(operator.name or "" for operator in inspection.operators),
    )
    if isinstance(held := changes.pop("sink", NOTHING), LastCommitted):
        changes.setdefault("sight", SinkState(held))
    start = StartFacts(inspection, facts, SinkState(NOTHING), frozenset(), {})
    return replace(start, **changes)  # type: ignore[arg-type]


def refused(start: StartFacts, *accepted: str) -> RefusedError:
    """Give the refusal."""
    with pytest.raises(RefusedError) as told:
        admit_start(start, accepted)
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
    assert admit_start(starting(stateful), ()) == ()
    for held in (stateful.batches.last_committed, stateful.batches.last_planned):
        assert admit_start(starting(stateful, sink=LastCommitted(held, "read")), ()) == ()


def test_a_start_that_spark_refuses_is_refused_before(stateful: Inspection) -> None:
    """With Spark's own reason, and whether the sink would be reached."""
    failing = replace(stateful.next_start, action=Action.FAIL, reason="torn", sink_touched=True)
    error = refused(starting(replace(stateful, next_start=failing)))
    assert error.code.number == "HF3001"
    assert "torn" in error.message and "reach the sink" in error.message


def test_another_number_of_sources(stateful: Inspection) -> None:
    """HF3002, with both numbers."""
    facts = PlanFacts(("file", "file"), tuple(o.name or "" for o in stateful.operators))
    error = refused(starting(stateful, plan=facts))
    assert error.code.number == "HF3002"
    assert "2 sources" in error.message and "1 source" in error.message


def test_a_source_of_another_kind(stateful: Inspection) -> None:
    """HF3003; an unknown kind can't be compared and is let through."""
    kind = stateful.sources[0].kind
    assert kind != "kafka"
    names = tuple(o.name or "" for o in stateful.operators)
    error = refused(starting(stateful, plan=PlanFacts(("kafka",), names)))
    assert error.code.number == "HF3003"
    assert admit_start(starting(stateful, plan=PlanFacts(("unknown",), names)), ()) == ()


@pytest.mark.parametrize("names", [(), ("dedupe",), ("stateStoreSave", "stateStoreSave")])
def test_other_stateful_operators(stateful: Inspection, names: tuple[str, ...]) -> None:
    """HF3004 where one is gone, another one, or one more."""
    assert [operator.name for operator in stateful.operators] == ["stateStoreSave"]
    kinds = tuple(source.kind for source in stateful.sources)
    error = refused(starting(stateful, plan=PlanFacts(kinds, names)))
    assert error.code.number == "HF3004"


def test_a_plan_that_tells_no_operators_is_not_called_safe(stateful: Inspection) -> None:
    """HF3011 is told as a warning."""
    kinds = tuple(source.kind for source in stateful.sources)
    (finding,) = admit_start(starting(stateful, plan=PlanFacts(kinds, None)), ())
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
    """HF3006 is refused, and a note without a step once it is accepted by name."""
    behind = (stateful.batches.last_committed or 0) - 1
    start = starting(stateful, sink=LastCommitted(behind, "read"))
    assert refused(start).code.number == "HF3006"
    (finding,) = admit_start(start, ("sink-behind",))
    assert finding.severity is Severity.INFO and "accepted" in finding.message
    assert finding.next_steps == ()


def test_a_batch_before_the_pending_one_counts_as_delivered(stateful: Inspection) -> None:
    """HF3006: Spark runs the newest planned batch again and none before it."""
    batches = replace(stateful.batches, last_planned=7, last_committed=5, pending=7)
    lacking = replace(stateful, batches=batches)
    assert refused(starting(lacking, sink=LastCommitted(5, "read"))).code.number == "HF3006"
    assert admit_start(starting(lacking, sink=LastCommitted(6, "read")), ()) == ()


def test_a_new_checkpoint_on_a_sink_of_another_query(stateful: Inspection) -> None:
    """HF3007; several writers are accepted by name; no matter for a checkpoint with batches."""
    batches = replace(stateful.batches, last_planned=None, last_committed=None)
    fresh = replace(stateful, batches=batches, sources=(), operators=())
    start = starting(fresh, sink_queries=frozenset({"another"}))
    assert refused(start, "sink-behind").code.number == "HF3007"
    assert admit_start(start, ("shared-sink",))[0].code == "HF3007"
    assert admit_start(starting(stateful, sink_queries=frozenset({"another"})), ()) == ()


def test_a_pinned_setting_is_told(stateful: Inspection) -> None:
    """HF3008 is information: Spark itself goes on with the pinned value."""
    name, pinned = next(iter(stateful.settings.items()))
    same = admit_start(starting(stateful, settings={name: pinned}), ())
    other = admit_start(starting(stateful, settings={name: "another"}), ())
    assert same == ()
    assert [(one.code, one.severity) for one in other] == [("HF3008", Severity.INFO)]


def test_every_name_that_can_be_accepted_is_a_finding_of_a_rule() -> None:
    """And the rules are a tuple without doubles."""
    assert len(set(RULES)) == len(RULES)
    assert set(ACCEPTABLE.values()) == {
        "HF2372", "HF3006", "HF3007", "HF3013", "HF3025", "HF3028",
    }  # fmt: skip


def test_a_checkpoint_in_a_temporary_directory_is_a_warning(stateful: Inspection) -> None:
    """HF2302: the job starts."""
    told = Finding("HF2302", Severity.WARNING, "in a temporary directory", Place(""))
    assert admit_start(starting(stateful, emptied=(told,)), ()) == (told,)


def test_state_on_local_disks_of_a_cluster_is_refused(stateful: Inspection) -> None:
    """HF3028; only the plan shows that there is state. A mount of all machines is accepted."""
    start = starting(stateful, master="yarn", places=WrittenPlaces(checkpoint="/cp/orders"))
    assert refused(start).code.number == "HF3028"
    (accepted,) = admit_start(start, ("shared-mount",))
    assert (accepted.severity, accepted.next_steps) == (Severity.INFO, ())
    stateless = replace(start, plan=replace(start.plan, operators=()))
    stateless = replace(stateless, inspection=replace(stateful, operators=()))
    (warned,) = admit_start(stateless, ())
    assert (warned.code, warned.severity) == ("HF3028", Severity.WARNING)
    assert admit_start(replace(start, master="local-cluster[2,1,1024]"), ()) == ()


def test_a_sink_for_development_does_not_take_batches_of_an_output(stateful: Inspection) -> None:
    """HF3013: they would be committed, and missing from the output for good."""
    newest = stateful.batches.last_committed
    before = SinkBefore(LAKE, LAKE, None, newest, 0)
    console = SinkState(LastCommitted.unknown("keeps nothing"), is_for_development=True)
    start = starting(stateful, sight=console, before=before)
    error = refused(start, "sink-behind")
    assert (error.code.number, error.exit_status) == ("HF3013", 30)
    assert f"batch {newest} of this query was delivered to {LAKE}" in error.message
    (accepted,) = admit_start(start, ("empty-sink",))
    assert accepted.severity is Severity.INFO
    assert admit_start(starting(stateful, sight=console), ()) == ()
    for nothing_lost in (replace(start, mode="complete"),
                         replace(start, before=replace(before, newest=None))):  # fmt: skip
        assert admit_start(nothing_lost, ()) == ()


LAKE = "file:///lake/raw"
TABLE = "postgresql://db/gold public.raw"
BEFORE = SinkBefore(LAKE, LAKE, None, 2, since=0)


def seen(
    inspection: Inspection,
    held: LastCommitted = NOTHING,
    before: SinkBefore | None = BEFORE,
    **sight: object,
) -> StartFacts:
    """Give a start on a sink that looks like this."""
    given = {"place": LAKE, "contents": Contents.ABSENT, **sight}
    found = SinkState(held, **given)  # type: ignore[arg-type]
    return starting(inspection, sight=found, before=before)


def has(inspection: Inspection) -> LastCommitted:
    """Give the answer of a sink that holds every committed batch."""
    assert inspection.batches.last_committed is not None
    return LastCommitted.batch(inspection.batches.last_committed, "read")


@pytest.mark.parametrize("contents", [Contents.ABSENT, Contents.EMPTY])
def test_an_output_that_is_gone_is_refused(stateful: Inspection, contents: Contents) -> None:
    """HF3013, unless it was emptied on purpose; the other names do not accept it."""
    start = seen(stateful, contents=contents)
    error = refused(start, "sink-behind", "shared-sink")
    assert (error.code.number, error.code.exit_status) == ("HF3013", 30)
    assert f"{LAKE} had batch 2 of this query; now it" in error.message
    assert any("--accept empty-sink" in step for step in error.next_steps)
    findings = admit_start(start, ("empty-sink", "shared-sink"))
    assert [(one.code, one.severity) for one in findings] == [("HF3013", Severity.INFO)]
    assert accepted_by_name(findings, ("empty-sink", "shared-sink")) == ("empty-sink",)


def test_a_mistyped_place_is_named_beside_the_right_one(stateful: Inspection) -> None:
    """Both are in the message, and in the evidence."""
    start = seen(stateful, place="file:///lake/rwa")
    error = refused(start)
    assert error.code.number == "HF3013"
    assert f"was delivered to {LAKE}; this start" in error.message
    assert "file:///lake/rwa, which does not exist" in error.message
    (finding,) = admit_start(start, ("empty-sink",))
    assert finding.evidence["before"] == {"place": LAKE, "incarnation": None, "batch": 2}


@pytest.mark.parametrize("contents", [Contents.ROWS, Contents.UNKNOWN])
def test_rows_of_somebody_else_can_not_be_accepted(
    stateful: Inspection, contents: Contents
) -> None:
    """HF3014, whatever is accepted; so is a sink whose rows could not be looked at."""
    other = replace(BEFORE, shown=TABLE, place=TABLE, incarnation="oid 7")
    start = seen(stateful, before=other, place=TABLE, incarnation="oid 9", contents=contents)
    error = refused(start, *ACCEPTABLE)
    assert (error.code.number, error.code.exit_status) == ("HF3014", 30)
    assert "(oid 7)" in error.message and "is another table (oid 9)" in error.message


def test_a_table_that_a_later_batch_made_is_not_the_former_one(stateful: Inspection) -> None:
    """It was removed while a batch was computed. A copy has the earlier batches, and is none."""
    known = replace(BEFORE, incarnation="t1", newest=2)
    start = seen(stateful, has(stateful), known, incarnation="t2", contents=Contents.UNKNOWN)
    assert admit_start(start, ())[0].code == "HF3016"
    begun = replace(start, sight=replace(start.sight, begins_with=3))
    error = refused(begun, "sink-behind")
    assert error.code.number == "HF3013"
    assert error.message.endswith("now it is another table (t2), which begins with batch 3")
    assert admit_start(begun, ("empty-sink",))[0].severity is Severity.INFO
    for harmless in (
        replace(begun, mode="complete"),
        replace(begun, before=replace(known, newest=None)),
        replace(begun, before=replace(known, incarnation="t2")),
    ):
        assert "HF3013" not in {one.code for one in admit_start(harmless, ())}


def test_the_id_of_a_delta_table_is_not_taken_for_the_id_of_a_query(stateful: Inspection) -> None:
    table = "0b5d4a1e-7d5c-4e0c-9a55-d1f5b7a3c001"
    before = replace(BEFORE, incarnation=table)
    error = refused(seen(stateful, before=before, contents=Contents.ABSENT))
    assert error.message.startswith(f"{LAKE} (table id {table}) had batch 2 of this query; now it ")


def test_a_ledger_that_outlived_its_rows_is_no_excuse(stateful: Inspection) -> None:
    """The table was dropped, the ledger beside it still holds the batches; with and without run."""
    for before in (BEFORE, None):
        start = seen(stateful, has(stateful), before)
        assert refused(start).code.number == "HF3013"
        assert admit_start(start, ("empty-sink",))[0].code == "HF3013"


def test_what_was_never_delivered_is_not_missed(stateful: Inspection) -> None:
    """An adopted job, an empty sink that was accepted before, a checkpoint without a commit."""
    assert admit_start(seen(stateful, before=None, contents=Contents.ROWS), ()) == ()
    committed = stateful.batches.last_committed or 0
    accepted = replace(BEFORE, newest=None, since=committed + 1)
    assert admit_start(seen(stateful, before=accepted), ()) == ()
    assert admit_start(seen(stateful, has(stateful), accepted), ()) == ()
    batches = replace(stateful.batches, last_committed=None)
    fresh = replace(stateful, batches=batches, operators=())
    assert admit_start(seen(fresh), ()) == ()


@pytest.mark.parametrize("contents", [Contents.ABSENT, Contents.EMPTY])
def test_an_adopted_job_is_told_which_batches_a_new_output_will_lack(
    stateful: Inspection, contents: Contents
) -> None:
    """HF3023: no record says where they went; in mode complete the next batch writes everything."""
    committed = stateful.batches.last_committed or 0
    start = seen(stateful, before=None, contents=contents)
    (finding,) = admit_start(start, ())
    assert (finding.code, finding.severity) == ("HF3023", Severity.WARNING)
    assert f"will not have batches 0 to {committed} of this query" in finding.message
    assert f"it begins with batch {committed + 1}" in finding.message
    assert finding.evidence["begins_with"] == committed + 1
    assert admit_start(replace(start, mode="complete"), ()) == ()
    one = replace(stateful.batches, last_committed=0, last_planned=0, pending=None)
    (finding,) = admit_start(seen(replace(stateful, batches=one), before=None), ())
    assert "batch 0 of this query, which is committed: it begins with batch 1" in finding.message


def test_a_new_output_that_is_refused_says_where_it_would_begin(stateful: Inspection) -> None:
    """The same consequence, where a record knows the former output."""
    following = (stateful.batches.last_committed or 0) + 1
    assert refused(seen(stateful)).message.endswith(
        f"; this start would begin with batch {following}"
    )


def test_spark_s_own_sink_does_not_continue_a_table_that_was_taken_back(
    stateful: Inspection,
) -> None:
    """HF3021: every batch would be skipped, whatever the table holds."""
    native = NativeSinkState(continues_as="id#1")
    start = seen(stateful, has(stateful), None, native=native, contents=Contents.ROWS)
    error = refused(start, *ACCEPTABLE)
    assert (error.code.number, error.exit_status) == ("HF3021", 30)
    assert "continues it as id#1" in error.message
    assert (
        admit_start(replace(start, sight=replace(start.sight, native=NativeSinkState())), ()) == ()
    )


def test_spark_s_file_sink_needs_the_log_of_committed_batches(stateful: Inspection) -> None:
    """HF3022, whatever the records know; a pending first batch begins the log."""
    native = NativeSinkState(lacks_log=True)
    for before in (BEFORE, None):
        error = refused(seen(stateful, before=before, native=native), *ACCEPTABLE)
        assert (error.code.number, error.exit_status) == ("HF3022", 30)
    assert admit_start(seen(without_commits(stateful, 0), before=None, native=native), ()) == ()


@pytest.mark.parametrize(("seconds", "fits"), [(3600, False), (50, True), (-5, True)])
def test_a_log_of_another_checkpoint_is_older_than_the_batch(
    stateful: Inspection, seconds: int, fits: bool
) -> None:
    """HF3005: the same newest id, written before this checkpoint planned it."""
    planned_ms = stateful.batch_timestamp_ms
    assert planned_ms is not None
    native = NativeSinkState(written_ms=planned_ms - 1000 * seconds)
    planned = LastCommitted.batch(stateful.batches.last_planned or 0, "read")
    start = seen(stateful, planned, None, native=native, contents=Contents.UNKNOWN)
    if fits:
        assert admit_start(start, ()) == ()
    else:
        error = refused(start, *ACCEPTABLE)
        assert (error.code.number, "3,600 s before" in error.message) == ("HF3005", True)


def test_what_a_native_sink_holds_may_be_unknown(stateful: Inspection) -> None:
    """HF3024: a pending batch makes it a warning; a fresh checkpoint has nothing to compare."""
    unknown = LastCommitted.unknown("a kafka sink keeps no record of batches that is read")
    settled = replace(stateful, batches=replace(stateful.batches, pending=None))
    pending = without_commits(stateful, 3)
    for inspection, severity in ((settled, Severity.INFO), (pending, Severity.WARNING)):
        start = seen(inspection, unknown, None, place=None, native=NativeSinkState())
        (finding,) = admit_start(start, ())
        assert (finding.code, finding.severity) == ("HF3024", severity)
        assert ("batch 3 is pending and is written again" in finding.message) is (
            severity is Severity.WARNING
        )
    batches = replace(stateful.batches, last_planned=None, last_committed=None, pending=None)
    fresh = replace(stateful, batches=batches, sources=(), operators=())
    start = seen(fresh, unknown, None, place=None, native=NativeSinkState())
    assert admit_start(start, ()) == ()


def test_a_batch_that_a_killed_run_did_not_record_is_missed(stateful: Inspection) -> None:
    """The ledger holds one that was delivered after an empty sink was accepted; its rows are not
    there."""
    planned = stateful.batches.last_planned or 0
    accepted = replace(BEFORE, newest=None, since=planned)
    start = seen(stateful, LastCommitted.batch(planned, "read"), accepted)
    assert refused(start).code.number == "HF3013"


def without_commits(inspection: Inspection, pending: int) -> Inspection:
    """Give the checkpoint as it is with this batch pending, and no entry in commits."""
    batches = replace(
        inspection.batches, last_planned=pending, last_committed=None, pending=pending
    )
    return replace(inspection, batches=batches, operators=())


def test_batches_whose_commits_are_lost_are_missed_too(stateful: Inspection) -> None:
    """Spark runs the pending batch again, and none before it."""
    start = seen(without_commits(stateful, 3))
    error = refused(start)
    assert error.code.number == "HF3013"
    (finding,) = admit_start(start, ("empty-sink",))
    assert finding.evidence["committed"] == 2
    unknown = LastCommitted.unknown("permission denied")
    assert refused(seen(without_commits(stateful, 3), unknown)).code.number == "HF3015"


def test_a_first_batch_that_is_pending_is_missed_where_the_ledger_holds_it(
    stateful: Inspection,
) -> None:
    """It would be skipped when it runs again; without the ledger it is written again."""
    first = without_commits(stateful, 0)
    before = replace(BEFORE, newest=None)
    held = LastCommitted.batch(0, "read")
    for known in (before, None):
        assert refused(seen(first, held, known)).code.number == "HF3013"
        assert admit_start(seen(first, NOTHING, known), ()) == ()


@pytest.mark.parametrize("contents", [Contents.ABSENT, Contents.EMPTY])
def test_in_mode_complete_an_output_that_is_gone_is_a_warning(
    stateful: Inspection, contents: Contents
) -> None:
    """HF3019: the next batch replaces everything. Rows of somebody else stay a refusal."""
    start = replace(seen(stateful, contents=contents), mode="complete")
    (finding,) = admit_start(start, ())
    assert (finding.code, finding.severity) == ("HF3019", Severity.WARNING)
    assert f"{LAKE} had batch 2" in finding.message and "mode complete" in finding.message
    for mode in ("append", "upsert"):
        assert refused(replace(start, mode=mode)).code.number == "HF3013"
    foreign = replace(seen(stateful, contents=Contents.ROWS), mode="complete")
    assert refused(foreign).code.number == "HF3014"


def test_rows_that_can_not_be_read_are_a_warning(stateful: Inspection) -> None:
    """HF3020, where the ledger holds the batches."""
    start = seen(stateful, has(stateful), contents=Contents.UNKNOWN, unread="no right to SELECT")
    (finding,) = admit_start(start, ())
    assert (finding.code, finding.severity) == ("HF3020", Severity.WARNING)
    assert "no right to SELECT" in finding.message


def test_a_sink_that_does_not_report_is_never_taken_for_empty(stateful: Inspection) -> None:
    """HF3015, exit status 31; a sink without a ledger is no such one."""
    unknown = LastCommitted.unknown("permission denied")
    for before in (BEFORE, None):
        error = refused(seen(stateful, unknown, before, contents=Contents.UNKNOWN), *ACCEPTABLE)
        assert (error.code.number, error.code.exit_status) == ("HF3015", 31)
        assert "permission denied" in error.message
    assert admit_start(seen(stateful, unknown, place=None), ()) == ()


def test_a_restored_table_is_a_warning(stateful: Inspection) -> None:
    """HF3016 where the incarnation differs and the batches are held; otherwise nothing."""
    known = replace(BEFORE, shown=TABLE, place=TABLE, incarnation="oid 7")
    here = {"place": TABLE, "contents": Contents.UNKNOWN}
    start = seen(stateful, has(stateful), known, incarnation="oid 9", **here)
    (finding,) = admit_start(start, ())
    assert (finding.code, finding.severity) == ("HF3016", Severity.WARNING)
    assert "oid 9, before oid 7" in finding.message
    for incarnation in ("oid 7", None):
        start = seen(stateful, has(stateful), known, incarnation=incarnation, **here)
        assert admit_start(start, ()) == ()


def test_a_restored_table_that_is_behind_is_still_refused(stateful: Inspection) -> None:
    """HF3006 stays as it is."""
    known = replace(BEFORE, incarnation="oid 7")
    behind = LastCommitted.batch((stateful.batches.last_committed or 0) - 1, "read")
    start = seen(stateful, behind, known, incarnation="oid 9", contents=Contents.UNKNOWN)
    assert refused(start, "empty-sink").code.number == "HF3006"


def test_a_table_that_forgets_is_a_warning(stateful: Inspection) -> None:
    """HF3018 where it is the same table and has rows; otherwise it is gone like any other."""
    known = replace(BEFORE, incarnation="t1")
    here: dict[str, Any] = {
        "incarnation": "t1",
        "contents": Contents.ROWS,
        "forgets_after": "interval 1 day",
    }
    (finding,) = admit_start(seen(stateful, before=known, **here), ())
    assert (finding.code, finding.severity) == ("HF3018", Severity.WARNING)
    assert "batch 2; it forgets a query after interval 1 day" in finding.message
    changes: tuple[dict[str, Any], ...] = (
        {"incarnation": "t2"},
        {"place": "file:///lake/rwa"},
        {"forgets_after": None},
    )
    for change in changes:
        start = seen(stateful, before=known, **{**here, **change})
        assert refused(start, *ACCEPTABLE).code.number == "HF3014"
    empty = seen(stateful, before=known, **{**here, "contents": Contents.EMPTY})
    assert refused(empty).code.number == "HF3013"
    assert admit_start(seen(stateful, before=None, **here), ()) == ()
    assert admit_start(seen(stateful, has(stateful), known, **here), ()) == ()


def test_files_that_were_compacted_are_a_warning(stateful: Inspection) -> None:
    """HF3017: others are there."""
    start = seen(stateful, has(stateful), contents=Contents.ROWS, doubt="part-1 is not there")
    (finding,) = admit_start(start, ())
    assert (finding.code, finding.severity) == ("HF3017", Severity.WARNING)


def test_a_checkpoint_that_lost_delivered_batches(stateful: Inspection) -> None:
    """HF3025, where the sink cannot recognise them; an emptied sink may begin again."""
    empty = replace(stateful.batches, last_planned=None, last_committed=None, pending=None)
    fresh = replace(stateful, batches=empty, query_id=None)
    unseen = SinkState(LastCommitted.unknown("a function"), shows_rows=False)
    start = starting(fresh, sight=unseen, recorded=2)
    error = refused(start, "empty-sink")
    assert error.code.number == "HF3025" and "batch 2" in error.message
    (finding,) = admit_start(start, ("new-checkpoint",))
    assert finding.severity is Severity.INFO
    rows = replace(unseen, held=NOTHING, place="x", contents=Contents.ROWS, shows_rows=True)
    assert refused(replace(start, sight=rows)).code.number == "HF3025"
    for quiet in (
        replace(rows, contents=Contents.EMPTY),
        replace(rows, contents=Contents.ABSENT),
        replace(unseen, is_for_development=True),
    ):
        assert admit_start(replace(start, sight=quiet), ()) == ()
    behind = (stateful.batches.last_planned or 0) + 1
    rolled_back = starting(stateful, sight=unseen, recorded=behind)
    assert refused(rolled_back).code.number == "HF3025"
    assert admit_start(replace(rolled_back, recorded=behind - 1), ()) == ()


def test_unreadable_records_do_not_pass_for_none(stateful: Inspection) -> None:
    """HF3026, where the sink holds nothing of the query; its own answer needs no record."""
    nothing = SinkState(NOTHING, "file:///gone", contents=Contents.ABSENT)
    start = starting(stateful, sight=nothing, unread=("runs/0000000001.json is torn",))
    assert refused(start, *ACCEPTABLE).code.number == "HF3026"
    (noted,) = admit_start(replace(start, unread=()), ())
    assert (noted.code, noted.severity) == ("HF3023", Severity.WARNING)
    held = LastCommitted(stateful.batches.last_committed, "read")
    known = replace(nothing, held=held, contents=Contents.ROWS)
    assert admit_start(replace(start, sight=known), ()) == ()


def test_files_that_end_before_their_ledger(stateful: Inspection) -> None:
    """HF3006: an older copy of the output was put back."""
    held = LastCommitted(stateful.batches.last_committed, "read")
    start = starting(stateful, sight=SinkState(held, "file:///lake", rows_up_to=0))
    assert "whose files exist is 0" in refused(start).message


def test_the_table_of_the_jobs_own_lost_checkpoint_is_not_shared(stateful: Inspection) -> None:
    """HF3025, which `shared-sink` does not soften; beside it another job's query is HF3007."""
    empty = replace(stateful.batches, last_planned=None, last_committed=None, pending=None)
    fresh = replace(stateful, batches=empty, query_id=None)
    rows = SinkState(NOTHING, "x", contents=Contents.ROWS)
    start = replace(
        starting(fresh, sight=rows, recorded=2), recorded_query="own", sink_queries={"own"}
    )
    assert refused(start, "shared-sink").code.number == "HF3025"
    assert [one.code for one in admit_start(start, ("new-checkpoint",))] == ["HF3025"]
    both = replace(start, sink_queries={"own", "other"})
    assert refused(both, "shared-sink").code.number == "HF3025"
    assert refused(both, "new-checkpoint").code.number == "HF3007"
    assert refused(replace(start, sink_queries={"other"})).code.number == "HF3007"


def test_what_earlier_runs_delivered_counts_for_a_query_that_has_an_id(
    stateful: Inspection,
) -> None:
    """Records of a checkpoint that is gone tell nothing of the query that begins now."""
    assert starting(stateful, recorded=3).delivered_before == 3
    assert starting(replace(stateful, query_id=None), recorded=3).delivered_before is None


@pytest.mark.parametrize(("action", "rerun"), [(Action.RERUN, 7), (Action.PLAN, None)])
def test_the_batch_that_is_run_again_is_known(
    stateful: Inspection, action: Action, rerun: int | None
) -> None:
    told = replace(stateful.next_start, action=action, batch_id=7)
    assert starting(replace(stateful, next_start=told)).rerun == rerun


def test_what_the_doctor_calls_fatal_is_refused_with_its_code(stateful: Inspection) -> None:
    """And with the status of an unsafe start; no name softens it."""
    found = Finding("HF2361", Severity.FATAL, "the query reads b, a", Place("offsets/2", line=3))
    error = refused(starting(stateful, fatal=(found,)), *ACCEPTABLE)
    assert (error.code.number, error.exit_status) == ("HF2361", 30)
    assert error.at is not None and error.at.endswith("offsets/2 line 3")
    assert error.next_steps == found.next_steps


@pytest.mark.parametrize("shape", ["stateless", "stateless-pending"])
def test_batches_without_a_query_id_are_refused_by_every_release(shape: str) -> None:
    """Spark up to 4.1 makes a new id: the sink would not recognize a pending batch."""
    files = {path: data for path, data in files_of("stateless", SPARK).items()
             if path not in ("metadata", ".metadata.crc")}  # fmt: skip
    if shape == "stateless-pending":
        newest = max(
            int(path[8:]) for path in files if path[8:].isdigit() and path[:8] == "commits/"
        )
        files = {path: data for path, data in files.items()
                 if path not in (f"commits/{newest}", f"commits/.{newest}.crc")}  # fmt: skip
    found = inspect_checkpoint(MemoryReader(files), spark="4.1").result
    assert found.query_id is None and found.next_start.action is not Action.FAIL
    error = refused(starting(found, spark="4.1.4"), *ACCEPTABLE)
    assert (error.code.number, error.exit_status) == ("HF2201", 30)
    assert ("pending" in error.message) == (shape == "stateless-pending")


def test_a_checkpoint_that_cannot_be_read_keeps_its_status(stateful: Inspection) -> None:
    """HF2230 is about access, not about a verdict."""
    unknown = replace(stateful.next_start, action=Action.UNKNOWN, reason="not listed")
    error = refused(starting(replace(stateful, next_start=unknown)))
    assert (error.code.number, error.exit_status) == ("HF2230", 20)


def after_a_run_with_state(stateful: Inspection) -> StartFacts:
    """Return a start on a checkpoint whose state is gone although the last run had some."""
    kinds = tuple(one.kind for one in stateful.sources)
    plan = PlanFacts(kinds, ("stateStoreSave",), query=SUMS)
    gone = replace(stateful, operators=())
    return starting(gone, stored=SUMS, current=SUMS, plan=plan)


def starts_of_each_rule(stateful: Inspection) -> dict[str, StartFacts]:
    """Return a start for each rule on the checkpoint and its sink, in which it finds something."""
    kinds = tuple(source.kind for source in stateful.sources)
    names = tuple(operator.name or "" for operator in stateful.operators)
    planned = stateful.batches.last_planned or 0
    none = replace(stateful.batches, last_planned=None, last_committed=None, pending=None)
    fresh = replace(stateful, batches=none, sources=(), operators=(), query_id=None)
    failing = replace(stateful.next_start, action=Action.FAIL, reason="torn")
    found = Finding("HF2372", Severity.ERROR, "found", Place(""))
    name = next(iter(stateful.settings))
    held = LastCommitted.batch(planned, "read")
    older = NativeSinkState(written_ms=(stateful.batch_timestamp_ms or 0) - 3_600_000)
    unseen = SinkState(LastCommitted.unknown("a function"), shows_rows=False)
    gone = SinkState(NOTHING, "file:///gone", contents=Contents.ABSENT)
    no_id = {path: data for path, data in files_of("stateless", SPARK).items()
             if path not in ("metadata", ".metadata.crc")}  # fmt: skip
    without_id = inspect_checkpoint(MemoryReader(no_id), spark="4.1").result
    return {
        "missing_query_id": starting(without_id, spark="4.1.4"),
        "sink_compared": starting(stateful, unasked=found),
        "next_start": starting(replace(stateful, next_start=failing)),
        "planned_sources": starting(stateful, plan=PlanFacts(("kafka",), names)),
        "declared_sources": starting(stateful, declared=(found,)),
        "local_places": starting(
            stateful, master="yarn", places=WrittenPlaces(checkpoint="/cp/orders")
        ),
        "lasting_place": starting(stateful, emptied=(found,)),
        "operators_with_state": after_a_run_with_state(stateful),
        "planned_operators": starting(stateful, plan=PlanFacts(kinds, ("dedupe",))),
        "native_sink": seen(stateful, before=None, native=NativeSinkState(lacks_log=True)),
        "sink_ahead": starting(stateful, sink=LastCommitted(planned + 1, "read")),
        "foreign_log": seen(stateful, held, None, native=older, contents=Contents.UNKNOWN),
        "sink_gone": seen(stateful),
        "records": starting(fresh, sight=unseen, recorded=2),
        "unreadable_records": starting(stateful, sight=gone, unread=("a run is torn",)),
        "sink_behind": starting(stateful, sink=LastCommitted(planned - 2, "read")),
        "foreign_sink": starting(fresh, sink_queries=frozenset({"another"})),
        "settings": starting(stateful, settings={name: "another"}),
        "examined": starting(stateful, fatal=(found,)),
        "_not_planned": starting(stateful, unplanned="no Spark is installed"),
    }


ON_CHECKPOINT = [
    rule for rule in RULES if rule.needs is Needs.CHECKPOINT and "HF3135" not in rule.codes
]


@pytest.mark.parametrize("rule", ON_CHECKPOINT, ids=lambda rule: rule.name)
def test_without_a_rule_on_the_checkpoint_its_case_goes_unnoticed(
    stateful: Inspection, rule: Rule
) -> None:
    """Each is needed; the other rules have cases of their own in `test_rules`."""
    start = starts_of_each_rule(stateful)[rule.name]
    rest = tuple(one for one in RULES if one is not rule)
    assert judge(start).changes != judge(start, rest).changes
