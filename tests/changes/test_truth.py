"""The records are complete: every pair has an outcome, and every subject its share."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.changes.generated import COUNT, GENERATED, SEED, drawn
from tests.changes.loading import GENERATED_GROUP, change_records, pending_pairs
from tests.changes.pairs import PAIRS

OUTCOMES = {"fails", "correct", "corrupt", "ignored"}
RECORDS = change_records()
HELD_OUT = change_records(held_out=True)
PENDING = pending_pairs()
FEWEST = 120
FEWEST_OF_A_GROUP = 8
FEWEST_HELD_OUT = 40
HARMLESS_SHARE = 0.35


def named(records: list[dict[str, Any]]) -> set[tuple[str, str]]:
    """Return group and name of every record."""
    return {(one["group"], one["pair"]) for one in records}


def test_every_pair_has_a_record_and_every_record_a_pair() -> None:
    """A pair without a record was never run; it is in the list of those, and in no other."""
    known = [one for one in (*PAIRS, *GENERATED) if one.name not in PENDING]
    assert named([*RECORDS, *HELD_OUT]) == {(one.group, one.name) for one in known}
    assert {one.name for one in (*PAIRS, *GENERATED)} >= PENDING


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
    counts = Counter(one["group"] for one in RECORDS)
    pending = {one.group for one in PAIRS if one.name in PENDING}
    assert min(counts[one.group] for one in PAIRS if one.group not in pending) >= FEWEST_OF_A_GROUP


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
    assert len(GENERATED) >= FEWEST_HELD_OUT
    assert {one["group"] for one in HELD_OUT} == {GENERATED_GROUP}
    assert GENERATED_GROUP not in {one["group"] for one in RECORDS}
