"""A restore gives back the same bytes, and never lets Spark plan a known batch anew."""

from __future__ import annotations

import os
import shutil
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from holdfast.backup.access import Records, open_store, reopened
from holdfast.backup.making import make_backup
from holdfast.backup.restoring import RestoreOptions, restore_backup
from holdfast.backup.results import RestoreAct
from holdfast.backup.settling import settle_restore
from holdfast.backup.snapshot import BEFORE_RESTORE
from holdfast.backup.store import find_snapshot
from holdfast.errors import HoldfastError
from holdfast.records.history import History
from holdfast.records.offsetcopies import OffsetCopies
from holdfast.records.run import Ended
from holdfast.storage.options import StorageSettings
from tests.backup.folders import (
    NOW_MS,
    Tree,
    aged,
    assert_store_is_sound,
    back_up_now,
    extracted,
    make_tree,
    records_of,
    restore_now,
    small,
    tree_of,
)
from tests.backup.writers import killed_in_child
from tests.diagnosis.doctor.recording import a_run
from tests.fuzz.children import in_child

LATER = NOW_MS + 60_000


def refusal(records: Records, backup: str, *, files: tuple[str, ...] = ()) -> str:
    """Give the code that a restore is refused with; nothing may have changed."""
    with pytest.raises(HoldfastError) as caught:
        restore_now(records, backup, files=files, now_ms=LATER)
    return caught.value.code.number


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return extracted(tmp_path)


@pytest.fixture
def records(root: Path) -> Records:
    return records_of(root)


@pytest.fixture
def backup(records: Records) -> str:
    return back_up_now(records).result.backups[0].id


def test_whole_over_damage_is_byte_identical_and_keeps_what_was_there(
    root: Path, records: Records, backup: str
) -> None:
    tree = tree_of(root)
    (root / "offsets/3").write_bytes(b"torn")
    (root / "commits/2").unlink()
    (root / "extra").write_bytes(b"extra")
    (root / "empty/folder").mkdir(parents=True)
    damaged = tree_of(aged(root))
    done = restore_now(records, backup, now_ms=LATER).result
    assert tree_of(root) == tree
    assert (done.act, done.written_files, done.removed_files) == (RestoreAct.RESTORED, 2, 1)
    assert done.safety_backup is not None
    assert records.journal.unfinished() is None
    safety = records.store.snapshot(done.safety_backup)
    assert safety.purpose == "before-restore"
    kept = {file.path: b"".join(records.store.chunks(file)) for file in safety.checkpoint.files}
    assert kept == {path: one for path, one in damaged.items() if one is not None}


def test_what_is_there_already_is_left_alone(root: Path, records: Records, backup: str) -> None:
    done = restore_now(records, backup, now_ms=LATER).result
    assert done.act is RestoreAct.UNCHANGED
    assert done.safety_backup is None
    assert records.store.snapshot_ids() == [backup]


def test_over_nothing_it_tells_that_the_sink_may_know_more(
    root: Path, records: Records, backup: str
) -> None:
    tree = tree_of(root)
    shutil.rmtree(root)
    answer = restore_now(records, backup, now_ms=LATER)
    assert tree_of(root) == tree
    assert [(one.code, one.severity.value) for one in answer.findings] == [("HF4517", "warning")]


def ran(records: Records, backup: str, last_batch: int) -> None:
    """Record a run on the checkpoint that delivered this batch last."""
    query_id = records.store.snapshot(backup).query_id
    assert query_id is not None
    History(records.folder).write(a_run(query_id=query_id, last_batch=last_batch))


def test_a_backup_that_ends_before_a_recorded_batch_is_refused_over_nothing(
    root: Path, records: Records, backup: str
) -> None:
    """The run's record outlives the checkpoint: Spark would plan the batch again."""
    last = records.store.snapshot(backup).last_planned
    assert last is not None
    tree = tree_of(root)
    shutil.rmtree(root)
    ran(records, backup, last + 1)
    assert refusal(records, backup) == "HF4502"
    assert not root.exists()
    ran(records, backup, last)
    answer = restore_now(records, backup, now_ms=LATER)
    assert tree_of(root) == tree
    assert [(one.code, one.severity.value) for one in answer.findings] == [("HF4517", "info")]


def next_batch(root: Path) -> int:
    """Let the query have planned one batch more; return which."""
    newest = max(int(path.name) for path in (root / "offsets").iterdir() if path.name.isdigit())
    shutil.copy(root / f"offsets/{newest}", root / f"offsets/{newest + 1}")
    aged(root)
    return newest + 1


def test_an_older_backup_is_refused(root: Path, records: Records, backup: str) -> None:
    next_batch(root)
    tree = tree_of(root)
    assert refusal(records, backup) == "HF4502"
    assert tree_of(root) == tree


def test_a_backup_before_the_last_commit_is_refused(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "ckpt", small())
    records = records_of(root)
    backup = back_up_now(records).result.backups[0].id
    make_tree(root, {"commits/1": small()["commits/0"]})
    assert refusal(records, backup) == "HF4502"


def test_a_newer_backup_counts_as_knowledge_also_when_the_checkpoint_is_gone(
    root: Path, records: Records, backup: str
) -> None:
    next_batch(root)
    newer = back_up_now(records, now_ms=NOW_MS + 1).result.backups[0].id
    shutil.rmtree(root)
    assert refusal(records, backup) == "HF4502"
    restore_now(records, newer, now_ms=LATER)
    assert (root / "offsets").is_dir()


def test_an_older_backup_may_go_to_another_place(
    root: Path, records: Records, backup: str, tmp_path: Path
) -> None:
    tree = tree_of(root)
    next_batch(root)
    answer = restore_now(records, backup, target=records_of(tmp_path / "other" / "ckpt"))
    assert tree_of(tmp_path / "other" / "ckpt") == tree
    assert [one.code for one in answer.findings] == ["HF4513"]


def other_offsets(root: Path, path: str = "offsets/3") -> None:
    """Plan the batch with different offsets, as after a deletion of the entry, checksum and all."""
    content = (root / path).read_bytes().replace(b'"logOffset":3', b'"logOffset":2')
    assert content != (root / path).read_bytes()
    (root / path).write_bytes(content)
    (root / "offsets/.3.crc").unlink()
    aged(root)


@pytest.mark.parametrize("files", [(), ("offsets/3",), ("commits/3",), ("sources/0/1",)])
def test_a_batch_that_was_planned_with_other_offsets_is_not_overwritten(
    root: Path, records: Records, backup: str, files: tuple[str, ...]
) -> None:
    other_offsets(root)
    if files:
        (root / files[0]).unlink() if files[0] != "offsets/3" else None
    assert refusal(records, backup, files=files) == "HF4503"


def test_another_querys_checkpoint_is_not_overwritten(
    root: Path, records: Records, backup: str
) -> None:
    (root / "metadata").write_bytes(b'{"id":"11111111-2222-3333-4444-555555555555"}')
    (root / ".metadata.crc").unlink()
    aged(root)
    assert refusal(records, backup) == "HF4504"
    assert refusal(records, backup, files=("metadata",)) == "HF4504"


def test_a_running_query_is_not_written_under(root: Path, records: Records, backup: str) -> None:
    tree = tree_of(root)
    (root / "commits/2").unlink()
    os.utime(root / "commits/3", (LATER / 1000 - 2, LATER / 1000 - 2))
    assert refusal(records, backup) == "HF4505"
    restore_now(records, backup, now_ms=LATER, even_if_running=True)
    assert tree_of(root) == tree


@pytest.mark.parametrize("path", ["offsets/3", "commits/2", "metadata", "sources/0/1"])
@pytest.mark.parametrize("damage", ["missing", "empty", "torn"])
def test_single_files_are_put_back_with_their_checksums(
    root: Path, records: Records, backup: str, path: str, damage: str
) -> None:
    tree = tree_of(root)
    folder, _, name = path.rpartition("/")
    side = root / folder / f".{name}.crc"
    side.write_bytes(b"stale")
    if damage == "missing":
        (root / path).unlink()
    else:
        (root / path).write_bytes(b"" if damage == "empty" else b"v1\n{")
    (root / "extra").write_bytes(b"stays")
    aged(root)
    done = restore_now(records, backup, files=(path,), now_ms=LATER).result
    assert tree_of(root) == tree | {"extra": b"stays"}
    assert (done.whole, done.written_files) == (False, 2)


def test_an_old_backup_gives_single_files_also_to_a_newer_checkpoint(
    root: Path, records: Records, backup: str
) -> None:
    next_batch(root)
    tree = tree_of(root)
    (root / "offsets/2").unlink()
    restore_now(records, backup, files=("offsets/2",), now_ms=LATER)
    assert tree_of(root) == tree


def advised(records: Records, backup: str) -> tuple[str, ...]:
    """Return the steps of the refusal of an older backup."""
    with pytest.raises(HoldfastError) as caught:
        restore_now(records, backup, now_ms=LATER)
    assert caught.value.code.number == "HF4502"
    return caught.value.next_steps


def test_the_steps_of_an_older_backup_are_followed(
    root: Path, records: Records, backup: str, tmp_path: Path
) -> None:
    """Without a newer backup single files are the way; with one, that one is."""
    older = tree_of(root)
    next_batch(root)
    tree = tree_of(root)
    (root / "offsets/2").unlink()
    aged(root)
    single, look = advised(records, backup)
    assert single.endswith("holdfast restore TARGET@ID --file PATH")
    restore_now(records, backup, files=("offsets/2",), now_ms=LATER)
    assert tree_of(root) == tree
    assert look.endswith("holdfast restore TARGET@ID --to DIR")
    restore_now(records, backup, target=records_of(tmp_path / "look" / "ckpt"))
    assert tree_of(tmp_path / "look" / "ckpt") == older

    newer = back_up_now(records, now_ms=LATER + 1).result.backups[0].id
    shutil.rmtree(root)
    newest, _ = advised(records, backup)
    assert newest.endswith("holdfast restore TARGET@newest")
    restore_now(records, newer, now_ms=LATER + 2)
    assert tree_of(root) == tree


def test_a_copy_that_a_restore_set_aside_is_advised_by_its_id(
    root: Path, records: Records, backup: str
) -> None:
    """`newest` does not mean it: it would be refused for the same reason again."""
    next_batch(root)
    tree = tree_of(root)
    safety = set_aside(records, backup, LATER)
    shutil.rmtree(root)
    named, _ = advised(records, backup)
    assert named.endswith(f"holdfast restore TARGET@{safety}")
    found = find_snapshot(records.store, "newest")
    assert found.id == backup, "what the step would have led to"
    restore_now(records, safety, now_ms=LATER + 2)
    assert tree_of(root) == tree


def test_no_backup_is_advised_that_ends_before_another_one(
    root: Path, records: Records, backup: str
) -> None:
    """The newest backup was made after the checkpoint had been put back to an older state."""
    older = tree_of(root)
    next_batch(root)
    between = back_up_now(records, now_ms=LATER).result.backups[0].id
    shutil.rmtree(root)
    make_tree(root, older)
    back_up_now(records, now_ms=LATER + 1)
    named, *_ = advised(records, backup)
    assert named.endswith(f"holdfast restore TARGET@{between}")
    assert restore_now(records, between, now_ms=LATER + 60_000).result.act is RestoreAct.RESTORED


def set_aside(records: Records, backup: str, now_ms: int) -> str:
    """Keep what is there as a restore does before it writes; return the id of the copy."""
    made = make_backup(
        records.checkpoint,
        records.store,
        identity=records.identity,
        now_ms=now_ms,
        purpose=BEFORE_RESTORE,
    )
    assert made.snapshot.id != backup
    return made.snapshot.id


def test_a_stale_checksum_goes_where_the_backup_has_none(tmp_path: Path) -> None:
    tree: Tree = {path: one for path, one in small().items() if not path.endswith(".crc")}
    root = make_tree(tmp_path / "ckpt", tree)
    records = records_of(root)
    backup = back_up_now(records).result.backups[0].id
    make_tree(root, {"offsets/1": b"torn", "offsets/.1.crc": b"stale", "offsets/.0.crc": b"other"})
    restore_now(records, backup, files=("offsets/1",), now_ms=LATER)
    assert tree_of(root)["offsets/1"] == tree["offsets/1"]
    assert "offsets/.1.crc" not in tree_of(root)
    assert "offsets/.0.crc" in tree_of(root)


def test_a_file_that_the_backup_has_not_is_refused(records: Records, backup: str) -> None:
    assert refusal(records, backup, files=("offsets/99",)) == "HF4516"


def test_a_damaged_copy_is_never_restored(root: Path, records: Records, backup: str) -> None:
    (root / "commits/2").unlink()
    sha256 = records.store.snapshot(backup).checkpoint.by_path["commits/2"].sha256
    copy = root.parent / f".holdfast/checkpoint/backups/objects/{sha256[:2]}/{sha256}"
    copy.write_bytes(copy.read_bytes() + b"!")
    tree = tree_of(root)
    assert refusal(records, backup) == "HF4510"
    assert tree_of(root) == tree
    assert records.journal.unfinished() is None


def test_nothing_is_written_when_nobody_confirms(root: Path, records: Records, backup: str) -> None:
    (root / "commits/2").unlink()
    tree = tree_of(root)
    told: list[str] = []

    def refuse(sentence: str) -> bool:
        told.append(sentence)
        return False

    wish = RestoreOptions(records.store.snapshot(backup), records.store, records, elsewhere=False)
    with pytest.raises(HoldfastError) as caught:
        restore_backup(wish, now_ms=LATER, confirm=refuse)
    assert caught.value.code.number == "HF4508"
    assert "write 1 file" in told[0]
    assert tree_of(root) == tree
    assert records.store.snapshot_ids() == [backup]


@pytest.mark.parametrize("files", [("commits/2",), ()], ids=["file", "whole"])
def test_a_restore_that_was_denied_before_its_first_change_is_closed(
    root: Path, records: Records, backup: str, files: tuple[str, ...]
) -> None:
    """It need not be finished or undone; once the access is granted, it can be made again."""
    (root / "commits/2").unlink()
    (root / "commits").chmod(0o555)
    tree = tree_of(root)

    def act() -> str:
        with pytest.raises(HoldfastError) as caught:
            restore_now(records, backup, files=files, now_ms=LATER)
        return str(caught.value)

    told = in_child(act, without_capabilities=True)
    (root / "commits").chmod(0o755)
    assert told.startswith("HF7002: ") and "nothing was changed, and the restore is closed" in told
    assert tree_of(root) == tree and records.journal.unfinished() is None
    assert restore_now(records, backup, now_ms=LATER).result.act is RestoreAct.RESTORED


def test_a_restore_that_was_denied_in_its_middle_stays_open(
    root: Path, records: Records, backup: str
) -> None:
    """One file was put back, the other was not: it is to be finished or undone."""
    (root / "commits/2").unlink()
    (root / "offsets/2").write_bytes(b"v1")
    (root / "offsets").chmod(0o555)
    files = ("commits/2", "offsets/2")

    def act() -> str:
        with pytest.raises(HoldfastError) as caught:
            restore_now(records, backup, files=files, now_ms=LATER)
        return str(caught.value)

    told = in_child(act, without_capabilities=True)
    (root / "offsets").chmod(0o755)
    assert told.startswith("HF7002: ") and "closed" not in told
    assert (root / "offsets/2").read_bytes() == b"v1" and (root / "commits/2").exists()
    assert records.journal.unfinished() is not None


@pytest.mark.parametrize("finish", [True, False], ids=["finish", "undo"])
def test_an_interrupted_restore_to_another_place_can_be_settled_there(
    root: Path, records: Records, backup: str, tmp_path: Path, finish: bool
) -> None:
    place = tmp_path / "other" / "ckpt"
    moment = 0
    while not place.exists() or records_of(place).journal.unfinished() is None:
        moment += 1
        shutil.rmtree(tmp_path / "other", ignore_errors=True)
        assert killed_in_child(
            lambda opener: restore_now(records, backup, target=records_of(place, opener)), moment
        )
    answer = settle_restore(
        records_of(place),
        finish=finish,
        open_store=lambda url: open_store(reopened(url), StorageSettings()),
    )
    assert tree_of(place) == (tree_of(root) if finish else {})
    assert place.exists() is finish
    assert answer.result.backup == backup
    assert_store_is_sound(records)


def half_restored(root: Path, records: Records, backup: str, *lost: str) -> None:
    """Lose files, and kill a restore right after its intent is written."""
    for path in lost:
        (root / path).unlink()
    aged(root)
    moment = 0
    while records.journal.unfinished() is None:
        moment += 1
        assert killed_in_child(lambda opener: restore_now(records_of(root, opener), backup), moment)


@pytest.mark.parametrize("finish", [True, False], ids=["finish", "undo"])
def test_a_query_that_was_started_on_a_half_restore_is_not_wiped_out(
    root: Path, records: Records, backup: str, finish: bool
) -> None:
    half_restored(root, records, backup, "commits/2")
    batch = next_batch(root)
    shutil.copy(root / "commits/1", root / f"commits/{batch}")
    aged(root)
    tree = tree_of(root)
    with pytest.raises(HoldfastError) as caught:
        settle_restore(records, finish=finish, open_store=lambda _: records.store)
    assert caught.value.code.number == "HF4518"
    assert f"batch {batch} was planned and committed" in caught.value.message
    assert tree_of(root) == tree
    assert refusal(records, backup) == "HF4506"


@pytest.mark.parametrize("finish", [True, False], ids=["finish", "undo"])
def test_a_batch_that_a_late_driver_only_planned_is_kept(
    root: Path, records: Records, backup: str, finish: bool
) -> None:
    whole = tree_of(root)
    half_restored(root, records, backup, "commits/2")
    path = f"offsets/{next_batch(root)}"
    planned = {path: (root / path).read_bytes()}
    settle_restore(records, finish=finish, open_store=lambda _: records.store)
    without = {path: data for path, data in whole.items() if path != "commits/2"}
    assert tree_of(root) == (whole if finish else without) | planned
    assert records.journal.unfinished() is None


def test_what_a_late_driver_wrote_instead_of_the_restore_is_kept_by_undo(
    root: Path, records: Records, backup: str
) -> None:
    half_restored(root, records, backup, "commits/2")
    late = (root / "commits/1").read_bytes() + b" "
    (root / "commits/2").write_bytes(late)
    aged(root)
    tree = tree_of(root)
    with pytest.raises(HoldfastError) as caught:
        settle_restore(records, finish=True, open_store=lambda _: records.store)
    assert (caught.value.code.number, caught.value.exit_status) == ("HF4524", 40)
    assert f"restore --undo {root}" in caught.value.next_steps[0]
    settle_restore(records, finish=False, open_store=lambda _: records.store)
    assert tree_of(root) == tree
    assert records.journal.unfinished() is None


def write_every_minute(root: Path, newest_ms: int) -> None:
    """Let the entries be as old as those of a query with a trigger of one minute."""
    newest = max(int(path.name) for path in (root / "offsets").iterdir() if path.name.isdigit())
    for number in range(newest + 1):
        seconds = newest_ms / 1000 - 60 * (newest - number)
        os.utime(root / f"offsets/{number}", (seconds, seconds))


def test_a_query_with_a_slow_trigger_is_noticed(root: Path, records: Records, backup: str) -> None:
    (root / "commits/2").unlink()
    write_every_minute(root, LATER - 50_000)
    tree = tree_of(root)
    with pytest.raises(HoldfastError) as caught:
        restore_now(records, backup, now_ms=LATER)
    assert (caught.value.code.number, caught.value.exit_status) == ("HF4505", 22)
    assert "offsets/3 changed 50 s ago, and batches run about every 60 s" in caught.value.message
    assert "180 s (in 130 s)" in caught.value.next_steps[0]
    assert tree_of(root) == tree
    assert restore_now(records, backup, now_ms=LATER + 131_000).result.act is RestoreAct.RESTORED


def test_after_a_run_of_our_own_the_lease_is_enough(
    root: Path, records: Records, backup: str
) -> None:
    query_id = records.store.snapshot(backup).query_id
    assert query_id is not None
    OffsetCopies(records.folder).keep(query_id, 3, (root / "offsets/3").read_bytes())
    (root / "commits/2").unlink()
    write_every_minute(root, LATER - 9_000)
    assert refusal(records, backup) == "HF4505"
    write_every_minute(root, LATER - 11_000)
    assert restore_now(records, backup, now_ms=LATER).result.act is RestoreAct.RESTORED


def test_right_after_a_finished_run_nobody_has_to_wait(
    root: Path, records: Records, backup: str
) -> None:
    """Its record says that it ended, and explains the newest files."""
    tree = tree_of(root)
    record_end(records, backup, ended_ms=LATER - 1_000)
    (root / "commits/2").unlink()
    write_every_minute(root, LATER - 2_000)
    assert restore_now(records, backup, now_ms=LATER).result.act is RestoreAct.RESTORED
    assert tree_of(root) == tree


@pytest.mark.parametrize(
    "changes",
    [
        {"ended": None, "ended_at": None},
        {"ended": Ended.LOST_LEASE},
        {"last_batch": 2},
        {"query_id": "11111111-2222-3333-4444-555555555555"},
    ],
    ids=str,
)
def test_a_run_that_does_not_explain_the_newest_files_changes_nothing(
    root: Path, records: Records, backup: str, changes: dict[str, Any]
) -> None:
    """A query that Holdfast did not start may have written them."""
    record_end(records, backup, ended_ms=LATER - 1_000, **changes)
    (root / "commits/2").unlink()
    write_every_minute(root, LATER - 2_000)
    assert refusal(records, backup) == "HF4505"


def test_right_after_a_failed_run_nobody_has_to_wait(
    root: Path, records: Records, backup: str
) -> None:
    """Its query is over as well."""
    record_end(records, backup, ended_ms=LATER - 1_000, ended=Ended.FAILED)
    (root / "commits/2").unlink()
    write_every_minute(root, LATER - 2_000)
    assert restore_now(records, backup, now_ms=LATER).result.act is RestoreAct.RESTORED


def test_what_changed_after_a_finished_run_was_changed_by_hand(
    root: Path, records: Records, backup: str
) -> None:
    """A query of somebody else's would have planned a batch."""
    record_end(records, backup, ended_ms=LATER - 3_000)
    (root / "commits/2").unlink()
    write_every_minute(root, LATER - 2_000)
    assert restore_now(records, backup, now_ms=LATER).result.act is RestoreAct.RESTORED


@pytest.mark.parametrize("ended", [Ended.STOPPED, Ended.FAILED])
def test_files_that_changed_after_the_end_of_another_run_are_somebody_elses(
    root: Path, records: Records, backup: str, ended: Ended
) -> None:
    """It may have left a batch pending, which another query runs again."""
    record_end(records, backup, ended_ms=LATER - 3_000, ended=ended)
    (root / "commits/2").unlink()
    write_every_minute(root, LATER - 2_000)
    assert refusal(records, backup) == "HF4505"


@pytest.mark.parametrize("begun", ["commits/3", "sources/0/4"])
def test_a_query_that_began_a_batch_after_a_finished_run_is_noticed(
    root: Path, records: Records, backup: str, begun: str
) -> None:
    """A batch is pending, or the files of the next one are known already."""
    record_end(records, backup, ended_ms=LATER - 3_000)
    (root / "commits/2").unlink()
    write_every_minute(root, LATER - 2_000)
    if begun.startswith("commits"):
        (root / begun).unlink()
    else:
        (root / begun).write_bytes((root / "sources/0/3").read_bytes())
    assert refusal(records, backup) == "HF4505"


def record_end(records: Records, backup: str, *, ended_ms: int, **changes: Any) -> None:
    """Record a run of the query that ended at a moment."""
    ended_at = datetime.fromtimestamp(ended_ms / 1000, tz=timezone.utc).isoformat()
    query_id = records.store.snapshot(backup).query_id
    facts = {"query_id": query_id, "last_batch": 3, "ended_at": ended_at, **changes}
    History(records.folder).write(a_run(**facts))
