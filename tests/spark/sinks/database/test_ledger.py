"""The ledger of a PostgreSQL table: what it refuses, what it keeps of old batches. No Spark."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from typing import Any

import psycopg
import pytest

from holdfast.errors import SinkError
from holdfast.ledgers.database.connection import postgres_address
from holdfast.ledgers.database.postgres import LEDGER, PostgresLedger
from holdfast.ledgers.identity import BatchIdentity
from holdfast.spark.sinks.database.staging import BatchMove
from tests.parts.postgres import rows_in
from tests.spark.sinks.database.postgresmoves import Driver
from tests.spark.sinks.deliveries import QUERY

KEPT = "holdfast.spark.sinks.database.ledger.KEPT_BATCHES"
OF_THE_TABLE = f"from {LEDGER} where table_name = 'readings'"


def values(uri: str, table: str = "readings") -> list[int]:
    """Give every row of the table."""
    return sorted(row[0] for row in rows_in(uri, f"select value from {table}"))


def batches(uri: str) -> list[int]:
    """Give the batches in the ledger, as every Holdfast before asked for them."""
    return [row[0] for row in rows_in(uri, f"select batch_id {OF_THE_TABLE} order by 1")]


def code_of(act: Any, *arguments: Any) -> str:
    """Give the code with which something is refused."""
    with pytest.raises(SinkError) as caught:
        act(*arguments)
    assert caught.value.message and caught.value.next_steps
    return caught.value.code.number


def test_the_modules_of_a_move_need_no_spark() -> None:
    """They are driven by hand, without a JVM."""
    script = (
        "import sys; sys.modules.update(dict.fromkeys(('pyspark', 'py4j')))\n"
        "from holdfast.spark.sinks.database import rewinding, staging\n"
        "from holdfast.spark.sinks.database.dialects.postgres import connection, dialect"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_rows_that_are_no_batches_are_not_seen_as_batches(database: str) -> None:
    """Neither by a reader of today nor by one that asks as older versions did."""
    driver = Driver(database)
    driver.write(0)
    driver.generation = 3
    driver.clear()
    reader = PostgresLedger(postgres_address(database, "readings", {}, None))
    assert (reader.queries(), reader.last_committed(QUERY).value) == (frozenset(), None)
    assert getattr(reader.look(5), "newest", None) == {}
    assert batches(database) == []
    reserved = rows_in(
        database,
        f"select query_id, batch_id, generation from {LEDGER} where table_name <> 'readings'",
    )
    assert sorted(reserved) == [("*", -1, 1), (QUERY, -1, 3)]


def test_a_driver_that_opened_the_table_before_a_clear_writes_nothing(database: str) -> None:
    """Also one of a query that the ledger never heard of: its generation tells nothing here."""
    late = Driver(database, generation=9, query_id="unheard")
    move = late.staged(0)
    Driver(database, generation=2).clear()
    assert code_of(late.commit, move) == "HF5047"
    assert (values(database), batches(database)) == ([], [])
    again = Driver(database, generation=10, query_id="unheard")
    assert again.write(0) is None
    assert values(database) == [1]


def test_a_table_that_is_made_again_while_a_batch_is_staged_is_another_one(database: str) -> None:
    """It would have this batch alone, and its ledger would say that all are there."""
    driver = Driver(database)
    driver.write(0)
    late = driver.staged(1)
    rows_in(database, "create table other (like readings); drop table readings")
    rows_in(database, "alter table other rename to readings")
    assert code_of(driver.commit, late) == "HF5027"
    assert (values(database), len(batches(database))) == ([], 1)
    whole = Driver(database, table="whole", mode="complete", batch_column=None)
    whole.write(0)
    move = whole.staged(1)
    rows_in(database, "create table another (like whole); drop table whole")
    rows_in(database, "alter table another rename to whole")
    assert whole.commit(move) is None


def test_a_clear_keeps_the_rows_of_another_query(database: str) -> None:
    """Exactly one has batches, and it is not the one that is meant."""
    other = Driver(database, query_id="another")
    other.write(0)
    assert code_of(Driver(database, generation=2).clear, QUERY) == "HF5011"
    assert (values(database), len(batches(database))) == ([1], 1)
    Driver(database, generation=2).clear(QUERY, "another")
    assert values(database) == []


def test_a_clear_leaves_its_fence_where_nothing_is_there_yet(database: str) -> None:
    """The late driver had only looked; table and ledger are made afterwards."""
    late = Driver(database)
    with late.connected() as connection:
        late.ledger.open(connection)
    Driver(database, generation=2).clear()
    assert code_of(late.staged, 0) == "HF5047"
    Driver(database, generation=2).rewind(-1)
    assert code_of(Driver(database).staged, 0) == "HF5042"
    assert values(database) == []


def test_a_batch_that_is_missing_below_the_newest_is_not_taken_for_held(database: str) -> None:
    """Nobody knows whether its rows are there: neither skipped nor written."""
    driver = Driver(database)
    for number in range(4):
        driver.write(number, (number,))
    rows_in(database, f"delete from {LEDGER} where batch_id = 1")
    assert code_of(driver.staged, 1) == "HF5046"
    assert values(database) == [0, 1, 2, 3]


def test_a_batch_that_this_run_delivered_and_the_ledger_lost_stops_it(database: str) -> None:
    """As after a failover to a standby that was behind; put back, the run continues."""
    driver = Driver(database)
    for number in range(3):
        driver.write(number, (number,))
    rows_in(database, f"delete from {LEDGER} where batch_id in (1, 2)")
    rows_in(database, "delete from readings where value in (1, 2)")
    with pytest.raises(SinkError, match="up to 0: batches 1 to 2 are missing") as caught:
        driver.write(3, (3,))
    assert (caught.value.code.number, caught.value.exit_status) == ("HF5027", 50)
    assert (values(database), batches(database)) == ([0], [0])
    rows_in(database, f"delete from {LEDGER} where table_name = 'readings'")
    assert code_of(driver.write, 3, (3,)) == "HF5027"
    rows_in(database, "delete from readings")
    again = Driver(database, generation=2)
    for number in range(3):
        again.write(number, (number,))
    driver.generation = 2
    assert driver.write(3, (3,)) is None
    assert values(database) == [0, 1, 2, 3]


def test_a_batch_lost_while_the_next_one_is_staged_stops_the_run(database: str) -> None:
    driver = Driver(database)
    driver.write(0, (0,))
    driver.write(1, (1,))
    move = driver.staged(2, (2,))
    rows_in(database, f"delete from {LEDGER} where batch_id = 1")
    assert code_of(driver.commit, move) == "HF5027"
    assert batches(database) == [0]


def test_a_first_batch_expects_nothing_of_earlier_runs_and_a_rewind_lowers_what_is_expected(
    database: str,
) -> None:
    """The start has its own guard for a sink that is behind."""
    driver = Driver(database)
    for number in range(3):
        driver.write(number, (number,))
    driver.rewind(0)
    assert driver.write(1, (1,)) is None
    driver.clear()
    assert driver.write(0, (0,)) is None
    assert Driver(database).write(7, (7,)) is None
    assert values(database) == [0, 7]


def test_a_complete_output_may_lose_a_batch(database: str) -> None:
    """The next batch writes all of it again."""
    driver = Driver(database, mode="complete", batch_column=None)
    driver.write(0, (0,))
    driver.write(1, (0, 1))
    rows_in(database, f"delete from {LEDGER} where batch_id = 1")
    assert driver.write(2, (0, 1, 2)) is None
    assert values(database) == [0, 1, 2]


def test_pruned_batches_are_counted_and_held(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The total goes with them; a batch below is skipped, whatever its offsets."""
    monkeypatch.setattr(KEPT, 3)
    driver = Driver(database)
    for number in range(7):
        driver.write(number, range(number))
    assert batches(database) == [4, 5, 6]
    with driver.connected() as connection:
        state = driver.ledger.state(connection, QUERY, 1)
        held = driver.ledger.committed(connection, driver.identity(3, "other"))
    assert (state.pruned_rows, state.pruned_through, state.rows_known) == (6, 3, True)
    assert held is not None and held.offsets_digest is None
    assert sum(row[0] for row in rows_in(database, f"select rows from {LEDGER}")) == 21


def test_pruning_comes_with_a_hundredth_of_the_batches(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A year of batches is not deleted one by one."""
    monkeypatch.setattr(KEPT, 300)
    fill(database, 305)
    driver = Driver(database)
    driver.write(305)
    assert batches(database)[0] == 0
    driver.write(306)
    assert batches(database)[0] == 7


def fill(uri: str, count: int, *, first: int = 0, query: str = QUERY, table: str = "readings",
         rows: int = 1) -> None:  # fmt: skip
    """Write a ledger as an older Holdfast did, without any row of another kind."""
    driver = Driver(uri, table=table)
    with driver.connected() as connection:
        driver.ledger.create(connection)
    with closing(psycopg.connect(uri, autocommit=True)) as connection:
        connection.execute(
            f"insert into {LEDGER} select %s, %s, n, 'd' || n, 1, %s "
            "from generate_series(%s::bigint, %s) n",
            (table, query, rows, first, first + count - 1),
        )


@pytest.mark.parametrize(
    ("first", "count", "number", "code"),
    [
        (0, 5, 4, None),
        (6, 5, 4, None),
        (6, 4, 4, "HF5046"),
    ],
    ids=["whole", "pruned", "adopted-late"],
)
def test_a_ledger_of_an_older_holdfast_is_used_as_it_is(
    database: str, monkeypatch: pytest.MonkeyPatch, first: int, count: int, number: int,
    code: str | None,
) -> None:  # fmt: skip
    """What it pruned is held; what it never had is not. It goes on without a manual step."""
    monkeypatch.setattr(KEPT, 5)
    fill(database, count, first=first)
    for attempt in range(2):
        driver = Driver(database, generation=2)
        with driver.connected() as connection:
            if code is None:
                assert driver.ledger.committed(connection, driver.identity(number)) is not None
            else:
                known = driver.identity(number)
                assert code_of(driver.ledger.committed, connection, known) == code
        driver.write(first + count + attempt, (5,))
    assert values(database) == [5, 5]


def test_a_role_that_only_reads_and_writes_the_ledger_is_enough(database: str) -> None:
    """It may not alter it, and is not its owner; no new right is needed."""
    fill(database, 2)
    Driver(database).write(2)
    name = database.rpartition("/")[2].partition("?")[0]
    role = f"loader_{name}"
    for statement in (
        f"delete from {LEDGER} where batch_id < 0",
        f"create role {role} login",
        f"grant create, usage on schema public to {role}",
        f"grant select, insert, update, delete on {LEDGER}, readings to {role}",
    ):
        rows_in(database, statement)
    driver = Driver(database.replace("//postgres:@", f"//{role}@"), generation=2)
    driver.write(3)
    assert rows_in(driver.uri, "select current_user") == [(role,)]
    driver.rewind(2)
    driver.write(3, (4,), "new")
    assert (values(database), batches(database)) == ([1, 4], [0, 1, 2, 3])


def test_no_statement_of_a_move_reads_the_whole_ledger(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted by PostgreSQL itself, in a ledger of several years; with and without pruning."""
    monkeypatch.setattr(KEPT, 100)
    fill(database, 101, first=3_000_000)
    fill(database, 20_000, query="other")
    fill(database, 20_000, table="another")
    rows_in(database, f"analyze {LEDGER}")
    driver, scans = Driver(database), []

    class Counted(BatchMove):
        def _insert(self, connection: Any) -> None:
            super()._insert(connection)
            self.ledger.count(connection, self.identity, 1)
            statement = (
                "select seq_scan, seq_tup_read, idx_tup_fetch from pg_stat_xact_user_tables "
                f"where relname = '{LEDGER}'"
            )
            scans.extend(connection.rows(statement))

    for number in (3_000_101, 3_000_102):
        move = driver.staged(number)
        driver.commit(Counted(**vars(move)))
    assert [one[:2] for one in scans] == [(0, 0), (0, 0)]
    assert all(one[2] < 150 for one in scans)


STRANGE = (
    "a%b", "%s", "%(x)s", "{}", "{0}", 'q"q', "it's", "x.y", "Ünï 🎈", "a;b--", "%%", "select",
)  # fmt: skip


@pytest.mark.parametrize("name", STRANGE)
def test_any_name_is_a_name(database: str, name: str) -> None:
    """Of the schema, the table, a column, the key and the batch column; staging lies there too."""
    quoted = psycopg.sql.Identifier(name).as_string(None)
    rows_in(database, f"create schema {quoted}")
    names: dict[str, Any] = {"schema": name, "table": name, "column": name}
    driver = Driver(database, **names, batch_column=f"{name}#")
    driver.write(0, (1, 2))
    driver.write(1, (3,))
    driver.rewind(0)
    assert rows_in(database, f"select {quoted} from {quoted}.{quoted} order by 1") == [(1,), (2,)]
    address = postgres_address(database, f"{quoted}.{quoted}", {}, None)
    assert PostgresLedger(address).last_committed(QUERY).value == 0
    driver.clear()
    rows_in(database, f"drop table {quoted}.{quoted}")
    upserting = Driver(
        database, **names, mode="upsert", key=(name,), batch_column=None, query_id="upserting"
    )
    upserting.write(0, (1, 2))
    upserting.write(1, (2,))
    assert len(rows_in(database, f"select * from {quoted}.{quoted}")) == 2
    complete = Driver(database, **names, mode="complete", batch_column=None, query_id="upserting")
    complete.write(2, (9,))
    assert rows_in(database, f"select * from {quoted}.{quoted}") == [(9,)]


def test_the_generation_in_the_ledger_can_be_reset_by_hand(database: str) -> None:
    """As the reference says, for records that were lost: fences are reset with it."""
    Driver(database, generation=5).write(0)
    Driver(database, generation=6).rewind(0)
    late = Driver(database)
    assert code_of(late.staged, 1) == "HF5042"
    rows_in(database, f"update {LEDGER} set generation = 0 where query_id = '{QUERY}'")
    assert late.write(1) is None


def test_an_unreadable_row_is_not_taken_for_safe(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a hand wrote there counts as unknown."""
    monkeypatch.setattr(KEPT, 2)
    driver = Driver(database)
    for number in range(4):
        driver.write(number)
    rows_in(database, f"update {LEDGER} set offsets_digest = '[]' where batch_id = -1")
    assert code_of(driver.staged, 0) == "HF5046"
    with driver.connected() as connection:
        known = BatchIdentity(QUERY, 3, 1, "d3")
        assert driver.ledger.committed(connection, known) is not None
