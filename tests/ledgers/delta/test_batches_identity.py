"""The names of a query in a table: found again from the identifiers alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from holdfast.crashpoints import POINTS
from holdfast.ledgers.delta.batches import (
    CLOSED,
    Application,
    Identifier,
    application_state,
    batches_by_query,
    current_application,
    decode_identifier,
    fence_before,
)
from holdfast.ledgers.delta.transactions import read_delta_ledger
from holdfast.ledgers.identity import backfill_name, is_backfill, query_of
from holdfast.storage.memory import MemoryReader
from tests.ledgers.delta.deltaversions import (
    QUERY,
    batch,
    closing,
    fencing,
    files,
    opening,
    taken_back,
)

FIRST = {QUERY: CLOSED, f"{QUERY}#1:from": 3}


def test_names_are_read_as_they_are_written() -> None:
    """A name that only looks like one is somebody's own."""
    for number in (1, 12):
        name = Application(QUERY, number)
        assert decode_identifier(name.id) == Identifier(name, False)
        assert decode_identifier(name.opening_id) == Identifier(name, True)
    for number in (0, 1, 12):
        name = Application(QUERY, number)
        assert decode_identifier(name.fencing_id) == Identifier(name, False, fences=True)
    for own in (QUERY, "nightly#1", f"{QUERY}#0", f"{QUERY}#0:from", f"{QUERY}#1:to", f"{QUERY}#x"):
        assert decode_identifier(own) == Identifier(Application(own, 0), False)


@pytest.mark.parametrize(
    ("identifiers", "number", "last_batch", "closed"),
    [
        ({}, 0, None, False),
        ({QUERY: 4}, 0, 4, False),
        ({QUERY: CLOSED}, 0, None, True),
        (FIRST, 1, 2, False),
        ({**FIRST, f"{QUERY}#1": 7}, 1, 7, False),
        ({**FIRST, f"{QUERY}#1": CLOSED}, 1, None, True),
        ({QUERY: CLOSED, f"{QUERY}#1:from": 0}, 1, None, False),
        ({QUERY: CLOSED, f"{QUERY}#0:until": 7}, 0, None, True),
        ({**FIRST, f"{QUERY}#0:until": 7}, 1, 2, False),
        ({f"{QUERY}#10:from": 9, f"{QUERY}#9": CLOSED}, 10, 8, False),
    ],
)
def test_the_newest_name_tells_how_a_query_stands(
    identifiers: dict[str, int], number: int, last_batch: int | None, closed: bool
) -> None:
    """Closed, opened, written under; the highest number counts."""
    name = current_application(identifiers, QUERY)
    standing = application_state(identifiers, name)
    assert (name.number, standing.last_batch, standing.closed) == (number, last_batch, closed)
    told = batches_by_query({**identifiers, "other": 5})
    expected = CLOSED if closed else last_batch
    assert told == {"other": 5} | ({} if expected is None else {QUERY: expected})


def test_the_fence_of_a_name_is_the_generation_that_ended_the_one_before() -> None:
    """Without one any generation may write: an older Holdfast wrote none."""
    fenced = {**FIRST, f"{QUERY}#0:until": 7}
    assert fence_before(fenced, Application(QUERY, 0)) == 0
    assert fence_before(fenced, Application(QUERY, 1)) == 7
    assert fence_before(FIRST, Application(QUERY, 1)) == 0


def test_a_reader_of_the_log_sees_one_query() -> None:
    """Closed while it goes on; then the batch that was rewound to, then what came after."""
    log = [batch(0), batch(1), batch(2), closing(0, 1, 2, 2)]
    told = []
    transactions: list[Mapping[str, int]] = []
    for more in (taken_back(1), fencing(0, 2), opening(1, 1), batch(2, 1)):
        log.append(more)
        ledger = read_delta_ledger(MemoryReader(files(*log)))
        assert ledger is not None
        last = ledger.last_committed(QUERY)
        told.append((last.value, last.closed))
        transactions.append(ledger.transactions)
    assert told == [(None, True), (None, True), (1, False), (2, False)]
    assert transactions == [{QUERY: one} for one in (CLOSED, CLOSED, 1, 2)]


def test_the_page_tells_the_format() -> None:
    """Every field, every act, every crash point and both spellings of a name."""
    page = (Path(__file__).parents[3] / "docs/reference/delta-identity.md").read_text("utf-8")
    written = [
        one.decode() for one in (closing(0, 1, 2, 2), taken_back(1), fencing(0, 2), opening(1, 1))
    ]
    notes = [json.loads(json.loads(one.partition("\n")[0])["commitInfo"]["userMetadata"])
             for one in (*written, batch(0).decode())]  # fmt: skip
    words = {field for note in notes for field in note} | {
        str(note["act"]) for note in notes if "act" in note
    }
    words |= {point for point in POINTS if point.startswith("delta.")}
    words |= {Application("<query id>", 0).id, str(CLOSED), "given-back"}
    name = Application("<query id>", 1)
    words |= {one.replace("#1", "#<n>") for one in (name.id, name.opening_id, name.fencing_id)}
    missing = sorted(word for word in words if f"`{word}`" not in page and f" {word} " not in page)
    assert missing == []


def test_the_name_of_a_backfill_is_closed_and_opened_like_any_other() -> None:
    """It is the query's for who clears the sink, and none of the query's own batches."""
    name = backfill_name(QUERY, "backfill-0123456789abcdef")
    first = Application(name, 0)
    for one in (first, first.following):
        assert decode_identifier(one.id).application == one
    opened = decode_identifier(first.following.opening_id)
    assert (opened.application, opened.opens) == (first.following, True)
    assert decode_identifier(first.fencing_id).fences
    known = {QUERY: 4, name: CLOSED, first.following.opening_id: 0}
    assert batches_by_query(known) == {QUERY: 4}
    assert (query_of(name), query_of(QUERY)) == (QUERY, QUERY)
    assert (is_backfill(name), is_backfill(QUERY), is_backfill(f"{QUERY}+x")) == (
        True,
        False,
        False,
    )
