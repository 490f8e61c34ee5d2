"""Batches are taken back from PostgreSQL while others want to commit. No Spark."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from holdfast.errors import SinkError
from holdfast.ledgers.database.postgres import LEDGER
from holdfast.spark.sinks.database.staging import BatchMove
from tests.parts.postgres import rows_in
from tests.spark.sinks.database.postgresmoves import Driver
from tests.spark.sinks.database.test_ledger import KEPT, batches, code_of, fill, values
from tests.spark.sinks.deliveries import QUERY


def rewind(driver: Driver) -> None:
    """Take back every batch after the first."""
    driver.rewind(0)


def clear(driver: Driver) -> None:
    """Take back every batch."""
    driver.clear()


BOTH = pytest.mark.parametrize("act", [rewind, clear])


def left_by(act: Callable[[Driver], None]) -> list[int]:
    """Give the batches that are left, each of which has one row with its number."""
    return [0] if act is rewind else []


@BOTH
def test_a_commit_that_comes_late_is_refused(database: str, act: Callable[[Driver], None]) -> None:
    """The batch was staged before; afterwards the ids are free for other rows."""
    old = Driver(database)
    for number in range(2):
        old.write(number, (number,))
    late = old.staged(2, (2,))
    new = Driver(database, generation=3)
    act(new)
    assert code_of(old.commit, late) == "HF5042"
    kept = left_by(act)
    assert (values(database), batches(database)) == (kept, kept)
    for number in range(len(kept), 3):
        assert new.write(number, (number * 10,), "new") is None
    assert values(database) == [*kept, *(number * 10 for number in range(len(kept), 3))]
    assert batches(database) == [0, 1, 2]
    assert code_of(old.staged, 3) == "HF5042"


@BOTH
def test_whoever_takes_back_late_is_refused(database: str, act: Callable[[Driver], None]) -> None:
    """A newer driver has committed since: its batches stay."""
    late = Driver(database, generation=2)
    late.write(0, (0,))
    Driver(database, generation=3).write(1, (1,))
    assert code_of(act, late) == "HF5042"
    assert (values(database), batches(database)) == ([0, 1], [0, 1])


def in_thread(act: Callable[[], object]) -> tuple[threading.Thread, list[str]]:
    """Act in another thread; what it was refused with is in the list afterwards."""
    told: list[str] = []

    def run() -> None:
        try:
            act()
            told.append("done")
        except SinkError as error:
            told.append(error.code.number)

    return threading.Thread(target=run), told


def wait_for_lock(uri: str, thread: threading.Thread) -> None:
    """Wait until somebody waits for a lock, or has not to."""
    waiting = "select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
    while rows_in(uri, waiting) == [(0,)] and thread.is_alive():
        pass


def meanwhile(
    monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, uri: str, thread: threading.Thread
) -> None:
    """Start the thread before a function is called, and let it run until it waits."""
    before = getattr(owner, name)

    def called(*arguments: Any, **named: Any) -> Any:
        monkeypatch.setattr(owner, name, before)
        thread.start()
        wait_for_lock(uri, thread)
        return before(*arguments, **named)

    monkeypatch.setattr(owner, name, called)


@BOTH
@pytest.mark.parametrize("there", [0, 2], ids=["first-batch", "third-batch"])
@pytest.mark.parametrize("step", ["_insert", "_claimed"])
def test_a_commit_in_flight_is_waited_for(
    database: str, monkeypatch: pytest.MonkeyPatch, act: Callable[[Driver], None], there: int,
    step: str,
) -> None:  # fmt: skip
    """It is taken back with the others; nobody is told of a deadlock."""
    old = Driver(database)
    for number in range(there):
        old.write(number, (number,))
    new = Driver(database, generation=3)
    thread, told = in_thread(lambda: act(new))
    move = old.staged(there, (there,))
    if step == "_insert":
        meanwhile(monkeypatch, BatchMove, "_insert", database, thread)
    else:
        meanwhile(monkeypatch, old.ledger, "claim", database, thread)
    assert old.commit(move) is None
    thread.join()
    assert told == ["done"]
    kept = left_by(act)
    assert (values(database), batches(database)) == (kept, kept)


@BOTH
@pytest.mark.parametrize("there", [0, 2], ids=["first-batch", "third-batch"])
def test_a_commit_waits_for_whoever_takes_back(
    database: str, monkeypatch: pytest.MonkeyPatch, act: Callable[[Driver], None], there: int
) -> None:
    """Then it is refused, also where the ledger had no row of the query."""
    old = Driver(database)
    for number in range(there):
        old.write(number, (number,))
    move = old.staged(there, (there,))
    thread, told = in_thread(lambda: old.commit(move))
    new = Driver(database, generation=3)
    meanwhile(monkeypatch, new.ledger, "forget_after", database, thread)
    act(new)
    thread.join()
    refused = "HF5047" if act is clear and there == 0 else "HF5042"
    assert told == [refused]
    kept = left_by(act) if there else []
    assert (values(database), batches(database)) == (kept, kept)


def test_an_append_can_be_cleared_for_ever(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of pruned batches are known as a total; foreign ones are still found."""
    monkeypatch.setattr(KEPT, 3)
    driver = Driver(database, batch_column=None)
    for number in range(8):
        driver.write(number, (number, number))
    rows_in(database, "insert into readings values (99)")
    with pytest.raises(SinkError, match="17 rows, and its batches wrote at most 16") as caught:
        driver.clear()
    assert caught.value.code.number == "HF5011"
    rows_in(database, "delete from readings where value = 99")
    driver.clear()
    assert (values(database), batches(database)) == ([], [])
    driver.write(0, (1,), "new")
    rows_in(database, "insert into readings values (99)")
    with pytest.raises(SinkError, match="2 rows, and its batches wrote at most 1"):
        driver.clear()


def test_a_rewind_ends_where_batches_were_pruned(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a total is known of them; one batch has to stay, by which the job is known."""
    monkeypatch.setattr(KEPT, 3)
    driver = Driver(database)
    for number in range(8):
        driver.write(number, (number,))
    with pytest.raises(SinkError, match="rewound to 5 at the earliest, not to 4") as caught:
        driver.rewind(4)
    assert caught.value.code.number == "HF5011"
    driver.rewind(5)
    assert (values(database), batches(database)) == ([0, 1, 2, 3, 4, 5], [5])
    driver.clear()
    assert values(database) == []


def older_ledger(uri: str, batch_column: str | None) -> Driver:
    """Give a table with ten batches, of which an older Holdfast pruned six."""
    driver = Driver(uri, generation=2, batch_column=batch_column)
    fill(uri, 4, first=6)
    with driver.connected() as connection:
        driver.target(connection)
    number = "n, n" if batch_column else "n"
    rows_in(uri, f"insert into readings select {number} from generate_series(0, 9) n")
    return driver


def test_a_total_that_an_older_holdfast_did_not_keep(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody can know it: refused, with a way that works."""
    monkeypatch.setattr(KEPT, 4)
    driver = older_ledger(database, None)
    for number in (10, 11):
        with pytest.raises(SinkError, match="without a total") as caught:
            driver.clear()
        assert caught.value.code.number == "HF5011"
        assert "delete them yourself" in caught.value.next_steps[0]
        driver.write(number, (number,))
    rows_in(database, "delete from readings")
    driver.clear()
    assert batches(database) == []
    assert code_of(Driver(database).staged, 0) == "HF5042"


def test_rows_of_batches_without_a_total_are_told_by_the_batch_column(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Foreign rows are those that no batch of the job is named for."""
    monkeypatch.setattr(KEPT, 4)
    driver = older_ledger(database, "batch")
    driver.write(10, (10,))
    for foreign in ("99, null", "99, 12", "99, 8"):
        rows_in(database, f"insert into readings values ({foreign})")
        with pytest.raises(SinkError, match="belong to no pruned batch"):
            driver.clear()
        rows_in(database, "delete from readings where value = 99")
    driver.clear()
    assert (values(database), batches(database)) == ([], [])


def test_complete_is_cleared_by_its_newest_batch_alone(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Older ones are not in the table any more, however many were pruned."""
    monkeypatch.setattr(KEPT, 2)
    fill(database, 5)
    driver = Driver(database, mode="complete", batch_column=None)
    driver.write(5, (1, 2))
    driver.clear()
    assert values(database) == []


def test_a_fence_never_goes_back(database: str) -> None:
    """A second take-back under the same lease keeps it; the ledger's own row tells it."""
    driver = Driver(database, generation=4)
    driver.write(0, (0,))
    driver.rewind(0)
    driver.clear()
    fence = f"select generation from {LEDGER} where batch_id = -1 and query_id = '{QUERY}'"
    assert rows_in(database, fence) == [(4,)]
    assert code_of(Driver(database, generation=3).rewind, 0) == "HF5042"
