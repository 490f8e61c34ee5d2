"""Each rule on facts made by hand: what it calls the change, and that without it nothing does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from holdfast.checkpoint.recovery.outcome import Action
from holdfast.findings import Finding, Place, Severity
from holdfast.records.facts import (
    UNLOCATED,
    ColumnFacts,
    OperatorFacts,
    QueryFacts,
    StaticFacts,
    StoreFacts,
    WatermarkFacts,
)
from holdfast.records.recordings import QueryPart
from holdfast.records.run import SinkFacts
from holdfast.restart.acceptance import acceptance_of
from holdfast.restart.judging import admit_start, judge
from holdfast.restart.rules import RULES
from holdfast.restart.rules.rule import Needs, Rule
from holdfast.restart.start import StartFacts
from holdfast.restart.verdict import Verdict
from tests.restart.queries import (
    AMOUNT,
    CLEANED,
    FORMAT,
    JOIN,
    LIMIT,
    OTHER,
    PARTITIONS,
    SHOWN,
    SOURCE,
    STATEFUL,
    STATELESS,
    STATIC,
    STORE,
    SUMS,
    TIME_ZONE,
    TOPIC,
    USER,
    VARIABLES,
    WINDOWS,
    changed,
    operated,
    start_of,
)

SAFE, CONDITIONAL = Verdict.SAFE, Verdict.CONDITIONAL
UNKNOWN, UNSAFE = Verdict.UNKNOWN, Verdict.UNSAFE
LONG = ColumnFacts("sum", "bigint", nullable=False)
TWO = changed(STATELESS, sources=(SOURCE, OTHER))
AGAIN = replace(CLEANED, parts={"cleaned": "9", "LIMIT": "2"})
BROKERS = "kafka.bootstrap.servers"
AVRO = {"spark.sql.streaming.stateStore.encodingFormat": "avro"}


@dataclass(frozen=True)
class Case:
    """One change of a query, and what a rule says of it."""

    code: str
    verdict: Verdict
    before: QueryFacts
    now: QueryFacts
    error: str | None = None
    others: dict[str, Any] = field(default_factory=dict)

    @property
    def start(self) -> StartFacts:
        """The start of the changed query."""
        return start_of(self.before, self.now, **self.others)


def sources(*now: Any, before: Any = (SOURCE,), facts: QueryFacts = STATELESS) -> tuple[Any, Any]:
    """Return a query that reads something before, and something else now."""
    return changed(facts, sources=tuple(before)), changed(facts, sources=now)


def option(facts: QueryFacts, **options: str) -> tuple[QueryFacts, QueryFacts]:
    """Return a query whose source gets other options."""
    return sources(replace(SOURCE, options={**SOURCE.options, **options}), facts=facts)


def brokers(before: str, now: str) -> tuple[QueryFacts, QueryFacts]:
    """Return a query that reads a topic by other brokers than before."""
    then, after = (replace(TOPIC, options={BROKERS: one}) for one in (before, now))
    return sources(after, before=(then,), facts=STATEFUL)


def topics(
    now: Mapping[str, str], before: Mapping[str, str] = TOPIC.identity, **options: str
) -> tuple[QueryFacts, QueryFacts]:
    """Return a query that reads Kafka, and names what it reads in another way."""
    then, after = (replace(TOPIC, identity=one, options=options) for one in (before, now))
    return sources(after, before=(then,))


def narrowed(value: str, watermark: str = "at", **changes: Any) -> tuple[Any, Any]:
    """Return a query with state whose source has a column of a narrower type than before."""
    keeping = replace(SUMS, **{"values": (value,), **changes})
    watermarks = (WatermarkFacts(watermark, 600_000),)
    facts = changed(operators=(keeping,), watermarks=watermarks)
    narrow = replace(SOURCE, columns=(USER, ColumnFacts("amount", "int")))
    return sources(narrow, facts=facts)


def one(before: Any, **changes: Any) -> tuple[QueryFacts, QueryFacts]:
    """Return a query with one operator, before and after a change of it."""
    return operated(before), operated(before, **changes)


def store(keys: Any = (USER,), values: Any = STORE.values) -> tuple[StoreFacts, ...]:
    """Return one store with these columns."""
    return (StoreFacts("default", tuple(keys), tuple(values)),)


KEYS = "STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE"
VALUES = "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE"
CONFIG = "STATE_STORE_INVALID_CONFIG_AFTER_RESTART"
LOST = "KAFKA_DATA_LOSS.PARTITIONS_DELETED"
IN_A_JAR = replace(STATEFUL, code={"jar up.jar": "sha256:one"},
                   unknown=("the code of the Scala function up",))  # fmt: skip
UNFOUND = replace(IN_A_JAR, code={"Java function up": UNLOCATED})
NAMES = "STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA"
ENCODING = "spark.sql.streaming.stateStore.encodingFormat"
TWICE = replace(TWO, sources=(SOURCE, replace(SOURCE, same_reader=0)))
DELTA = replace(SOURCE, kind="delta", format="delta")
UPSERT = SinkFacts("delta", "/lake/out", "upsert", "exactly once", key=("user",))
CHANGELOG = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
NULLS = (ColumnFacts("sum", "bigint"), ColumnFacts("count", "bigint", nullable=False))

CASES = (
    Case("HF3102", UNSAFE, TWO, changed(TWO, sources=(OTHER, SOURCE))),
    Case("HF3103", UNSAFE, *sources(OTHER)),
    Case("HF3103", UNSAFE, *topics({"subscribe": "b"}), LOST),
    Case("HF3103", UNSAFE, *topics({"subscribePattern": "b.*"}), LOST),
    Case("HF3103", UNSAFE, *topics({"subscribe": "b"}, {"subscribePattern": "orders"}), LOST),
    Case("HF3103", UNSAFE, *topics({"assign": '{"orders":[0]}'}, {"assign": '{"orders":[0,1]}'}),
         LOST),
    Case("HF3103", CONDITIONAL, *topics({"subscribe": "b"}, failOnDataLoss="FALSE")),
    Case("HF3103", CONDITIONAL, *topics({"subscribe": "orders,refunds"})),
    Case("HF3103", CONDITIONAL, *topics({"subscribePattern": "ord.*"})),
    Case("HF3103", CONDITIONAL, *topics({"subscribe": "orders"}, {"subscribePattern": "ord.*"})),
    Case("HF3103", CONDITIONAL,
         *topics({"subscribePattern": "ord.*"}, {"subscribePattern": "orders"})),
    Case("HF3103", CONDITIONAL, *topics({"assign": '{"orders":[0,1]}'})),
    Case("HF3103", CONDITIONAL, *topics({"subscribe": "orders"}, {"assign": '{"orders": [0]}'})),
    Case("HF3103", CONDITIONAL,
         *sources(replace(DELTA, identity={"path": "/lake/b"}), before=(DELTA,))),
    Case("HF3103", CONDITIONAL, *sources(replace(SOURCE, identity={"path": "/lake/ord"}))),
    Case("HF3103", CONDITIONAL, *sources(replace(SOURCE, identity={"path": "/lake/o*"}))),
    Case("HF3103", CONDITIONAL,
         *sources(replace(SOURCE, identity={"path": f"file://{SOURCE.identity['path']}"}))),
    Case("HF3104", SAFE, *sources(replace(SOURCE, columns=(USER,)))),
    Case("HF3104", SAFE, *sources(replace(SOURCE, columns=(USER, ColumnFacts("amount", "int"))))),
    Case("HF3104", SAFE, *narrowed("count(1)")),
    Case("HF3104", SAFE, *narrowed("count(source0.amounts)")),
    Case("HF3104", CONDITIONAL, *narrowed("count(source0.amount)")),
    Case("HF3104", CONDITIONAL, *narrowed("count(1)", keys=("xxhash64(source0.amount)",))),
    Case("HF3104", CONDITIONAL, *narrowed("count(1)", input=("filter source0.amount > 5",))),
    Case("HF3104", CONDITIONAL, *narrowed("count(1)", settings={"columns": "a… sha256:12"})),
    Case("HF3104", CONDITIONAL, *narrowed("count(1)", watermark="source0.amount")),
    Case("HF3105", CONDITIONAL, *option(STATELESS, **{BROKERS: "new:9092"})),
    Case("HF3105", SAFE, *brokers("a:9092", "b:9092,a:9092")),
    Case("HF3105", CONDITIONAL, *brokers("a:9092", "b:9092")),
    Case("HF3105", SAFE, *option(STATEFUL, **{"kafka.sasl.jaas.config": "sha256:2"})),
    Case("HF3105", CONDITIONAL, *option(STATEFUL, **{"kafka.isolation.level": "read_committed"})),
    Case("HF3106", UNSAFE, TWICE, replace(TWICE, sources=(SOURCE, SOURCE)),
         error="java.lang.IllegalStateException: batch … doesn't exist"),
    Case("HF3106", CONDITIONAL, replace(TWICE, sources=(SOURCE, SOURCE)), TWICE),
    Case("HF3105", SAFE, *option(STATEFUL, maxFilesPerTrigger="99")),
    Case("HF3105", SAFE, *option(STATEFUL, startingOffsets="latest")),
    Case("HF3105", CONDITIONAL, *option(STATELESS, readChangeFeed="true")),
    Case("HF3105", CONDITIONAL, *option(STATELESS, skipChangeCommits="false")),
    Case("HF3105", SAFE, *option(STATELESS, skipChangeCommits="true")),
    Case("HF3105", CONDITIONAL, *option(STATELESS, failOnDataLoss="true")),
    Case("HF3105", SAFE, *option(STATEFUL, failOnDataLoss="false")),
    Case("HF3105", SAFE, *option(STATELESS, multiLine="true")),
    Case("HF3105", CONDITIONAL, *option(STATEFUL, multiLine="true")),
    Case("HF3105", CONDITIONAL, *option(STATELESS, fileNameOnly="true")),
    Case("HF3105", CONDITIONAL, *sources(replace(SOURCE, format="csv"), facts=STATEFUL)),
    Case("HF3110", UNSAFE, STATEFUL, operated(SUMS, name="dedupe"), NAMES),
    Case("HF3110", UNSAFE, STATEFUL, changed(operators=(SUMS, replace(SUMS, operator_id=1))),
         NAMES),
    Case("HF3110", UNSAFE, STATEFUL, changed(operators=()), NAMES),
    Case("HF3111", UNSAFE, *one(SUMS, stores=store((USER, AMOUNT))), error=KEYS),
    Case("HF3112", UNSAFE, *one(SUMS, stores=store(values=(LONG,))), error=VALUES),
    Case("HF3113", UNSAFE, operated(stores=store(values=NULLS)), STATEFUL, VALUES),
    Case("HF3113", CONDITIONAL, STATEFUL, operated(stores=store(values=NULLS))),
    Case("HF3114", UNSAFE, *one(SUMS, keys=("upper(user)",))),
    Case("HF3114", UNSAFE, *one(SUMS, keys=("user", "city"))),
    Case("HF3115", UNSAFE, *one(WINDOWS, keys=("window(at, 5 minutes)", "user"))),
    Case("HF3116", UNSAFE, *one(SUMS, values=("max(amount)", "count(1)"))),
    Case("HF3116", UNSAFE, *one(SUMS, values=("sum(amount) FILTER (b)", "count(1)"))),
    Case("HF3116", UNSAFE, *one(SUMS, values=("avg(amount)",))),
    Case("HF3117", UNSAFE, *one(SUMS, values=("count(1)", "sum(amount)"))),
    Case("HF3118", UNSAFE, *one(JOIN, settings={**JOIN.settings, "join type": "LeftOuter"})),
    Case("HF3118", CONDITIONAL,
         operated(JOIN, settings={**JOIN.settings, "join type": "LeftOuter"}), operated(JOIN)),
    Case("HF3118", CONDITIONAL, *one(JOIN, settings={**JOIN.settings, "join type": "LeftSemi"})),
    Case("HF3119", CONDITIONAL, *one(JOIN, settings={**JOIN.settings, "condition": "a < c"})),
    Case("HF3120", CONDITIONAL, *one(LIMIT, settings={"limit": "20"})),
    Case("HF3121", UNSAFE, *one(VARIABLES, settings={**VARIABLES.settings, "time mode": "None"}),
         error=CONFIG),
    Case("HF3121", CONDITIONAL, *one(SUMS, settings={"timeout": "ProcessingTimeTimeout"})),
    Case("HF3122", CONDITIONAL, *one(SUMS, input=("filter: amount > 5",))),
    Case("HF3123", SAFE, operated(VARIABLES, stores=VARIABLES.stores[:1]), operated(VARIABLES)),
    Case("HF3123", CONDITIONAL, *one(VARIABLES, stores=VARIABLES.stores[:1])),
    Case("HF3130", CONDITIONAL, STATEFUL, changed(watermarks=(WatermarkFacts("at", 1_200_000),))),
    Case("HF3131", CONDITIONAL, STATEFUL, changed(watermarks=(WatermarkFacts("at", 1000),))),
    Case("HF3132", CONDITIONAL, STATEFUL, changed(watermarks=(WatermarkFacts("sent", 600_000),))),
    Case("HF3132", CONDITIONAL, STATEFUL,
         changed(watermarks=(WatermarkFacts("at", 600_000, ("filter at < 12",)),))),
    Case("HF3133", CONDITIONAL, STATEFUL, changed(watermarks=())),
    Case("HF3133", CONDITIONAL, changed(watermarks=()), STATEFUL),
    Case("HF3134", CONDITIONAL, STATEFUL, changed(output_mode="complete")),
    Case("HF3134", SAFE, STATELESS, changed(STATELESS, output_mode="update")),
    Case("HF3134", UNSAFE, operated(VARIABLES), replace(operated(VARIABLES), output_mode="append"),
         CONFIG),
    Case("HF3135", CONDITIONAL, STATEFUL, STATEFUL,
         others={"stored_sink": UPSERT, "current_sink": replace(UPSERT, mode="append", key=())}),
    Case("HF3135", CONDITIONAL, STATEFUL, STATEFUL,
         others={"stored_sink": UPSERT, "current_sink": replace(UPSERT, key=("id",))}),
    Case("HF3135", SAFE, STATEFUL, STATEFUL,
         others={"stored_sink": UPSERT, "current_sink": replace(UPSERT, identity="/lake/b")}),
    Case("HF3136", SAFE, STATEFUL, changed(output=(USER,))),
    Case("HF3136", CONDITIONAL, STATEFUL, changed(output=(USER, ColumnFacts("amount", "int")))),
    Case("HF3140", CONDITIONAL, STATEFUL,
         changed(settings={**STATEFUL.settings, TIME_ZONE: "CET"})),
    Case("HF3140", SAFE, changed(settings={**STATEFUL.settings, CHANGELOG: "false"}),
         changed(settings={**STATEFUL.settings, CHANGELOG: "true"})),
    Case("HF3140", SAFE, STATELESS, changed(STATELESS, settings={TIME_ZONE: "CET"})),
    Case("HF3141", SAFE, STATEFUL, changed(settings={**STATEFUL.settings, PARTITIONS: "8"})),
    Case("HF3141", UNSAFE,
         changed(settings={**STATEFUL.settings, ENCODING: "unsaferow"}),
         changed(settings={**STATEFUL.settings, ENCODING: "avro"}),
         error="State store encoding format as avro is not supported for operator=…"),
    Case("HF3142", UNSAFE, STATEFUL, changed(settings={**STATEFUL.settings, FORMAT: "2"}),
         "CANNOT_WRITE_STATE_STORE.CANNOT_COMMIT"),
    Case("HF3142", UNSAFE, STATEFUL, changed(settings={**STATEFUL.settings, FORMAT: "2"}),
         "INVALID_LOG_VERSION.EXACT_MATCH_VERSION", {"spark": "4.1.4"}),
    Case("HF3142", SAFE, STATEFUL, changed(settings={**STATEFUL.settings, FORMAT: "2"}),
         others={"spark": "4.3.0"}),
    Case("HF3143", SAFE, changed(spark="4.1.4"), STATEFUL),
    Case("HF3150", CONDITIONAL, STATEFUL, changed(functions=(AGAIN, SHOWN))),
    Case("HF3150", CONDITIONAL, changed(functions=(replace(SHOWN, kind="state"),)),
         changed(functions=(replace(SHOWN, kind="state", parts={"shown": "2"}),))),
    Case("HF3151", SAFE, STATEFUL,
         changed(functions=(CLEANED, replace(SHOWN, parts={"shown": "2"})))),
    Case("HF3151", SAFE, STATELESS, changed(STATELESS, functions=(AGAIN, SHOWN))),
    Case("HF3152", UNKNOWN, STATEFUL,
         changed(functions=(replace(CLEANED, unfollowed=("a C extension",)), SHOWN))),
    Case("HF3155", CONDITIONAL, STATEFUL, changed(statics=(replace(STATIC, content="version 4"),))),
    Case("HF3155", SAFE, STATELESS,
         changed(STATELESS, statics=(replace(STATIC, content="version 4"),))),
    Case("HF3156", SAFE, STATEFUL, changed(steps=("filter: sum > 5",))),
    Case("HF3157", UNKNOWN, STATEFUL, changed(unknown=("the type of a source",))),
    Case("HF3157", UNKNOWN, STATEFUL, changed(operators=None)),
    Case(
        "HF3157", UNKNOWN, IN_A_JAR,
        replace(IN_A_JAR, code={"jar up.jar": "sha256:another"}),
    ),
    Case("HF3157", UNKNOWN, UNFOUND, UNFOUND),
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda one: f"{one.code}-{one.verdict.value}")
def test_a_change_is_judged(case: Case) -> None:
    """By the rule of its code, and by no other one to be worse."""
    found = [change for change in judge(case.start).changes if change.rule == case.code]
    assert [change.verdict for change in found] == [case.verdict]
    assert found[0].error == case.error
    assert (found[0].condition is not None) == (case.verdict in (CONDITIONAL, UNKNOWN))
    assert found[0].subject and found[0].why


@pytest.mark.parametrize("facts", [STATEFUL, STATELESS, operated(JOIN), operated(VARIABLES)])
def test_an_unchanged_query_is_safe(facts: QueryFacts) -> None:
    """Also where a part of it could never be determined, or its code moved to another line."""
    assert judge(start_of(facts, facts)).changes == ()
    hidden = replace(facts, unknown=("its jar",), functions=(replace(CLEANED, unfollowed=("C",)),))
    moved = replace(hidden, functions=tuple(replace(f, place="x.py:1") for f in hidden.functions))
    judged = judge(start_of(hidden, moved))
    assert (judged.verdict, judged.changes) == (SAFE, ())
    assert judged.fingerprint.stored == judged.fingerprint.current


@pytest.mark.parametrize(
    ("then", "after"),
    [
        (replace(TOPIC, identity={"subscribe": "a,b"}),
         replace(TOPIC, identity={"Subscribe": "b, a"})),
        (SOURCE, replace(SOURCE, identity={"path": "/lake/orders/"})),
        (replace(SOURCE, identity={"path": "file:/lake"}),
         replace(SOURCE, identity={"path": "file:///lake"})),
        (SOURCE, replace(SOURCE, options={"maxfilespertrigger": "10"})),
        (replace(SOURCE, options={"multiLine": "True"}),
         replace(SOURCE, options={"multiLine": "true"})),
    ],
)  # fmt: skip
def test_another_spelling_of_what_is_read_is_no_change(then: Any, after: Any) -> None:
    """Names of options in any letters, topics in any order, a path with a slash at its end."""
    before, now = sources(after, before=(then,), facts=STATEFUL)
    assert judge(start_of(before, now)).changes == ()


def test_functions_that_keep_the_same_continue_each_other() -> None:
    """A deviation is the root of a variance: only what is given out differs."""
    before, now = (operated(values=(f"{one}(amount)",)) for one in ("stddev_samp", "var_pop"))
    assert judge(start_of(before, now)).verdict is SAFE


def test_swapped_named_sources_are_safe() -> None:
    """Spark finds them by their names."""
    first, second = replace(SOURCE, name="a"), replace(OTHER, name="b")
    before = changed(STATELESS, sources=(first, second))
    judged = judge(start_of(before, changed(STATELESS, sources=(second, first))))
    assert judged.verdict is SAFE


def test_state_in_avro_may_change_in_some_ways() -> None:
    """HF3112 asks instead of refusing."""
    now = operated(VARIABLES, stores=(StoreFacts("seen", (USER,), (AMOUNT, LONG)),
                                      VARIABLES.stores[1]))  # fmt: skip
    start = start_of(operated(VARIABLES), now)
    avro = replace(start, inspection=replace(start.inspection, settings=AVRO))
    assert judge(start).verdict is UNSAFE
    assert judge(avro).verdict is CONDITIONAL


def test_another_release_keeps_to_what_the_checkpoint_pins() -> None:
    """What it calls nullable, its order of keys to deduplicate by and its new settings differ."""
    keys = OperatorFacts(0, "dedupe", ("a", "b"), stores=store(values=NULLS))
    before = changed(spark="4.2.1", operators=(keys,))
    now = changed(
        spark="4.3.0",
        operators=(replace(keys, keys=("b", "a"), stores=store()),),
        settings={**STATEFUL.settings, "spark.sql.new": "true"},
    )
    assert [one.rule for one in judge(start_of(before, now)).changes] == ["HF3143"]
    same = judge(start_of(before, replace(now, spark="4.2.1")))
    assert {one.rule for one in same.changes} == {"HF3113", "HF3114", "HF3140"}


def test_a_format_of_state_that_is_pinned_is_not_compared() -> None:
    """Spark plans with the checkpoint's own, whatever the session has."""
    before = operated(settings={"state format": "2"})
    now = operated(settings={"state format": "1"}, stores=store(values=(LONG,)))
    assert judge(start_of(before, now)).verdict is SAFE


def test_without_history_it_is_said_what_to_confirm() -> None:
    """HF3101: unknown for a query with state, conditional for one without."""
    judged = judge(start_of(None, operated(stores=())))
    assert judged.verdict is UNKNOWN
    (condition,) = judged.conditions
    for part in ("/lake/orders", "keyed by user", "kept sum(amount), count(1)", "update"):
        assert part in condition
    assert judge(start_of(None, STATELESS)).verdict is CONDITIONAL
    other = replace(STATEFUL, version=STATEFUL.version + 1)
    assert {one.rule for one in judge(start_of(other, operated(stores=()))).changes} == {"HF3101"}


def test_without_history_schemas_of_the_checkpoint_are_compared() -> None:
    """HF3111 and HF3112 rest on the files of the state."""
    start = start_of(None, STATEFUL)
    (known,) = start.inspection.operators[0].stores
    assert known.key_schema is not None and known.value_schema is not None
    same = StoreFacts(
        known.name,
        tuple(ColumnFacts(one.name, one.type_text, one.nullable) for one in known.key_schema),
        tuple(ColumnFacts(one.name, one.type_text, one.nullable) for one in known.value_schema),
    )
    fits = judge(start_of(None, operated(stores=(same,))))
    assert {one.rule for one in fits.changes} == {"HF3101"}
    wider = replace(same, keys=(*same.keys, AMOUNT))
    refused = judge(start_of(None, operated(stores=(wider,))))
    assert refused.verdict is UNSAFE and refused.changes[0].rule == "HF3111"


def test_a_first_start_has_nothing_to_compare() -> None:
    """Whatever a record of a lost checkpoint says."""
    fresh = start_of(STATEFUL, operated(SUMS, keys=("city",)))
    batches = replace(
        fresh.inspection.batches, last_planned=None, last_committed=None, pending=None
    )
    empty = replace(fresh.inspection, batches=batches, sources=(), operators=())
    assert judge(replace(fresh, inspection=empty)).changes == ()


def test_a_rule_holds_for_its_releases_alone() -> None:
    """State checkpoints have one format in 3.5."""
    case = next(one for one in CASES if one.code == "HF3142")
    assert "HF3142" in {one.rule for one in judge(case.start).changes}
    old = judge(replace(case.start, spark="3.5.9"))
    assert "HF3142" not in {one.rule for one in old.changes}


HISTORY = [rule for rule in RULES if rule.needs is not Needs.CHECKPOINT or "HF3135" in rule.codes]


@pytest.mark.parametrize("rule", HISTORY, ids=lambda rule: rule.name)
def test_without_the_rule_a_change_goes_unnoticed(rule: Rule) -> None:
    """Each rule is needed by one of the cases."""
    rest = tuple(one for one in RULES if one is not rule)
    partly = start_of(STATEFUL, STATEFUL, missing=frozenset({QueryPart.KEYS}))
    starts = [*(case.start for case in CASES), start_of(None, STATEFUL), partly]
    assert any(judge(one).changes != judge(one, rest).changes for one in starts)


def test_a_watermark_is_not_asked_about_where_the_rows_of_the_state_changed() -> None:
    """That is what the rule on the input of an operator asks about."""
    other = replace(operated(input=("filter: amount > 5",)),
                    watermarks=(WatermarkFacts("at", 600_000, ("filter at < 12",)),))  # fmt: skip
    assert "HF3132" not in {one.rule for one in judge(start_of(STATEFUL, other)).changes}


def test_every_rule_names_the_codes_that_it_reports() -> None:
    """And no code is of two rules on changes."""
    codes = [code for rule in RULES for code in rule.codes if code.startswith("HF31")]
    assert len(codes) == len(set(codes))
    assert {case.code for case in CASES} | {"HF3101", "HF3158", "HF3159"} == set(codes)


def test_offsets_that_cannot_be_read_are_no_other_sources() -> None:
    """Nothing is known of the checkpoint's sources then, so that nothing is said of them."""
    start = start_of(STATEFUL, STATEFUL)
    unread = replace(start.inspection.next_start, action=Action.UNKNOWN, reason="denied")
    denied = replace(start.inspection, next_start=unread, sources=())
    judged = judge(replace(start, inspection=denied))
    assert [(one.rule, one.verdict) for one in judged.changes] == [("HF2230", UNKNOWN)]
    lost = replace(start, inspection=replace(start.inspection, sources=()))
    assert "HF3002" in [one.rule for one in judge(lost).changes]


def test_what_is_found_counts_for_the_verdict() -> None:
    """A refusal is unsafe, a note is safe, and what can't be read is no verdict on the code."""
    start = start_of(STATEFUL, STATEFUL)
    found = Finding("HF2361", Severity.FATAL, "the query reads b, a", Place("offsets/2"))
    assert judge(replace(start, fatal=(found,))).verdict is UNSAFE
    noted = replace(found, code="HF2302", severity=Severity.WARNING)
    assert judge(replace(start, emptied=(noted,))).verdict is SAFE
    failing = replace(start.inspection.next_start, action=Action.FAIL, reason="torn")
    failed = replace(start, inspection=replace(start.inspection, next_start=failing))
    assert [one.rule for one in judge(failed).changes] == ["HF3001"]


def test_keys_and_aggregates_are_left_to_the_rules_that_know_the_last_run() -> None:
    """A person can accept those; without the last run the doctor's word counts."""
    found = Finding("HF2364", Severity.FATAL, "the aggregates keep max", Place("state/0"))
    known = replace(start_of(STATEFUL, STATEFUL), fatal=(found,))
    assert judge(known).verdict is SAFE
    assert judge(replace(known, stored=None)).verdict is UNSAFE


def test_a_query_that_was_not_planned_is_unknown() -> None:
    """HF3158, where there is something to compare; a run never comes here."""
    start = replace(start_of(STATEFUL, None), unplanned="pyspark is not installed")
    judged = judge(start)
    assert [(one.rule, one.verdict) for one in judged.changes] == [("HF3158", UNKNOWN)]
    assert judge(replace(start, unplanned=None)).verdict is SAFE
    none = {"last_planned": None, "last_committed": None, "pending": None}
    batches = replace(start.inspection.batches, **none)
    fresh = replace(start, inspection=replace(start.inspection, batches=batches))
    assert judge(fresh).verdict is SAFE


def test_another_function_of_the_state_is_asked_about_unless_only_its_name_changed() -> None:
    """Nothing else in the plan shows that the function of a group was replaced."""
    before = changed(functions=(replace(CLEANED, kind="state"),))
    other = replace(CLEANED, name="pipeline:counted", kind="state", parts={"counted": "9"})
    renamed = replace(CLEANED, name="pipeline:renamed", kind="state",
                      parts={"renamed": "1", "LIMIT": "2"})  # fmt: skip
    judged = judge(start_of(before, changed(functions=(other,))))
    assert (judged.verdict, judged.changes[0].rule) == (CONDITIONAL, "HF3150")
    assert judge(start_of(before, changed(functions=(renamed,)))).verdict is SAFE


def test_new_rows_of_a_static_table_are_noted_at_a_start_and_asked_about_by_check() -> None:
    """They come without a deployment: a job must not stay down for them."""
    start = start_of(STATEFUL, changed(statics=(replace(STATIC, content="version 4"),)))
    assert judge(start).verdict is CONDITIONAL
    noted = {one.code: one.severity.value for one in admit_start(start)}
    assert noted["HF3155"] == "info"


def test_an_acceptance_of_a_changed_function_is_not_one_of_the_next_change() -> None:
    """Its digest covers what the function does."""
    codes = set()
    for digest in ("5", "6"):
        again = replace(CLEANED, parts={**CLEANED.parts, "cleaned": digest})
        (change,) = judge(start_of(STATEFUL, changed(functions=(again, SHOWN)))).changes
        codes.add(acceptance_of(change))
    assert len(codes) == 2


def test_what_cannot_be_compared_is_unknown_once_the_code_changed() -> None:
    """Rows of the program, a module that is used as a value: their change is in no other fact."""
    hidden = replace(STATEFUL, statics=(StaticFacts("rows of the program(a int)", None),),
                     code={"pipeline.py": "1"})  # fmt: skip
    assert judge(start_of(hidden, hidden)).verdict is SAFE
    judged = judge(start_of(hidden, replace(hidden, code={"pipeline.py": "2"})))
    assert (judged.verdict, judged.changes[0].rule) == (UNKNOWN, "HF3157")
    shown = replace(STATEFUL, code={"pipeline.py": "1"})
    assert judge(start_of(shown, replace(shown, code={"pipeline.py": "2"}))).verdict is SAFE


def test_a_helper_that_moved_is_the_same_and_one_that_moved_and_changed_is_not() -> None:
    """Modules are no part of what a function does; names and code are."""
    parts = {"pipeline:cleaned": "1", "helpers:cut": "2"}
    before = changed(functions=(replace(CLEANED, parts=parts), SHOWN))
    for digest, verdict in (("2", SAFE), ("3", CONDITIONAL)):
        moved = replace(CLEANED, parts={"pipeline:cleaned": "1", "texts:cut": digest})
        assert judge(start_of(before, changed(functions=(moved, SHOWN)))).verdict is verdict


def test_functions_of_one_name_are_compared_in_their_order() -> None:
    """Two lambdas have the same name, and the plan does not show which one is called where."""
    one, two = (replace(CLEANED, parts={"<lambda>": digest}) for digest in "12")
    before = changed(functions=(one, two))
    same = changed(functions=(one, two), output=(USER,))
    assert judge(start_of(before, same)).verdict is SAFE
    other = replace(one, parts={"<lambda>": "3"})
    for now in ((two, one), (two, other), (one,), (two,), (one, two, two)):
        judged = judge(start_of(before, changed(functions=now)))
        assert {change.rule for change in judged.changes} == {"HF3150"}
        assert judged.verdict is CONDITIONAL


def test_a_constant_of_another_name_is_the_same() -> None:
    """Its value is in the code that uses it; the name is only shown."""
    before = {"cleaned": "ast:1", "pipeline:LIMIT": "constant:5"}
    renamed = {"cleaned": "ast:1", "pipeline:MOST": "constant:5"}
    raised = {"cleaned": "ast:2", "pipeline:LIMIT": "constant:6"}
    start = changed(functions=(replace(CLEANED, parts=before),))
    for parts, verdict in ((renamed, SAFE), (raised, CONDITIONAL)):
        now = changed(functions=(replace(CLEANED, parts=parts),))
        assert judge(start_of(start, now)).verdict is verdict


def test_what_each_function_of_a_name_reaches_is_compared() -> None:
    """Also of one that is new, and what is not reached any more; a move between modules is none."""
    plain = replace(CLEANED, parts={"<lambda>": "1"})
    opens = replace(CLEANED, parts={"<lambda>": "2"}, unfollowed=("pipeline:cleaned opens files",))
    calls = replace(opens, unfollowed=("pipeline:cleaned uses the network",))
    for before, now in (
        ((opens, plain), (calls, plain)),
        ((plain, opens), (plain, calls)),
        ((opens,), (replace(opens, unfollowed=()),)),
        ((plain,), (plain, opens)),
    ):
        judged = judge(start_of(changed(functions=before), changed(functions=now)))
        assert "HF3152" in {change.rule for change in judged.changes}, now
        assert judged.verdict is UNKNOWN
    moved = replace(opens, name="texts:cleaned", unfollowed=("texts:cleaned opens files",))
    judged = judge(start_of(changed(functions=(opens,)), changed(functions=(moved,))))
    assert judged.verdict is SAFE


def test_static_tables_of_one_name_are_compared_in_their_order() -> None:
    """Two tables of local rows have the same name; a new or lost one is reported, too."""
    one, two = (StaticFacts("local rows(a int)", digest) for digest in "12")
    other = replace(one, content="3")
    for before, now in (
        ((one, two), (two, one)),
        ((one, two), (one, other)),
        ((one,), (one, two)),
        ((one, two), (one,)),
    ):
        start = start_of(changed(statics=before), changed(statics=now))
        assert {change.rule for change in judge(start).changes} == {"HF3155"}, now
        assert judge(start).verdict is CONDITIONAL
    assert judge(start_of(changed(statics=(one, two)), changed(statics=(one, two)))).changes == ()


def test_a_new_static_table_that_the_plan_shows_is_judged_there() -> None:
    """HF3122 asks about the rows that reach the state: one question is enough."""
    joined = replace(SUMS, input=(*SUMS.input, "join inner", "  lake.prices"))
    prices = StaticFacts("lake.prices", "version 1")
    now = changed(operators=(joined,), statics=(STATIC, prices))
    judged = judge(start_of(STATEFUL, now))
    verdicts = {change.rule: change.verdict for change in judged.changes}
    assert verdicts == {"HF3122": CONDITIONAL, "HF3155": SAFE}


def test_a_table_is_not_taken_for_one_whose_name_it_is_a_part_of() -> None:
    """State may depend on a table that nothing names, whatever the last steps are called."""
    before, now = (StaticFacts("range", content) for content in ("1", "2"))
    steps = ("column ranges: source0.arrange",)
    start = start_of(changed(statics=(before,), steps=steps), changed(statics=(now,), steps=steps))
    assert judge(start).verdict is CONDITIONAL


def test_a_setting_that_was_not_set_before_is_asked_about() -> None:
    """Unless another release knows it."""
    legacy = {**STATEFUL.settings, "spark.sql.legacy.sizeOfNull": "true"}
    assert judge(start_of(STATEFUL, changed(settings=legacy))).verdict is CONDITIONAL
    older = replace(STATEFUL, spark="4.1.4")
    assert judge(start_of(older, changed(settings=legacy))).verdict is SAFE


def test_an_operator_whose_state_is_gone_is_not_taken_for_a_new_one() -> None:
    """The query is as it was: it must not be told to put its transform back."""
    start = start_of(STATEFUL, STATEFUL)
    plan = replace(start.plan, operators=("stateStoreSave",))
    gone = replace(start, plan=plan, inspection=replace(start.inspection, operators=()))
    found = {one.code: one.message for one in judge(gone).findings}
    assert "operator 0 (stateStoreSave)" in found["HF2221"]
    assert "HF3004" not in found
    assert "HF3004" in {one.code for one in judge(replace(gone, stored=None)).findings}
