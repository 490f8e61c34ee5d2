"""Who is at work on a store, and who only left a mark."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from holdfast.records.busy import TOKENS, encode_mark, is_busy, mark_path, marked_numbers, worker
from holdfast.storage.memory import MemoryReader


def store(*marks: bytes) -> MemoryReader:
    """Give backups with these marks."""
    return MemoryReader({mark_path(number): mark for number, mark in enumerate(marks, 1)})


def changed(**changes: object) -> bytes:
    return json.dumps({**json.loads(encode_mark("restore", "token")), **changes}).encode()


def ended_process() -> int:
    ended = subprocess.Popen(["true"])
    ended.wait()
    return ended.pid


def test_nobody_is_at_an_empty_store() -> None:
    assert not is_busy(store())


def test_what_this_process_holds_counts_while_it_holds_it() -> None:
    mark = encode_mark("restore", "mine")
    assert not is_busy(store(mark))
    TOKENS.add("mine")
    try:
        assert is_busy(store(mark))
    finally:
        TOKENS.discard("mine")


def test_a_living_process_and_one_elsewhere_count() -> None:
    assert is_busy(store(changed(process=os.getppid(), started=None)))
    assert is_busy(store(changed(host="another", process=1, lasting="another")))
    assert is_busy(store(changed(host="another", process=1, lasting=None)))


def test_a_machine_that_was_started_again_has_no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """A power cut during a backup must not keep a restore waiting for a day."""
    monkeypatch.setattr("holdfast.records.busy.lasting_machine", lambda: "this one")
    assert not is_busy(store(changed(host="before the start", process=1, lasting="this one")))
    assert is_busy(store(changed(host="before the start", process=1, lasting="that one")))


def test_a_number_that_was_given_out_again_does_not_count() -> None:
    assert not is_busy(store(changed(process=os.getppid(), started="1")))


def test_an_act_under_an_older_lease_does_not_count_for_its_holder() -> None:
    mine = store(changed(process=os.getppid(), started=None, generation=4))
    assert worker(mine, generation=4) is not None
    assert worker(mine, generation=5) is None
    assert worker(store(changed(process=os.getppid(), started=None)), generation=5) is not None


def test_the_worker_is_described() -> None:
    words = worker(store(changed(host="another", process=7, lasting=None)))
    assert words is not None
    assert words.startswith("a restore by process 7 of another machine")


def test_a_process_that_is_gone_does_not_count() -> None:
    assert not is_busy(store(changed(process=ended_process())))


@pytest.mark.parametrize("mark", [b"", b"{}", b"[1]", b'{"since": "x"}'])
def test_a_mark_that_cannot_be_read_counts(mark: bytes) -> None:
    assert is_busy(store(mark))


def test_only_the_numbers_that_are_named_are_looked_at() -> None:
    reader = store(changed(process=os.getppid(), started=None), changed(process=ended_process()))
    assert sorted(marked_numbers(reader)) == [1, 2]
    assert is_busy(reader) and is_busy(reader, [1])
    assert not is_busy(reader, [2]) and not is_busy(reader, [7])
