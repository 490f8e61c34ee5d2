"""A PostgreSQL table before a start: its resolved place, its oid, and whether it has rows."""

from __future__ import annotations

from holdfast.ledgers.database.connection import connected, postgres_address
from holdfast.ledgers.database.postgres import PostgresLedger, look_at_table, schema_of
from holdfast.ledgers.sinkstate import Contents, LastCommitted, SinkAnswer, SinkState
from tests.parts.postgres import rows_in

NOTHING = LastCommitted.nothing("asked")
HELD = LastCommitted.batch(2, "asked")


def look(uri: str, held: LastCommitted = NOTHING, table: str = "raw", role: str = "") -> SinkState:
    """Look as a start does."""
    address = postgres_address(uri, table, {}, None)
    with connected(address.conninfo) as connection:
        if role:
            connection.execute(f"set role {role}")
        return look_at_table(connection, address, schema_of(connection, address), held)


def test_absent_empty_filled(database: str) -> None:
    """A ledger beside the table may outlive its rows."""
    assert look(database).contents is Contents.ABSENT
    assert look(database, HELD).contents is Contents.ABSENT
    assert look(database, HELD).newest_delivered is None
    rows_in(database, "create table raw (n int)")
    assert look(database).contents is Contents.EMPTY
    assert (look(database, HELD).contents, look(database, HELD).newest_delivered) == (
        Contents.EMPTY, 2,
    )  # fmt: skip
    rows_in(database, "insert into raw values (1)")
    assert look(database).contents is Contents.ROWS


def test_a_table_that_was_created_again_is_another_one(database: str) -> None:
    """Not one that was emptied or rewritten."""
    rows_in(database, "create table raw (n int)")
    first = look(database)
    for statement in ("truncate raw", "vacuum full raw", "alter table raw add column k text"):
        rows_in(database, statement)
        assert look(database).incarnation == first.incarnation
    rows_in(database, "drop table raw")
    rows_in(database, "create table raw (n int)")
    again = look(database)
    assert again.place == first.place and again.incarnation != first.incarnation


def test_the_place_names_the_schema_that_was_resolved(database: str) -> None:
    """Another search path leads to another place."""
    rows_in(database, "create schema gold")
    here = look(database)
    there = look(f"{database}&options=-csearch_path%3Dgold")
    assert here.place is not None and here.place.endswith(" public.raw")
    assert there.place == here.place.replace(" public.raw", " gold.raw")
    assert look(database, table="gold.raw").place == there.place


def test_a_table_that_can_not_be_read_is_not_empty(database: str) -> None:
    """A role without the right to select."""
    rows_in(database, "create table raw (n int)")
    rows_in(database, "drop role if exists blind")
    rows_in(database, "create role blind")
    try:
        assert look(database, role="blind").contents is Contents.UNKNOWN
    finally:
        rows_in(database, "drop role blind")


def test_a_ledger_that_can_not_be_read_is_unknown(database: str) -> None:
    """Missing is nothing; denied is not."""
    ledger = PostgresLedger(postgres_address(database, "raw", {}, None))
    assert ledger.last_committed("q").answer is SinkAnswer.NOTHING
    rows_in(database, "create table holdfast_ledger (table_name text, query_id text)")
    assert ledger.last_committed("q").answer is SinkAnswer.UNKNOWN
