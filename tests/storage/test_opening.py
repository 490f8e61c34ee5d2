"""The right reader for each location."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from holdfast.errors import StorageError
from holdfast.storage import opening
from holdfast.storage.local import LocalReader
from holdfast.storage.location import parse_location
from holdfast.storage.memory import MemoryReader
from holdfast.storage.opening import open_reader
from holdfast.storage.options import StorageSettings
from holdfast.storage.retrying import RetryingReader
from holdfast.storage.testing import FaultyReader


def test_local_places_are_read_directly(tmp_path: Path) -> None:
    reader = open_reader(parse_location(f"file://{tmp_path}/"), StorageSettings())
    assert isinstance(reader, LocalReader)
    assert reader.location == f"file://{tmp_path}"


def test_remote_places_are_read_with_patience() -> None:
    reader = open_reader(parse_location("s3a://lake/ckpt/"), StorageSettings())
    assert isinstance(reader, RetryingReader)
    assert reader.location == "s3a://lake/ckpt"


def test_the_timeout_counts_for_every_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    never = threading.Event()

    def wait(_: str) -> None:
        never.wait()

    hanging = FaultyReader(MemoryReader({}), slow=wait)
    monkeypatch.setattr(opening, "LocalReader", lambda *_: hanging)
    reader = open_reader(parse_location(str(tmp_path)), StorageSettings(), timeout=0.02)
    try:
        with pytest.raises(StorageError) as caught:
            reader.list()
    finally:
        never.set()
    assert caught.value.code.number == "HF7007"
