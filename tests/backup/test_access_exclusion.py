"""One backup or restore at a time; who is gone blocks nobody."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import subprocess
import time
from collections.abc import Iterable
from contextvars import Context
from pathlib import Path

import pytest

from holdfast.backup.access import Records, alone
from holdfast.backup.snapshot import Snapshot
from holdfast.backup.store import BackupStore, sweep
from holdfast.errors import HoldfastError, StorageError
from holdfast.records.busy import mark_path, marked_numbers
from holdfast.records.processes import process_here
from holdfast.storage.localwriter import LocalWriter
from holdfast.storage.machine import this_machine
from tests.backup.folders import back_up_now, make_tree, records_of, small


@pytest.fixture
def records(tmp_path: Path) -> Records:
    return records_of(make_tree(tmp_path / "ckpt", small()))


def leave_mark(records: Records, **changes: object) -> None:
    """Write the mark of another worker."""
    ended = subprocess.Popen(["true"])
    ended.wait()
    mark = {"act": "backup", "host": this_machine(), "process": ended.pid, "token": "x"}
    content = json.dumps({**mark, "since": time.time(), **changes}).encode()
    assert records.store.writer.create("busy/00000007", [content])


def test_two_at_once_are_refused(records: Records) -> None:
    with alone(records.store, "backup"), pytest.raises(HoldfastError) as caught:
        back_up_now(records)
    assert caught.value.code.number == "HF4507"
    assert caught.value.exit_status == 22
    back_up_now(records)


def test_the_first_failure_of_a_storage_is_the_one_that_is_shown(
    records: Records, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing can be written any more, the mark cannot be removed either."""

    def refuse(path: str) -> None:
        raise StorageError("HF7015", "the mark", at=path)

    with pytest.raises(StorageError, match="the backup"), alone(records.store, "backup"):
        monkeypatch.setattr(records.store.writer, "remove", refuse)
        raise StorageError("HF7015", "the backup")
    with pytest.raises(StorageError, match="the mark"), alone(records.store, "backup"):
        pass
    monkeypatch.undo()
    back_up_now(records)


def test_a_worker_that_is_gone_blocks_nobody(records: Records) -> None:
    leave_mark(records)
    with alone(records.store, "backup") as killed:
        assert killed
    with alone(records.store, "backup") as killed:
        assert not killed


@pytest.mark.parametrize(
    "changes",
    [
        {"process": os.getppid()},
        {"host": "another"},
        {"host": hashlib.sha256(socket.gethostname().encode()).hexdigest()[:8]},
        {"since": "garbage"},
    ],
    ids=["alive", "elsewhere", "by-host-name", "unreadable"],
)
def test_a_worker_that_may_live_is_waited_for(records: Records, changes: dict[str, object]) -> None:
    leave_mark(records, **changes)
    with pytest.raises(HoldfastError) as caught, alone(records.store, "backup"):
        raise AssertionError("it was let in")
    assert caught.value.code.number == "HF4507"


def test_a_clock_that_was_set_does_not_end_a_living_mark(records: Records) -> None:
    """Of a process of this machine, its life decides alone."""
    here = process_here(os.getppid())
    leave_mark(records, process=here.number, started=here.started, since=time.time() - 25 * 3600)
    with pytest.raises(HoldfastError) as caught, alone(records.store, "backup"):
        raise AssertionError("it was let in")
    assert caught.value.code.number == "HF4507"


@pytest.mark.parametrize("when", ["before", "while it is published"])
def test_a_backup_whose_mark_was_taken_for_abandoned_is_not_published(
    records: Records, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """From another machine, whose clock is a day ahead: it swept what no list named yet."""
    publish, create = BackupStore.publish, LocalWriter.create

    def swept() -> None:
        monkeypatch.undo()
        for number in marked_numbers(records.store.reader):
            records.store.writer.remove(mark_path(number))
        Context().run(sweep, records.store)

    def late(store: BackupStore, snapshot: Snapshot) -> None:
        swept()
        publish(store, snapshot)

    def later(writer: LocalWriter, path: str, chunks: Iterable[bytes]) -> bool:
        if path.startswith("snapshots/"):
            swept()
        return create(writer, path, chunks)

    if when == "before":
        monkeypatch.setattr(BackupStore, "publish", late)
    else:
        monkeypatch.setattr(LocalWriter, "create", later)
    with pytest.raises(HoldfastError, match="took this process for dead") as caught:
        back_up_now(records)
    assert caught.value.code.number == "HF4507"
    assert records.store.snapshot_ids() == []
    assert back_up_now(records).result.backups


def test_a_copy_that_is_removed_while_a_backup_is_made_is_noticed(
    records: Records, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish = BackupStore.publish

    def late(store: BackupStore, snapshot: Snapshot) -> None:
        monkeypatch.undo()
        sweep(store)
        publish(store, snapshot)

    monkeypatch.setattr(BackupStore, "publish", late)
    with pytest.raises(HoldfastError, match="was removed while the backup was made") as caught:
        back_up_now(records)
    assert caught.value.code.number == "HF4510"
    assert records.store.snapshot_ids() == []


def test_a_mark_of_another_machine_ends_after_a_day(records: Records) -> None:
    leave_mark(records, host="another", since=time.time() - 25 * 3600)
    with alone(records.store, "backup") as killed:
        assert killed


def test_a_mark_by_host_name_alone_is_held_for_a_day(records: Records) -> None:
    by_name = hashlib.sha256(socket.gethostname().encode()).hexdigest()[:8]
    leave_mark(records, host=by_name, since=time.time() - 23 * 3600)
    with pytest.raises(HoldfastError) as caught, alone(records.store, "backup"):
        raise AssertionError("it was let in")
    assert "its mark expires in 1.0 h" in caught.value.message
    (records.store.writer).remove("busy/00000007")
    leave_mark(records, host=by_name, since=time.time() - 25 * 3600)
    with alone(records.store, "backup") as killed:
        assert killed


def test_a_container_with_the_same_host_name_does_not_sweep_a_living_mark(
    records: Records, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    leave_mark(records)  # its process cannot be seen here, nor from the other container
    other = tmp_path / "namespace"
    other.symlink_to("pid:[4026539999]")
    monkeypatch.setattr("holdfast.storage.machine._PROCESS_NAMESPACE", other)
    with pytest.raises(HoldfastError) as caught, alone(records.store, "backup"):
        raise AssertionError("it was let in")
    assert caught.value.code.number == "HF4507"


def test_an_act_that_lost_its_lease_does_not_block_the_next_holder(records: Records) -> None:
    leave_mark(records, host="another", generation=3)
    with pytest.raises(HoldfastError), alone(records.store, "restore", 3):
        raise AssertionError("it was let in")
    with alone(records.store, "restore", 4) as killed:
        assert killed


def test_who_slept_for_long_does_not_remove_the_mark_of_another(records: Records) -> None:
    mark = records.store.reader
    with alone(records.store, "restore", 1):
        records.store.writer.remove("busy/00000001")
        leave = json.dumps({"act": "backup", "token": "y"}).encode()
        assert records.store.writer.create("busy/00000001", [leave])
    assert mark.names("busy") == {"00000001"}
