"""The ledger of a PostgreSQL table, read without Spark: an answer always, an error never."""

from __future__ import annotations

import sys

import pytest

from holdfast.errors import SinkError
from holdfast.ledgers.database.connection import postgres_address, refuse_silent
from holdfast.ledgers.database.postgres import LEDGER, PostgresLedger
from holdfast.ledgers.reading import ASKED_SECONDS
from holdfast.ledgers.sinkstate import NOT_COMMITTED, UNKNOWN, committed_with
from tests.parts.ports import free_port
from tests.parts.postgres import rows_in
from tests.parts.silence import silent_server

CREATE = f"""create table {LEDGER} (table_name text, query_id text, batch_id bigint,
offsets_digest text, generation bigint, rows bigint, committed_at timestamptz)"""


def ledger(uri: str, table: str = "readings") -> PostgresLedger:
    """Open the ledger of a table."""
    return PostgresLedger(postgres_address(uri, table, {}, None))


def test_the_newest_batch_of_a_query_is_told(database: str) -> None:
    """Of this table and this query alone."""
    assert f"holds no {LEDGER}" in ledger(database).last_committed("q").basis
    assert ledger(database).queries() == frozenset()
    rows_in(database, CREATE)
    rows_in(database, f"insert into {LEDGER} select t, q, b, 'd', 3, 1, now() from (values "
            "('readings', 'q', 4), ('readings', 'q', 10), ('readings', 'r', 11), "
            "('other', 'q', 12)) v (t, q, b)")  # fmt: skip
    told = ledger(database).last_committed("q")
    assert told.value == 10 and "generation 3" in told.basis
    assert ledger(database).queries() == {"q", "r"}
    unknown = ledger(database).last_committed("none")
    assert (unknown.value, unknown.basis) == (None, f"{LEDGER} holds no batch of this query")
    assert ledger(database).last_committed(None).value is None


def test_what_can_not_be_asked_is_told(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No server, no such database, no library; the password stays out of it."""
    uri = f"postgresql://u:hunter-two-2@127.0.0.1:{free_port()}/d"
    for place in (uri, database.replace("/test", "/nowhere")):
        told = ledger(place).last_committed("q")
        assert told.value is None and told.basis.startswith("the database can't be asked: ")
        assert "hunter-two-2" not in told.basis
        assert ledger(place).queries() == frozenset()
    known = ledger(database)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    assert known.last_committed("q").basis.startswith("psycopg cannot be imported")
    assert known.queries() == frozenset()


def test_one_batch_is_told_with_its_digest(database: str) -> None:
    """Not there is not unknown; a row that is missing below another may have been removed."""
    asked = ledger(database)
    assert asked.offsets_of("q", 4) == NOT_COMMITTED
    rows_in(database, CREATE)
    rows_in(database, f"insert into {LEDGER} select 'readings', 'q', b, 'd' || b, 3, 1, now() "
            "from (values (4), (10)) v (b)")  # fmt: skip
    told = [asked.offsets_of("q", batch) for batch in (3, 4, 7, 10, 11)]
    assert told == [UNKNOWN, committed_with("d4"), UNKNOWN, committed_with("d10"), NOT_COMMITTED]
    assert asked.offsets_of("r", 4) == ledger(database, "other").offsets_of("q", 4) == NOT_COMMITTED
    nowhere = ledger(database.replace("/test", "/nowhere"))
    assert nowhere.offsets_of("q", 4) == UNKNOWN


def test_a_server_that_does_not_answer_is_waited_for_once() -> None:
    """Commands ask several questions, and a connection of the driver's takes half a minute."""
    with silent_server() as silence:
        asked = ledger(f"postgresql://u@127.0.0.1:{silence.port}/d")
        looked = asked.look(ASKED_SECONDS)
        assert isinstance(looked, str) and "timeout" in looked
        with pytest.raises(SinkError, match="timeout"):
            asked.sight("q", ASKED_SECONDS)
        with pytest.raises(SinkError, match="timeout") as refused:
            refuse_silent(asked._address, ASKED_SECONDS)
        assert len(silence.callers) == 1
    assert refused.value.code == "HF5041"


def test_a_server_that_refuses_is_left_to_who_opens_the_sink(database: str) -> None:
    """Its own words say more than that it was silent."""
    for place in (database, f"postgresql://u@127.0.0.1:{free_port()}/d"):
        refuse_silent(ledger(place)._address, ASKED_SECONDS)
