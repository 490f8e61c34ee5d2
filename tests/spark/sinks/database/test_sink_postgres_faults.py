"""What breaks while a batch goes to PostgreSQL: afterwards every row is there once."""

from __future__ import annotations

import threading
from typing import Any

import psycopg
import pytest

from holdfast.errors import SinkError
from holdfast.ledgers.database.postgres import LEDGER
from holdfast.spark.sinks.database import sink as databasesink
from holdfast.spark.sinks.database.staging import prefix_of
from holdfast.spark.sinks.rowchecks import rows_to_write
from tests.parts.ports import free_port
from tests.parts.postgres import rows_in
from tests.spark.sinks.deliveries import QUERY, identity, postgres_sink

pytestmark = pytest.mark.spark

MOVE = "holdfast.spark.sinks.database.staging.reach"
KILL = "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() "


def numbers(spark: Any, count: int = 10) -> Any:
    """Give a batch of two partitions."""
    return spark.range(count, numPartitions=2)


def ids(uri: str) -> list[int]:
    """Give every row of the table."""
    return sorted(row[0] for row in rows_in(uri, "select id from readings"))


def staging_tables(uri: str) -> list[str]:
    """Name the staging tables that are there."""
    query = "select tablename from pg_tables where tablename like 'holdfast_staging%'"
    return [row[0] for row in rows_in(uri, query)]


def at_point(monkeypatch: pytest.MonkeyPatch, point: str, act: Any) -> None:
    """Let something happen the first time that a point is reached."""

    def reach(reached: str) -> None:
        if reached == point:
            monkeypatch.undo()
            act()

    monkeypatch.setattr(MOVE, reach)


@pytest.mark.parametrize("digest", ["d", "other"])
def test_two_drivers_race_the_first_batch(
    spark: Any, database: str, monkeypatch: pytest.MonkeyPatch, digest: str
) -> None:
    """Nothing is there to lock yet: the second waits for the first, then it is too late."""
    zombie, successor = postgres_sink(spark, database), postgres_sink(spark, database)
    told: list[Any] = []

    def late() -> None:
        try:
            told.append(zombie.write(numbers(spark), identity(0, digest)))
        except SinkError as error:
            told.append(error.code.number)

    thread = threading.Thread(target=late)

    def meanwhile() -> None:
        thread.start()
        waiting = "select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
        while rows_in(database, waiting) == [(0,)] and thread.is_alive():
            pass

    at_point(monkeypatch, "sink.before-commit", meanwhile)
    assert not successor.write(numbers(spark), identity(0, generation=2)).skipped
    thread.join()
    assert told == ["HF5042"]
    assert ids(database) == list(range(10))
    held = f"select generation, offsets_digest from {LEDGER} where batch_id >= 0"
    assert rows_in(database, held) == [(2, "d0")]
    assert staging_tables(database) == []


def test_an_older_driver_is_refused_and_a_newer_one_finds_its_batch(
    spark: Any, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The zombie's commit came first: the successor skips. Afterwards the zombie is refused."""
    zombie, successor = postgres_sink(spark, database), postgres_sink(spark, database)
    zombie.write(numbers(spark), identity(0))

    def rows(batch: Any, sink: Any) -> Any:
        monkeypatch.undo()
        assert not zombie.write(numbers(spark), identity(1)).skipped
        return rows_to_write(batch, sink)

    monkeypatch.setattr(databasesink, "rows_to_write", rows)
    assert successor.write(numbers(spark), identity(1, generation=2)).skipped
    successor.write(numbers(spark), identity(2, generation=2))
    for number in (2, 3):
        with pytest.raises(SinkError, match="generation 2 wrote batch 2") as caught:
            zombie.write(numbers(spark), identity(number))
        assert caught.value.code.number == "HF5042"
    assert ids(database) == sorted([*range(10)] * 3)


@pytest.mark.parametrize("point", ["sink.before-commit", "sink.after-commit"])
def test_a_commit_whose_answer_is_lost(
    spark: Any, database: str, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    """The ledger is asked on a new connection: done, or done now; never twice."""
    sink = postgres_sink(spark, database)

    def lose() -> None:
        rows_in(database, KILL)
        raise psycopg.OperationalError("the connection is lost")

    at_point(monkeypatch, point, lose)
    delivery = sink.write(numbers(spark), identity(0))
    assert (delivery.skipped, delivery.rows) == (False, 10)
    assert ids(database) == list(range(10))
    assert staging_tables(database) == []


def test_a_connection_that_drops_in_the_middle_of_copy(spark: Any, database: str) -> None:
    """Spark does not try again here: a clear error, nothing written; the next run is whole."""
    sink = postgres_sink(spark, database)
    killing = f"{KILL} and query like 'copy %'"
    killed: list[Any] = []

    def kill() -> None:
        with psycopg.connect(database, autocommit=True) as connection:
            while not killed:
                killed.extend(connection.execute(killing).fetchall())

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        with pytest.raises(SinkError, match="could not load its rows") as caught:
            sink.write(numbers(spark, 200_000), identity(0))
    finally:
        killed.append("enough")
        thread.join()
    assert caught.value.code.number == "HF5041"
    assert (ids(database), sink.last_committed(QUERY).value) == ([], None)
    assert staging_tables(database) == []
    assert sink.write(numbers(spark), identity(0)).rows == 10


def test_staged_rows_that_a_crashed_server_forgot(
    spark: Any, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unlogged tables are empty after a crash: fewer rows are never taken for the batch."""
    sink = postgres_sink(spark, database)
    commit = sink._commit

    def emptied(move: Any) -> Any:
        rows_in(database, f'truncate "{move.staging}"')
        return commit(move)

    monkeypatch.setattr(sink, "_commit", emptied)
    with pytest.raises(SinkError, match="0 of 10 staged rows") as caught:
        sink.write(numbers(spark), identity(0))
    assert caught.value.code.number == "HF5045"
    assert (ids(database), sink.last_committed(QUERY).value) == ([], None)


def test_a_trigger_may_want_fewer_rows(spark: Any, database: str) -> None:
    """That is the owner's wish, not a loss."""
    sink = postgres_sink(spark, database)
    sink.write(numbers(spark, 0), identity(0))
    rows_in(database, "create function few() returns trigger language plpgsql as "
            "'begin if new.id > 3 then return null; end if; return new; end'")  # fmt: skip
    rows_in(database, "create trigger few before insert on readings for each row "
            "execute function few()")  # fmt: skip
    assert not sink.write(numbers(spark), identity(1)).skipped
    assert ids(database) == [0, 1, 2, 3]


def test_what_dead_drivers_left_is_dropped(spark: Any, database: str) -> None:
    """Of older generations of the same query alone."""
    sink = postgres_sink(spark, database)
    names = [f"{prefix_of('readings', QUERY)}{generation}_0_00" for generation in (1, 2, 3)] + [
        "holdfast_staging_000000000000_1_0_00"
    ]
    for name in names:
        rows_in(database, f"create unlogged table {name} (id int)")
    sink.write(numbers(spark), identity(0, generation=2))
    assert sorted(staging_tables(database)) == sorted(names[1:])


def test_a_server_that_does_not_answer(spark: Any) -> None:
    """Told without the password; asked, the sink does not raise."""
    uri = f"postgresql://loader:hunter-two-2@127.0.0.1:{free_port()}/none?connect_timeout=5"
    sink = postgres_sink(spark, uri)
    with pytest.raises(SinkError, match="is unreachable") as caught:
        sink.prepare(numbers(spark).schema, begun=False)
    assert caught.value.code.number == "HF5041"
    told = sink.last_committed(QUERY)
    assert told.value is None and "can't be asked" in told.basis
    assert sink.queries() == frozenset()
    for text in (
        caught.value.message,
        told.basis,
        str(sink.identity),
        repr(sink._dialect._address),
    ):
        assert "hunter-two-2" not in text


def disturb(database: str, words: str, state: str, *, tries: str) -> None:
    """Let the server raise an error in the middle of the transactions that move rows."""
    rows_in(database, "create sequence tries")
    rows_in(database, "create function disturbed() returns trigger language plpgsql as "
            f"$$begin if nextval('tries') {tries} then raise exception '{words}' "
            f"using errcode = '{state}'; end if; return null; end$$")  # fmt: skip
    rows_in(database, "create trigger disturbed after insert on readings "
            "for each statement execute function disturbed()")  # fmt: skip


def test_a_full_disk_is_told_at_once(spark: Any, database: str) -> None:
    """The server answers: it is not called unreachable, and not asked again and again."""
    sink = postgres_sink(spark, database)
    sink.write(numbers(spark, 0), identity(0))
    disturb(database, "no room", "53100", tries=">= 1")
    with pytest.raises(SinkError) as caught:
        sink.write(numbers(spark), identity(1))
    assert caught.value.code.number == "HF5044" and "no room" in caught.value.message
    assert rows_in(database, "select last_value from tries") == [(1,)]
    assert ids(database) == []


def test_a_serialization_failure_is_tried_again(spark: Any, database: str) -> None:
    """As a stricter server raises it in the middle of the transaction: once more, and once."""
    sink = postgres_sink(spark, database)
    sink.write(numbers(spark, 0), identity(0))
    disturb(database, "could not serialize access", "40001", tries="= 1")
    assert sink.write(numbers(spark), identity(1)).rows == 10
    assert rows_in(database, "select last_value from tries") == [(2,)]
    assert ids(database) == list(range(10))
    held = f"select batch_id, rows from {LEDGER} where batch_id >= 0 order by 1"
    assert rows_in(database, held) == [(0, 0), (1, 10)]
