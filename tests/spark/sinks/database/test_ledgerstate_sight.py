"""A table and its ledger before a start: generations, and rows that are gone. No Spark."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.errors import SinkError
from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.sinkstate import Contents, LastCommitted, SinkState
from holdfast.spark.sinks.database.ledgerstate import TableWatch, complete_sight
from tests.parts.postgres import rows_in
from tests.spark.sinks.database.postgresmoves import Driver
from tests.spark.sinks.deliveries import QUERY

HELD = LastCommitted.batch(1, "asked")


def seen(driver: Driver, contents: Contents = Contents.EMPTY, query: str = QUERY) -> SinkState:
    """Look at a table with these contents, and ask its ledger."""
    sight = SinkState(HELD, "db public.readings", contents=contents)
    with driver.connected() as connection:
        return complete_sight(sight, driver.ledger, connection, query, mode=driver.mode)


def filled(database: str, *rows: tuple[int, ...], mode: str = "append") -> Driver:
    """Deliver batches with these rows, under generation 3."""
    driver = Driver(database, mode=mode, generation=3, batch_column=None)
    for number, values in enumerate(rows):
        driver.write(number, values)
    return driver


@pytest.mark.parametrize("rows", [((1,), (2,)), ((1,), ())])
def test_a_table_that_lost_its_rows_is_a_doubt(database: str, rows: Any) -> None:
    """Whichever batch brought them; not where rows are there."""
    driver = filled(database, *rows)
    rows_in(database, "truncate readings")
    doubt = seen(driver).doubt
    assert doubt is not None and "db public.readings has no row" in doubt
    assert seen(driver, Contents.ROWS).doubt is None
    assert seen(driver, Contents.ABSENT).doubt is None


def test_batches_that_brought_nothing_leave_nothing(database: str) -> None:
    """In mode complete only the last one counts."""
    assert seen(filled(database, (), ())).doubt is None
    rows_in(database, "drop table holdfast_ledger")
    assert seen(filled(database, (1,), (), mode="complete")).doubt is None


def test_rows_of_batches_that_were_pruned_count(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.spark.sinks.database.ledger.KEPT_BATCHES", 2)
    driver = filled(database, (1,), (), (), (), ())
    rows_in(database, "truncate readings")
    assert seen(driver).doubt is not None


def test_the_newest_generation_is_that_of_a_batch_or_of_a_fence(database: str) -> None:
    driver = filled(database, (1,), (2,))
    assert seen(driver).generation == 3
    assert seen(driver, query="another").generation == 0
    driver.generation = 8
    driver.clear()
    assert seen(driver).generation == 8


def test_a_table_is_the_same_one_from_the_start_on() -> None:
    """One that is gone, or another one, stops the job; mode complete writes all of it again."""
    for mode, codes in (("append", ["HF5027"] * 2), ("upsert", ["HF5027"] * 2), ("complete", [])):
        watch = TableWatch(ReadySink("postgres", mode, "holdfast.yaml:1"), "db readings")
        watch.refuse_other(None)
        watch.refuse_other("oid 7")
        watch.note("oid 7")
        watch.refuse_other("oid 7")
        found = []
        for now in (None, "oid 9"):
            try:
                watch.refuse_other(now)
            except SinkError as error:
                found.append(error.code.number)
                assert ("(oid 9, before oid 7)" in error.message) == (now is not None)
        assert found == codes
