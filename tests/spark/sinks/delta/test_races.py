"""A driver that wakes late, at each named point of a batch, while its successor was at work.

Judged by the rows: each batch is there once, and no older result ever replaces a newer one.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holdfast.ledgers.delta.log import Commit
from holdfast.spark.sinks import rowchecks
from holdfast.spark.sinks.delta import sink as delta
from tests.drawing import draw
from tests.spark.sinks.deliveries import QUERY, delta_sink, identity, rows_of
from tests.spark.sinks.delta.test_conflicts import meanwhile, waiting
from tests.spark.sinks.promises.delivering import outcome

pytestmark = pytest.mark.spark

SCHEMA = "sensor string, value int"
MODES = pytest.mark.parametrize("mode", ["append", "upsert", "complete"])
AHEAD = pytest.mark.parametrize("ahead", [1, 2], ids=["the same batch", "the same and the next"])


class Race:
    """One table, the late driver (generation 1) and its successor (generation 2)."""

    def __init__(self, spark: Any, table: Path, mode: str) -> None:
        self.spark, self.table, self.mode = spark, table, mode
        self.late, self.successor = self.driver(), self.driver()
        assert self.write(self.late, 0, 1) == "written"
        self.told: list[str] = []

    def driver(self) -> Any:
        """Start a driver."""
        sink = delta_sink(self.spark, self.table, self.mode, key=("sensor",))
        sink.prepare(self.batch(0).schema, begun=True)
        return sink

    def batch(self, number: int) -> Any:
        """Give the rows of a batch: every one changes the same key and brings one of its own."""
        rows = [("same", number), (f"own {number}", number)]
        return self.spark.createDataFrame(rows, SCHEMA).coalesce(1)

    def write(self, sink: Any, number: int, generation: int, digest: str = "d") -> str:
        """Deliver a batch, and tell what became of it."""
        given = identity(number, digest, generation=generation)
        return outcome(lambda: sink.write(self.batch(number), given))

    def get_ahead(self, batches: int) -> Callable[[], None]:
        """Give what the successor does: the same batch, or that and the next."""

        def act() -> None:
            self.told = [self.write(self.successor, 1 + number, 2) for number in range(batches)]

        return act

    def judge(self, newest: int) -> None:
        """Every batch up to the newest is there once, and what it replaced is gone."""
        batches = range(newest + 1)
        expected = {
            "append": [row for one in batches for row in (("same", one), (f"own {one}", one))],
            "upsert": [("same", newest), *((f"own {one}", one) for one in batches)],
            "complete": [("same", newest), (f"own {newest}", newest)],
        }[self.mode]
        assert rows_of(self.spark, self.table) == sorted(expected)
        written = [
            one.version
            for file in sorted((self.table / "_delta_log").glob("*.json"))
            for one in Commit(file.read_bytes()).transactions
            if one.app_id == QUERY
        ]
        assert written == list(batches)
        assert self.late.last_committed(QUERY).value == newest


def wake(monkeypatch: pytest.MonkeyPatch, point: str, act: Callable[[], object]) -> None:
    """Let the successor act the first time that the late driver comes to a point."""

    def reach(name: str) -> None:
        if name == point:
            monkeypatch.undo()
            act()

    monkeypatch.setattr(delta, "reach", reach)


@draw("mode", "ahead")
@MODES
@AHEAD
@pytest.mark.parametrize("point", ["delta.before-check", "sink.before-commit"])
def test_late_before_its_commit(
    spark: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    mode: str,
    ahead: int,
    point: str,
) -> None:
    """The successor has done the batch: the late one is skipped, and so is all that follows."""
    race = Race(spark, tmp_path / "table", mode)
    wake(monkeypatch, point, race.get_ahead(ahead))
    assert race.write(race.late, 1, 1) == "skipped"
    assert race.told == ["written"] * ahead
    race.judge(ahead)
    for number in range(ahead + 1):
        assert race.write(race.late, number, 1) == "skipped"
    race.judge(ahead)
    assert race.write(race.successor, ahead + 1, 2) == "written"
    race.judge(ahead + 1)


@draw("mode", "ahead")
@MODES
@AHEAD
def test_late_after_its_commit(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, ahead: int
) -> None:
    """It was first: the successor skips the batch and goes on."""
    race = Race(spark, tmp_path / "table", mode)
    wake(monkeypatch, "sink.after-commit", race.get_ahead(ahead))
    assert race.write(race.late, 1, 1) == "written"
    assert race.told == ["skipped", "written"][:ahead]
    race.judge(ahead)
    assert race.write(race.late, 2, 1) == ("written" if ahead == 1 else "skipped")
    race.judge(2)


@draw("mode", "ahead")
@MODES
@AHEAD
def test_late_after_a_conflict(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, ahead: int
) -> None:
    """Somebody altered the table; before it tries again, the successor has done the batch."""
    race = Race(spark, tmp_path / "table", mode)
    alter = f"alter table delta.`{race.table}` set tblproperties ('changed.by' = 'somebody')"
    slow = waiting(race.batch(1), tmp_path)
    wake(monkeypatch, "delta.conflict", race.get_ahead(ahead))
    if mode == "upsert":
        monkeypatch.setattr(rowchecks, "one_row_a_key", lambda rows, *_: waiting(rows, tmp_path))
        slow = race.batch(1)
    thread = meanwhile(tmp_path, lambda: spark.sql(alter))
    told = outcome(lambda: race.late.write(slow, identity(1)))
    thread.join()
    assert (told, race.told) == ("skipped", ["written"] * ahead)
    race.judge(ahead)


@draw("mode", "ahead")
@MODES
@AHEAD
def test_late_while_its_rows_are_computed(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, ahead: int
) -> None:
    """Its transaction was begun before: Delta itself refuses it, and it is not tried again."""
    race = Race(spark, tmp_path / "table", mode)
    slow = waiting(race.batch(1), tmp_path)
    act = race.get_ahead(ahead)
    if mode == "upsert":
        monkeypatch.setattr(rowchecks, "one_row_a_key", lambda rows, *_: waiting(rows, tmp_path))
        slow = race.batch(1)

    def successor() -> None:
        monkeypatch.undo()
        act()

    thread = meanwhile(tmp_path, successor)
    told = outcome(lambda: race.late.write(slow, identity(1)))
    thread.join()
    assert (told, race.told) == ("skipped", ["written"] * ahead)
    race.judge(ahead)


@draw("mode")
@MODES
@pytest.mark.parametrize("point", ["delta.before-check", "sink.before-commit"])
def test_another_plan_of_the_batch_is_refused(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, point: str
) -> None:
    """The late driver planned the id with other offsets: it stops, and nothing of it is there."""
    race = Race(spark, tmp_path / "table", mode)
    wake(monkeypatch, point, race.get_ahead(2))
    assert race.write(race.late, 1, 1, "other") == "HF5003"
    race.judge(2)
