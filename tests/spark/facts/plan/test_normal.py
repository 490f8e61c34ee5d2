"""Normal forms of recorded plans, without Spark."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast.records.facts import OperatorFacts
from holdfast.spark.facts.operators import PhysicalOperator, kinds_of, operator_facts
from holdfast.spark.facts.plan.normal import Normal, normal_form, stream_numbers
from holdfast.spark.facts.plan.structs import unpacked
from holdfast.spark.facts.plan.tree import Node, parse
from holdfast.spark.facts.plan.windows import span

RECORDED = Path(__file__).parent / "recorded"
QUERIES = {
    "agg": "left.where('value>5').groupBy('key', upper('key')).agg(sum('value'), count, avg)",
    "window": "timed.groupBy(window('at', '1 minute'), 'key').count()",
    "sliding": "timed.groupBy(window('at', '10 minutes', '5 minutes'), 'key').count()",
    "session": "timed.groupBy(session_window('at', '5 minutes'), 'key').count()",
    "join": "l left outer join r on l.key = r.key and l.at between r.at and r.at + 1 minute",
    "limit": "left.limit(3)",
    "dedup": "left.dropDuplicates(['key'])",
}


def recorded(name: str) -> tuple[Node, Node]:
    """Give the analysed plan and that of the first batch."""
    both = json.loads((RECORDED / f"{name}.json").read_text(encoding="utf-8"))
    return parse(json.dumps(both["analysed"])), parse(json.dumps(both["planned"]))


def described(name: str) -> tuple[Normal, tuple[OperatorFacts, ...]]:
    """Give the normal form of a recorded plan, and the facts of its operators."""
    analysed, planned = recorded(name)
    leaves = {number: f"source{place}" for place, number in enumerate(stream_numbers(analysed))}
    physical = [
        PhysicalOperator(number, node.name, node)
        for number, node in enumerate(
            one for one in planned.walk() if "stateInfo" in one.fields and "Restore" not in one.name
        )
    ]
    normal = normal_form(analysed, leaves, kinds_of(physical))
    return normal, operator_facts(physical, planned, normal, normal.hidden)


def test_every_recording_is_read() -> None:
    """None is left over, and none shows less than it has."""
    assert {path.stem for path in RECORDED.glob("*.json")} == {*QUERIES}
    for name in QUERIES:
        normal, _ = described(name)
        assert normal.hidden == set()


def test_an_aggregation_over_a_filter() -> None:
    """A key that is an expression is named by it, functions keep the order of their buffers."""
    normal, (operator,) = described("agg")
    assert operator.keys == ("source0.key", "upper(source0.key)")
    assert operator.values == ("sum(source0.value)", "count(1)", "avg(source0.value)")
    assert operator.input == ("filter source0.value > 5L", "source0")
    assert operator.settings == {"state format": "2"}
    assert normal.rows.lines == ("rows of the aggregation",)


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("window", "window(source0.at, '1 minute')"),
        ("sliding", "window(source0.at, '10 minutes', '5 minutes')"),
    ],
)
def test_windows_are_what_the_user_wrote(name: str, key: str) -> None:
    """Spark's arithmetic is led back to the function."""
    normal, (operator,) = described(name)
    assert operator.keys == (key, "source0.key")
    assert operator.input == ("filter source0.at IS NOT NULL", "source0")
    assert [form for _, form, _ in normal.watermarks] == ["source0.at"]


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("120 seconds", "'2 minutes'"),
        ("INTERVAL 2 Minutes", "'2 minutes'"),
        ("1 minute 60 second", "'2 minutes'"),
        ("1.5 seconds", "'1500 milliseconds'"),
        ("-1.5 seconds", "'-1500 milliseconds'"),
        ("24 hours", "'24 hours'"),
        ("1 day", "'1 day'"),
        ("2 weeks", "'14 days'"),
        ("1 year 1 hour", "'12 months 1 hour'"),
        ("0 minutes", "'0 seconds'"),
        ("1.5 minutes", "'1.5 minutes'"),
        ("soon", "'soon'"),
    ],
)
def test_a_span_of_time_has_one_spelling(given: str, wanted: str) -> None:
    """A day is not 24 hours: it may be longer or shorter."""
    assert span(given) == wanted


@pytest.mark.parametrize(
    ("struct", "wanted"),
    [
        ("named_struct('a', s.a, 'b', f(s.b, ', ('))", "f(s.b, ', (')"),
        ("named_struct('a', s.a, 'b', s.b + s.c)", "s.b + s.c"),
        ("named_struct('a', s.a)", None),
        ("named_struct('b', 1, 'b', 2)", None),
        ("named_struct('b', 1) + named_struct('b', 2)", None),
        ("other('b', s.b)", None),
    ],
)
def test_a_field_of_a_struct_is_what_it_was_made_of(struct: str, wanted: str | None) -> None:
    """Where its text shows that."""
    assert unpacked(struct, "b") == wanted


def test_a_session_is_the_last_key() -> None:
    """As its place in the state is."""
    _, (operator,) = described("session")
    assert operator.keys == ("source0.key", "session_window(source0.at, '5 minutes')")
    assert operator.values == ("count(1)",)


def test_a_join_has_the_keys_of_both_sides() -> None:
    """And the lines of both below each other."""
    normal, (operator,) = described("join")
    assert operator.keys == ("source0.key", "source1.key")
    assert operator.settings == {"join type": "left outer", "state format": "2"}
    assert operator.input == ("  source0", "  source1")
    assert normal.operators[0].rows.lines[0] == (
        "join left outer on source0.at <= (source1.at + INTERVAL '1 minute') "
        "AND source0.key = source1.key AND source1.at <= source0.at"
    )


def test_limit_and_deduplication() -> None:
    """The plain ones."""
    (limit,) = described("limit")[1]
    assert limit.settings == {"limit": "3"} and limit.keys == ()
    (dedup,) = described("dedup")[1]
    assert dedup.keys == ("source0.key",) and dedup.input == ("source0",)


def test_a_limit_that_keeps_no_state_is_a_step() -> None:
    """Which kinds keep state is Spark's word."""
    analysed, _ = recorded("limit")
    normal = normal_form(analysed, dict.fromkeys(stream_numbers(analysed), "s"), [])
    assert normal.operators == () and normal.rows.lines == ("limit 3", "s")


def test_operators_that_do_not_match_are_said() -> None:
    """Where Spark planned others than the analysed plan has, rows are not guessed."""
    analysed, planned = recorded("agg")
    normal = normal_form(analysed, dict.fromkeys(stream_numbers(analysed), "s"), [])
    node = next(one for one in planned.walk() if one.name == "StateStoreSaveExec")
    hidden: set[str] = set()
    (facts,) = operator_facts([PhysicalOperator(0, "x", node)], planned, normal, hidden)
    assert facts.input == () and "which rows reach each stateful operator" in hidden
