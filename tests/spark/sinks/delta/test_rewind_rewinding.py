"""Taking batches of a Delta table back: all that it says, or nothing at all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from holdfast.crashpoints import VARIABLE
from holdfast.errors import SinkError
from holdfast.spark.sinks.delta import rewind as deltatakeback
from holdfast.spark.sinks.delta import sink as delta
from holdfast.spark.sinks.delta.rewind import TableCommands
from tests.drawing import draw
from tests.spark.sinks.deliveries import QUERY, delta_sink, identity, rows_of

pytestmark = pytest.mark.spark

SCHEMA = "sensor string, value int"


def frame(spark: Any, value: int, sensor: str = "o u%r/é") -> Any:
    """Give a batch of one row."""
    return spark.createDataFrame([(sensor, value)], SCHEMA).coalesce(1)


def filled(
    spark: Any, table: Path, batches: int, mode: str = "append", partition_by: tuple[str, ...] = ()
) -> Any:
    """Write batches of one row each, and give the sink."""
    sink = delta_sink(spark, table, mode, partition_by=partition_by)
    for number in range(batches):
        sink.write(frame(spark, number), identity(number))
    return sink


def values(spark: Any, table: Path) -> list[int]:
    """Give the values that the table holds, sorted."""
    return [value for _, value in rows_of(spark, table)]


def versions(table: Path) -> int:
    """Count the versions of the table."""
    return len(list((table / "_delta_log").glob("*.json")))


def somebody_else(spark: Any, table: Path) -> None:
    """Append a row without any identity."""
    frame(spark, 99, "theirs").write.format("delta").mode("append").save(str(table))


def code_of(act: Callable[[], object]) -> str:
    """Give the code of the error that an act ends with."""
    with pytest.raises(SinkError) as caught:
        act()
    return caught.value.code.number


def test_a_rewound_query_goes_on_under_a_new_name(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An old driver had asked before: its batch is skipped. What went is written again, once."""
    table = tmp_path / "table"
    old = filled(spark, table, 4, partition_by=("sensor",))
    spark.sql(f"optimize delta.`{table}`").collect()
    sink = delta_sink(spark, table)
    point = {"sink.before-commit": lambda: sink.rewind(QUERY, 1, generation=1)}
    monkeypatch.setattr(delta, "reach", lambda name: point.pop(name, int)())
    assert code_of(lambda: old.write(frame(spark, 4), identity(4))) == "HF5004"
    assert values(spark, table) == [0, 1]
    assert (sink.last_committed(QUERY).value, sink.queries()) == (1, {QUERY})
    assert code_of(lambda: old.write(frame(spark, 2), identity(2))) == "HF5004"
    assert code_of(lambda: sink.write(frame(spark, 4), identity(4))) == "HF5061"
    assert code_of(lambda: sink.write(frame(spark, 1), identity(1, "other"))) == "HF5003"
    assert sink.write(frame(spark, 1), identity(1)).skipped
    again = sink.write(frame(spark, 2), identity(2, "anew"))
    assert (again.skipped, again.rows) == (False, 1)
    assert delta_sink(spark, table).write(frame(spark, 2), identity(2, "anew")).skipped
    assert values(spark, table) == [0, 1, 2]
    before = versions(table)
    sink.rewind(QUERY, 2, generation=1)
    assert versions(table) == before, "nothing came after it"


def test_an_older_generation_is_refused_once_its_successor_has_written(
    spark: Any, tmp_path: Path
) -> None:
    """Without any rewind before: it would take the successor's batches back, or add to them."""
    table = tmp_path / "table"
    late, successor = filled(spark, table, 2), delta_sink(spark, table)
    assert successor.sight(QUERY).generation == 1
    assert not successor.write(frame(spark, 2), identity(2, generation=4)).skipped
    before = versions(table)
    for goes in (partial(late.rewind, QUERY, 0), partial(late.rewind, QUERY, 2), late.clear):
        assert code_of(lambda: goes(generation=3)) == "HF5026"  # noqa: B023
    assert late.write(frame(spark, 1), identity(1)).skipped
    for sink in (late, delta_sink(spark, table)):
        assert sink.write(frame(spark, 2), identity(2)).skipped
        assert code_of(lambda: sink.write(frame(spark, 3), identity(3))) == "HF5042"  # noqa: B023
    assert (versions(table), delta_sink(spark, table).sight(QUERY).generation) == (before, 4)
    late.rewind(QUERY, 0, generation=4)
    assert (values(spark, table), late.sight(QUERY).generation) == ([0], 4)


def test_a_clear_keeps_the_rows_of_another_query(spark: Any, tmp_path: Path) -> None:
    """Unless it is meant, too."""
    table = tmp_path / "table"
    sink = filled(spark, table, 1)
    theirs = replace(identity(0), query_id="another")
    delta_sink(spark, table).write(frame(spark, 7), theirs)
    for queries in (None, (QUERY,), ("another",)):
        assert code_of(lambda: sink.clear(generation=1, queries=queries)) == "HF5011"  # noqa: B023
        assert values(spark, table) == [0, 7]
    sink.clear(generation=1, queries=(QUERY, "another"))
    assert values(spark, table) == []


@pytest.mark.whole
def test_every_batch_goes_back_and_the_first_is_taken_again(spark: Any, tmp_path: Path) -> None:
    """By rewinding to before it, also where no row was there; by clearing, which ends there too."""
    table = tmp_path / "table"
    sink = filled(spark, table, 2)
    for goes in (partial(sink.rewind, QUERY, -1, generation=1), partial(sink.clear, generation=1)):
        goes()
        assert values(spark, table) == []
        told = sink.last_committed(QUERY)
        assert (told.value, sink.queries()) == (None, frozenset())
        assert "every batch was taken back" in told.basis
        before = versions(table)
        goes()
        assert versions(table) == before, "done is done"
        sink.write(frame(spark, 7).where("false"), identity(0, "anew"))
    sink.write(frame(spark, 7), identity(1))
    somebody_else(spark, table)
    before = versions(table)
    for goes in (partial(sink.rewind, QUERY, -1, generation=1), partial(sink.clear, generation=1)):
        assert code_of(goes) == "HF5011"
    assert (versions(table), values(spark, table)) == (before, [7, 99])


def test_what_can_not_be_rewound_is_left_as_it_is(spark: Any, tmp_path: Path) -> None:
    """Another mode, an unknown batch, somebody else's commit, files that are gone."""
    table = tmp_path / "table"
    sink = filled(spark, table, 3)
    spark.sql(f"optimize delta.`{table}`").collect()
    for file in table.glob("*.parquet"):
        if f'"add":{{"path":"{file.name}"' in (table / f"_delta_log/{0:020}.json").read_text():
            file.unlink()
    before = versions(table)
    for number in (0, 3, 9):
        assert code_of(lambda: sink.rewind(QUERY, number, generation=1)) == "HF5011"  # noqa: B023
    assert code_of(lambda: sink.rewind("another", 0, generation=1)) == "HF5011"
    for mode in ("upsert", "complete"):
        other = delta_sink(spark, table, mode, key=("value",))
        assert code_of(lambda: other.rewind(QUERY, 1, generation=1)) == "HF5011"  # noqa: B023
    assert versions(table) == before
    somebody_else(spark, table)
    with pytest.raises(SinkError, match="version 4 of the table was written by another writer"):
        sink.rewind(QUERY, 1, generation=1)
    assert (versions(table), sink.last_committed(QUERY).value) == (before + 1, 2)
    assert not sink.write(frame(spark, 3), identity(3)).skipped
    assert delta_sink(spark, tmp_path / "nothing").rewind(QUERY, -1, generation=1) is None


def test_complete_is_cleared_where_all_rows_are_its_own(spark: Any, tmp_path: Path) -> None:
    """What others wrote before was replaced; the query goes on from its first batch."""
    table = tmp_path / "table"
    somebody_else(spark, table)
    sink = filled(spark, table, 2, "complete")
    sink.clear(generation=1)
    assert (values(spark, table), sink.queries()) == ([], frozenset())
    assert not sink.write(frame(spark, 5), identity(0, "anew")).skipped
    assert values(spark, table) == [5]


class KilledError(BaseException):
    """Stands for the end of the process."""


@pytest.mark.whole
def test_an_act_that_took_no_row_is_undone_and_done_again(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed once the name is closed: nothing can be written; the next rewinding does it all."""
    table = tmp_path / "table"
    sink = filled(spark, table, 3)

    def die(point: str) -> None:
        if point == "delta.closed":
            raise KilledError

    monkeypatch.setattr(deltatakeback, "reach", die)
    with pytest.raises(KilledError):
        sink.rewind(QUERY, 0, generation=1)
    monkeypatch.undo()
    assert code_of(lambda: sink.write(frame(spark, 3), identity(3))) == "HF5060"
    assert sink.queries() == {QUERY}
    sink.rewind(QUERY, 0, generation=1)
    assert (values(spark, table), sink.last_committed(QUERY).value) == ([0], 0)
    assert not sink.write(frame(spark, 1), identity(1, "anew")).skipped
    assert sink.write(frame(spark, 0), identity(0)).skipped


@draw("late")
@pytest.mark.parametrize("late", [False, True])
def test_a_commit_in_between_is_kept(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, late: bool
) -> None:
    """Before the last look it is seen; after it the rows come back. The query goes on."""
    table = tmp_path / "table"
    sink = filled(spark, table, 2)
    if late:
        restore = TableCommands.restore

        def beaten(self: TableCommands, version: int, note: Any) -> None:
            monkeypatch.undo()
            somebody_else(spark, table)
            restore(self, version, note)

        monkeypatch.setattr(TableCommands, "restore", beaten)
    else:
        point = {"delta.closed": lambda: somebody_else(spark, table)}
        monkeypatch.setattr(deltatakeback, "reach", lambda name: point.pop(name, int)())
    with pytest.raises(
        SinkError, match="version 3 of the table was committed in between"
    ) as caught:
        sink.rewind(QUERY, 0, generation=1)
    assert caught.value.code.number == "HF5011"
    assert values(spark, table) == [0, 1, 99]
    assert sink.last_committed(QUERY).value == 1
    assert sink.write(frame(spark, 1), identity(1)).skipped
    assert not sink.write(frame(spark, 2), identity(2)).skipped


REWINDING = """
import sys
from pathlib import Path
from holdfast.spark.session.opening import SessionOptions, open_session
from tests.drawing import draw
from tests.spark.sinks.deliveries import QUERY, delta_sink

folder = Path(sys.argv[1])
wish = SessionOptions("rewinding", "local[2]", {}, features=frozenset({"delta"}), folder=folder)
delta_sink(open_session(wish), folder / "table").rewind(QUERY, 0, generation=1)
"""


@pytest.mark.whole
def test_a_process_killed_after_the_rows_went_is_finished(spark: Any, tmp_path: Path) -> None:
    """Only the new name is missing, whatever was written since; no row is taken back again."""
    table = tmp_path / "table"
    old = filled(spark, table, 2)
    died = subprocess.run(
        [sys.executable, "-c", REWINDING, str(tmp_path)],
        env={**os.environ, VARIABLE: "delta.taken-back"},
        cwd=Path(__file__).parents[4],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        start_new_session=True,
    )
    assert died.returncode == -9, died.stderr[-500:]
    assert values(spark, table) == [0]
    for number in (1, 2):
        assert code_of(lambda: old.write(frame(spark, 5), identity(number))) == "HF5060"  # noqa: B023
    somebody_else(spark, table)
    sink = delta_sink(spark, table)
    sink.rewind(QUERY, 0, generation=1)
    assert values(spark, table) == [0, 99]
    assert not sink.write(frame(spark, 1), identity(1, "anew")).skipped
    assert code_of(lambda: old.write(frame(spark, 2), identity(2))) == "HF5004"


NEWER = 2
ACTS: dict[str, tuple[Callable[[Any], object], list[int]]] = {
    "rewind": (lambda sink: sink.rewind(QUERY, 0, generation=NEWER), [0]),
    "rewind to the newest": (lambda sink: sink.rewind(QUERY, 1, generation=NEWER), [0, 1]),
    "clear": (lambda sink: sink.clear(generation=NEWER), []),
}
REFUSED = {"HF5004", "HF5060", "HF5062"}
ACT = pytest.mark.parametrize("act", ACTS)


def prepared(spark: Any, table: Path) -> Any:
    """Start a driver: it knows the name that the query has now, for good."""
    sink = delta_sink(spark, table)
    sink.prepare(frame(spark, 0).schema, begun=True)
    return sink


def during(
    monkeypatch: pytest.MonkeyPatch, module: Any, points: dict[str, Callable[[], object]]
) -> None:
    """Let things happen at named points, each the first time only."""
    monkeypatch.setattr(module, "reach", lambda name: points.pop(name, int)())


def goes_on(spark: Any, table: Path, held: list[int], generation: int = 3) -> None:
    """A new driver brings what was taken back, planned again; each batch is there once."""
    sink = prepared(spark, table)
    following = len(held)
    for number in (following, following + 1):
        delivered = sink.write(
            frame(spark, number), identity(number, "anew", generation=generation)
        )
        assert not delivered.skipped
    assert values(spark, table) == [*held, following, following + 1]


@pytest.mark.whole
@draw("act")
@ACT
def test_a_driver_prepared_at_any_moment_is_shut_out(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    """Before, between any two steps, and after the last one, where it even knows the new name."""
    table = tmp_path / "table"
    filled(spark, table, 2)
    act_on, held = ACTS[act]
    drivers = [prepared(spark, table)]
    steps = ("delta.closed", "delta.taken-back", "delta.fenced")
    prepare: Callable[[], object] = lambda: drivers.append(prepared(spark, table))  # noqa: E731
    during(monkeypatch, deltatakeback, dict.fromkeys(steps, prepare))
    act_on(delta_sink(spark, table))
    monkeypatch.undo()
    drivers.append(prepared(spark, table))
    assert len(drivers) == (4 if act == "rewind to the newest" else 5)
    for driver in drivers:
        for number in (len(held), len(held) + 1):
            write = partial(driver.write, frame(spark, 70 + number), identity(number))
            assert code_of(write) in REFUSED
    assert values(spark, table) == held
    goes_on(spark, table, held)


@draw("act", "point")
@ACT
@pytest.mark.parametrize("point", ["delta.before-check", "sink.before-commit"])
def test_a_driver_that_sleeps_over_the_whole_act_is_shut_out(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: str, point: str
) -> None:
    """It had asked, or was about to commit; Delta itself refuses what it commits."""
    table = tmp_path / "table"
    filled(spark, table, 2)
    act_on, held = ACTS[act]
    driver, sink = prepared(spark, table), delta_sink(spark, table)
    during(monkeypatch, delta, {point: lambda: act_on(sink)})
    assert code_of(lambda: driver.write(frame(spark, 72), identity(2))) in REFUSED
    assert values(spark, table) == held
    goes_on(spark, table, held)


@pytest.mark.whole
def test_a_batch_that_comes_while_the_name_is_being_closed_goes_back_too(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rewound to the newest batch, which then is not the newest any more."""
    table = tmp_path / "table"
    filled(spark, table, 2)
    driver, sink = prepared(spark, table), delta_sink(spark, table)
    commit_nothing = TableCommands.commit_nothing

    def beaten(self: TableCommands, *given: Any) -> None:
        monkeypatch.undo()
        driver.write(frame(spark, 72), identity(2))
        commit_nothing(self, *given)

    monkeypatch.setattr(TableCommands, "commit_nothing", beaten)
    sink.rewind(QUERY, 1, generation=NEWER)
    assert values(spark, table) == [0, 1]
    goes_on(spark, table, [0, 1])


@pytest.mark.whole
def test_two_acts_in_a_row_shut_out_the_driver_between_them(spark: Any, tmp_path: Path) -> None:
    """It was new once; and an act of an older generation than the last one is refused."""
    table = tmp_path / "table"
    filled(spark, table, 3)
    delta_sink(spark, table).rewind(QUERY, 1, generation=2)
    between = prepared(spark, table)
    between.write(frame(spark, 2), identity(2, "second", generation=3))
    delta_sink(spark, table).rewind(QUERY, 0, generation=4)
    for number in (1, 2, 3):
        write = partial(between.write, frame(spark, 70), identity(number, generation=3))
        assert code_of(write) == "HF5004"
    late = delta_sink(spark, table)
    before = versions(table)
    for goes in (
        partial(late.rewind, QUERY, -1, generation=3),
        partial(late.rewind, QUERY, 0, generation=3),
        partial(late.clear, generation=3),
    ):
        assert code_of(goes) == "HF5062"
    assert (versions(table), values(spark, table)) == (before, [0])
    goes_on(spark, table, [0], generation=5)


STEPS = [
    (act, point)
    for act in ACTS
    for point in ("delta.closed", "delta.taken-back", "delta.fenced")
    # No row goes where the newest batch stays.
    if (act, point) != ("rewind to the newest", "delta.taken-back")
]


@draw("act", "point")
@pytest.mark.parametrize(("act", "point"), STEPS)
def test_a_killed_act_is_finished_by_the_next_under_its_own_generation(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: str, point: str
) -> None:
    """A driver of the generation in between, prepared after the kill, is shut out as well."""
    table = tmp_path / "table"
    filled(spark, table, 2)
    act_on, held = ACTS[act]

    def die() -> None:
        raise KilledError

    during(monkeypatch, deltatakeback, {point: die})
    with pytest.raises(KilledError):
        act_on(delta_sink(spark, table))
    monkeypatch.undo()
    driver = prepared(spark, table)
    assert code_of(lambda: driver.write(frame(spark, 72), identity(2, generation=3))) == "HF5060"
    monkeypatch.setitem(globals(), "NEWER", 4)
    act_on(delta_sink(spark, table))
    for late in (driver, prepared(spark, table)):
        following = len(held)
        write = partial(late.write, frame(spark, 72), identity(following, generation=3))
        assert code_of(write) in REFUSED
    assert values(spark, table) == held
    goes_on(spark, table, held, generation=5)


@pytest.mark.whole
@draw("written_since")
@pytest.mark.parametrize("written_since", [False, True])
def test_an_act_that_wakes_after_another_one_takes_no_new_row_along(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written_since: bool
) -> None:
    """Asleep right before its rows go: they come back, or the error names where they are."""
    table = tmp_path / "table"
    filled(spark, table, 3)
    restore = TableCommands.restore
    new: list[Any] = []

    def asleep(self: TableCommands, version: int, note: Any) -> None:
        monkeypatch.setattr(TableCommands, "restore", restore)
        delta_sink(spark, table).rewind(QUERY, 1, generation=3)
        new.append(prepared(spark, table))
        new[0].write(frame(spark, 2), identity(2, "anew", generation=4))
        restore(self, version, note)
        if written_since:
            new[0].write(frame(spark, 3), identity(3, "anew", generation=4))

    monkeypatch.setattr(TableCommands, "restore", asleep)
    late = partial(delta_sink(spark, table).rewind, QUERY, 0, generation=2)
    assert code_of(late) == ("HF5063" if written_since else "HF5011")
    if not written_since:
        assert values(spark, table) == [0, 1, 2]
        assert not new[0].write(frame(spark, 3), identity(3, "anew", generation=4)).skipped


@pytest.mark.whole
def test_the_generation_is_in_every_note(spark: Any, tmp_path: Path) -> None:
    """Each step says under which one it was done."""
    table = tmp_path / "table"
    filled(spark, table, 2).rewind(QUERY, 0, generation=7)
    acts: list[tuple[object, object]] = []
    for number in range(2, versions(table)):
        first = (table / f"_delta_log/{number:020}.json").read_text().partition("\n")[0]
        note = json.loads(json.loads(first)["commitInfo"]["userMetadata"])
        acts.append((note["act"], note["generation"]))
    assert acts == [(act, 7) for act in ("closed", "taken-back", "fenced", "opened")]
