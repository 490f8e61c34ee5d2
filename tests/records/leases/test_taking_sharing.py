"""A lease that another container would not see is refused, with what to mount."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.errors import LeaseError
from holdfast.records.folder import RecordsFolder, records_of
from holdfast.records.leases.acting import acting
from holdfast.records.leases.taking import refuse_held, refuse_unshared
from holdfast.storage.location import parse_location
from holdfast.storage.options import StorageSettings
from tests.records.drivers import records_in, taken


def mounted(monkeypatch: pytest.MonkeyPatch, folder: Path, *points: Path) -> None:
    """Let the system tell of these mounts."""
    lines = [f"{30 + i} 29 8:1 / {one} rw - overlay x rw" for i, one in enumerate(("/", *points))]
    (folder / "mountinfo").write_text("\n".join(lines))
    monkeypatch.setattr("holdfast.records.leases.taking._MOUNTINFO", folder / "mountinfo")


def act(folder: RecordsFolder) -> None:
    """Hold the lease for an act."""
    with acting(folder, "restore"):
        pass


@pytest.mark.parametrize("take", [taken, act, refuse_held], ids=["run", "act", "admission"])
def test_a_checkpoint_that_is_mounted_alone_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, take: Callable[[RecordsFolder], object]
) -> None:
    folder = records_in(tmp_path)
    mounted(monkeypatch, tmp_path, tmp_path / "orders")
    with pytest.raises(LeaseError) as caught:
        take(folder)
    assert (caught.value.code.number, caught.value.exit_status) == ("HF2613", 30)
    assert f"{tmp_path}/orders is a mount point" in caught.value.message
    assert caught.value.next_steps[0] == f"mount {tmp_path} instead, with orders inside it"
    assert f"{tmp_path}/.holdfast" in caught.value.next_steps[1]
    assert not (tmp_path / ".holdfast").exists()


def test_a_mount_around_the_checkpoint_is_as_usual(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounted(monkeypatch, tmp_path, tmp_path, tmp_path / "orders" / "state")
    assert taken(records_in(tmp_path)).generation == 1


def test_records_with_a_mount_of_their_own_are_shared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounted(monkeypatch, tmp_path, tmp_path / "orders", tmp_path / ".holdfast")
    assert taken(records_in(tmp_path)).generation == 1


def test_where_the_system_does_not_tell_nothing_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.records.leases.taking._MOUNTINFO", tmp_path / "missing")
    refuse_unshared(records_in(tmp_path))
    refuse_unshared(records_of(parse_location("memory://lake/orders"), StorageSettings()))
