"""Every writer: whole files or none, created once, and never through a link that leads out."""

from __future__ import annotations

import errno
import os
import subprocess
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import fsspec
import pytest

from holdfast.errors import NotFoundError, StorageError
from holdfast.storage.localwriter import LocalWriter
from holdfast.storage.location import parse_location
from holdfast.storage.machine import is_abandoned, is_temporary, temporary_name
from holdfast.storage.opening import open_reader, open_writer
from holdfast.storage.options import StorageSettings
from holdfast.storage.reading import Reader
from holdfast.storage.remote import FsspecWriter
from holdfast.storage.writing import Writer, writing_border
from tests.storage.s3server import S3Server

Place = tuple[Writer, Reader]


def local(folder: Path, _: S3Server) -> Place:
    location = parse_location(str(folder / "place"))
    return open_writer(location, StorageSettings()), open_reader(location, StorageSettings())


def s3_place(_: Path, server: S3Server) -> Place:
    bucket = f"bucket-{uuid.uuid4().hex}"
    server.fill(bucket, {})
    location = parse_location(f"s3a://{bucket}/some/place")
    return open_writer(location, server.settings()), open_reader(location, server.settings())


PLACES = (local, s3_place)


@pytest.fixture(params=PLACES, ids=lambda place: place.__name__)
def place(request: pytest.FixtureRequest, tmp_path: Path, s3: S3Server) -> Place:
    opened: Callable[[Path, S3Server], Place] = request.param
    return opened(tmp_path, s3)


def torn() -> Iterator[bytes]:
    """Chunks that end in a failure."""
    yield b"begin"
    raise StorageError("HF7006", "the source failed")


def test_a_file_is_created_once(place: Place) -> None:
    writer, reader = place
    assert writer.create("a/b/c", [b"one", b" two"])
    assert not writer.create("a/b/c", [b"another"])
    assert not writer.create("a/b/c", [b"another"])
    writer.settle()
    assert reader.read("a/b/c") == b"one two"


def test_a_file_is_replaced(place: Place) -> None:
    writer, reader = place
    writer.replace("a", [b"one"])
    writer.replace("a", [b"", b"two"])
    writer.replace("empty", [])
    writer.settle()
    assert reader.read("a") == b"two"
    assert reader.read("empty") == b""


@pytest.mark.parametrize("act", ["create", "replace"])
def test_what_fails_midway_leaves_nothing(place: Place, act: str) -> None:
    writer, reader = place
    writer.create("kept", [b"kept"])
    with pytest.raises(StorageError) as caught:
        getattr(writer, act)("a", torn())
    assert caught.value.code.number == "HF7006"
    assert [item.path for item in reader.list().items] == ["kept"]


@pytest.mark.parametrize("act", ["create", "replace"])
def test_a_large_file_that_fails_midway_leaves_nothing(place: Place, act: str) -> None:
    writer, reader = place
    writer.create("kept", [b"kept"])

    def chunks() -> Iterator[bytes]:
        for _ in range(5):
            yield bytes(8 * 1024 * 1024)
        raise StorageError("HF7006", "the source failed")

    with pytest.raises(StorageError):
        getattr(writer, act)("a", chunks())
    assert [item.path for item in reader.list().items] == ["kept"]


def test_a_large_file_is_created_once(place: Place) -> None:
    writer, reader = place
    chunk = os.urandom(6 * 1024 * 1024)
    assert writer.create("large", [chunk, chunk, chunk, b"end"])
    assert not writer.create("large", [chunk, chunk, chunk, b"other"])
    assert reader.read("large") == chunk * 3 + b"end"


def test_removing_what_is_not_there_is_no_error(place: Place) -> None:
    writer, reader = place
    writer.create("a/b", [b"x"])
    writer.create("c", [b"x"])
    writer.remove("a/b")
    writer.remove("a/b")
    writer.remove("nowhere/at/all")
    assert "c" in reader.names("")
    assert reader.names("a") == frozenset()


@pytest.mark.parametrize("path", ["../out", "/out", "a//b", "", "a/../../b"])
def test_a_path_that_climbs_out_is_refused(place: Place, path: str) -> None:
    writer, _ = place
    with pytest.raises(StorageError) as caught:
        writer.create(path, [b"x"])
    assert caught.value.code.number == "HF7013"
    with pytest.raises(StorageError) as caught:
        writer.remove(path)
    assert caught.value.code.number == "HF7013"


def test_of_many_writers_one_creates(place: Place) -> None:
    writer, reader = place
    writer.create("first", [b""])
    created: list[int] = []

    def attempt(number: int) -> None:
        if writer.create("contested", [b"%d" % number]):
            created.append(number)

    threads = [threading.Thread(target=attempt, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(created) == 1
    assert reader.read("contested") == b"%d" % created[0]


def test_a_file_is_moved_in_place_of_another(place: Place) -> None:
    writer, reader = place
    writer.create("from/a b%20", [b"new"])
    writer.create("to/c=d/e", [b"old"])
    writer.move("from/a b%20", "to/c=d/e")
    writer.settle()
    assert reader.read("to/c=d/e") == b"new"
    assert reader.names("from") == frozenset()
    with pytest.raises(NotFoundError):
        writer.move("from/a b%20", "to/c=d/e")
    assert reader.read("to/c=d/e") == b"new"


def test_a_file_is_moved_from_another_file_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Copied under a hidden name first; a copy that fails leaves both as they were."""
    writer = LocalWriter(str(tmp_path))
    writer.create("from", [b"rows"])
    rename = Path.replace

    def far(self: Path, target: str) -> Path:
        if self.name == "from":
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        return rename(self, target)

    def full(source: str, target: str) -> None:
        Path(target).write_bytes(b"ro")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", far)
    with monkeypatch.context() as patched:
        patched.setattr("shutil.copyfile", full)
        with pytest.raises(StorageError, match="No space left") as caught:
            writer.move("from", "folder/to.csv")
        assert caught.value.code.number == "HF7015"
    assert (tmp_path / "from").read_bytes() == b"rows"
    assert list((tmp_path / "folder").iterdir()) == []
    writer.move("from", "folder/to.csv")
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["to.csv"]


def test_a_folder_is_renamed_where_there_are_folders(place: Place, tmp_path: Path) -> None:
    writer, reader = place
    writer.create("from/a/b", [b"rows"])
    if isinstance(writer, FsspecWriter):
        with pytest.raises(StorageError, match="no directories"):
            writer.move_folder("from", "to")
        assert reader.read("from/a/b") == b"rows"
        return
    writer.move_folder("from", "to/c")
    assert (reader.read("to/c/a/b"), reader.names("")) == (b"rows", frozenset({"to"}))
    with pytest.raises(NotFoundError):
        writer.move_folder("from", "to/d")
    writer.create("other/x", [b"newer"])
    with pytest.raises(StorageError, match="another directory already exists there") as caught:
        writer.move_folder("to/c", "other")
    assert not isinstance(caught.value, NotFoundError)
    assert (reader.read("to/c/a/b"), reader.names("other")) == (b"rows", frozenset({"x"}))


def test_what_others_wrote_is_flushed_with_its_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/c").write_bytes(b"rows")
    flushed = set()
    monkeypatch.setattr(
        os, "fsync", lambda one: flushed.add(Path(f"/proc/self/fd/{one}").readlink())
    )
    writer = LocalWriter(str(tmp_path))
    writer.flush("a/b/c")
    writer.settle()
    assert flushed == {tmp_path / one for one in ("a/b/c", "a/b", "a", "")}


def test_folders_are_made_and_removed_when_empty(tmp_path: Path) -> None:
    writer = LocalWriter(str(tmp_path / "root"))
    writer.make_folder("a/b")
    writer.create("a/c", [b"x"])
    writer.remove_folder("a/b")
    writer.remove_folder("a")
    writer.remove_folder("never")
    writer.settle()
    assert sorted(path.name for path in (tmp_path / "root").rglob("*")) == ["a", "c"]


def test_no_link_leads_out(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "root" / "link").symlink_to(tmp_path / "outside")
    writer = LocalWriter(str(tmp_path / "root"))
    with pytest.raises(StorageError) as caught:
        writer.replace("link/a", [b"x"])
    assert caught.value.code.number == "HF7013"
    with pytest.raises(StorageError) as caught:
        writer.remove("link/a")
    assert caught.value.code.number == "HF7013"
    assert list((tmp_path / "outside").iterdir()) == []


def test_everything_is_flushed_before_settling_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[str] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        flushed.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    writer = LocalWriter(str(tmp_path / "root"))
    writer.create("a/b", [b"x"])
    assert any(is_temporary(path) for path in flushed)
    writer.settle()
    assert {str(tmp_path), str(tmp_path / "root"), str(tmp_path / "root" / "a")} <= set(flushed)


def test_a_file_system_without_links_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def link(*_: object, **__: object) -> None:
        raise OSError(errno.EOPNOTSUPP, "no links here")

    monkeypatch.setattr(os, "link", link)
    with pytest.raises(StorageError) as caught:
        LocalWriter(str(tmp_path)).create("a", [b"x"])
    assert caught.value.code.number == "HF7014"
    assert list(tmp_path.iterdir()) == []


def test_a_storage_that_overwrites_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    filesystem = fsspec.filesystem("memory")
    real = filesystem.pipe_file
    monkeypatch.setattr(
        filesystem, "pipe_file", lambda path, value, mode="": real(path, value, mode="overwrite")
    )
    with pytest.raises(StorageError) as caught:
        FsspecWriter(filesystem, f"/{uuid.uuid4().hex}", "memory").create("a", [b"x"])
    assert caught.value.code.number == "HF7014"


@pytest.mark.parametrize(
    "url", ["gs://bucket/x", "memory://x/y", "abfss://c@a.dfs.core.windows.net/x"]
)
def test_a_storage_that_nobody_tried_is_refused(url: str) -> None:
    with pytest.raises(StorageError) as caught:
        open_writer(parse_location(url), StorageSettings())
    assert caught.value.code.number == "HF7014"


def test_a_denied_write_speaks_of_writing() -> None:
    """The words of the code are about reading."""
    with pytest.raises(StorageError) as caught, writing_border("/lake/out"):
        raise PermissionError(errno.EACCES, "Permission denied")
    told = caught.value
    assert (told.code.number, told.at) == ("HF7002", "/lake/out")
    assert told.message == "writing was denied: Permission denied"
    assert "read access" not in " ".join(told.next_steps) and "write access" in told.next_steps[0]


def test_a_full_disk_is_told_as_a_failure_of_writing() -> None:
    with pytest.raises(StorageError) as caught, writing_border("here"):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert caught.value.code.number == "HF7015"
    assert "No space left on device" in caught.value.message


def test_only_files_of_processes_that_are_gone_are_abandoned() -> None:
    own = temporary_name()
    ended = subprocess.Popen(["true"])
    ended.wait()
    gone = own.replace(f"-{os.getpid()}-", f"-{ended.pid}-", 1)
    foreign = gone.replace(own[10:26], "0" * 16, 1)
    by_host_name = gone.replace(own[10:26], "0" * 8, 1)
    names = (own, gone, foreign, by_host_name, "objects/aa/aa")
    assert [is_temporary(name) for name in names] == [True, True, True, True, False]
    assert [is_abandoned(name) for name in names] == [False, True, False, False, False]
    day = 24 * 3600 * 1000
    young = [is_abandoned(name, 1000, 1000 + day) for name in names]
    old = [is_abandoned(name, 1000, 1001 + day) for name in names]
    assert young == [False, True, False, False, False]
    assert old == [False, True, True, True, False]


def test_a_container_with_the_same_host_name_does_not_sweep_a_living_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    theirs = temporary_name().replace(f"-{os.getpid()}-", f"-{ended.pid}-", 1)
    other = tmp_path / "namespace"
    other.symlink_to("pid:[4026539999]")
    monkeypatch.setattr("holdfast.storage.machine._PROCESS_NAMESPACE", other)
    assert not is_abandoned(theirs)
