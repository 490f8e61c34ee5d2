"""A file is confirmed right before it becomes visible, everything else right before it happens."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.errors import LeaseError
from holdfast.records.leases.acting import ConfirmingWriter
from holdfast.storage.localwriter import LocalWriter


def test_a_file_is_confirmed_after_its_last_byte(tmp_path: Path) -> None:
    seen: list[str] = []

    def chunks() -> Iterator[bytes]:
        seen.append("chunk")
        yield b"x"

    def confirm() -> None:
        seen.append("confirm")
        assert not (tmp_path / "a").exists()

    writer = ConfirmingWriter(LocalWriter(str(tmp_path)), confirm)
    writer.replace("a", chunks())
    assert seen == ["chunk", "confirm"]
    assert (tmp_path / "a").read_bytes() == b"x"


def test_what_is_not_confirmed_leaves_nothing_behind(tmp_path: Path) -> None:
    def refuse() -> None:
        raise LeaseError("HF2610", "lost")

    writer = ConfirmingWriter(LocalWriter(str(tmp_path)), refuse)
    for act in (writer.create, writer.replace):
        with pytest.raises(LeaseError):
            act("a", (b"x",))
    assert list(tmp_path.iterdir()) == []


def test_bringing_bytes_to_the_disk_needs_no_confirmation(tmp_path: Path) -> None:
    def refuse() -> None:
        raise AssertionError

    (tmp_path / "a").write_bytes(b"x")
    writer = ConfirmingWriter(LocalWriter(str(tmp_path)), refuse)
    writer.flush("a")
    writer.settle()
    assert writer.location == LocalWriter(str(tmp_path)).location
