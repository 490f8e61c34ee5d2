"""Every way to write a place: understood, or refused with the reason."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from holdfast.errors import NotFoundError, StorageError
from holdfast.storage import location as locating
from holdfast.storage.location import parse_location


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("/a/b", "/a/b"),
        ("/a//b/", "/a/b"),
        ("//a/b", "/a/b"),
        ("/a/./b/../c", "/a/c"),
        ("/a b%20c/é", "/a b%20c/é"),
        ("/odd?x=1#y*[z]", "/odd?x=1#y*[z]"),
        ("file:/a", "/a"),
        ("file:///a/b/", "/a/b"),
        ("FILE:///a", "/a"),
        ("file://localhost/a", "/a"),
        ("file:///a%20b", "/a%20b"),
        ("local:///a", "/a"),
        ("/", "/"),
    ],
)
def test_local_places(text: str, path: str) -> None:
    location = parse_location(text)
    assert (location.scheme, location.url, location.is_local) == ("file", path, True)


@pytest.mark.parametrize("text", ["x", "./x", "~/x", "a:b", "12:30/x", "x/y z", "a.b-c:d/e"])
def test_relative_places_count_from_the_working_directory(text: str, tmp_path: Path) -> None:
    here = Path.cwd()
    os.chdir(tmp_path)
    try:
        assert parse_location(text).url == os.path.normpath(f"{tmp_path}/{text}")
        assert parse_location(text).shown == text
    finally:
        os.chdir(here)


def test_relative_places_count_from_the_folder_that_is_named() -> None:
    location = parse_location("../ckpt", relative_to=Path("/projects/one"))
    assert (location.url, location.shown) == ("/projects/ckpt", "/projects/ckpt")
    assert parse_location("/abs", relative_to=Path("/projects/one")).url == "/abs"
    assert parse_location("s3://b/k", relative_to=Path("/projects/one")).url == "s3://b/k"


@pytest.mark.parametrize(
    ("text", "scheme", "url"),
    [
        ("s3://lake/ckpt", "s3", "s3://lake/ckpt"),
        ("s3a://lake//ckpt/./x/../y/", "s3", "s3://lake/ckpt/y"),
        ("S3N://lake", "s3", "s3://lake"),
        ("s3a://lake/a b%20c?", "s3", "s3://lake/a b%20c?"),
        ("gs://b/x", "gs", "gs://b/x"),
        ("gcs://b/x", "gs", "gs://b/x"),
        ("abfs://c/p", "abfs", "abfs://c/p"),
        (
            "abfss://c@a.dfs.core.windows.net/p/",
            "abfs",
            "abfs://c@a.dfs.core.windows.net/p",
        ),
        (
            "wasbs://c@a.blob.core.windows.net/p",
            "abfs",
            "abfs://c@a.dfs.core.windows.net/p",
        ),
        ("hdfs://nn:8020/p", "hdfs", "hdfs://nn:8020/p"),
        ("hdfs:///p", "hdfs", "hdfs:///p"),
        ("hdfs:/p", "hdfs", "hdfs:///p"),
        ("webhdfs://nn:9870/p", "webhdfs", "webhdfs://nn:9870/p"),
        ("swebhdfs://nn/p", "webhdfs", "swebhdfs://nn/p"),
        ("memory://a/b", "memory", "memory:///a/b"),
        ("memory:///a/b", "memory", "memory:///a/b"),
        ("sftp://host/x", "sftp", "sftp://host/x"),
        ("SFTP://host/X", "sftp", "sftp://host/X"),
    ],
)
def test_remote_places(text: str, scheme: str, url: str) -> None:
    location = parse_location(text)
    assert (location.scheme, location.url) == (scheme, url)
    assert not location.is_local


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("s3a://lake/ckpt/", "s3a://lake/ckpt"),
        ("/a/b/", "/a/b"),
        ("/", "/"),
        ("hdfs:///", "hdfs:///"),
        ("hdfs://me@nn/p", "hdfs://nn/p"),
        ("ftp://me:pass/word@host/p", "ftp://host/p"),
        ("abfss://c@a.dfs.core.windows.net/p", "abfss://c@a.dfs.core.windows.net/p"),
        ("https://h/x?X-Amz-Signature=abc&v=1", "https://h/x?X-Amz-Signature=***&v=***"),
        ("/a\nb\x1b[31m\udcff", "/a\\nb\\x1b[31m\\xff"),
    ],
)
def test_what_is_shown_holds_no_secret_and_no_control_character(text: str, shown: str) -> None:
    location = parse_location(text)
    assert location.shown == shown
    assert "pass" not in repr(location)


@pytest.mark.parametrize(
    ("text", "code", "message", "advice"),
    [
        ("", "HF7005", "it is empty", ""),
        (" \t", "HF7005", "it is empty", ""),
        ("a\0b", "HF7005", "NUL", ""),
        ("file:x", "HF7005", "its path is relative", "file:///"),
        ("file://host/x", "HF7005", "another machine, host", "file:///"),
        ("s3:///x", "HF7005", "has no bucket", "s3://<bucket"),
        ("s3:/b/x", "HF7005", "a slash is missing after s3:", "s3://"),
        ("webhdfs:///x", "HF7005", "has no host", "webhdfs://<host>"),
        ("abfss://@a.dfs.core.windows.net/x", "HF7005", "container and an account", ""),
        ("C:\\ckpt", "HF7005", "Windows path", "mounted"),
        ("c:/ckpt", "HF7005", "Windows path", "mounted"),
        ("\\\\server\\share", "HF7005", "Windows path", "mounted"),
        ("dbfs:/mnt/x", "HF7005", "only inside Databricks", "the storage's own URL"),
        ("viewfs://c/x", "HF7003", "viewfs://", "mount table"),
        ("oss://b/x", "HF7003", "oss://", "endpoint="),
        ("cosn://b/x", "HF7003", "cosn://", "endpoint="),
        ("o3fs://b.v/x", "HF7003", "o3fs://", "S3 gateway"),
        ("s4a://b/x", "HF7003", "did you mean s3a:?", "fsspec"),
        ("hdsf://b/x", "HF7003", "did you mean hdfs:?", "fsspec"),
        ("qqqqqq://b/x", "HF7003", "qqqqqq: is not supported", "fsspec"),
        ("simplecache::s3://b/x", "HF7003", "chained", "last part"),
        ("filecache://b/x", "HF7003", "is not supported", "fsspec"),
    ],
)
def test_refusals_say_why_and_what_to_do(text: str, code: str, message: str, advice: str) -> None:
    with pytest.raises(StorageError) as caught:
        parse_location(text)
    assert caught.value.code.number == code
    assert message in caught.value.message
    assert advice in " ".join(caught.value.next_steps)


@pytest.mark.parametrize(
    "text", ["s3a://AKIAX:hush@b/x", "s3://AKIAX:hu/sh@b/x", "s3://AKIAX:hush"]
)
def test_credentials_in_a_bucket_are_refused_and_never_shown(text: str) -> None:
    with pytest.raises(StorageError) as caught:
        parse_location(text)
    assert "credentials" in caught.value.message
    said = f"{caught.value.message} {caught.value.at} {caught.value.next_steps}"
    assert "AKIAX" not in said
    assert "hu" not in said


def test_dbfs_names_the_mount_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "is_dir", lambda _: True)
    with pytest.raises(StorageError) as caught:
        parse_location("dbfs:/mnt/x")
    assert caught.value.next_steps == ("give /dbfs/mnt/x, which is that place on this machine",)


def test_windows_paths_are_understood_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "name", "nt")
    monkeypatch.setattr(locating, "_absolute", lambda path: path)
    monkeypatch.setattr("holdfast.storage.location.Path", lambda text: text)
    location = parse_location("C:\\ckpt")
    assert (location.scheme, location.url) == ("file", "C:\\ckpt")


def test_a_working_directory_that_is_gone_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(NotFoundError) as caught:
        parse_location("x")
    assert "working directory" in caught.value.message
