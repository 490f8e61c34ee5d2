"""Who is gone for sure: only on the same machine, only with all of its processes."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from holdfast.records.processes import Presence, Process, is_gone, presence, this_holder
from holdfast.storage.machine import this_machine
from tests.records.drivers import elsewhere, living_process

DEAD = Process(os.getpid(), "0")
"""Number of this process, start of another one."""


def test_this_process_is_here() -> None:
    holder = this_holder(os.getppid())
    assert (holder.python.number, holder.machine) == (os.getpid(), this_machine())
    assert holder.jvm is not None
    assert holder.jvm.number == os.getppid()
    assert presence(holder) is Presence.HERE
    assert this_holder(None).jvm is None
    assert f"process {os.getpid()}, JVM {os.getppid()}" in holder.words


def test_both_processes_must_be_gone() -> None:
    here = this_holder(None)
    assert is_gone(replace(here, python=DEAD))
    assert is_gone(replace(here, python=DEAD, jvm=DEAD))
    assert not is_gone(replace(here, jvm=DEAD))
    with living_process() as jvm:
        outlived = replace(this_holder(jvm.pid), python=DEAD)
        assert presence(outlived) is Presence.HERE
    assert is_gone(outlived)


def test_another_machine_tells_nothing() -> None:
    assert presence(elsewhere()) is Presence.UNCLEAR
    assert not is_gone(replace(elsewhere(), python=DEAD))


def test_a_number_without_a_start_tells_nothing_while_it_is_in_use() -> None:
    unknown = replace(this_holder(None), python=Process(os.getpid(), None))
    assert presence(unknown) is Presence.UNCLEAR
    assert presence(replace(unknown, jvm=DEAD)) is Presence.UNCLEAR


def test_a_user_without_a_name_is_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    def nameless() -> str:
        raise KeyError("no such user")

    monkeypatch.setattr("getpass.getuser", nameless)
    assert this_holder(None).user == str(os.getuid())


def test_the_machine_depends_on_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    before = this_machine()
    assert before == this_machine()
    monkeypatch.setattr("socket.gethostname", lambda: "another")
    assert this_machine() != before
