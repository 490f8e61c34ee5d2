"""Spark's fs.s3a settings from `storage:`: the way back gives the same options."""

from __future__ import annotations

import pytest

from holdfast.running.settings import s3_settings
from holdfast.storage.location import parse_location
from holdfast.storage.options import OptionValue, StorageSettings, settings_from_spark

LAKE = parse_location("s3a://lake/raw")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"endpoint": "http://127.0.0.1:9000", "region": "eu-west-1", "path_style": True},
        {"key": "AKIAIOSFODNN7EXAMPLE", "secret": "a-long-secret-value"},
        {"key": "AKIAIOSFODNN7EXAMPLE", "secret": "a-long-secret-value", "token": "a-long-token"},
        {"anonymous": True, "ssl": False, "requester_pays": True},
    ],
)
def test_there_and_back(options: dict[str, OptionValue]) -> None:
    """Our readers and Spark reach the same place in the same way."""
    storage = StorageSettings({"s3": options})
    there = s3_settings(storage)
    assert settings_from_spark(there, LAKE).for_scheme("s3") == storage.for_scheme("s3")


@pytest.mark.parametrize(
    ("options", "provider"),
    [
        ({"key": "k" * 20, "secret": "s" * 20}, "SimpleAWSCredentialsProvider"),
        ({"key": "k" * 20, "secret": "s" * 20, "token": "t"}, "TemporaryAWSCredentialsProvider"),
        ({"profile": "lake"}, "ProfileAWSCredentialsProvider"),
        ({"anonymous": True}, "AnonymousAWSCredentialsProvider"),
    ],
)
def test_credentials_come_from_where_storage_says(
    options: dict[str, OptionValue], provider: str
) -> None:
    """Not from whatever else this machine's environment holds."""
    settings = s3_settings(StorageSettings({"s3": options}))
    assert settings["spark.hadoop.fs.s3a.aws.credentials.provider"].endswith(f".{provider}")


def test_a_profile_is_named() -> None:
    """Where Hadoop looks for it."""
    settings = s3_settings(StorageSettings({"s3": {"profile": "lake"}}))
    assert settings["spark.hadoop.fs.s3a.auth.profile.name"] == "lake"


def test_without_credentials_the_chain_of_hadoop_counts() -> None:
    """And s3: means the same as s3a:."""
    assert s3_settings(StorageSettings()) == {
        "spark.hadoop.fs.s3.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem"
    }
