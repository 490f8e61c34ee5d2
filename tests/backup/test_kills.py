"""Killed at any moment: no half backup is listed, no half restore is left."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from holdfast.backup.access import Opener
from holdfast.backup.restoring import RestoreOptions
from holdfast.backup.settling import settle_restore
from holdfast.backup.store import BackupStore, Retention
from holdfast.errors import CheckpointError
from holdfast.storage.beside import FOLDER
from tests.backup.folders import (
    NOW_MS,
    Tree,
    assert_store_is_sound,
    back_up_now,
    make_tree,
    records_of,
    restore_now,
    small,
    tree_of,
)
from tests.backup.writers import STRIKES, killed_in_child
from tests.drawing import DrawnMoments


@pytest.fixture(autouse=True)
def _no_flushing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A killed process loses nothing that it handed to the system: only power cuts need flushes."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


Strike = Callable[[Callable[[Opener], object], int], bool]


def changed(tree: Tree) -> Tree:
    """The next moment of the same checkpoint: one file more, one changed, one gone."""
    return {**tree, "commits/1": b"v1\n{}", "state/0/0/1.delta": b"state", "offsets/.1.crc": b"crc"}


@pytest.mark.parametrize("striking", STRIKES)
def test_a_backup_killed_at_any_moment_is_whole_or_not_listed(
    striking: str, tmp_path: Path, moments: DrawnMoments
) -> None:
    strike = STRIKES[striking]
    for fatal in moments(striking == "killed", every=2):
        folder = tmp_path / str(fatal)
        root = make_tree(folder / "ckpt", small())
        back_up_now(records_of(root))
        tree = tree_of(make_tree(root, changed(small())))

        def act(opener: Opener, root: Path = root) -> object:
            return back_up_now(
                records_of(root, opener), now_ms=NOW_MS + 1, retention=Retention(keep_last=1)
            )

        struck = strike(act, fatal)
        assert tree_of(root) == tree
        listed = assert_store_is_sound(records_of(root))
        assert listed >= 1
        answer = back_up_now(records_of(root), now_ms=NOW_MS + 2)
        assert answer.result.backups[0].total_bytes == sum(len(one or b"") for one in tree.values())
        assert assert_store_is_sound(records_of(root), tidy=struck and strike is killed_in_child)
        if not struck:
            assert fatal > 15, "too few moments were counted"
            return
        shutil.rmtree(folder)


def whole_over_damage(root: Path) -> tuple[str, ...]:
    """A torn entry, a lost one, a stale checksum, a foreign file and folder."""
    (root / "offsets" / "1").write_bytes(b"v1\n")
    (root / "offsets" / "0").unlink()
    (root / "sources" / "0" / ".0.crc").write_bytes(b"stale")
    (root / "more").mkdir()
    (root / "more" / "file").write_bytes(b"foreign")
    return ()


def whole_over_nothing(root: Path) -> tuple[str, ...]:
    """The whole checkpoint is gone."""
    shutil.rmtree(root)
    return ()


def single_files(root: Path) -> tuple[str, ...]:
    """One entry torn, one lost, with a checksum that does not belong to it."""
    (root / "offsets" / "1").write_bytes(b"v1\n")
    (root / "sources" / "0" / "0").unlink()
    (root / "sources" / "0" / ".0.crc").write_bytes(b"stale")
    return ("offsets/1", "sources/0/0")


CASES = (
    (whole_over_damage, "killed", True),
    (whole_over_damage, "killed", False),
    (whole_over_damage, "failed", False),
    (whole_over_nothing, "killed", False),
    (whole_over_nothing, "failed", True),
    (single_files, "killed", True),
    (single_files, "failed", False),
)
"""What happened, how the restore was struck, and whether it is finished afterwards or undone."""


def prepared(
    folder: Path, accident: Callable[[Path], tuple[str, ...]]
) -> tuple[Path, str, RestoreOptions]:
    """A checkpoint with a backup, after the accident."""
    root = make_tree(folder / "ckpt", small())
    backup = back_up_now(records_of(root)).result.backups[0].id
    files = accident(root)
    if root.exists():
        make_tree(root, {})
    records = records_of(root)
    wish = RestoreOptions(records.store.snapshot(backup), records.store, records, False, files)
    return root, backup, wish


def settled(root: Path, *, finish: bool, opener: Opener | None = None) -> str:
    """Finish or take back, and give what was done."""
    records = records_of(root) if opener is None else records_of(root, opener)
    answer = settle_restore(records, finish=finish, open_store=no_other_store)
    return answer.result.act.value


def no_other_store(_: str) -> BackupStore:
    raise AssertionError("the backup lies in the checkpoint's own store")


@pytest.mark.parametrize(("accident", "striking", "finish"), CASES)
def test_a_restore_killed_at_any_moment_is_finished_or_taken_back(
    accident: Callable[[Path], tuple[str, ...]],
    striking: str,
    finish: bool,
    tmp_path: Path,
    moments: DrawnMoments,
) -> None:
    interrupted: list[int] = []
    case = CASES.index((accident, striking, finish))
    for fatal in moments(case):
        folder = tmp_path / str(fatal)
        root, backup, wish = prepared(folder, accident)
        before, after = tree_of(root), small() | {"offsets": None}

        def act(
            opener: Opener, root: Path = root, backup: str = backup, wish: RestoreOptions = wish
        ) -> object:
            return restore_now(records_of(root, opener), backup, files=wish.files)

        struck = STRIKES[striking](act, fatal)
        unfinished = records_of(root).journal.unfinished()
        if unfinished is not None:
            interrupted.append(fatal)
            with pytest.raises(CheckpointError) as refused:
                back_up_now(records_of(root))
            assert refused.value.code.number == "HF4506"
            assert settled(root, finish=finish) == ("finished" if finish else "taken-back")
            assert is_restored(root, after) if finish else tree_of(root) == before
        else:
            assert tree_of(root) == before or is_restored(root, after)
        assert settled(root, finish=finish) == "nothing"
        assert_store_is_sound(records_of(root))
        if not struck:
            assert is_restored(root, after)
            assert interrupted[-1] - interrupted[0] >= 5, (
                "too few moments lay between intent and outcome"
            )
            return
        shutil.rmtree(folder)


def is_restored(root: Path, tree: Tree) -> bool:
    """The files are exactly those of the backup, and nothing else of ours is among them."""
    files = {path: content for path, content in tree.items() if content is not None}
    return {path: one for path, one in tree_of(root).items() if one is not None} == files


@pytest.mark.parametrize("finish", [True, False], ids=["finish", "undo"])
def test_finishing_and_taking_back_may_be_killed_as_well(
    finish: bool, tmp_path: Path, moments: DrawnMoments
) -> None:
    moment = 20
    for fatal in moments(finish, every=2):
        folder = tmp_path / str(fatal)
        root, backup, _ = prepared(folder, whole_over_damage)
        before = tree_of(root)

        def restore(opener: Opener, root: Path = root, backup: str = backup) -> object:
            return restore_now(records_of(root, opener), backup)

        def settle(opener: Opener, root: Path = root) -> object:
            return settled(root, finish=finish, opener=opener)

        # The first time it is searched for; it is the same one in every copy.
        moment = next(one for one in count(moment) if first_write(folder, restore, root, one))
        struck = killed_in_child(settle, fatal)
        if struck and records_of(root).journal.unfinished() is not None:
            settled(root, finish=finish)
        assert is_restored(root, small()) if finish else tree_of(root) == before
        if not struck:
            return
        shutil.rmtree(folder)


def first_write(folder: Path, act: Callable[[Opener], object], root: Path, moment: int) -> bool:
    """Kill at a moment; True when it left the act unfinished, with something written."""
    keep = folder / "keep"
    shutil.rmtree(keep, ignore_errors=True)
    shutil.copytree(root.parent, keep, ignore=shutil.ignore_patterns("keep"))
    before = tree_of(root)
    assert killed_in_child(act, moment)
    if records_of(root).journal.unfinished() is not None and tree_of(root) != before:
        return True
    shutil.rmtree(root)
    shutil.rmtree(root.parent / FOLDER)
    shutil.copytree(keep / "ckpt", root)
    shutil.copytree(keep / FOLDER, root.parent / FOLDER)
    return False
