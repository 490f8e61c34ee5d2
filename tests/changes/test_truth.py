"""The records are complete: every pair has an outcome, and every subject its share."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.changes.generated import COUNT, GENERATED, SEED, drawn
from tests.changes.loading import GENERATED_GROUP, change_records
from tests.changes.pairs import PAIRS

OUTCOMES = {"fails", "correct", "corrupt", "ignored"}
RECORDS = change_records()
HELD_OUT = change_records(held_out=True)
FEWEST = 120
HARMLESS_SHARE = 0.35


def named(records: list[dict[str, Any]]) -> set[tuple[str, str]]:
    """Return group and name of every record."""
    return {(one["group"], one["pair"]) for one in records}


def test_every_pair_has_a_record_and_every_record_a_pair() -> None:
    """A pair without a record was never run."""
    assert named(RECORDS) == {(one.group, one.name) for one in PAIRS}
    assert named(HELD_OUT) == {(one.group, one.name) for one in GENERATED}


def test_a_pair_is_found_by_its_name_alone() -> None:
    """`--only` takes a name."""
    assert [one for one, count in Counter(pair.name for pair in PAIRS).items() if count > 1] == []


@pytest.mark.parametrize("record", [*RECORDS, *HELD_OUT], ids=lambda one: str(one["pair"]))
def test_a_record_says_what_came_of_it(record: dict[str, Any]) -> None:
    """The outcome, and what shows it."""
    assert record["outcome"] in OUTCOMES
    if record["outcome"] == "fails":
        assert record["error_class"]
    elif record["outcome"] == "corrupt":
        assert record.get("reader") or record["missing"] + record["extra"] > 0
    else:
        assert record["missing"] == record["extra"] == 0


def test_there_are_enough_of_every_kind() -> None:
    """Rules need what goes wrong, and what must not be called wrong."""
    assert len(RECORDS) >= FEWEST
    assert sum(one["harmless"] for one in RECORDS) >= HARMLESS_SHARE * len(RECORDS)
    assert {one["outcome"] for one in RECORDS} == OUTCOMES
    assert min(Counter(one["group"] for one in RECORDS).values()) >= 8


@pytest.mark.parametrize(
    "record", [one for one in RECORDS if one["harmless"]], ids=lambda one: str(one["pair"])
)
def test_what_is_called_harmless_came_out_right(record: dict[str, Any]) -> None:
    """The claim of the author, against Spark."""
    assert record["outcome"] == "correct"
    assert record["rows"] > 0


def test_held_out_changes_are_the_same_ones_every_time() -> None:
    """A seed gives one set of queries, and the groups stay apart."""
    again = drawn(SEED, COUNT)
    assert [one.how for one in again] == [one.how for one in GENERATED]
    assert len(HELD_OUT) >= 40
    assert {one["group"] for one in HELD_OUT} == {GENERATED_GROUP}
    assert GENERATED_GROUP not in {one["group"] for one in RECORDS}
