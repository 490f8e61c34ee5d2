"""Killed at any moment of writing records, a process leaves nothing torn and blocks nobody."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from holdfast.records.folder import RecordsFolder
from holdfast.records.history import History
from holdfast.records.offsetcopies import OffsetCopies
from tests.backup.writers import killed_in_child
from tests.records.drivers import Clock, records_in, taken
from tests.records.runs import some_run


def take_and_release(folder: RecordsFolder) -> None:
    lease = taken(folder)
    lease.beat()
    lease.release()


def remember(folder: RecordsFolder) -> None:
    for number in (1, 2):
        History(folder).write(some_run(number))


def keep(folder: RecordsFolder) -> None:
    copies = OffsetCopies(folder)
    for batch in range(4):
        copies.keep("query", batch, b"v1\n%d" % batch)


def killed_everywhere(folder: Path, act: Callable[[RecordsFolder], None]) -> int:
    """Kill the act at each of its moments, in one folder, and give how many there were."""
    for fatal in count(1):
        if not killed_in_child(
            lambda opener: act(replace(records_in(folder), open_writer=opener)), fatal
        ):
            return fatal - 1
        after_a_kill(records_in(folder))
    raise AssertionError


def after_a_kill(folder: RecordsFolder) -> None:
    clock = Clock()
    lease = taken(folder, clock=clock)
    assert clock.slept == 0
    lease.release()
    history = History(folder)
    history.runs()
    assert history.damages == ()
    copies = OffsetCopies(folder)
    for batch in range(4):
        assert copies.copy_of("query", batch) in (None, b"v1\n%d" % batch)


@pytest.mark.parametrize("act", [take_and_release, remember, keep])
def test_killed_at_every_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: Callable[[RecordsFolder], None]
) -> None:
    monkeypatch.setattr("holdfast.records.history.KEPT_RUNS", 1)
    monkeypatch.setattr("holdfast.records.offsetcopies.KEPT_OFFSETS", 2)
    assert killed_everywhere(tmp_path, act) >= 7
    act(records_in(tmp_path))
    lease = tmp_path / ".holdfast/orders/lease"
    taken(records_in(tmp_path))
    assert not [path for path in lease.iterdir() if path.name.endswith(".tmp")]
