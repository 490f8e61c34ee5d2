"""A machine is where process numbers mean the same: one boot, one process namespace, one host."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.storage.machine import this_machine


def test_two_containers_with_one_host_name_are_two_machines(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = this_machine()
    other = tmp_path / "namespace"
    other.symlink_to("pid:[4026539999]")
    monkeypatch.setattr("holdfast.storage.machine._PROCESS_NAMESPACE", other)
    assert this_machine() != before


def test_without_proc_the_network_card_and_the_host_name_decide(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("holdfast.storage.machine._BOOT", tmp_path / "missing")
    before = this_machine()
    assert before == this_machine()
    monkeypatch.setattr("socket.gethostname", lambda: "another")
    assert this_machine() != before
