"""The records say what a sink held: new ones exactly, old ones by what they delivered."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.diagnosis.inspection.sink.gone import SinkBefore, sink_before
from holdfast.records.history import History
from holdfast.records.run import Run, SinkFacts
from tests.records.drivers import records_in
from tests.records.runs import some_run

QUERY = some_run().query_id
OLD = SinkFacts("delta", "/lake/orders", "append", "once")
NEW = replace(OLD, place="file:///lake/orders", incarnation="t1", held=4, since=3)


def run_of(generation: int, sink: SinkFacts | None, **changes: object) -> Run:
    """Give a run with this sink that delivered nothing, but for what is changed."""
    nothing: dict[str, object] = {"batches": 0, "skipped_batches": 0, "first_batch": None}
    nothing |= {"last_batch": None, "accepted": ()}
    return replace(some_run(generation), sink=sink, **(nothing | changes))  # type: ignore[arg-type]


def before(folder: Path, *runs: Run, committed: int | None = 2) -> SinkBefore | None:
    """Write the runs, and ask."""
    history = History(records_in(folder))
    for run in runs:
        history.write(run)
    return sink_before(history, QUERY, committed)


def test_nothing_is_known_without_a_run_or_a_commit(tmp_path: Path) -> None:
    """A run of another query, and one without a sink, say nothing either."""
    assert before(tmp_path) is None
    found = before(tmp_path, run_of(1, NEW), committed=None)
    assert found is not None and found.newest is None
    assert before(tmp_path, run_of(2, None)) is not None
    assert sink_before(History(records_in(tmp_path)), "another", 2) is None
    assert sink_before(History(records_in(tmp_path)), None, 2) is None


def test_the_newest_run_says_what_was_held(tmp_path: Path) -> None:
    """Also where it was idle: what it found at its start is in its record."""
    found = before(tmp_path, run_of(1, replace(NEW, held=1)), run_of(2, NEW), committed=4)
    assert found == SinkBefore(NEW.place or "", NEW.place, "t1", 4, since=3)


def test_a_commit_of_a_killed_run_was_delivered(tmp_path: Path) -> None:
    """Its record does not say so: it was killed before it could."""
    fresh = replace(NEW, held=None, since=0)
    found = before(tmp_path, run_of(1, fresh, ended=None), committed=2)
    assert found is not None and found.newest == 2


def test_a_run_that_ended_says_itself_what_it_delivered(tmp_path: Path) -> None:
    """What Spark committed since, without Holdfast, was never in the ledger."""
    found = before(tmp_path, run_of(1, replace(NEW, held=None, since=0)), committed=500)
    assert found is not None and found.newest is None


def test_after_an_accepted_start_nothing_is_expected(tmp_path: Path) -> None:
    """Whatever the runs before it held."""
    accepted = replace(NEW, held=None, since=3)
    found = before(tmp_path, run_of(1, NEW), run_of(2, accepted), committed=2)
    assert found is not None and found.newest is None


@pytest.mark.parametrize(
    ("kind", "batches", "skipped", "newest"),
    [("delta", 3, 1, 6), ("parquet", 1, 0, 6), ("delta", 0, 0, None), ("delta", 1, 1, None),
     ("console", 3, 0, None), ("custom", 3, 0, None), ("memory", 3, 0, None)],
)  # fmt: skip
def test_an_old_record_tells_by_what_it_delivered(
    tmp_path: Path, kind: str, batches: int, skipped: int, newest: int | None
) -> None:
    """To a sink with a ledger; a batch that was only skipped may have been delivered elsewhere."""
    sink = replace(OLD, kind=kind)
    run = run_of(
        1, sink, batches=batches, skipped_batches=skipped, last_batch=6 if batches else None
    )
    found = before(tmp_path, run, run_of(2, sink), committed=6)
    assert (None if found is None else found.newest) == newest
    if found is not None:
        assert (found.shown, found.place) == ("/lake/orders", None)


def test_a_run_into_a_sink_without_a_ledger_is_passed_over(tmp_path: Path) -> None:
    """Somebody looked at a batch on the console, and put the table back."""
    console = SinkFacts("console", None, "append", "none")
    found = before(tmp_path, run_of(1, NEW), *(run_of(n, console, batches=1) for n in range(2, 9)),
                   committed=4)  # fmt: skip
    assert found is not None and found.newest == 4


def test_a_pending_batch_is_not_missed(tmp_path: Path) -> None:
    """It runs again; what was there before it is missed, whichever run delivered that."""
    first = replace(NEW, held=4, since=0)
    found = before(tmp_path, run_of(1, first), committed=3)
    assert found is not None and found.newest == 3
    alone = replace(NEW, held=5, since=5)
    found = before(tmp_path, run_of(2, alone), run_of(3, alone), committed=4)
    assert found is not None and found.newest == 4


def test_a_first_batch_that_is_pending_leaves_nothing_to_miss(tmp_path: Path) -> None:
    """Of an adopted job, or after an accepted start: what Spark passes over was never there."""
    alone = replace(NEW, held=5, since=5)
    found = before(tmp_path, run_of(1, alone), committed=4)
    assert found is not None and found.newest is None
    found = before(tmp_path, run_of(2, alone, accepted=("empty-sink",)), committed=4)
    assert found is not None and found.newest is None
