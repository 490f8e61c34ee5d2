"""Remote reading: few questions, no writing, the oddities of object stores."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from holdfast.errors import NotFoundError, StorageError
from holdfast.storage.filesystem import ReadOnlyFilesystem
from holdfast.storage.location import parse_location
from holdfast.storage.opening import open_reader
from holdfast.storage.reading import FileKind
from holdfast.storage.remote import FsspecReader
from tests.storage.s3server import S3Server


def new_bucket() -> str:
    return f"bucket-{uuid.uuid4().hex}"


@pytest.mark.s3
def test_listing_is_one_question_and_each_read_another(s3: S3Server) -> None:
    bucket = new_bucket()
    s3.fill(bucket, {f"ckpt/{folder}/{n}": b"x" for folder in "abc" for n in range(5)})
    reader = s3.reader(f"s3://{bucket}/ckpt")
    assert len(reader.list().items) == 18
    assert [(method, path) for method, path, _ in s3.requests] == [("GET", f"/{bucket}")]
    s3.requests.clear()
    reader.read_many([f"a/{n}" for n in range(5)])
    assert sorted(path for _, path, _ in s3.requests) == [f"/{bucket}/ckpt/a/{n}" for n in range(5)]


@pytest.mark.s3
def test_reading_sends_nothing_that_writes_and_changes_nothing(s3: S3Server) -> None:
    bucket = new_bucket()
    s3.fill(bucket, {"ckpt/offsets/": b"", "ckpt/offsets/0": b"v1", "ckpt/metadata": b"m"})
    before = s3.keys_and_versions(bucket)
    s3.requests.clear()
    reader = s3.reader(f"s3://{bucket}/ckpt")
    for item in reader.list().items:
        reader.names(item.path)
    reader.read_many(["offsets/0", "metadata", "missing"])
    reader.read("metadata", 0, 1)
    assert {method for method, _, _ in s3.requests} <= {"GET", "HEAD"}
    assert s3.keys_and_versions(bucket) == before


@pytest.mark.s3
def test_listings_are_never_old(s3: S3Server) -> None:
    bucket = new_bucket()
    s3.fill(bucket, {"ckpt/offsets/0": b"v1"})
    reader = s3.reader(f"s3://{bucket}/ckpt")
    assert reader.names("offsets") == {"0"}
    reader.list()
    s3.client.put_object(Bucket=bucket, Key="ckpt/offsets/1", Body=b"v1")
    assert reader.names("offsets") == {"0", "1"}
    assert "offsets/1" in {item.path for item in reader.list().items}
    assert "offsets/1" in {item.path for item in s3.reader(f"s3://{bucket}/ckpt").list().items}


@pytest.mark.s3
def test_a_prefix_of_another_name_is_another_place(s3: S3Server) -> None:
    bucket = new_bucket()
    s3.fill(bucket, {"ckpt/metadata": b"m", "ckpt-2/metadata": b"n", "ckpt2": b"o"})
    paths = [item.path for item in s3.reader(f"s3://{bucket}/ckpt").list().items]
    assert paths == ["metadata"]
    with pytest.raises(NotFoundError):
        s3.reader(f"s3://{bucket}/ckp").list()


@pytest.mark.s3
def test_folder_marks_are_folders(s3: S3Server) -> None:
    bucket = new_bucket()
    marks = {"ckpt/": b"", "ckpt/offsets/": b"", "ckpt/commits_$folder$": b"", "ckpt/state": b""}
    s3.fill(bucket, {**marks, "ckpt/state/0/1.delta": b"d"})
    reader = s3.reader(f"s3a://{bucket}/ckpt/")
    assert {item.path: item.kind for item in reader.list().items} == {
        "commits": FileKind.FOLDER,
        "offsets": FileKind.FOLDER,
        "state": FileKind.FOLDER,
        "state/0": FileKind.FOLDER,
        "state/0/1.delta": FileKind.FILE,
    }
    assert reader.names("") == {"commits", "offsets", "state"}
    assert reader.names("offsets") == frozenset()


@pytest.mark.s3
def test_an_empty_folder_mark_is_an_empty_place(s3: S3Server) -> None:
    bucket = new_bucket()
    s3.fill(bucket, {"ckpt/": b""})
    assert s3.reader(f"s3://{bucket}/ckpt").list().items == ()


@pytest.mark.s3
def test_whole_buckets_can_be_read_and_may_be_empty(s3: S3Server) -> None:
    full, empty = new_bucket(), new_bucket()
    s3.fill(full, {"offsets/0": b"v1"})
    s3.fill(empty, {})
    reader = s3.reader(f"s3://{full}")
    assert [item.path for item in reader.list().items] == ["offsets", "offsets/0"]
    assert reader.read("offsets/0") == b"v1"
    assert s3.reader(f"s3://{empty}/").list().items == ()


@pytest.mark.s3
def test_a_file_a_missing_place_and_a_missing_bucket_are_told_apart(s3: S3Server) -> None:
    bucket = new_bucket()
    s3.fill(bucket, {"file": b"x"})
    with pytest.raises(StorageError) as caught:
        s3.reader(f"s3://{bucket}/file").list()
    assert caught.value.code.number == "HF7016"
    for url in (f"s3://{bucket}/nothing", f"s3://no-{bucket}/x", f"s3://no-{bucket}"):
        with pytest.raises(NotFoundError) as missing:
            s3.reader(url).list()
        assert missing.value.at == url


@pytest.mark.s3
def test_more_than_one_page_is_listed_whole(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOTO_S3_DEFAULT_MAX_KEYS", "10")
    bucket = new_bucket()
    s3.fill(bucket, {f"ckpt/{n:02}": b"" for n in range(25)})
    assert len(s3.reader(f"s3://{bucket}/ckpt").list().items) == 25
    assert len(s3.requests) == 3


@pytest.mark.s3
def test_a_server_that_fails_for_a_moment_is_asked_again(
    s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    bucket = new_bucket()
    s3.fill(bucket, {"ckpt/a": b"1", "ckpt/b": b"2"})
    reader = s3.reader(f"s3://{bucket}/ckpt")
    s3.failing.extend(["500", "503", "503"])
    assert len(reader.list().items) == 2
    s3.failing.extend(["503", "503", "500"])
    assert reader.read_many(["a", "b"]) == {"a": b"1", "b": b"2"}


@pytest.mark.s3
def test_a_refusal_is_not_asked_again(s3: S3Server) -> None:
    bucket = new_bucket()
    s3.fill(bucket, {"ckpt/a": b"1"})
    reader = s3.reader(f"s3://{bucket}/ckpt")
    s3.failing.append("403")
    with pytest.raises(StorageError) as caught:
        reader.list()
    assert caught.value.code.number == "HF7002"
    assert len(s3.requests) == 1


@pytest.mark.s3
def test_an_object_that_vanished_since_the_listing_is_not_found(s3: S3Server) -> None:
    bucket = new_bucket()
    s3.fill(bucket, {"ckpt/a": b"1", "ckpt/b": b"2"})
    reader = s3.reader(f"s3://{bucket}/ckpt")
    reader.list()
    s3.client.delete_object(Bucket=bucket, Key="ckpt/a")
    results = reader.read_many(["a", "b"])
    assert isinstance(results["a"], NotFoundError)
    assert results["b"] == b"2"


def test_an_endpoint_where_nobody_listens_is_told_in_time(
    s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    settings = s3.settings(endpoint="http://127.0.0.1:9")
    reader = open_reader(parse_location("s3://lake/ckpt"), settings, timeout=60)
    with pytest.raises(StorageError) as caught:
        reader.list()
    assert caught.value.code.number == "HF7011"
    assert caught.value.at == "s3://lake/ckpt"


def test_files_are_read_at_the_same_time() -> None:
    together = threading.Barrier(8)

    class Waiting:
        def cat_file(self, path: str) -> bytes:
            together.wait(timeout=30)
            return path.encode()

    reader = FsspecReader(ReadOnlyFilesystem(Waiting()), "b/k", "s3://b/k")
    assert reader.read_many(map(str, range(8)))["7"] == b"b/k/7"


class FolderFilesystem:
    """A file system with real folders, some of which refuse."""

    def __init__(self, folders: dict[str, list[dict[str, Any]] | Exception]) -> None:
        self.folders = folders
        self.asked: list[str] = []

    def ls(self, path: str, detail: bool) -> list[dict[str, Any]]:
        self.asked.append(path)
        found = self.folders.get(path, FileNotFoundError(path))
        if isinstance(found, Exception):
            raise found
        return found


def folder(name: str) -> dict[str, Any]:
    return {"name": name, "type": "directory", "size": 0}


def file(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": "file", "size": 3, **more}


@pytest.fixture
def opened() -> Callable[[FolderFilesystem], FsspecReader]:
    def open_folders(filesystem: FolderFilesystem) -> FsspecReader:
        guarded = ReadOnlyFilesystem(filesystem)
        return FsspecReader(guarded, "/ckpt", "hdfs://nn/ckpt", object_store=False)

    return open_folders


def test_a_remote_folder_that_refuses_does_not_hide_the_others(
    opened: Callable[[FolderFilesystem], FsspecReader],
) -> None:
    filesystem = FolderFilesystem(
        {
            "/ckpt": [folder("/ckpt/state"), folder("/ckpt/offsets"), folder("/ckpt/commits")],
            "/ckpt/commits": [file("/ckpt/commits/0", modificationTime=5)],
            "/ckpt/offsets": PermissionError("AccessControlException"),
            "/ckpt/state": [],
        }
    )
    listing = opened(filesystem).list()
    assert [item.path for item in listing.items] == ["commits", "commits/0", "offsets", "state"]
    assert listing.items[1].modified_ms == 5
    assert {path: error.code.number for path, error in listing.failures.items()} == {
        "offsets": "HF7002"
    }
    assert listing.failures["offsets"].at == "hdfs://nn/ckpt/offsets"
    assert filesystem.asked == ["/ckpt", "/ckpt/commits", "/ckpt/offsets", "/ckpt/state"]


def test_a_remote_root_that_is_missing_a_file_or_closed_is_told(
    opened: Callable[[FolderFilesystem], FsspecReader],
) -> None:
    with pytest.raises(NotFoundError):
        opened(FolderFilesystem({})).list()
    with pytest.raises(StorageError) as refused:
        opened(FolderFilesystem({"/ckpt": PermissionError("no")})).list()
    assert refused.value.code.number == "HF7002"
    with pytest.raises(StorageError) as is_file:
        opened(FolderFilesystem({"/ckpt": [file("/ckpt/", pathSuffix="")]})).list()
    assert is_file.value.code.number == "HF7016"


def test_a_list_of_one_name_means_a_file() -> None:
    class Azure:
        def find(self, path: str, **_: object) -> list[str]:
            return [path]

    with pytest.raises(StorageError) as caught:
        FsspecReader(ReadOnlyFilesystem(Azure()), "c/x", "abfss://c@a/x").list()
    assert caught.value.code.number == "HF7016"
