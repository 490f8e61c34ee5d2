"""New files and folders are never more open than they may be, whatever the umask."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.storage.local import LocalReader
from holdfast.storage.localwriter import LocalWriter
from holdfast.storage.memory import MemoryReader
from holdfast.storage.writing import Narrowable, entered, narrow, narrowed
from tests.records.failing import Failing


@pytest.fixture(autouse=True)
def umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> str:
    return f"{stat.S_IMODE(path.stat().st_mode):03o}"


@pytest.mark.parametrize(
    ("limit", "file", "folder"),
    [
        (0o600, "600", "700"),
        (0o640, "640", "750"),
        (0o664, "644", "755"),
        (0o777, "644", "755"),
        (0o400, "400", "700"),
        (0o000, "400", "700"),
    ],
    ids=str,
)
def test_the_limit_and_the_umask_count_both(
    tmp_path: Path, limit: int, file: str, folder: str
) -> None:
    writer = narrowed(LocalWriter(str(tmp_path / "place")), limit)
    assert writer.create("a/one", (b"1",))
    writer.replace("two", (b"2",))
    writer.make_folder("b")
    place = tmp_path / "place"
    assert [mode(place / name) for name in ("a/one", "two")] == [file, file]
    assert [mode(place / name) for name in ("", "a", "b")] == [folder] * 3


def test_what_is_around_the_place_is_as_open_as_ever(tmp_path: Path) -> None:
    narrowed(LocalWriter(str(tmp_path / "around" / "place")), 0o600).create("x", (b"",))
    assert mode(tmp_path / "around") == "755"
    assert mode(tmp_path / "around" / "place") == "700"


def test_a_file_that_is_replaced_stays_as_narrow_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"old")
    (tmp_path / "x").chmod(0o600)
    narrowed(LocalWriter(str(tmp_path)), 0o644).replace("x", (b"new",))
    assert mode(tmp_path / "x") == "600"
    LocalWriter(str(tmp_path)).replace("x", (b"newer",))
    assert mode(tmp_path / "x") == "644"


def test_rights_are_taken_and_never_given(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"")
    (tmp_path / "y").mkdir()
    writer = LocalWriter(str(tmp_path))
    for path, limit, after in (("x", 0o777, "644"), ("x", 0o600, "600"), ("x", 0o666, "600")):
        narrow(writer, path, limit)
        assert mode(tmp_path / path) == after
    narrow(writer, "y", 0o700)
    assert mode(tmp_path / "y") == "700"
    narrow(writer, "missing", 0o600)
    narrow(writer, "x", None)


def test_a_narrower_one_settles_for_both(tmp_path: Path) -> None:
    writer = LocalWriter(str(tmp_path))
    narrowed(writer, 0o600).create("x", (b"",))
    writer.settle()
    twice = narrowed(narrowed(writer, 0o644), 0o660)
    twice.create("y", (b"",))
    assert mode(tmp_path / "y") == "640"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_what_root_writes_belongs_to_the_owner_of_the_folder(tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    os.chown(place, 1234, 1235)
    writer = narrowed(LocalWriter(str(place)), 0o600)
    writer.create("a/x", (b"",))
    (place / "y").write_bytes(b"")
    os.chown(place / "y", 1236, 1237)
    writer.replace("y", (b"new",))
    owners = [((place / name).stat().st_uid, (place / name).stat().st_gid) for name in
              ("a", "a/x", "y")]  # fmt: skip
    assert owners == [(1234, 1235), (1234, 1235), (1236, 1237)]


def test_a_writer_without_modes_is_left_as_it_is(tmp_path: Path) -> None:
    writer = Failing(LocalWriter(str(tmp_path)))
    assert not isinstance(writer, Narrowable)
    assert narrowed(writer, 0o600) is writer
    narrow(writer, "x", 0o600)
    local = LocalWriter(str(tmp_path))
    assert narrowed(local, None) is local


def test_a_listing_tells_modes_where_there_are_any(tmp_path: Path) -> None:
    (tmp_path / "y").mkdir()
    (tmp_path / "y").chmod(0o700)
    (tmp_path / "x").write_bytes(b"")
    (tmp_path / "x").chmod(0o640)
    (tmp_path / "z").symlink_to("x")
    tmp_path.chmod(0o750)
    listing = LocalReader(str(tmp_path)).list()
    assert listing.root_mode == 0o750
    assert {item.path: item.mode for item in listing.items} == {"x": 0o640, "y": 0o700, "z": 0o640}
    other = MemoryReader({"x": b""}).list()
    assert (other.root_mode, other.items[0].mode) == (None, None)


def test_who_may_read_a_file_may_enter_its_folder() -> None:
    assert [entered(one) for one in (0o600, 0o640, 0o644, 0o755)] == [0o700, 0o750, 0o755, 0o755]
