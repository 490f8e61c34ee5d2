"""A bundle's file is whole or not there, replaces nothing, and never lies in evidence."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from holdfast.diagnosis.evidence.bundle import put_bundle, refuse_bad_place
from holdfast.errors import HoldfastError


def code_of(raised: pytest.ExceptionInfo[HoldfastError]) -> str:
    """Give the number of the code that was raised."""
    return raised.value.code.number


def test_it_is_written_whole(tmp_path: Path) -> None:
    """And nothing lies beside it."""
    put_bundle(tmp_path / "b.zip", b"data")
    assert (tmp_path / "b.zip").read_bytes() == b"data"
    assert [path.name for path in tmp_path.iterdir()] == ["b.zip"]


def test_an_existing_file_stays_as_it_is(tmp_path: Path) -> None:
    """HF2501, also where it appears at the last moment, and for a broken link."""
    target = tmp_path / "b.zip"
    target.write_bytes(b"older")
    with pytest.raises(HoldfastError) as raised:
        refuse_bad_place(target, ())
    assert code_of(raised) == "HF2501"
    assert raised.value.exit_status == 2
    with pytest.raises(HoldfastError) as raised:
        put_bundle(target, b"new")
    assert code_of(raised) == "HF2501"
    assert target.read_bytes() == b"older"
    (tmp_path / "link.zip").symlink_to(tmp_path / "nowhere")
    with pytest.raises(HoldfastError) as raised:
        refuse_bad_place(tmp_path / "link.zip", ())
    assert code_of(raised) == "HF2501"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.zip", "link.zip"]


def test_a_place_inside_of_evidence_is_refused(tmp_path: Path) -> None:
    """HF2502, however it is spelled: through dots and through links."""
    checkpoint = tmp_path / "checkpoint"
    (checkpoint / "offsets").mkdir(parents=True)
    (tmp_path / "elsewhere").symlink_to(checkpoint / "offsets")
    for inside in (
        checkpoint / "b.zip",
        checkpoint / "offsets" / "b.zip",
        checkpoint / "offsets" / ".." / "b.zip",
        tmp_path / "elsewhere" / "b.zip",
        checkpoint / "new" / "b.zip",
    ):
        with pytest.raises(HoldfastError) as raised:
            refuse_bad_place(inside, (checkpoint,))
        assert code_of(raised) == "HF2502"
    refuse_bad_place(tmp_path / "checkpoint.zip", (checkpoint,))


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """HF2503, before anything is read."""
    with pytest.raises(HoldfastError) as raised:
        refuse_bad_place(tmp_path / "none" / "b.zip", ())
    assert code_of(raised) == "HF2503"
    with pytest.raises(HoldfastError) as raised:
        put_bundle(tmp_path / "none" / "b.zip", b"data")
    assert code_of(raised) == "HF2503"


@pytest.mark.parametrize("act", ["fsync", "link"])
def test_a_failure_leaves_nothing_behind(
    act: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither half a bundle nor its temporary file."""

    def fail(*_arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, act, fail)
    with pytest.raises(HoldfastError, match="no space left") as raised:
        put_bundle(tmp_path / "b.zip", b"data")
    assert code_of(raised) == "HF2503"
    assert list(tmp_path.iterdir()) == []


def test_a_disk_without_links_gets_it_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And still replaces nothing."""

    def refuse(*_arguments: object) -> None:
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    monkeypatch.setattr(os, "link", refuse)
    put_bundle(tmp_path / "b.zip", b"data")
    assert (tmp_path / "b.zip").read_bytes() == b"data"
    with pytest.raises(HoldfastError) as raised:
        put_bundle(tmp_path / "b.zip", b"new")
    assert code_of(raised) == "HF2501"
    assert [path.name for path in tmp_path.iterdir()] == ["b.zip"]
