"""One backup or restore at a time; who is gone blocks nobody."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from holdfast.backup.exclusion import alone
from holdfast.backup.records import Records
from holdfast.errors import HoldfastError
from holdfast.storage.writingtemporary import host_mark
from tests.backup.folders import back_up_now, make_tree, records_of, small


@pytest.fixture
def records(tmp_path: Path) -> Records:
    return records_of(make_tree(tmp_path / "ckpt", small()))


def leave_mark(records: Records, **changes: object) -> None:
    """Write the mark of another worker."""
    ended = subprocess.Popen(["true"])
    ended.wait()
    mark = {"act": "backup", "host": host_mark(), "process": ended.pid, "token": "x"}
    content = json.dumps({**mark, "since": time.time(), **changes}).encode()
    assert records.store.writer.create("busy/00000007", [content])


def test_two_at_once_are_refused(records: Records) -> None:
    with alone(records.store, "backup"), pytest.raises(HoldfastError) as caught:
        back_up_now(records)
    assert caught.value.code.number == "HF4507"
    assert caught.value.exit_status == 22
    back_up_now(records)


def test_a_worker_that_is_gone_blocks_nobody(records: Records) -> None:
    leave_mark(records)
    with alone(records.store, "backup") as killed:
        assert killed
    with alone(records.store, "backup") as killed:
        assert not killed


@pytest.mark.parametrize(
    "changes",
    [{"process": os.getppid()}, {"host": "another"}, {"since": "garbage"}],
    ids=["alive", "elsewhere", "unreadable"],
)
def test_a_worker_that_may_live_is_waited_for(records: Records, changes: dict[str, object]) -> None:
    leave_mark(records, **changes)
    with pytest.raises(HoldfastError) as caught, alone(records.store, "backup"):
        raise AssertionError("it was let in")
    assert caught.value.code.number == "HF4507"


def test_a_mark_of_another_machine_ends_after_a_day(records: Records) -> None:
    leave_mark(records, host="another", since=time.time() - 25 * 3600)
    with alone(records.store, "backup") as killed:
        assert killed
