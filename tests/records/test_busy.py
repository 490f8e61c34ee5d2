"""Who is at work on a store, and who only left a mark."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from holdfast.records.busy import TOKENS, encode_mark, is_busy, mark_path, marked_numbers
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
    assert is_busy(store(changed(process=os.getppid())))
    assert is_busy(store(changed(host="another", process=1)))


def test_a_process_that_is_gone_does_not_count() -> None:
    assert not is_busy(store(changed(process=ended_process())))


@pytest.mark.parametrize("mark", [b"", b"{}", b"[1]", b'{"since": "x"}'])
def test_a_mark_that_cannot_be_read_counts(mark: bytes) -> None:
    assert is_busy(store(mark))


def test_only_the_numbers_that_are_named_are_looked_at() -> None:
    reader = store(changed(process=os.getppid()), changed(process=ended_process()))
    assert sorted(marked_numbers(reader)) == [1, 2]
    assert is_busy(reader) and is_busy(reader, [1])
    assert not is_busy(reader, [2]) and not is_busy(reader, [7])
