"""Locations and options in the words of each fsspec implementation."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.errors import StorageError
from holdfast.storage.filesystem import Implementation, implementation_for
from holdfast.storage.location import parse_location
from holdfast.storage.options import OptionValue, StorageSettings


def translated(url: str, **options: OptionValue) -> Implementation:
    location = parse_location(url)
    family = {"gs": "gcs", "abfs": "azure", "webhdfs": "hdfs"}.get(location.scheme, location.scheme)
    settings = StorageSettings({family: options})
    return implementation_for(location, settings.for_scheme(location.scheme))


def test_s3() -> None:
    made = translated(
        "s3a://lake/ckpt",
        endpoint="http://minio:9000",
        region="eu-central-1",
        path_style=True,
        profile="p",
        key="k",
        secret="s",
        token="t",
        anonymous=False,
        requester_pays=True,
    )
    assert (made.protocol, made.root) == ("s3", "lake/ckpt")
    assert made.arguments == {
        "key": "k",
        "secret": "s",
        "token": "t",
        "profile": "p",
        "anon": False,
        "requester_pays": True,
        "client_kwargs": {"endpoint_url": "http://minio:9000", "region_name": "eu-central-1"},
        "config_kwargs": {
            "max_pool_connections": 32,
            "retries": {"mode": "standard", "total_max_attempts": 2},
            "s3": {"addressing_style": "path"},
        },
        "max_concurrency": 1,
    }


@pytest.mark.parametrize(
    ("endpoint", "ssl", "url"),
    [
        ("minio:9000", False, "http://minio:9000"),
        ("s3.eu.example", True, "https://s3.eu.example"),
        ("http://h", True, "http://h"),
    ],
)
def test_an_endpoint_without_protocol_gets_one(endpoint: str, ssl: bool, url: str) -> None:
    made = translated("s3://b/k", endpoint=endpoint, ssl=ssl)
    assert made.arguments["client_kwargs"] == {"endpoint_url": url}
    assert made.arguments["use_ssl"] is ssl


def test_virtual_hosts_can_be_asked_for() -> None:
    config = translated("s3://b/k", path_style=False).arguments["config_kwargs"]
    assert config["s3"] == {"addressing_style": "virtual"}
    assert "s3" not in translated("s3://b/k").arguments["config_kwargs"]


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ({}, {}),
        ({"credentials": "/key.json", "project": "p"}, {"token": "/key.json", "project": "p"}),
        ({"anonymous": True}, {"token": "anon"}),
        (
            {"endpoint": "http://h", "requester_pays": True},
            {"endpoint_url": "http://h", "requester_pays": True},
        ),
    ],
)
def test_gcs(options: dict[str, OptionValue], arguments: dict[str, Any]) -> None:
    made = translated("gs://b/k", **options)
    assert (made.protocol, made.root) == ("gs", "b/k")
    assert made.arguments == {**arguments, "access": "read_only"}


@pytest.mark.parametrize(
    ("url", "options", "arguments"),
    [
        (
            "abfss://c@acct.dfs.core.windows.net/p",
            {"key": "k"},
            {"account_name": "acct", "account_key": "k", "anon": False},
        ),
        (
            "abfs://c/p",
            {"account": "a", "tenant_id": "t", "client_id": "i", "client_secret": "s"},
            {
                "account_name": "a",
                "tenant_id": "t",
                "client_id": "i",
                "client_secret": "s",
                "anon": False,
            },
        ),
        (
            "abfss://c@acct.dfs.core.chinacloudapi.cn/p",
            {"sas_token": "s", "anonymous": False},
            {
                "account_name": "acct",
                "account_host": "acct.blob.core.chinacloudapi.cn",
                "sas_token": "s",
                "anon": False,
            },
        ),
        ("abfs://c/p", {"connection_string": "x"}, {"connection_string": "x", "anon": False}),
    ],
)
def test_azure(url: str, options: dict[str, OptionValue], arguments: dict[str, Any]) -> None:
    made = translated(url, **options)
    assert (made.protocol, made.root) == ("abfs", "c/p")
    assert made.arguments == arguments


@pytest.mark.parametrize(
    ("url", "options", "protocol", "arguments"),
    [
        (
            "hdfs://nn:8020/p",
            {"webhdfs": "http://nn:9870", "user": "me"},
            "webhdfs",
            {"host": "nn", "port": 9870, "use_https": False, "user": "me"},
        ),
        (
            "hdfs:///p",
            {"webhdfs": "https://nn", "kerberos": True},
            "webhdfs",
            {"host": "nn", "port": 9870, "use_https": True, "kerberos": True},
        ),
        ("webhdfs://nn:50070/p", {}, "webhdfs", {"host": "nn", "port": 50070, "use_https": False}),
        (
            "swebhdfs://me@nn/p",
            {"token": "t"},
            "webhdfs",
            {"host": "nn", "port": 9870, "use_https": True, "user": "me", "token": "t"},
        ),
        ("hdfs://nn:8020/p", {"user": "me"}, "hdfs", {"host": "nn", "port": 8020, "user": "me"}),
        (
            "hdfs:///p",
            {"ticket": "/tmp/krb"},
            "hdfs",
            {"host": "default", "kerb_ticket": "/tmp/krb"},
        ),
    ],
)
def test_hdfs(
    url: str, options: dict[str, OptionValue], protocol: str, arguments: dict[str, Any]
) -> None:
    made = translated(url, **options)
    assert (made.protocol, made.root) == (protocol, "/p")
    assert made.arguments == arguments


@pytest.mark.parametrize(
    ("url", "options", "code"),
    [
        ("hdfs://nn:port/p", {}, "HF7005"),
        ("webhdfs://nn:99999/p", {}, "HF7005"),
        ("hdfs://nn/p", {"webhdfs": "ftp://nn"}, "HF7010"),
        ("hdfs://nn/p", {"webhdfs": "http://"}, "HF7010"),
    ],
)
def test_addresses_that_are_none_are_refused(
    url: str, options: dict[str, OptionValue], code: str
) -> None:
    with pytest.raises(StorageError) as caught:
        translated(url, **options)
    assert caught.value.code.number == code


def test_other_schemes_get_the_options_as_they_are() -> None:
    made = translated("sftp://host/x", port=22)
    assert (made.protocol, made.arguments, made.root) == ("sftp", {"port": 22}, "sftp://host/x")


def test_arguments_are_never_shown() -> None:
    assert "hush-hush" not in repr(translated("s3://b/k", secret="hush-hush"))
