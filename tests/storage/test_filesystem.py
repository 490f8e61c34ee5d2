"""File systems are opened guarded, uncached, or refused with what is missing."""

from __future__ import annotations

import fsspec
import pytest

from holdfast.errors import StorageError
from holdfast.storage import filesystem as opening
from holdfast.storage.filesystem import ReadOnlyFilesystem, open_filesystem
from holdfast.storage.location import parse_location
from holdfast.storage.options import StorageSettings


@pytest.mark.parametrize(
    ("url", "advice"),
    [
        ("gs://b/x", 'pip install ".[gcs]" in a clone of Holdfast'),
        ("abfss://c@a.dfs.core.windows.net/x", 'pip install ".[azure]" in a clone of Holdfast'),
        ("s3://b/x", 'pip install ".[s3]" in a clone of Holdfast'),
        ("webhdfs://h/x", 'pip install ".[hdfs]" in a clone of Holdfast'),
        ("sftp://h/x", "paramiko"),
    ],
)
def test_a_missing_package_is_named(url: str, advice: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(protocol: str) -> type:
        raise ImportError(f"Install paramiko for {protocol}")

    monkeypatch.setattr(fsspec, "get_filesystem_class", missing)
    with pytest.raises(StorageError) as caught:
        open_filesystem(parse_location(url), StorageSettings())
    assert caught.value.code.number == "HF7004"
    assert advice in caught.value.next_steps[0]


def test_s3_is_opened_without_caches_and_without_retries_of_its_own() -> None:
    guarded, root = open_filesystem(
        parse_location("s3a://lake/ckpt"), StorageSettings({"s3": {"region": "eu-1"}})
    )
    assert root == "lake/ckpt"
    assert isinstance(guarded, ReadOnlyFilesystem)
    inner = guarded._filesystem
    assert inner.dircache.use_listings_cache is False
    assert inner.retries == 1
    assert inner.max_concurrency == 1
    again, _ = open_filesystem(
        parse_location("s3a://lake/ckpt"), StorageSettings({"s3": {"region": "eu-1"}})
    )
    assert again._filesystem is not inner


def test_webhdfs_is_opened_with_its_root() -> None:
    settings = StorageSettings({"hdfs": {"webhdfs": "http://nn:9870", "user": "me"}})
    guarded, root = open_filesystem(parse_location("hdfs://nn:8020/data/ckpt"), settings)
    assert root == "/data/ckpt"
    assert guarded._filesystem.url == "http://nn:9870/webhdfs/v1"


def test_options_that_do_not_go_together_are_refused() -> None:
    settings = StorageSettings({"hdfs": {"user": "me", "kerberos": True}})
    with pytest.raises(StorageError) as caught:
        open_filesystem(parse_location("webhdfs://nn/x"), settings)
    assert caught.value.code.number == "HF7010"


def test_hdfs_without_its_libraries_names_webhdfs(monkeypatch: pytest.MonkeyPatch) -> None:
    class Hadoop:
        def __init__(self, **_: object) -> None:
            raise OSError("Unable to load libhdfs")

    monkeypatch.setattr(opening, "_class_of", lambda *_: Hadoop)
    with pytest.raises(StorageError) as caught:
        open_filesystem(parse_location("hdfs://nn/x"), StorageSettings())
    assert caught.value.code.number == "HF7004"
    assert "webhdfs=http://namenode:9870" in caught.value.next_steps[0]


def test_other_schemes_get_their_root_from_their_own_class() -> None:
    guarded, root = open_filesystem(parse_location("https://h/a/b"), StorageSettings())
    assert root == "https://h/a/b"
    assert guarded._filesystem.protocol == ("http", "https")


def test_places_that_are_opened_together_share_what_can_be_shared() -> None:
    settings = StorageSettings({"s3": {"region": "eu-1"}})
    instances: opening.Instances = {}
    one, first = open_filesystem(parse_location("s3a://lake/a"), settings, instances)
    two, second = open_filesystem(parse_location("s3://other/b"), settings, instances)
    elsewhere = StorageSettings({"s3": {"region": "eu-2"}})
    three, _ = open_filesystem(parse_location("s3a://lake/a"), elsewhere, instances)
    assert (first, second) == ("lake/a", "other/b")
    assert one._filesystem is two._filesystem
    assert three._filesystem is not one._filesystem
