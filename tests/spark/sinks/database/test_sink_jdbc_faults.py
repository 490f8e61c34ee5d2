"""What breaks while a batch goes through JDBC: afterwards every row is there once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import SinkError
from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.database.postgres import LEDGER
from holdfast.spark.sinks.database.dialects.jdbc.connection import JdbcDatabase, shown_words
from holdfast.spark.sinks.database.dialects.jdbc.tables import JdbcTables
from holdfast.spark.sinks.database.ledger import DatabaseLedger
from holdfast.spark.sinks.database.staging import prefix_of
from tests.drawing import draw
from tests.parts.classarchive import quick_environment
from tests.parts.ports import free_port
from tests.spark.sinks.database.jdbcplaces import Place, h2_place, postgres_place
from tests.spark.sinks.deliveries import AT, QUERY, identity

pytestmark = [pytest.mark.spark, draw("either")]

MOVE, SINK = (
    "holdfast.spark.sinks.database.staging.reach",
    "holdfast.spark.sinks.database.sink.reach",
)
ROOT = Path(__file__).parents[4]
COMMIT = b"COMMIT\0"
"""The whole statement, not a part of READ COMMITTED."""


@pytest.fixture
def place(spark: Any, database: str) -> Iterator[Place]:
    """Give a fresh PostgreSQL database behind a door."""
    with postgres_place(spark, database) as found:
        yield found


def numbers(place: Place, count: int = 10) -> Any:
    """Give a batch of two partitions."""
    return place.session.range(count, numPartitions=2)


def ids(place: Place) -> list[int]:
    """Give every row of the table."""
    return sorted(row[0] for row in place.rows('select "id" from readings'))


def at_point(monkeypatch: pytest.MonkeyPatch, where: str, point: str, act: Any) -> None:
    """Let something happen the first time that a point is reached."""

    def reach(reached: str) -> None:
        if reached == point:
            monkeypatch.undo()
            act()

    monkeypatch.setattr(where, reach)


@pytest.mark.parametrize("begun", [False, True])
def test_two_drivers_race(place: Place, monkeypatch: pytest.MonkeyPatch, begun: bool) -> None:
    """The second waits for the first, then it is too late; also where there is nothing to lock."""
    zombie, successor = place.sink(), place.sink()
    told: list[Any] = []
    if begun:
        zombie.write(numbers(place, 0), identity(0))
    newest = int(begun)

    def late() -> None:
        try:
            told.append(zombie.write(numbers(place), identity(newest + begun)))
        except SinkError as error:
            told.append(error.code.number)

    thread = threading.Thread(target=late)

    def meanwhile() -> None:
        thread.start()
        waiting = "select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
        while place.rows(waiting) == [(0,)] and thread.is_alive():
            pass

    at_point(monkeypatch, MOVE, "sink.before-commit", meanwhile)
    assert not successor.write(numbers(place), identity(newest, generation=2)).skipped
    thread.join()
    assert told == ["HF5042"]
    assert ids(place) == list(range(10))
    held = f"select batch_id, generation from {LEDGER} where batch_id >= 0 order by 1 desc"
    assert place.rows(held)[0] == (newest, 2)
    assert place.tables() == {"readings", LEDGER}


def test_a_zombie_whose_commit_came_first(
    spark: Any, h2: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The successor finds its batch and skips; afterwards the zombie is refused. On H2."""
    place = h2_place(spark, h2)
    zombie, successor = place.sink(), place.sink()

    def first() -> None:
        assert not zombie.write(numbers(place), identity(0)).skipped

    at_point(monkeypatch, SINK, "jdbc.staged", first)
    assert successor.write(numbers(place), identity(0, generation=2)).skipped
    successor.write(numbers(place), identity(1, generation=2))
    with pytest.raises(SinkError, match="generation 2 wrote batch 1") as caught:
        zombie.write(numbers(place), identity(2))
    assert caught.value.code.number == "HF5042"
    assert "start the job again" in caught.value.next_steps[1]
    assert ids(place) == sorted([*range(10)] * 2)


def test_a_commit_whose_answer_is_lost(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server committed; the ledger is asked on a new connection, and holds the batch."""
    assert place.door is not None
    losing = place.door.lose_answer_to
    at_point(monkeypatch, MOVE, "sink.before-commit", lambda: losing(COMMIT))
    delivery = place.sink().write(numbers(place), identity(0))
    assert place.door.lost.is_set()
    assert (delivery.skipped, delivery.rows) == (False, 10)
    assert ids(place) == list(range(10))


def test_a_connection_that_is_cut_before_the_commit(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything is taken back by the server, and done again."""
    assert place.door is not None
    at_point(monkeypatch, MOVE, "sink.before-commit", place.door.cut)
    delivery = place.sink().write(numbers(place), identity(0))
    assert (delivery.skipped, delivery.rows) == (False, 10)
    assert (ids(place), place.tables()) == (list(range(10)), {"readings", LEDGER})


def test_a_server_that_stays_away(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clear error; nothing is written, and the next run is whole."""
    assert place.door is not None
    monkeypatch.setattr("holdfast.spark.sinks.database.sink._FIRST_PAUSE_SECONDS", 0.0)
    sink = place.sink()
    at_point(monkeypatch, MOVE, "jdbc.moved", place.door.close)
    with pytest.raises(SinkError, match="is unreachable") as caught:
        sink.write(numbers(place), identity(0))
    assert caught.value.code.number == "HF5071"
    assert ids(place) == []
    assert sink.last_committed(QUERY).value is None
    with postgres_place(place.session, place.uri or "") as again:
        assert again.sink().write(numbers(place), identity(0, generation=2)).rows == 10
    assert (ids(place), place.tables()) == (list(range(10)), {"readings", LEDGER})


def test_serialization_failures_are_tried_again_and_constraints_are_not(place: Place) -> None:
    """What a constraint says is told without values."""
    sink = place.sink()
    sink.write(numbers(place, 0), identity(0))
    place.rows("create sequence tries")
    place.rows("create function fail() returns trigger language plpgsql as $$ begin "
               "if nextval('tries') < 3 then raise exception 'no' using errcode = '40001'; "
               "end if; return null; end $$")  # fmt: skip
    place.rows("create trigger fail after insert on readings execute function fail()")
    assert sink.write(numbers(place), identity(1)).rows == 10
    assert place.rows("select last_value from tries") == [(3,)]
    place.rows('alter table readings add check ("id" < 9000)')
    with pytest.raises(SinkError, match="violates check constraint") as caught:
        sink.write(place.session.range(7123456789, 7123456790), identity(2))
    assert caught.value.code.number == "HF5072"
    assert "7123456789" not in caught.value.message
    assert place.rows("select last_value from tries") == [(3,)]
    assert (ids(place), sink.last_committed(QUERY).value) == (list(range(10)), 1)
    assert place.tables() == {"readings", LEDGER}


def test_rows_of_beaten_attempts_do_not_count_and_lost_rows_do(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fewer rows than Spark loaded are never taken for the batch."""
    sink = place.sink()

    def on_staging(statement: str) -> None:
        (name,) = [one for one in place.tables() if one.startswith("holdfast_staging_")]
        place.rows(statement.format(name))

    doubled = "insert into {0} select holdfast_attempt + 1000, c0 from {0}"
    at_point(monkeypatch, SINK, "jdbc.staged", lambda: on_staging(doubled))
    assert sink.write(numbers(place), identity(0)).rows == 10
    assert ids(place) == list(range(10))
    gone = "delete from {0} where c0 > 6"
    at_point(monkeypatch, SINK, "jdbc.staged", lambda: on_staging(gone))
    with pytest.raises(SinkError, match="7 of 10 staged rows") as caught:
        sink.write(numbers(place), identity(1))
    assert caught.value.code.number == "HF5073"
    assert (ids(place), sink.last_committed(QUERY).value) == (list(range(10)), 0)


def test_a_value_that_can_not_be_staged(place: Place) -> None:
    """PostgreSQL stores no NUL: told without the row, nothing written."""
    with pytest.raises(SinkError, match="could not load its rows") as caught:
        batch = place.session.createDataFrame([("geheim\0",)], "word string")
        place.sink().write(batch, identity(0))
    assert caught.value.code.number == "HF5072"
    assert "geheim" not in caught.value.message
    assert place.sink().last_committed(QUERY).value is None


def test_what_dead_drivers_left_is_dropped(spark: Any, h2: str) -> None:
    """Of older generations of the same query alone. On H2, which keeps names in capitals."""
    place = h2_place(spark, h2)
    names = [f"{prefix_of('READINGS', QUERY)}{generation}_0_00" for generation in (1, 2, 3)] + [
        "holdfast_staging_000000000000_1_0_00"
    ]
    for name in names:
        place.rows(f"create table {name} (id int)")
    place.sink().write(numbers(place), identity(0, generation=2))
    left = {one for one in place.tables() if one.startswith("holdfast_staging")}
    assert left == set(names[1:])


def test_a_server_that_does_not_answer(spark: Any) -> None:
    """Told without the password; asked, the sink does not raise."""
    url = f"jdbc:postgresql://127.0.0.1:{free_port()}/none?user=loader"
    sink = Place(spark, url, None).sink(options={"password": "hunter-two-2"})
    with pytest.raises(SinkError, match="is unreachable") as caught:
        sink.prepare(spark.range(1).schema, begun=False)
    assert caught.value.code.number == "HF5071"
    told = sink.last_committed(QUERY)
    assert told.value is None and "can't be asked" in told.basis
    for text in (caught.value.message, told.basis, str(sink.identity)):
        assert "hunter-two-2" not in text


def test_a_database_without_transactions_is_refused(place: Place) -> None:
    """A batch could not be one act."""

    class Metadata:
        def supportsTransactions(self) -> bool:  # noqa: N802 - Java's name
            return False

    class Raw:
        def getMetaData(self) -> Metadata:  # noqa: N802 - Java's name
            return Metadata()

    sink = ReadySink("jdbc", "append", AT, table="readings")
    database = JdbcDatabase(place.session, sink, place.url)
    with pytest.raises(SinkError, match="has no transactions") as caught:
        JdbcTables(Raw(), database, sink).locate()
    assert caught.value.code.number == "HF5072"


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("ERROR: duplicate key\n  Detail: Key (k)=(geheim)", "ERROR: duplicate key"),
        ("Value too long for column \"W VARCHAR(3)\": \"'geheim' (6)\"; SQL statement:\ninsert",
         'Value too long for column "W VARCHAR(3)"'),
        ("Duplicate entry 'geheim' for key 'k'", "Duplicate entry '…' for key '…'"),
    ],
)  # fmt: skip
def test_words_of_a_driver_hold_no_values(message: str, words: str) -> None:
    """As PostgreSQL, H2 and MySQL phrase them."""
    assert shown_words(message) == words


RETRIED = """
import json, sys
from pathlib import Path
from holdfast.running.settings import SessionOptions
from holdfast.spark.session.opening import open_session, stop_session
from tests.spark.sinks.deliveries import identity
from tests.spark.sinks.database.jdbcplaces import Place

wish = SessionOptions("retried", "local[2,4]", features=frozenset({"postgres"}), folder=Path.cwd())
session = open_session(wish)
delivery = Place(session, sys.argv[1], None).sink().write(
    session.range(10, numPartitions=2), identity(0)
)
print(json.dumps(["told", delivery.skipped, delivery.rows]))
stop_session(session)
"""


def test_a_retried_task_whose_first_attempt_had_committed(place: Place, tmp_path: Path) -> None:
    """A real retry, in a process of its own: the answer to a task's COMMIT is lost."""
    assert place.door is not None
    place.door.lose_answer_to(COMMIT)
    script = tmp_path / "retried.py"
    script.write_text(RETRIED, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script), place.url],
        env={
            **quick_environment(),
            "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "src"))),
        },
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout.splitlines()[-1]) == ["told", False, 10]
    assert place.door.lost.is_set()
    assert ids(place) == list(range(10))


@pytest.fixture(params=["h2", "postgres"])
def either(request: pytest.FixtureRequest, spark: Any) -> Iterator[Place]:
    """Give a fresh database of either kind."""
    if request.param == "h2":
        yield h2_place(spark, request.getfixturevalue("h2"))
        return
    with postgres_place(spark, request.getfixturevalue("database")) as found:
        yield found


@pytest.mark.parametrize("cleared", [False, True], ids=["rewind", "clear"])
@pytest.mark.parametrize("there", [0, 2], ids=["first-batch", "third-batch"])
def test_taking_back_waits_for_a_commit_in_flight_and_refuses_the_next(
    either: Place, monkeypatch: pytest.MonkeyPatch, cleared: bool, there: int
) -> None:
    """Also where the ledger has no row of the query; whoever comes late writes nothing."""
    old, new = (either.sink(batch_column="batch") for _ in range(2))
    for number in range(there):
        old.write(numbers(either, 1), identity(number))
    told: list[str] = []

    def take_back() -> None:
        try:
            new.clear(generation=3) if cleared else new.rewind(QUERY, 0, generation=3)
            told.append("done")
        except SinkError as error:
            told.append(error.code.number)

    thread = threading.Thread(target=take_back)

    def meanwhile() -> None:
        thread.start()
        while either.uri is not None and thread.is_alive():
            waiting = "select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
            if either.rows(waiting) != [(0,)]:
                return

    at_point(monkeypatch, MOVE, "sink.before-commit", meanwhile)
    assert not old.write(numbers(either, 1), identity(there)).skipped
    thread.join()
    # H2 does not tell who waits: the other one may not have begun yet, and comes afterwards.
    assert told == ["done"]
    left = 0 if cleared else 1
    assert either.rows("select count(*) from readings") == [(left,)]
    with pytest.raises(SinkError) as caught:
        old.write(numbers(either, 1), identity(there + 1))
    assert caught.value.code.number == "HF5042"
    assert not new.write(numbers(either, 2), identity(left, "new", generation=3)).skipped
    assert either.rows("select count(*) from readings") == [(left + 2,)]


@pytest.mark.parametrize("cleared", [False, True], ids=["rewind", "clear"])
def test_a_table_that_is_made_while_batches_are_taken_back(
    either: Place, monkeypatch: pytest.MonkeyPatch, cleared: bool
) -> None:
    """It was not there when it was looked for first: what it holds is taken back all the same."""
    old, new = (either.sink(batch_column="batch") for _ in range(2))
    create = DatabaseLedger.create

    def meanwhile(self: DatabaseLedger, *values: Any) -> None:
        monkeypatch.undo()
        for number in range(2):
            old.write(numbers(either, 1), identity(number))
        create(self, *values)

    monkeypatch.setattr(DatabaseLedger, "create", meanwhile)
    new.clear(generation=3) if cleared else new.rewind(QUERY, 0, generation=3)
    assert either.rows("select count(*) from readings") == [(0 if cleared else 1,)]
    assert new.last_committed(QUERY).value == (None if cleared else 0)


def test_a_first_batch_that_comes_late_after_a_clear(
    either: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ledger never heard of the query: whoever opened the table before is refused."""
    late, new = (either.sink(batch_column="batch") for _ in range(2))
    at_point(monkeypatch, SINK, "jdbc.staged", lambda: new.clear(generation=2))
    with pytest.raises(SinkError) as caught:
        late.write(numbers(either), identity(0))
    assert caught.value.code.number == "HF5047"
    assert either.rows("select count(*) from readings") == [(0,)]
    assert new.last_committed(QUERY).value is None


def test_pruned_batches_are_counted_and_a_gap_is_not_held(
    either: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was pruned is skipped and can be cleared; what is missing otherwise is refused."""
    monkeypatch.setattr("holdfast.spark.sinks.database.ledger.KEPT_BATCHES", 2)
    sink = either.sink(batch_column="batch")
    for number in range(5):
        sink.write(numbers(either, number), identity(number))
    held = f"select batch_id from {LEDGER} where batch_id >= 0 order by 1"
    assert either.rows(held) == [(3,), (4,)]
    assert sink.write(numbers(either), identity(1)).skipped
    either.rows(f"delete from {LEDGER} where batch_id = 3")
    with pytest.raises(SinkError) as caught:
        sink.write(numbers(either), identity(3))
    assert caught.value.code.number == "HF5046"
    with pytest.raises(SinkError, match="rewound to 3 at the earliest"):
        sink.rewind(QUERY, 2, generation=1)
    with pytest.raises(SinkError, match="10 rows, and its batches wrote at most 7"):
        sink.clear(generation=1)
    either.rows('delete from readings where "batch" = 3')
    sink.clear(generation=1)
    assert either.rows("select count(*) from readings") == [(0,)]


def test_a_ledger_of_an_older_holdfast_without_a_total(
    either: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of pruned batches are told by the batch column; without one it is refused."""
    sink = either.sink(batch_column="batch")
    for number in range(4):
        sink.write(numbers(either, 1), identity(number))
    either.rows(f"delete from {LEDGER} where batch_id < 2")
    monkeypatch.setattr("holdfast.spark.sinks.database.ledger.KEPT_BATCHES", 2)
    with pytest.raises(SinkError, match="without a total") as caught:
        either.sink().clear(generation=1)
    assert "delete them yourself" in caught.value.next_steps[0]
    assert sink.write(numbers(either), identity(0, generation=2)).skipped
    either.sink(batch_column="batch").clear(generation=2)
    assert either.rows("select count(*) from readings") == [(0,)]


@pytest.mark.parametrize("name", ["a%b", "%s", "{}", 'q"q', "x.y", "Ünï?", "it's"])
def test_any_name_is_a_name(either: Place, name: str) -> None:
    """Of the schema, the table, a column and the batch column."""
    quoted = '"' + name.replace('"', '""') + '"'
    either.rows(f"create schema {quoted}")
    batch_column = f"{name}#"
    sink = either.sink(table=f"{quoted}.{quoted}", batch_column=batch_column)
    batch = numbers(either, 2).toDF(name)
    sink.prepare(batch.schema, begun=False)
    for number in range(2):
        assert sink.write(batch, identity(number)).rows == 2
    sink.rewind(QUERY, 0, generation=1)
    assert either.rows(f"select count({quoted}) from {quoted}.{quoted}") == [(2,)]
    assert sink.last_committed(QUERY).value == 0
    sink.clear(generation=1)
    assert either.rows(f"select count(*) from {quoted}.{quoted}") == [(0,)]
