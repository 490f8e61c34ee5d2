"""Asking for rows: what is shown equals what Spark said, limits, keys, and what is not there."""

from __future__ import annotations

import json
from typing import Any

import pytest

from holdfast.errors import HoldfastError, UsageError
from holdfast.findings import Severity
from holdfast.state.query import question
from holdfast.state.query.question import Question, open_question
from holdfast.state.query.values import plain_rows
from holdfast.state.results import StateRow
from tests.corpus.loading import Sample, corpus
from tests.state.asked import files_of, rows_shown
from tests.state.states import asked_by, view_of

NEWEST = [one for one in corpus() if one.spark == "4.3.0" and one.facts.get("state")]
AGGREGATION = "aggregation-hdfs-snapshots"
WINDOWS = "aggregation-hdfs-lz4"


@pytest.mark.parametrize("one", NEWEST, ids=str)
def test_every_key_that_is_shown_can_be_asked_for(one: Sample) -> None:
    """Whatever its columns are: what the JSON shows of it, given back, finds the row."""
    files = dict(one.files())
    for told in one.facts["state"]:
        asked = asked_by(told)
        shown = rows_shown(files, **asked).result
        assert shown.total is not None
        for row in shown.rows[:3]:
            found = rows_shown(files, key=json.dumps(row.key), **asked).result
            assert row in found.rows
            assert all(other.key == row.key for other in found.rows)


@pytest.mark.parametrize("one", NEWEST, ids=str)
def test_as_many_rows_as_spark_said(one: Sample) -> None:
    """With the values of columns that need no spelling."""
    for told in one.facts["state"]:
        rows = rows_shown(dict(one.files()), **asked_by(told)).result.rows
        assert len(rows) == len(told["rows"])


def test_rows_have_the_columns_in_order() -> None:
    """A repeated name has its number."""
    result = rows_shown(files_of(WINDOWS), limit=1).result
    (row,) = result.rows
    window = {"start": "2026-01-01T00:02:00Z", "end": "2026-01-01T00:04:00Z"}
    value = {"count": 2, "sum": 52, "max": 31, "sum#2": 52.0, "count#2": 2}
    assert row == StateRow(0, {"window": window, "key": "birch"}, value)
    assert list(row.value or ()) == list(value)
    assert (result.operator, result.store, result.batch_id, result.version) == (0, "default", 5, 6)
    assert [one.name for one in result.columns][:4] == [
        "partition", "key.window.start", "key.window.end", "key.key",
    ]  # fmt: skip
    assert result.columns[4].type == "int64"


def test_a_limit_leaves_out_rows_and_says_so() -> None:
    """The total is told as long as counting is cheap."""
    files = files_of(WINDOWS)
    some = rows_shown(files, limit=3).result
    assert (len(some.rows), some.total, some.complete) == (3, 8, False)
    every = rows_shown(files, limit=8).result
    assert (len(every.rows), every.total, every.complete) == (8, 8, True)
    assert every.rows[:3] == some.rows


def test_counting_ends_where_it_would_take_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then there is no total."""
    monkeypatch.setattr(question, "COUNTED_ROWS", 2)
    some = rows_shown(files_of(WINDOWS), limit=3).result
    assert (len(some.rows), some.total, some.complete) == (3, None, False)


def test_conditions_partitions_and_batches_are_heeded() -> None:
    """Together, too."""
    files = files_of(WINDOWS)
    found = rows_shown(files, where="count = 2", partition=0).result
    assert {row.partition for row in found.rows} == {0}
    assert [(row.value or {})["count"] for row in found.rows] == [2, 2, 2]
    assert found.partitions == (0,)
    assert rows_shown(files, batch=0).result.batch_id == 0


def test_maps_and_times_to_live_have_columns_of_their_own() -> None:
    """As Spark's own reader has."""
    rows = rows_shown(files_of("transform-pandas-timers"), store="by_parity").result.rows
    assert rows
    assert all(set(row.user_map_key or ()) == {"parity"} for row in rows)
    assert all(isinstance(row.expires_at_ms, int) for row in rows)


def test_internal_stores_are_not_offered() -> None:
    """They can be asked for by name."""
    result = rows_shown(files_of("transform-pandas-timers")).result
    assert result.stores == ("timers", "by_parity", "total", "values")


@pytest.mark.parametrize("key", ["alder", '{"key": "alder"}', {"key": "alder"}])
def test_a_key_of_one_column_may_stand_alone(key: Any) -> None:
    """Or as JSON, or as a mapping; only its partition is read."""
    result = rows_shown(files_of(AGGREGATION), key=key).result
    assert [row.key for row in result.rows] == [{"key": "alder"}]
    assert len(result.partitions) == 1


def test_a_number_is_found_by_its_text_and_by_itself() -> None:
    """`--key 5` is text for a command, a number for a program."""
    files = files_of("killed")
    (row, *_) = rows_shown(files).result.rows
    number = row.key["key"]
    assert isinstance(number, int)
    for key in (number, str(number), {"key": number}):
        assert row in rows_shown(files, key=key).result.rows


def test_a_key_that_is_not_there_is_told() -> None:
    """With the partition that was looked into."""
    answer = rows_shown(files_of(AGGREGATION), key="nobody")
    assert (answer.result.rows, answer.result.total, answer.result.complete) == ((), 0, True)
    (finding,) = answer.findings
    assert (finding.code, finding.severity) == ("HF2775", Severity.WARNING)
    assert "store default has that key at batch 8" in finding.message
    assert answer.exit_status == 3


@pytest.mark.parametrize(
    ("key", "said"),
    [
        (
            "alder",
            "the key has 2 columns, but only one value was given; the columns are: window, key",
        ),
        ('{"key": "alder"', "at character 16: this is not a JSON object"),
        ("{" + '"a":{' * 100_000, "the JSON object is nested too deeply"),
        ('{"key": ' + "9" * 5000 + "}", "a number in the JSON object has thousands of digits"),
        ({"window": {"start": "2026-01-01"}}, "window consists of start, end"),
    ],
)
def test_a_key_that_can_not_be_understood(key: Any, said: str) -> None:
    """What is wrong, and what is wanted."""
    with pytest.raises(UsageError) as failure:
        rows_shown(files_of(WINDOWS), key=key)
    assert failure.value.code.number == "HF2776"
    assert said in failure.value.message


@pytest.mark.parametrize(
    "asked",
    [
        {"operator": 7},
        {"store": "nobody"},
        {"batch": 77},
        {"partition": 5},
        {"key": {"nobody": 1}},
        {"key": {"key": 5}},
        {"where": "nobody = 1"},
    ],
    ids=str,
)
def test_what_is_not_there_is_refused(asked: dict[str, Any]) -> None:
    """Before a row is read, with status 2 and a next step."""
    with pytest.raises(HoldfastError) as failure:
        rows_shown(files_of(WINDOWS), **asked)
    assert failure.value.exit_status == 2
    assert failure.value.next_steps


def test_findings_of_the_view_are_handed_on() -> None:
    """Of a store without a schema, keys are shown as bytes."""
    files = files_of(AGGREGATION)
    del files["state/0/0/_metadata/schema"]
    answer = rows_shown(files)
    assert answer.status == "findings"
    assert set(answer.result.rows[0].key) == {"bytes"}


def test_a_question_reads_nothing_before_it_is_asked() -> None:
    """Its schema is known all the same."""
    view = view_of(files_of(AGGREGATION))
    asked = open_question(view.log.reader, view.log.picture, Question(where="count > 0"))
    (first, *_) = asked.batches()
    assert first.schema.equals(asked.view.schema)
    assert plain_rows(first)
