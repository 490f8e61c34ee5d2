"""Backfill without Spark: the plan, what refuses it, and a kill before Spark is opened."""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.errors import HoldfastError
from holdfast.records.leases.acting import acting
from tests.remedy.plans import killed_at
from tests.remedy.played import MOMENT_MS, QUERY, Played, played

SINK = {"format": "delta", "path": "./lake/t", "mode": "upsert", "key": ["n"], "order_by": "n"}


@pytest.fixture(autouse=True)
def _no_flushing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A killed process loses nothing that it handed to the system: only power cuts need flushes."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def made(tmp_path: Path) -> Played:
    """Return a job that upserts, after four batches of one file each."""
    return played(tmp_path / "p", sink=SINK)


def plan(made: Played, first: str = "001-0.json", last: str = "002-0.json", **options: Any) -> Any:
    """Plan a backfill; nothing is changed by it."""
    before = made.tree()
    asked = {"from": first, "to": last, **options}
    try:
        return holdfast.plan("job", "backfill", asked, project=made.file).result
    finally:
        assert made.tree() == before
        assert not (made.folder / "checkpoints/.holdfast/job/backfills").exists()


def refused(made: Played, *ends: str, **options: Any) -> tuple[str, str]:
    """Return code, message and reason of what refuses a backfill."""
    with pytest.raises(HoldfastError) as caught:
        plan(made, *ends, **options)
    return caught.value.code.number, f"{caught.value.message}: {caught.value.why}"


def files_of(given: Any) -> list[list[str]]:
    """Return the names of the files that each batch reads."""
    arguments = given.steps[0].arguments
    logs = json.loads(arguments["logs"])
    batches = range(1, len(json.loads(arguments["ends"])))
    named = [logs[str(one)].splitlines()[1:] for one in batches]
    return [[json.loads(line)["path"].rpartition("/")[2] for line in lines] for lines in named]


def test_the_plan_names_the_range_and_what_cannot_be_undone(made: Played) -> None:
    given = plan(made)
    assert [one.act for one in given.steps] == ["prepare-backfill", "run-backfill"]
    assert [one.act for one in given.irreversible] == ["run-backfill"]
    assert plan(made) == given
    assert files_of(given) == [["001-0.json", "002-0.json"]]
    assert given.effects.batches is None
    assert given.effects.next_start.startswith("unchanged")
    assert given.effects.source == "2 files from 001-0.json to 002-0.json are read again"
    assert given.notes[0].startswith("undo cannot bring back")
    assert "a row of the sink stays where its n is greater" in given.notes[1]
    assert any("stays in the sink" in one for one in given.notes)


def test_a_range_is_cut_into_batches(made: Played) -> None:
    cut = plan(made, "000", "002-0.json", batches=2)
    assert files_of(cut) == [["000-0.json"], ["001-0.json", "002-0.json"]]
    # There are no more batches than files.
    assert len(files_of(plan(made, "000", "9", batches=50))) == 4
    arguments = cut.steps[0].arguments
    assert json.loads(arguments["ends"]) == [f'{{"logOffset":{at}}}' for at in range(3)]
    assert json.loads(arguments["logs"])["0"] == "v1"


def test_every_tenth_entry_of_the_log_holds_all_before_it(tmp_path: Path) -> None:
    """As Spark writes and expects it."""
    made = played(tmp_path / "p", 12, sink=SINK)
    logs = json.loads(plan(made, "000", "9", batches=12).steps[0].arguments["logs"])
    assert sorted(logs) == sorted([*map(str, range(9)), "9.compact", "10", "11", "12"])
    assert [json.loads(line)["batchId"] for line in logs["9.compact"].splitlines()[1:]] == [
        *range(1, 10)
    ]


def test_files_are_chosen_by_time_of_modification(made: Played) -> None:
    moment = "2025-10-09T08:53:20Z"
    assert len(files_of(plan(made, moment, moment))[0]) == 4
    assert refused(made, "2025-10-09T08:53:21Z", "2025-10-10T00:00:00Z")[0] == "HF4601"
    assert MOMENT_MS == 1_760_000_000_000


def test_what_the_stream_does_meanwhile_changes_no_plan(made: Played) -> None:
    """A new file, a new batch and a new run are the stream's own; another declaration is not."""
    given = plan(made)
    made.run(4)
    made.record(generation=7)
    assert plan(made) == given
    text = made.file.read_text(encoding="utf-8")
    made.file.write_text(text.replace("select *", "select n"), encoding="utf-8")
    assert plan(made).id != given.id


@pytest.mark.parametrize(
    ("sink", "code", "words"),
    [
        ({"order_by": None}, "HF4601", "--overwrite"),
        ({"mode": "append", "key": None, "order_by": None}, "HF4601", "Use replay"),
        ({"format": "json", "mode": "append", "key": None, "order_by": None}, "HF4601", "replay"),
        ({"mode": "append", "native": True, "key": None, "order_by": None}, "HF4601", "own delta"),
    ],
)
def test_a_sink_that_cannot_replace_rows_by_a_key_is_refused(
    tmp_path: Path, sink: dict[str, Any], code: str, words: str
) -> None:
    declared = {key: value for key, value in {**SINK, **sink}.items() if value is not None}
    found, message = refused(played(tmp_path / "p", sink=declared))
    assert found == code
    assert words in message


def test_without_an_order_it_has_to_be_said_that_rows_are_replaced(tmp_path: Path) -> None:
    declared = {key: value for key, value in SINK.items() if key != "order_by"}
    given = plan(played(tmp_path / "p", sink=declared), overwrite=True)
    assert any(one.startswith("as requested, a row of the range replaces") for one in given.notes)
    assert given.steps[1].arguments["order"] == ""


def test_a_range_that_is_not_there_is_refused(made: Played) -> None:
    assert refused(made, "007", "008")[0] == "HF4601"
    made.plan(4)
    (made.folder / "in/005-0.json").write_text('{"n": 5}', encoding="utf-8")
    code, message = refused(made, "005", "9")
    assert (code, "has read no file" in message) == ("HF4601", True)
    (made.folder / "in/001-0.json").unlink()
    assert refused(made)[0] == "HF4612"
    assert refused(made, "009", "001")[0] == "HF1001"
    assert refused(made, batches=0)[0] == "HF1001"
    with pytest.raises(HoldfastError) as caught:
        holdfast.plan("job", "backfill", {"from": "a"}, project=made.file)
    assert caught.value.code.number == "HF1001"


def test_a_query_that_a_range_does_not_suffice_for_is_refused(made: Played) -> None:
    """One with state, one of which nothing is planned, one whose id is lost."""
    state = made.checkpoint / "state/0/0/1.delta"
    state.parent.mkdir(parents=True)
    state.write_bytes(b"")
    code, message = refused(made)
    assert (code, "keeps state" in message, "Use replay" in message) == ("HF4601", True, True)
    state.unlink()
    for folder in (state.parent, state.parent.parent, state.parent.parent.parent):
        folder.rmdir()
    (made.checkpoint / "metadata").unlink()
    assert refused(made)[0] == "HF4601"


def test_several_sources_are_refused(tmp_path: Path) -> None:
    source = {"format": "json", "path": "./in", "schema": "n long"}
    sources = {"left": source, "right": {**source, "path": "./other"}}
    (tmp_path / "p/other").mkdir(parents=True)
    made = Played(tmp_path / "q", source=source, sink=SINK)
    made.run(0, 1)
    text = json.dumps(
        {"project": "played", "jobs": {"job": {
            "sources": sources, "sql": "select * from left", "sink": SINK}}}
    )  # fmt: skip
    made.file.write_text(text, encoding="utf-8")
    code, message = refused(made, "000", "001")
    assert (code, "one source" in message) == ("HF4601", True)


def apply(made: Played, given: Any) -> Any:
    """Apply a plan."""
    return holdfast.apply(given, project=made.file).result


@pytest.mark.parametrize("point", ["plan.begun", "plan.step-applied", "plan.backfill-prepared"])
def test_killed_before_spark_runs_it_is_undone(made: Played, point: str) -> None:
    """Its checkpoint is gone, what takes rows back is possible again, and so is another one."""
    given, before = plan(made), made.tree()
    assert killed_at(point, lambda: apply(made, given))
    assert made.tree() == before
    (place,) = [one for one in holdfast.journal("job", project=made.file).result.places if one.acts]
    assert [one.state for one in place.acts] == ["open"]
    for remedy, options in (("reset", {"output": "clear"}), ("replay", {"from_batch": 1})):
        with pytest.raises(HoldfastError) as caught:
            holdfast.plan("job", remedy, options, project=made.file)
        assert caught.value.code.number == "HF4645"
    assert holdfast.undo("job", project=made.file).result.outcome == "undone"
    folder = made.folder / f"checkpoints/.holdfast/job/backfills/{given.id}"
    assert [one for one in folder.rglob("*") if one.is_file()] == []
    assert made.tree() == before
    asked = {"from": "001-0.json", "to": "002-0.json"}
    again = holdfast.plan("job", "backfill", asked, project=made.file).result
    assert again.id != given.id


def test_the_prepared_checkpoint_reads_the_range_and_is_of_another_query(made: Played) -> None:
    given = plan(made)
    assert killed_at("plan.backfill-prepared", lambda: apply(made, given))
    folder = made.folder / f"checkpoints/.holdfast/job/backfills/{given.id}"
    files = {str(one.relative_to(folder)) for one in folder.rglob("*") if one.is_file()}
    assert files == {"metadata", "offsets/0", "commits/0", "sources/0/0", "sources/0/1"}
    assert json.loads((folder / "metadata").read_text(encoding="utf-8"))["id"] != QUERY
    entry = (folder / "offsets/0").read_text(encoding="utf-8").splitlines()
    assert entry[2] == '{"logOffset":0}'
    assert json.loads(entry[1])["conf"]["spark.sql.shuffle.partitions"] == "2"


@pytest.mark.parametrize(
    ("was", "becomes"),
    [("./lake/t", "./lake/other"), ("- n\n", "- k\n"), ("order_by: n", "order_by: k")],
)  # fmt: skip
def test_an_edited_sink_does_not_change_how_rows_are_written(
    made: Played, was: str, becomes: str
) -> None:
    """Killed before Spark ran it, and finished after the sink was declared otherwise."""
    given = plan(made)
    assert killed_at("plan.step-done", lambda: apply(made, given))
    text = made.file.read_text(encoding="utf-8")
    assert was in text
    made.file.write_text(text.replace(was, becomes), encoding="utf-8")
    # The lease of the job is somebody else's: the stream runs.
    for act in (lambda: apply(made, given), lambda: holdfast.finish_plan("job", project=made.file)):
        with acting(made.records, "run"), pytest.raises(HoldfastError) as caught:
            act()
        assert caught.value.code.number == "HF4647"
    assert not (made.folder / "lake").joinpath("t").exists()


@pytest.mark.parametrize(
    ("was", "becomes"), [("select * from", "select n + 1 as n from"), ("path: ./in", "path: ./on")]
)
def test_a_backfill_is_not_finished_with_other_sources_or_code(
    made: Played, was: str, becomes: str
) -> None:
    """Batches of one plan are computed by one declaration; what decides no row may change."""
    given = plan(made)
    assert killed_at("plan.step-done", lambda: apply(made, given))
    text = made.file.read_text(encoding="utf-8")
    assert was in text
    made.file.write_text(text.replace(was, becomes), encoding="utf-8")
    for act in (lambda: apply(made, given), lambda: holdfast.finish_plan("job", project=made.file)):
        with pytest.raises(HoldfastError) as caught:
            act()
        assert caught.value.code.number == "HF4605"
        assert any("--keep-rows" in one for one in caught.value.next_steps)


def test_every_open_backfill_is_told_of_that_cannot_be_finished(made: Played) -> None:
    for name in ("001-0.json", "002-0.json"):
        asked = {"from": name, "to": name}
        given = holdfast.plan("job", "backfill", asked, project=made.file).result
        assert killed_at("plan.step-done", partial(apply, made, given))
    text = made.file.read_text(encoding="utf-8")
    made.file.write_text(text.replace("select * from", "select n from"), encoding="utf-8")
    with pytest.raises(HoldfastError) as caught:
        holdfast.finish_plan("job", project=made.file)
    folder = made.folder / "checkpoints/.holdfast/job/backfills/.holdfast"
    plans = [one.name for one in folder.iterdir()]
    assert len(plans) == 2
    assert all(one in caught.value.message for one in plans)


def test_a_backfill_that_ran_no_batch_is_given_up(made: Played) -> None:
    """Closed as asked, and only as asked: nothing else is given up."""
    with pytest.raises(HoldfastError) as caught:
        holdfast.undo("job", keep_rows=True, project=made.file)
    assert caught.value.code.number == "HF1001"
    given = plan(made)
    assert killed_at("plan.step-done", lambda: apply(made, given))
    done = holdfast.undo("job", keep_rows=True, project=made.file).result
    assert (done.outcome, [one.event for one in done.steps]) == ("given-up", ["done", "not begun"])
    places = holdfast.journal("job", project=made.file)
    assert places.findings == ()
    assert [one.state for place in places.result.places for one in place.acts] == ["given-up"]
    assert holdfast.finish_plan("job", project=made.file).result.outcome == "nothing"
