"""A sink's log is written out whole to an empty place, and never over what is in use."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from holdfast.answers import Answer
from holdfast.backup.access import Opener, Records, open_store, reopened
from holdfast.backup.commands import SinkLog, back_up
from holdfast.backup.results import Restoration, RestoreAct
from holdfast.backup.settling import settle_restore
from holdfast.backup.sinklog import SinkLogOptions, write_sink_log
from holdfast.backup.store import Retention
from holdfast.errors import HoldfastError
from holdfast.storage.local import LocalReader
from holdfast.storage.opening import open_writer
from holdfast.storage.options import StorageSettings
from tests.backup.folders import (
    NOW_MS,
    Tree,
    aged,
    assert_store_is_sound,
    back_up_now,
    make_tree,
    records_of,
    restore_now,
    small,
    tree_of,
)
from tests.backup.writers import STRIKES, killed_in_child
from tests.corpus.loading import sample
from tests.drawing import DrawnMoments
from tests.fuzz.children import in_child

LOG = "_spark_metadata"


@pytest.fixture(autouse=True)
def _no_flushing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


def real_log() -> Tree:
    """The log that Spark's own file sink wrote, with the checksums beside it."""
    found: Tree = dict(sample("stateless", "4.3.0").output_files())
    return {LOG: None, **{path: data for path, data in found.items() if path.startswith(LOG)}}


def backed_up(folder: Path) -> tuple[Records, str]:
    """A checkpoint and its output, and a backup of both."""
    root = make_tree(folder / "ckpt", small())
    make_tree(folder / "out", {**real_log(), "part-0.parquet": b"rows"})
    records = records_of(root)
    reader = LocalReader(str(folder / "out" / LOG), "out")
    sink_log = SinkLog(str((folder / "out").resolve()), {LOG: reader})
    answer = back_up(records, now_ms=NOW_MS, retention=Retention(), sink_log=sink_log)
    return records, answer.result.backups[0].id


def write_out(
    records: Records,
    backup: str,
    place: Path,
    *,
    files: tuple[str, ...] = (),
    opener: Opener = open_writer,
) -> Answer[Restoration]:
    """Write the log out without a question."""
    target = records_of(place, opener)
    wish = SinkLogOptions(records.store.snapshot(backup), records.store, target, files)
    return write_sink_log(wish, now_ms=NOW_MS + 1, confirm=lambda _: True)


def settled(place: Path, *, finish: bool, opener: Opener = open_writer) -> str:
    """Finish or take back, and give what was done."""
    answer = settle_restore(
        records_of(place, opener),
        finish=finish,
        open_store=lambda url: open_store(reopened(url), StorageSettings()),
    )
    return answer.result.act.value


def refusal(act: Callable[[], object]) -> str:
    """Give the code that an act is refused with."""
    with pytest.raises(HoldfastError) as caught:
        act()
    return caught.value.code.number


def test_the_whole_log_is_written_out_byte_for_byte(tmp_path: Path) -> None:
    records, backup = backed_up(tmp_path)
    before = tree_of(tmp_path / "out"), tree_of(tmp_path / "ckpt")
    answer = write_out(records, backup, tmp_path / "look")
    assert tree_of(tmp_path / "look") == real_log()
    assert (tree_of(tmp_path / "out"), tree_of(tmp_path / "ckpt")) == before
    done = answer.result
    assert (done.act, done.part, done.whole) == (RestoreAct.RESTORED, "sink-log", True)
    assert done.verified_files == done.written_files == len(real_log()) - 1
    assert [(one.code, one.severity.value) for one in answer.findings] == [("HF4522", "info")]
    again = write_out(records, backup, tmp_path / "look").result
    assert (again.act, again.written_files) == (RestoreAct.UNCHANGED, 0)
    assert records.journal.unfinished() is None


def test_single_files_come_with_their_checksums_and_can_be_completed(tmp_path: Path) -> None:
    records, backup = backed_up(tmp_path)
    write_out(records, backup, tmp_path / "look", files=(f"{LOG}/1",))
    assert tree_of(tmp_path / "look").keys() == {LOG, f"{LOG}/1", f"{LOG}/.1.crc"}
    write_out(records, backup, tmp_path / "look")
    assert tree_of(tmp_path / "look") == real_log()


def test_a_place_that_denies_the_first_change_leaves_no_open_act(tmp_path: Path) -> None:
    records, backup = backed_up(tmp_path)
    write_out(records, backup, tmp_path / "look", files=(f"{LOG}/1",))
    (tmp_path / "look" / LOG).chmod(0o555)

    def act() -> str:
        return refusal(lambda: write_out(records, backup, tmp_path / "look"))

    assert in_child(act, without_capabilities=True) == "HF7002"
    (tmp_path / "look" / LOG).chmod(0o755)
    assert records_of(tmp_path / "look").journal.unfinished() is None


def test_a_file_that_the_backup_does_not_hold_is_refused(tmp_path: Path) -> None:
    records, backup = backed_up(tmp_path)
    look = tmp_path / "look"
    assert refusal(lambda: write_out(records, backup, look, files=("metadata",))) == "HF4516"
    assert not look.exists()


def test_a_backup_without_a_sinks_log_says_so(tmp_path: Path) -> None:
    records = records_of(make_tree(tmp_path / "ckpt", small()))
    backup = back_up_now(records).result.backups[0].id
    assert refusal(lambda: write_out(records, backup, tmp_path / "look")) == "HF4519"


@pytest.mark.parametrize(
    "place", ["out", f"out/{LOG}", "out/new", "link", "ckpt", "ckpt/new", ".holdfast/new"]
)
@pytest.mark.parametrize("gone", [False, True], ids=["there", "gone"])
def test_nothing_in_use_is_ever_written_to(place: str, gone: bool, tmp_path: Path) -> None:
    """Also where the live log was deleted, which is when somebody wants it back."""
    records, backup = backed_up(tmp_path)
    (tmp_path / "link").symlink_to(tmp_path / "out")
    if gone:
        shutil.rmtree(tmp_path / "out")
        (tmp_path / "out").mkdir()
    before = tree_of(tmp_path)
    assert refusal(lambda: write_out(records, backup, tmp_path / place)) == "HF4520"
    assert tree_of(tmp_path) == before


@pytest.mark.parametrize("there", ["part-1.parquet", f"{LOG}/0", f"{LOG}/99", "more/"], ids=str)
def test_a_place_with_anything_else_in_it_is_refused(there: str, tmp_path: Path) -> None:
    records, backup = backed_up(tmp_path)
    look = make_tree(tmp_path / "look", {there: None if there.endswith("/") else b"foreign"})
    before = tree_of(look)
    assert refusal(lambda: write_out(records, backup, look)) == "HF4521"
    assert tree_of(look) == before


def test_a_damaged_copy_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    records, backup = backed_up(tmp_path)
    snapshot = records.store.snapshot(backup)
    victim = next(file for root in snapshot.roots[1:] for file in root.files if file.size)
    path = tmp_path / f".holdfast/ckpt/backups/objects/{victim.sha256[:2]}/{victim.sha256}"
    path.write_bytes(b"rotten")
    assert refusal(lambda: write_out(records, backup, tmp_path / "look")) == "HF4510"
    assert not (tmp_path / "look").exists()


def test_nobody_who_confirms_means_nothing_written(tmp_path: Path) -> None:
    records, backup = backed_up(tmp_path)
    asked: list[str] = []
    wish = SinkLogOptions(
        records.store.snapshot(backup), records.store, records_of(tmp_path / "look")
    )

    def refuse(sentence: str) -> bool:
        asked.append(sentence)
        return False

    assert refusal(lambda: write_sink_log(wish, now_ms=NOW_MS, confirm=refuse)) == "HF4508"
    assert str(tmp_path / "out") in asked[0]
    assert not (tmp_path / "look").exists()


@pytest.mark.parametrize("finish", [True, False], ids=["finish", "undo"])
@pytest.mark.parametrize("striking", STRIKES)
@pytest.mark.parametrize("existed", [True, False], ids=["empty", "new"])
def test_killed_at_any_moment_it_is_finished_or_taken_back(
    finish: bool, striking: str, existed: bool, tmp_path: Path, moments: DrawnMoments
) -> None:
    records, backup = backed_up(tmp_path)
    live = tree_of(tmp_path / "out"), tree_of(tmp_path / "ckpt")
    interrupted: list[int] = []
    for fatal in moments(finish, striking == "killed", existed):
        look = tmp_path / f"look-{fatal}"
        if existed:
            look.mkdir()

        def act(opener: Opener, look: Path = look) -> object:
            return write_out(records, backup, look, opener=opener)

        struck = STRIKES[striking](act, fatal)
        if records_of(look).journal.unfinished() is not None:
            interrupted.append(fatal)
            assert refusal(partial(write_out, records, backup, look)) == "HF4506"
            assert settled(look, finish=finish) == ("finished" if finish else "taken-back")
            wanted = real_log() if finish else {}
            assert (tree_of(look), look.exists()) == (wanted, finish or existed)
        else:
            assert tree_of(look) in ({}, real_log())
        assert settled(look, finish=finish) == "nothing"
        assert (tree_of(tmp_path / "out"), tree_of(tmp_path / "ckpt")) == live
        assert_store_is_sound(records)
        if not struck:
            assert tree_of(look) == real_log()
            assert interrupted[-1] - interrupted[0] >= 10, (
                "too few moments lay between intent and outcome"
            )
            return


@pytest.mark.parametrize("finish", [True, False], ids=["finish", "undo"])
def test_settling_may_be_killed_as_well(
    finish: bool, tmp_path: Path, moments: DrawnMoments
) -> None:
    records, backup = backed_up(tmp_path)
    for fatal in moments(finish, every=2):
        look = tmp_path / f"look-{fatal}"

        def act(opener: Opener, look: Path = look) -> object:
            return write_out(records, backup, look, opener=opener)

        def settle(opener: Opener, look: Path = look) -> object:
            return settled(look, finish=finish, opener=opener)

        assert killed_in_child(act, 16)
        assert tree_of(look), "it was killed before anything was written"
        struck = killed_in_child(settle, fatal)
        if records_of(look).journal.unfinished() is not None:
            settled(look, finish=finish)
        assert tree_of(look) == (real_log() if finish else {})
        if not struck:
            return


def test_what_somebody_else_put_there_meanwhile_stops_settling(tmp_path: Path) -> None:
    records, backup = backed_up(tmp_path)
    look = tmp_path / "look"
    assert killed_in_child(lambda opener: write_out(records, backup, look, opener=opener), 16)
    (look / "foreign").write_bytes(b"rows")
    before = tree_of(look)
    for finish in (True, False):
        assert refusal(partial(settled, look, finish=finish)) == "HF4521"
    assert tree_of(look) == before


def test_a_checkpoint_restored_elsewhere_is_still_told_as_one(tmp_path: Path) -> None:
    records, backup = backed_up(tmp_path)
    aged(tmp_path / "ckpt")
    done = restore_now(records, backup, target=records_of(tmp_path / "copy")).result
    assert done.part == "checkpoint"
    assert tree_of(tmp_path / "copy") == tree_of(tmp_path / "ckpt")
