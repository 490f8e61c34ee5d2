"""Replay without Spark: the plan, what refuses it, and a kill anywhere, on a sink of files."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import yaml

import holdfast
from holdfast import crashpoints
from holdfast.errors import HoldfastError
from holdfast.records.offsetcopies import OffsetCopies
from tests.remedy.played import QUERY, Played, played


@pytest.fixture(autouse=True)
def _no_flushing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A killed process loses nothing that it handed to the system: only power cuts need flushes."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


def plan(made: Played, **options: Any) -> Any:
    """Plan a replay."""
    return holdfast.plan("job", "replay", options, project=made.file).result


def apply(made: Played, **options: Any) -> Any:
    """Plan a replay and apply it; the files are as new as if the job ran."""
    given = plan(made, **options)
    return holdfast.apply(given, project=made.file, even_if_running=True).result


def refused(made: Played, **options: Any) -> tuple[str, str]:
    """Give code and message of what refuses a replay; nothing is changed by asking."""
    before = made.tree()
    with pytest.raises(HoldfastError) as caught:
        plan(made, **options)
    assert made.tree() == before
    return caught.value.code.number, caught.value.message


EXPECTED = ("HF2235", "HF2350", "HF2359")
"""Settings that are invented, a release that is guessed from them, and the replay itself."""


def healthy(made: Played) -> None:
    """Demand that the doctor finds nothing worse than what the invented settings cause."""
    found = holdfast.doctor("job", project=made.file).findings
    assert [one.message for one in found if one.code not in EXPECTED] == []


def test_a_reader_that_never_started_reads_nothing_twice(tmp_path: Path) -> None:
    made = played(tmp_path / "p")
    document = yaml.safe_load(made.file.read_text(encoding="utf-8"))
    document["jobs"]["gold"] = {
        "source": {"format": "json", "path": "./lake/written", "schema": "n long"},
        "sql": "select * from source",
        "sink": {"format": "json", "path": "./lake/gold"},
    }
    made.file.write_text(yaml.safe_dump(document), encoding="utf-8")
    (effect,) = plan(made, from_batch=2).effects.downstream
    assert effect.effect.startswith("has no checkpoint")
    (made.checkpoint.parent / "gold").mkdir()
    (made.checkpoint.parent / "gold/metadata").write_text("{}", encoding="utf-8")
    (effect,) = plan(made, from_batch=2).effects.downstream
    assert effect.effect.startswith("has read files that are removed")


def test_the_plan_names_steps_effects_and_what_cannot_be_undone(tmp_path: Path) -> None:
    """The same facts give the same plan, and nothing is written."""
    made = played(tmp_path / "p")
    before = made.tree()
    given = plan(made, from_batch=2)
    assert [one.act for one in given.steps] == [
        "backup-checkpoint", "block-start", "mark-sink", "rewind-sink", "change-files",
        "set-copies-aside", "note-rewind", "allow-start",
    ]  # fmt: skip
    assert [one.act for one in given.irreversible] == ["rewind-sink"]
    assert (given.effects.batches.first, given.effects.batches.last) == (2, 3)
    assert given.effects.sink.startswith("loses batches 2 to 3")
    assert any("undo cannot bring back" in one for one in given.notes)
    assert plan(made, from_batch=2) == given
    assert made.tree() == before
    assert not (made.folder / "checkpoints/.holdfast/job/journal").exists()


def test_batches_are_planned_again_and_every_row_is_there_once(tmp_path: Path) -> None:
    """Also by a second replay, of a pending batch, and of batch 0."""
    made = played(tmp_path / "p")
    apply(made, from_batch=2)
    assert (made.ids("offsets"), made.ids("commits"), made.rows()) == (
        [0, 1], [0, 1], Counter([0, 1]),
    )  # fmt: skip
    healthy(made)
    told = holdfast.inspect("job", project=made.file).result.next_start
    assert (told.action.value, told.batch_id) == ("plan", 2)
    made.run(2, 3, first=100, generation=1)
    assert made.rows() == Counter([0, 1, 102, 103])
    healthy(made)

    apply(made, from_batch=3)
    made.run(3, first=200, generation=2)
    assert made.rows() == Counter([0, 1, 102, 203])
    made.plan(4, 300)
    apply(made, from_batch=4)
    assert made.ids("offsets") == [0, 1, 2, 3]
    made.plan(4, 400)
    assert made.deliver(4, 400, generation=3)
    apply(made, from_batch=4)
    assert made.rows() == Counter([0, 1, 102, 203])
    apply(made, from_batch=0)
    assert (made.rows(), made.ids("offsets")) == (Counter(), [])
    told = holdfast.inspect("job", project=made.file).result.next_start
    assert (told.action.value, told.batch_id) == ("fresh", 0)
    healthy(made)
    made.run(0, first=500, generation=5)
    assert made.rows() == Counter([500])


def test_inspect_doctor_and_evidence_show_it_until_the_job_has_run(tmp_path: Path) -> None:
    made = played(tmp_path / "p")
    act = apply(made, from_batch=2).act
    for look in (holdfast.inspect, holdfast.doctor, holdfast.evidence):
        (found,) = [one for one in look("job", project=made.file).findings if one.code == "HF2350"]
        assert f"replay {act} took every batch after 1 back" in found.message
    made.run(2, first=100)
    made.record(generation=3)
    codes = {one.code for one in holdfast.doctor("job", project=made.file).findings}
    assert "HF2350" not in codes


def test_what_a_late_driver_delivers_is_refused(tmp_path: Path) -> None:
    """It read the offsets before they were removed; its lease is older than the act's."""
    made = played(tmp_path / "p")
    made.plan(4)
    apply(made, from_batch=3)
    for batch in (3, 4):
        made.plan(batch)
        with pytest.raises(HoldfastError) as caught:
            made.deliver(batch, generation=0)
        assert caught.value.code.number == "HF5025"
    assert made.rows() == Counter([0, 1, 2])


def test_a_batch_is_found_by_offset_file_or_time(tmp_path: Path) -> None:
    made = played(tmp_path / "p", 5)

    def first(**options: Any) -> int:
        return int(plan(made, **options).effects.batches.first)

    assert first(from_offset='{"logOffset": 3}') == 3
    assert first(from_file="002-0.json") == 2
    assert first(from_file=str(made.folder / "in/004-0.json")) == 4
    assert first(from_time=str(made.moment(2))) == 2
    assert first(from_time=str(made.moment(2) + 1)) == 3
    assert first(from_time="2025-10-09T08:56:40Z") == 4
    assert refused(made, from_time="2026-10-09T08:56:40Z")[0] == "HF4601"
    assert refused(made, from_file="9.json")[0] == "HF4601"
    for unprocessed in ({"from_time": "2026-10-09T08:56:40Z"}, {"from_file": "9.json"}):
        with pytest.raises(HoldfastError) as caught:
            plan(made, **unprocessed)
        assert "typo, or still to come" in caught.value.why
        assert "typo" in caught.value.next_steps[0]
        assert "doctor" not in str(caught.value), "nothing is wrong there"
    assert refused(made, from_offset='{"topic": {"0": 3}}')[0] == "HF4603"
    for wrong in (
        {}, {"from_batch": "x"}, {"from_time": "noon"}, {"from_offset": "3"},
        {"from_batch": 1, "from_time": "3"},
    ):  # fmt: skip
        assert refused(made, **wrong)[0] == "HF1001"


def lost_file(made: Played) -> None:
    """The source deletes a file that the replay has to read."""
    (made.folder / "in/003-0.json").unlink()


def lost_offsets(made: Played) -> None:
    """Spark purged the entry where the replay begins."""
    for name in ("0", ".0.crc", "1", ".1.crc"):
        (made.checkpoint / "offsets" / name).unlink()


def lost_commit(made: Played) -> None:
    (made.checkpoint / "commits/1").unlink()
    (made.checkpoint / "commits/.1.crc").unlink()


def lost_metadata(made: Played) -> None:
    (made.checkpoint / "metadata").unlink()
    (made.checkpoint / ".metadata.crc").unlink()


def lost_source_log(made: Played) -> None:
    (made.checkpoint / "sources/0/3").unlink()


def behind(made: Played) -> None:
    """The sink lost batches that the checkpoint takes for delivered."""
    from holdfast.ledgers.files.commit import FileCommits
    from holdfast.ledgers.files.output import FileOutput
    from holdfast.storage.location import parse_location
    from holdfast.storage.options import StorageSettings

    output = FileOutput(parse_location(str(made.output)), StorageSettings())
    FileCommits(output).rewind(QUERY, 0, generation=1)


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        (lost_file, "HF4612"), (lost_offsets, "HF4601"), (lost_commit, "HF4601"),
        (lost_metadata, "HF4601"), (lost_source_log, "HF4601"), (behind, "HF4601"),
    ],
)  # fmt: skip
def test_what_is_missing_refuses_the_plan(
    tmp_path: Path, damage: Callable[[Played], None], code: str
) -> None:
    made = played(tmp_path / "p")
    damage(made)
    assert refused(made, from_batch=2)[0] == code


def test_a_batch_that_was_not_planned_needs_no_replay(tmp_path: Path) -> None:
    assert refused(played(tmp_path / "p"), from_batch=4)[0] == "HF4611"


@pytest.mark.parametrize(
    "sink",
    [
        {"format": "json", "mode": "complete", "path": "./lake/written"},
        {"format": "json", "native": True, "path": "./lake/written"},
        {"format": "delta", "mode": "upsert", "key": ["n"], "path": "./lake/table"},
        {"format": "kafka", "native": True, "options": {"topic": "t"}},
        {"format": "console"},
        {"format": "postgres", "url": "postgresql://nowhere/x", "table": "t"},
    ],
)
def test_a_sink_that_cannot_be_rewound_refuses_the_plan(
    tmp_path: Path, sink: dict[str, Any]
) -> None:
    made = played(tmp_path / "p", sink=sink)
    assert refused(made, from_batch=2)[0] in ("HF4602", "HF4603", "HF4601")


def test_a_protected_job_has_to_be_forced(tmp_path: Path) -> None:
    made = played(tmp_path / "p", protect=True)
    assert refused(made, from_batch=2)[0] == "HF4604"
    given = plan(made, from_batch=2, force_protected=True)
    assert given.request.options["force_protected"] == "true"


def test_a_sink_that_a_newer_generation_wrote_refuses_the_plan(tmp_path: Path) -> None:
    """The records were lost: the lease of an act would be older than what the sink knows."""
    made = played(tmp_path / "p", 3)
    made.run(3, generation=5)
    code, message = refused(made, from_batch=2)
    assert code == "HF4601" and "generation 5" in message


def test_a_path_is_no_job(tmp_path: Path) -> None:
    made = played(tmp_path / "p")
    with pytest.raises(HoldfastError) as caught:
        holdfast.plan(made.checkpoint, "replay", {"from_batch": 2})
    assert caught.value.code.number == "HF4614"


def test_an_older_backup_is_not_restored_over_a_replay(tmp_path: Path) -> None:
    """It would bring back the old plan of batches that the sink has lost."""
    made = played(tmp_path / "p")
    backup = holdfast.back_up("job", project=made.file).result.backups[0].id
    apply(made, from_batch=2)

    def refuses() -> bool:
        with pytest.raises(HoldfastError) as caught:
            holdfast.restore(f"job@{backup}", project=made.file, even_if_running=True)
        assert "holdfast undo" in " ".join(caught.value.next_steps)
        return caught.value.code.number == "HF4502"

    assert refuses() and made.ids("offsets") == [0, 1]
    made.run(2, first=100, generation=9)
    assert refuses()
    newer = holdfast.back_up("job", project=made.file).result.backups[0].id
    restored = holdfast.restore(f"job@{newer}", project=made.file, even_if_running=True)
    assert restored.result.act.value == "unchanged"


def killed(point: str, nth: int, act: Callable[[], object]) -> bool:
    """Run an act in a child that dies at a point; False where it never came there."""
    child = os.fork()
    if child == 0:
        try:
            crashpoints._wanted, crashpoints._time = point, str(nth)
            crashpoints._reached.clear()
            act()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


POINTS = [one for one in crashpoints.POINTS if one.startswith(("plan.", "files."))]


def test_killed_anywhere_it_is_finished_or_undone(tmp_path: Path, whole: bool) -> None:
    """Undone, every byte is as it was; where the sink has lost rows, undo is refused."""
    reached: set[str] = set()
    refusals = undone = 0
    for point in POINTS:
        for nth in count(1, 1 if whole else 5):
            made = played(tmp_path / f"{point}-{nth}")
            before, rows = made.tree(), made.rows()
            given = plan(made, from_batch=1)
            doing = lambda: holdfast.apply(given, project=made.file, even_if_running=True)  # noqa: B023, E731
            if not killed(point, nth, doing):
                assert made.ids("offsets") == [0]
                break
            reached.add(point)
            if nth % 2:
                try:
                    assert holdfast.undo("job", project=made.file).result.outcome == "undone"
                    undone += 1
                    assert (made.tree(), made.rows()) == (before, rows), (point, nth)
                    assert OffsetCopies(made.records).batches(QUERY) == {0, 1, 2, 3}
                    continue
                except HoldfastError as error:
                    assert error.code.number == "HF4609", (point, nth, error)
                    assert made.held() == 0, "it is refused only where rows are gone"
                    refusals += 1
            assert holdfast.finish_plan("job", project=made.file).result.outcome == "finished"
            assert (made.ids("offsets"), made.rows()) == ([0], Counter([0])), (point, nth)
            healthy(made)
            made.run(1, first=100, generation=99)
            assert made.rows() == Counter([0, 101])
    assert {"plan.sink-rewound", "plan.file-removed", "files.fenced"} <= reached
    assert refusals > 2 and undone > 3


def test_undo_brings_everything_back_where_the_sink_loses_nothing(tmp_path: Path) -> None:
    """A batch that was planned and never delivered."""
    made = played(tmp_path / "p")
    made.plan(4)
    before = made.tree()
    apply(made, from_batch=4)
    assert made.ids("offsets") == [0, 1, 2, 3]
    assert holdfast.undo("job", project=made.file).result.outcome == "undone"
    assert made.tree() == before
    assert made.deliver(4, generation=9)
    assert made.rows() == Counter(range(5))


def test_a_plan_is_made_in_less_than_a_second(tmp_path: Path) -> None:
    made = played(tmp_path / "p", 60)
    began = time.perf_counter()
    plan(made, from_batch=2)
    assert time.perf_counter() - began < 10, "far more than it takes, for a busy machine"


def test_a_checkpoint_that_was_rolled_back_continues_after_the_sink_gave_back(
    tmp_path: Path,
) -> None:
    """The sink has batches 2 and 3, the checkpoint ends at 1: 2 is what can be replayed."""
    made = played(tmp_path / "p")
    for batch in (2, 3):
        for name in (f"offsets/{batch}", f"commits/{batch}"):
            (made.checkpoint / name).unlink()
            (made.checkpoint / name).with_name(f".{batch}.crc").unlink(missing_ok=True)
    assert refused(made, from_batch=3)[0] == "HF4611"
    (named,) = {
        step
        for one in holdfast.doctor("job", project=made.file).findings
        for step in one.next_steps
        if "plan replay" in step
    }
    assert named.startswith("holdfast plan replay ") and named.endswith("job --from-batch 2")
    given = plan(made, from_batch=2)
    assert (given.effects.batches.first, given.effects.batches.last) == (2, 3)
    assert given.effects.sink.startswith("loses batches 2 to 3")
    holdfast.apply(given, project=made.file, even_if_running=True)
    assert made.rows() == Counter([0, 1])
    made.run(2, 3, first=100, generation=1)
    assert made.rows() == Counter([0, 1, 102, 103])
    healthy(made)
